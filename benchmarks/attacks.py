"""What hostile requests cost a server in a process of its own: bytes in, seconds, memory, and how long others wait."""

from __future__ import annotations

import http.client
import io
import json
import socket
import struct
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import graphc as gx

__all__ = ["Cost", "run"]

_SECONDS = 120
_FEATURES, _ROWS = 64, 2048
_JSON, _NPY, _NPZ = "application/json", "application/x-npy", "application/x-npz"
_EVERY = 0.02
"""Seconds between two queries of /health."""


@dataclass(frozen=True)
class Cost:
    """What one attack did.

    Attributes:
      name: the attack.
      num_bytes: the bytes that were sent.
      status: the status of the answer, or what happened.
      seconds: until the answer.
      megabytes: how far the memory of the server rose above what it had before.
      health: the longest that /health took meanwhile, in seconds.
    """

    name: str
    num_bytes: int
    status: str
    seconds: float
    megabytes: int
    health: float


def _serve() -> None:
    """Serves a function with a signature, and one without, and says at which port."""
    model = gx.layers.Sequential([gx.layers.Dense(128, "relu", in_features=_FEATURES), gx.layers.Dense(10)])
    example = np.zeros((1, _FEATURES), np.float32)
    model(example)
    functions: dict[str, Any] = {"predict": model, "any": gx.identity}
    app = gx.serve.App(
        functions, examples={"predict": (example,)}, devices=gx.devices()[:1],
        body_timeout=3,
    )  # fmt: skip
    app.wait_until_ready()
    gx.serve.run(app, port=0, drain_seconds=0, on_start=lambda url: print(url.rpartition(":")[2], flush=True))


@contextmanager
def _server() -> Generator[tuple[int, int]]:
    command = [sys.executable, "-m", "benchmarks.attacks"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout is not None
            yield int(process.stdout.readline()), process.pid
        finally:
            process.kill()


def _memory(process: int, field: str) -> int:
    """Returns a size in MB of a process: VmRSS, or VmHWM for the largest so far."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) // 1024 for line in lines if line.startswith(field))


def _ask(port: int, method: str, path: str, body: bytes = b"", kind: str = _JSON) -> str:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=_SECONDS)) as connection:
        try:
            connection.request(method, path, body, {"content-type": kind})
            return str(connection.getresponse().status)
        except OSError as error:
            return type(error).__name__


def _measured(name: str, num_bytes: int, port: int, process: int, attack: Callable[[], str]) -> Cost:
    Path(f"/proc/{process}/clear_refs").write_text("5")  # begins the largest size anew
    before, ended, worst = _memory(process, "VmRSS"), threading.Event(), [0.0]

    def watch() -> None:
        while not ended.wait(_EVERY):
            start = time.perf_counter()
            _ask(port, "GET", "/health")
            worst[0] = max(worst[0], time.perf_counter() - start)

    watcher = threading.Thread(target=watch)
    watcher.start()
    start = time.perf_counter()
    status = attack()
    seconds = time.perf_counter() - start
    ended.set()
    watcher.join()
    return Cost(name, num_bytes, status, seconds, max(0, _memory(process, "VmHWM") - before), worst[0])


def _zipped(megabytes: int, claimed: int | None, files: int = 1) -> bytes:
    """Returns an npz file of zeros, whose directory claims other sizes."""
    file = io.BytesIO()
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({megabytes << 12}, {_FEATURES}), }}\n".encode()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for number in range(files):
            with archive.open(f"arr_{number}.npy", "w") as entry:
                entry.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header)
                for _ in range(megabytes):
                    entry.write(bytes(1 << 20))
    found, at = bytearray(file.getvalue()), -1
    while claimed is not None and (at := found.find(b"PK\x01\x02", at + 1)) >= 0:
        found[at + 24 : at + 28] = struct.pack("<I", claimed)
    return bytes(found)


def _bodies(scale: int) -> Iterator[tuple[str, str, bytes, int]]:
    """Yields the name, the media type and the body of each attack, and how many clients send it at once."""
    row = [0] * _FEATURES
    rows = np.random.default_rng(0).normal(size=(_ROWS, _FEATURES))
    file = io.BytesIO()
    np.save(file, rows)
    yield "good: a row, JSON", _JSON, json.dumps({"args": [[row]]}).encode(), 1
    yield "good: 2,048 rows, npy", _NPY, file.getvalue(), 1
    yield "good: 2,048 rows, JSON", _JSON, json.dumps({"args": [rows.tolist()]}).encode(), 1
    yield "a dtype of 60 MB", _JSON, json.dumps({"args": [{"array": [row], "dtype": "V60000000"}]}).encode(), 1
    text = "a" * (10_000 * scale)
    yield "a long text among numbers", _JSON, json.dumps({"args": [[[text, *[0] * 1000]]]}).encode(), 1
    yield "empty lists", _JSON, b'{"args":[' + b"[]," * (70_000 * scale) + b"1]}", 1
    names = b",".join(b'"%d":1' % number for number in range(15_000 * scale))
    yield "names", _JSON, b'{"kwargs":{' + names + b"}}", 1
    yield "ints", _JSON, b'{"args":[[[' + b"1," * (300_000 * scale) + b"1]]]}", 1
    yield "ints that just fit", _JSON, b'{"args":[[[' + b"1," * 262_000 + b"1]]]}", 8
    yield "floats that just fit without one", _JSON, b'{"args":[[' + b"0.123456," * (10_400 * scale) + b"1]]}", 8
    yield "ints of 4,000 digits", _JSON, b'{"args":[[[' + (b"1" * 4000 + b",") * (50 * scale) + b"1]]]}", 1
    yield "npz that claims 100 bytes", _NPZ, _zipped(20 * scale, 100), 1
    yield "npz that claims 2 GB", _NPZ, _zipped(20 * scale, 1 << 31), 1
    yield "npz of many arrays", _NPZ, _zipped(0, None, 200 * scale), 1
    yield "npy header of parentheses", _NPY, b"\x93NUMPY\x01\x00" + struct.pack("<H", 9001) + b"(" * 9000 + b"\n", 8
    yield "a body of 100 MB", _NPY, bytes(scale << 20), 1


def _at_once(clients: ThreadPoolExecutor, count: int, port: int, path: str, body: bytes, kind: str) -> str:
    asked = [clients.submit(_ask, port, "POST", path, body, kind) for _ in range(count)]
    return ", ".join(sorted({one.result() for one in asked}))


def _endless_headers(port: int, sent: list[int]) -> str:
    with closing(socket.create_connection(("127.0.0.1", port), _SECONDS)) as connection:
        try:
            connection.sendall(b"GET /health HTTP/1.1\r\nhost: x\r\n")
            for _ in range(400):
                connection.sendall(b"x: ".ljust(1 << 20, b"a"))
                sent[0] += 1 << 20
        except OSError:
            return "cut off"
    return "taken"


def _answer(connection: socket.socket) -> str:
    try:
        return connection.makefile("rb").read(12)[9:].decode() or "closed"
    except OSError:
        return "cut off"


def _slow(port: int, count: int, text: bytes) -> str:
    """Opens connections that send a few bytes, and waits until the server has closed all of them."""
    with ExitStack() as stack:
        connect = socket.create_connection
        opened = [stack.enter_context(closing(connect(("127.0.0.1", port), _SECONDS))) for _ in range(count)]
        for connection in opened:
            with suppress(OSError):  # the server has closed it
                connection.sendall(text)
        answers = {_answer(connection) for connection in opened}
    return ", ".join(sorted(answers))


def _costs(quick: bool) -> Iterator[Cost]:
    scale = 5 if quick else 100
    with _server() as (port, process), ThreadPoolExecutor(8) as clients:
        for name, kind, body, count in _bodies(scale):
            for path in ("predict", "any"):
                if path == "any" and name.startswith("good"):
                    continue

                attack = partial(_at_once, clients, count, port, f"/functions/{path}", body, kind)
                times = f", {count} at once" if count > 1 else ""
                where = "" if path == "predict" else ", no signature"
                yield _measured(f"{name}{times}{where}", len(body) * count, port, process, attack)
        sent = [0]
        cost = _measured("endless headers", 0, port, process, lambda: _endless_headers(port, sent))
        yield replace(cost, num_bytes=sent[0])
        many = 10 * scale // 2
        head = b"POST /functions/predict HTTP/1.1\r\nhost: x\r\n"
        for name, text in {
            "idle connections": b"",
            "slow headers": head,
            "slow bodies": head + b"content-length: 999\r\n\r\n{",
            "large bodies without an end": head + b"content-length: 8000000\r\n\r\n" + bytes(scale * 50_000),
        }.items():
            attack = partial(_slow, port, many, text)
            yield _measured(f"{many} {name}", many * len(text), port, process, attack)


def run(console: Console, path: Path, *, quick: bool) -> Sequence[Cost]:
    """Measures all attacks, prints the table, and writes the numbers.

    Args:
      console: where to print.
      path: the JSON file.
      quick: whether to send a twentieth of the bytes.
    """
    costs: list[Any] = []
    table = Table("attack", "bytes", "answer", "seconds", "memory, MB", "/health, s", title="hostile requests")
    for cost in _costs(quick):
        costs.append(cost)
        console.print(f"{cost.name}: {cost.status}", style="dim")
        table.add_row(
            cost.name, f"{cost.num_bytes:,}", cost.status, f"{cost.seconds:.2f}", f"{cost.megabytes}",
            f"{cost.health:.3f}",
        )  # fmt: skip
    console.print(table)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps([asdict(cost) for cost in costs], indent=1))
    return costs


if __name__ == "__main__":
    _serve()
