"""``graphc serve`` as a process of its own: limits, a client that misbehaves, SIGTERM, and a restart under load."""

from __future__ import annotations

import http.client
import io
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphc as gx
from tests.serve.http.asking import npy
from tests.warm import warm_processes

pytestmark = [pytest.mark.multiprocess, pytest.mark.timeout(180)]

_SECONDS = 120
_LIFE_SECONDS = 900
"""After which a server is killed, whatever its test does; one of them lives as long as this module."""
_TOKEN = "a-token"

PROGRAM = """
import jax
import numpy as np
import graphc as gx

ARGS = (np.ones((1, 2), np.float32),)

@gx.function
def double(x):
    return x * 2

def wait(x):  # until the test opens the pipe for writing, at both ends
    if x.any():
        open("begun", "w").close()
        open("go", "r").close()
    return x

def compiling(x):  # for ever
    open("begun", "w").close()
    open("go", "r").close()
    return x

def waiting(x):
    return gx.call_jax(lambda x: jax.pure_callback(wait, jax.ShapeDtypeStruct(x.shape, x.dtype), x), x)
"""


@dataclass
class Server:
    """A server in a process of its own; see :func:`started`."""

    process: subprocess.Popen[str]
    port: int
    answered: Counter[str] = field(default_factory=Counter[str])

    def connection(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=_SECONDS)

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, bytes, Any]:
        sent = {"authorization": f"Bearer {_TOKEN}", **{name.replace("_", "-"): text for name, text in headers.items()}}
        with closing(self.connection()) as connection:
            connection.request(method, path, body, sent)
            answer = connection.getresponse()
            self.answered[path] += answer.status == 200
            return answer.status, answer.read(), answer.headers

    def until_ready(self) -> None:
        while self.ask("GET", "/ready")[0] != 200:
            assert self.process.poll() is None

    def end(self, number: signal.Signals = signal.SIGTERM) -> str:
        """Sends a signal, and returns what the server says at its end."""
        self.process.send_signal(number)
        said, _ = self.process.communicate(timeout=_SECONDS)
        assert self.process.returncode == 0
        return said


@contextmanager
def started(folder: Path, *arguments: str) -> Iterator[Server]:
    """Runs ``graphc serve``, and kills it in the end."""
    (folder / "program.py").write_text(PROGRAM)
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "GRAPHC_SERVE_TOKEN": _TOKEN}
    command = [
        sys.executable,
        "-u",
        "-m",
        "graphc",
        "serve",
        "--port=0",
        "--devices=cpu:0",
        "--max-batch=2",
        *arguments,
    ]
    with (
        warm_processes(),
        subprocess.Popen(
            command, cwd=folder, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process,
    ):
        watch = threading.Timer(_LIFE_SECONDS, process.kill)
        watch.start()
        try:
            assert process.stdout is not None
            found = re.search(r"http://127.0.0.1:(\d+) serves .*; Ctrl-C ends it", process.stdout.readline())
            assert found is not None
            yield Server(process, int(found[1]))
        finally:
            watch.cancel()
            process.kill()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    limits = ["--max-body-mb=0.01", "--drain=0"]
    with started(tmp_path_factory.mktemp("server"), "program.py:double", "two=program.py:double", *limits) as found:
        found.until_ready()
        yield found
        numbers = {name: found.answered[f"/functions/{name}"] for name in ("double", "two")}
        counts = [f"{name} answered {count} quer{'y' if count == 1 else 'ies'}" for name, count in numbers.items()]
        assert found.end(signal.SIGINT) == f"stopped: {', '.join(counts)}\n"


def test_a_process_answers_by_json_and_npy(server: Server) -> None:
    status, body, _ = server.ask("POST", "/functions/two", json.dumps({"args": [[[1, 2]]]}))
    assert (status, json.loads(body)) == (200, {"result": [[2, 4]]})
    status, body, headers = server.ask(
        "POST", "/functions/double", npy(np.ones((5, 2), np.float32)), content_type="application/x-npy"
    )
    assert (status, headers["content-type"]) == (200, "application/x-npy")
    np.testing.assert_array_equal(np.load(io.BytesIO(body)), np.full((5, 2), 2, np.float32))


def test_a_client_that_misbehaves_is_told_so_and_others_are_answered(server: Server) -> None:
    path = "/functions/double"
    status, body, _ = server.ask("POST", path, b"{")
    assert (status, json.loads(body)["error"]["status"]) == (400, 400)
    assert server.ask("POST", path, b"{}", authorization="Bearer wrong")[0] == 401
    assert server.ask("POST", "/functions/triple", b"{}")[0] == 404
    assert server.ask("POST", path, bytes(8 << 20))[0] == 413  # which http.client reads when it has sent all
    head = _head(path)
    for lines in (
        f"{head}content-length: 200000\r\n\r\n",
        f"{head}transfer-encoding: chunked\r\n\r\n28f6\r\n{'.' * 10_486}",
    ):
        with socket.create_connection(("127.0.0.1", server.port), _SECONDS) as raw:
            raw.sendall(lines.encode())
            assert raw.makefile("rb").read().startswith(b"HTTP/1.1 413 ")
    for lines in (f"{head}x: ".ljust(65_537, "a"), head.ljust(65_537, "a").replace("aaaa", "a:\r\n")):
        with socket.create_connection(("127.0.0.1", server.port), _SECONDS) as raw:
            raw.sendall(lines.encode())
            assert raw.makefile("rb").read().startswith(b"HTTP/1.1 431 the headers have more than 65536 bytes")
    with socket.create_connection(("127.0.0.1", server.port), _SECONDS) as raw:
        raw.sendall(b"no HTTP\r\n\r\n")
        assert raw.makefile("rb").read().startswith(b"HTTP/1.1 400 ")
    with socket.create_connection(("127.0.0.1", server.port), _SECONDS) as raw:
        raw.sendall(f"{head}content-length: 9\r\n\r\n".encode())  # and leaves
    assert server.ask("POST", path, json.dumps({"args": [[[1, 2]]]}))[0] == 200


def test_a_request_that_does_not_come_is_waited_for_as_long_as_the_option_says(tmp_path: Path) -> None:
    with started(tmp_path, "program.py:double", "--body-timeout=0.05") as server:
        server.until_ready()
        good = "GET /health HTTP/1.1\r\nhost: here\r\n\r\n"
        for sent, told in (
            ("", b""),
            (_head("/"), b"HTTP/1.1 408 "),
            (good, b"HTTP/1.1 200 "),
            (f"{good}\r\n", b"HTTP/1.1 200 "),
        ):
            with socket.create_connection(("127.0.0.1", server.port), _SECONDS) as raw:
                raw.sendall(sent.encode())
                assert raw.makefile("rb").read().startswith(told)
        with socket.create_connection(("127.0.0.1", server.port), _SECONDS) as raw:
            raw.sendall(f"{_head('/functions/double')}content-length: 9\r\n\r\n{{".encode())
            said = raw.makefile("rb").read()  # until the server closes the connection
        assert said.startswith(b"HTTP/1.1 408 ")
        assert b"within 0.05 s" in said


def _head(path: str) -> str:
    return f"POST {path} HTTP/1.1\r\nhost: here\r\nauthorization: Bearer {_TOKEN}\r\n"


def test_sigterm_refuses_new_queries_and_answers_those_that_were_accepted(tmp_path: Path) -> None:
    for name in ("begun", "go"):
        os.mkfifo(tmp_path / name)
    with started(tmp_path, "program.py:waiting", "--drain=600") as server, ExitStack() as stack:
        server.until_ready()
        first = stack.enter_context(closing(server.connection()))
        body = json.dumps({"args": [[[1, 2]]]})
        first.request("POST", "/functions/waiting", body, {"authorization": f"Bearer {_TOKEN}"})
        (tmp_path / "begun").open().close()  # now it is computed
        server.process.send_signal(signal.SIGTERM)
        while server.ask("GET", "/ready")[0] == 200:
            pass
        for _ in range(100):  # the server looks ten times a second if it has stopped
            status, told, headers = server.ask("POST", "/functions/waiting", body)
            assert (status, headers["retry-after"], headers["connection"]) == (503, "1", "close")
        assert json.loads(told)["error"]["message"] == "the server is stopping; try again, or another server"
        (tmp_path / "go").open("w").close()
        answer = first.getresponse()
        assert (answer.status, json.loads(answer.read())) == (200, {"result": [[1, 2]]})
        assert server.end() == "stopped: waiting answered 1 query\n"  # a second signal skips the rest of the drain


@pytest.mark.parametrize("name", ["waiting", "compiling"])
def test_a_stop_ends_in_time_whatever_hangs(name: str, tmp_path: Path) -> None:
    for pipe in ("begun", "go"):
        os.mkfifo(tmp_path / pipe)
    with started(tmp_path, f"program.py:{name}", "--drain=0", "--stop=0.2") as server, ExitStack() as stack:
        assert server.ask("GET", "/health")[0] == 200
        first = stack.enter_context(closing(server.connection()))
        if name == "waiting":
            server.until_ready()
            body = json.dumps({"args": [[[1, 2]]]})
            first.request("POST", "/functions/waiting", body, {"authorization": f"Bearer {_TOKEN}"})
        (tmp_path / "begun").open().close()
        server.process.send_signal(signal.SIGTERM)
        if name == "waiting":
            answer = first.getresponse()
            assert (answer.status, answer.getheader("connection")) == (503, "close")
        _, problem = server.process.communicate(timeout=_SECONDS)
        assert server.process.returncode == 2
        what = "a batch of 'waiting' on .*CPU:0" if name == "waiting" else "the compilation of 'compiling'"
        assert re.search(rf"graphc: gx\.serve\.run: stop_seconds=0\.2 passed before {what}", problem)
        assert "Traceback" not in problem


def test_an_on_start_that_raises_leaves_nothing_open() -> None:
    found: list[int] = []

    def failing(url: str) -> None:
        found.append(int(url.rpartition(":")[2]))
        raise RuntimeError("no")

    app = gx.serve.App({"f": lambda x: x})
    with pytest.raises(RuntimeError, match="no"):
        gx.serve.run(app, port=0, on_start=failing)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", found[0]), _SECONDS)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("graphc.serve")]


def test_a_restart_under_load_loses_nothing_that_was_accepted(tmp_path: Path) -> None:
    answers, lock = [0], threading.Lock()
    restarted = threading.Event()
    wrong: list[Any] = []

    def closed(connection: http.client.HTTPConnection | None) -> None:
        if connection is not None:
            connection.close()

    def client(number: int) -> None:
        value, more = number, 20
        connection: http.client.HTTPConnection | None = None
        while more and not wrong:
            more -= restarted.is_set()
            value += 4
            try:
                connection = connection or old.connection()
                body = json.dumps({"args": [[[value, 0]]]})
                connection.request("POST", "/functions/double", body, {"authorization": f"Bearer {_TOKEN}"})
                answer = connection.getresponse()
                found = json.loads(answer.read())
            except ConnectionError:  # not accepted: asked again on a connection of its own
                connection = closed(connection)
                continue
            if answer.status == 200 and found == {"result": [[2 * value, 0]]}:
                with lock:
                    answers[0] += 1
            elif answer.status != 503:
                wrong.append((answer.status, found))
            if answer.will_close:
                connection = closed(connection)
        closed(connection)

    with started(tmp_path, "program.py:double", "--reuse-port", "--drain=0.5") as old:
        old.until_ready()
        threads = [threading.Thread(target=client, args=(number,), daemon=True) for number in range(4)]
        for thread in threads:
            thread.start()
        with started(tmp_path, "program.py:double", "--reuse-port", f"--port={old.port}") as new:
            said = old.end()
            restarted.set()
            for thread in threads:
                thread.join(_SECONDS)
            said += new.end()
    assert not wrong
    counted = [int(number) for number in re.findall(r"double answered (\d+) quer", said)]
    assert len(counted) == 2
    assert all(counted)
    assert sum(counted) == answers[0]


def test_a_command_that_cannot_serve_says_what_to_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    from graphc.cli import main

    monkeypatch.delenv("GRAPHC_SERVE_TOKEN", raising=False)
    assert main(["serve", "json:dumps", "--host", "0.0.0.0"]) == 2
    assert "whoever reaches 0.0.0.0 could ask; give --token-file, set GRAPHC_SERVE_TOKEN" in capsys.readouterr().err
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        assert main(["serve", "json:dumps", "--port", str(taken.getsockname()[1])]) == 2
    assert "cannot listen at 127.0.0.1 port" in capsys.readouterr().err
    assert main(["serve"]) == 2
    assert "expected a folder of gx.save, or a function" in capsys.readouterr().err
    assert main(["serve", "json:dumps", "--token-file", str(tmp_path / "none")]) == 2
    assert "it is to hold the token of requests" in capsys.readouterr().err
    assert main(["serve", "json:dumps", "json:dumps"]) == 2
    assert "two functions are called 'dumps'; write NAME=json:dumps" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "module"), [("App", "app"), ("run", "server")])
def test_without_the_extra_the_rest_works_and_it_is_named(
    name: str, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, f"graphc.serve.http.{module}", raising=False)
    monkeypatch.setitem(sys.modules, "starlette.requests" if name == "App" else "uvicorn", None)
    with pytest.raises(gx.errors.FailedPreconditionError, match=r"pip install 'graphc\[serve\]'"):
        getattr(gx.serve, name)
    assert gx.serve.Replicas
