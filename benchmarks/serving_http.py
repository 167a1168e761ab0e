"""Queries over HTTP, answered by a server in a process of its own, against a plain Starlette app over ``jax.jit``."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import jax
import numpy as np

import graphc as gx
from benchmarks.harness import Reading, Row, quartiles
from benchmarks.serving import model

__all__ = ["ROWS"]

_SECONDS = 300
_ROUNDS = 9
_PATH = "/functions/predict"


def _serve(quick: bool) -> None:
    """Runs graphc's server, and says at which port it listens."""
    predict, queries = model(quick)
    app = gx.serve.App({"predict": predict}, examples={"predict": (queries[0],)}, devices=gx.devices()[:1])
    app.wait_until_ready()
    gx.serve.run(app, port=0, drain_seconds=0, on_start=lambda url: print(url.rpartition(":")[2], flush=True))


def _serve_plainly(quick: bool) -> None:
    """Runs the app that one would write by hand: a row is parsed, computed and written where it arrives."""
    import uvicorn
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import JSONResponse
    from starlette.routing import Route

    predict, queries = model(quick)
    pure = gx.to_jax(predict)
    variables = pure.init(queries[0])
    compiled = jax.jit(lambda variables, x: pure(variables, x)[0])

    async def answer(request: Request) -> JSONResponse:
        body = await request.json()
        result = compiled(variables, np.asarray(body["args"][0], np.float32))
        return JSONResponse({"result": np.asarray(result).tolist()})

    compiled(variables, queries[0])
    listener = socket.create_server(("127.0.0.1", 0), backlog=2048)
    print(listener.getsockname()[1], flush=True)
    app = Starlette(routes=[Route(_PATH, answer, methods=["POST"])])
    uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False)).run([listener])


@contextmanager
def _server(*words: str) -> Iterator[int]:
    command = [sys.executable, "-m", "benchmarks.serving_http", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield int(process.stdout.readline())
            process.terminate()
            process.wait(_SECONDS)
        finally:
            process.kill()


class _Client(asyncio.Protocol):
    """A connection that asks one query after the other; answers have no chunks."""

    def __init__(self, request: bytes, left: list[int], found: list[float], last: list[bytes]) -> None:
        self._request, self._left, self._found, self._last = request, left, found, last
        self._received = b""
        self.ended = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def ask(self) -> None:
        if not self._left[0]:
            if not self.ended.done():
                self.ended.set_result(None)
            return
        self._left[0] -= 1
        self._start = time.perf_counter()
        self._transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, end, body = self._received.partition(b"\r\n\r\n")
        length = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
        if not end or len(body) < int(length):
            return
        self._found.append(time.perf_counter() - self._start)
        if b" 200 " not in head[:16]:
            self.ended.set_exception(AssertionError(self._received))
            return
        self._last[:], self._received = [body], b""
        self.ask()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.ended.done():
            self.ended.set_exception(AssertionError(f"the server closed the connection: {exc}"))


async def _asked(port: int, connections: int, count: int, query: Any) -> tuple[float, list[float], Any]:
    """Asks over some connections; returns the seconds of all queries, those of each, and the last result."""
    body = json.dumps({"args": [query.tolist()]}).encode()
    head = f"POST {_PATH} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    left, found, last = [count], list[float](), list[bytes]()
    loop = asyncio.get_running_loop()
    made = [
        await loop.create_connection(lambda: _Client(head.encode() + body, left, found, last), "127.0.0.1", port)
        for _ in range(connections)
    ]
    start = time.perf_counter()
    for _, client in made:
        client.ask()
    await asyncio.gather(*[client.ended for _, client in made])
    seconds = time.perf_counter() - start
    for transport, client in made:
        client.ended.cancelled()
        transport.close()
    return seconds, found, json.loads(last[0])["result"]


@cache
def _rounds(quick: bool, connections: int) -> tuple[Sequence[tuple[float, float]], Sequence[tuple[float, float]]]:
    """The microseconds of a query and of the 99th percentile in each round: of graphc's server, and of the other."""
    _, queries = model(quick)
    count = 20 if quick else max(400, 8 * connections)
    sides: tuple[list[tuple[float, float]], list[tuple[float, float]]] = ([], [])
    with _server("graphc", *["quick"] * quick) as own, _server("plain", *["quick"] * quick) as other:
        results = [asyncio.run(_asked(port, connections, 4 * count, queries[0]))[2] for port in (own, other)]
        np.testing.assert_allclose(*results, rtol=1e-4, atol=1e-5)
        for number in range(2 if quick else _ROUNDS):
            for side in (0, 1) if number % 2 else (1, 0):
                seconds, found, _ = asyncio.run(_asked((own, other)[side], connections, count, queries[0]))
                sides[side].append((1e6 * seconds / count, 1e6 * float(np.percentile(found, 99))))
    return sides


def _reading(connections: int, what: int) -> Any:
    def prepare(quick: bool) -> Reading:
        def read() -> tuple[float, float, str]:
            own, plain = ([each[what] for each in side] for side in _rounds(quick, connections))
            low, high = quartiles([a / b for a, b in zip(own, plain, strict=True)])
            medians = float(np.median(own)), float(np.median(plain))
            rates = "" if what else f"{1e6 / medians[0]:,.0f} queries a second, against {1e6 / medians[1]:,.0f}; "
            return *medians, f"{rates}quartiles of the rounds' ratios {low:.2f} to {high:.2f}"

        return Reading(("gx.serve", "a plain app"), "us", read)

    return prepare


ROWS = tuple(
    Row(f"serve-http-{name}{connections}", f"{case}, {connections} connection{'s' * (connections > 1)}",
        1 / (0.8 if connections == 1 else 1.2), _reading(connections, what), rounds=1)
    for what, name, case in ((0, "", "a query of a row over HTTP, JSON"), (1, "p99-", "its 99 % latency"))
    for connections in (1, 64, 256)
)  # fmt: skip

if __name__ == "__main__":
    (_serve if sys.argv[1] == "graphc" else _serve_plainly)("quick" in sys.argv)
