"""The server: a Python that has imported JAX and graphc, and forks for each program.

It has one thread, and JAX has made no devices in it, so its forks are like new processes: each starts XLA's threads.
"""

from __future__ import annotations

import gc
import io
import json
import os
import runpy
import signal
import socket
import sys
import types
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

__all__ = ["receive", "send"]


def send(channel: socket.socket, message: Any, files: list[int] | None = None) -> None:
    """Sends a message of JSON and open files."""
    body = json.dumps(message).encode()
    head = len(body).to_bytes(8, "little")
    socket.send_fds(channel, [head], files or [])
    channel.sendall(body)


def receive(channel: socket.socket) -> tuple[Any, list[int]]:
    """Returns the next message and its open files.

    Raises:
      EOFError: the other side has gone.
    """
    head, files, _, _ = socket.recv_fds(channel, 8, 3)
    if not head:
        raise EOFError
    body, size = b"", int.from_bytes(head, "little")
    while len(body) < size:
        body += channel.recv(size - len(body))
    return json.loads(body), files


def main() -> None:
    """Serves the socket whose number is the first argument, and runs a program in each fork."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that asks
    own = [os.path.dirname(__file__), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    libraries = sys.path[len(own) :]
    del sys.path[0]
    _import_what_programs_need()
    gc.freeze()  # a collection in a fork would copy all memory
    channel = socket.socket(fileno=int(sys.argv[1]))
    send(channel, os.getpid())
    while True:
        try:
            request, files = receive(channel)
        except EOFError:
            return
        if _fork(channel, files):
            _settle(request, libraries, files)
            _run(request["arguments"])
            return


def _import_what_programs_need() -> None:
    for name in ("jax.numpy", "optax", *(f"graphc.{part}" for part in ("cli", "cluster", "distribute", "serve"))):
        import_module(name)
    graphc = import_module("graphc")
    for name in graphc.__all__:
        getattr(graphc, name)
    threads = len(os.listdir("/proc/self/task"))
    if threads != 1:
        raise RuntimeError(f"a fork of a process with several threads may hang, and imports have started {threads - 1}")


def _fork(channel: socket.socket, files: list[int]) -> bool:
    """Forks a child of the process that asks; returns True in the fork.

    Its parent is a fork that ends at once. The process that asks takes in orphans meanwhile.
    """
    (told, tell), (wait, go) = os.pipe(), os.pipe()
    between = os.fork()
    if not between:
        program = os.fork()
        if program:
            os.write(tell, program.to_bytes(8, "little"))
            os._exit(0)
        for file in (told, tell, go):
            os.close(file)
        os.read(wait, 1)  # until it has its parent
        os.close(wait)
        channel.close()
        return True
    os.waitpid(between, 0)
    program = int.from_bytes(os.read(told, 8), "little")
    for file in (told, tell, wait, go, *files):
        os.close(file)
    send(channel, program)
    return False


def _settle(request: dict[str, Any], libraries: list[str], files: list[int]) -> None:
    """Takes on the streams, folder, environment and session that the process should have."""
    from graphc.compiler.devices import simulate_cpu_devices

    if request["session"]:
        os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(request["folder"])
    environment = request["environment"]
    os.environ.clear()
    os.environ.update(environment)
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    unbuffered = request["unbuffered"] or bool(environment.get("PYTHONUNBUFFERED"))
    sys.stdin = sys.__stdin__ = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, closefd=False)), encoding="utf-8")
    sys.stdout = sys.__stdout__ = _output(1, unbuffered, "strict")
    sys.stderr = sys.__stderr__ = _output(2, unbuffered, "backslashreplace")
    sys.path[:] = [*filter(None, environment.get("PYTHONPATH", "").split(os.pathsep)), *libraries]
    simulate_cpu_devices()
    if environment.get("PYTHONWARNINGS") == "error":
        warnings.simplefilter("error")


def _output(number: int, unbuffered: bool, errors: str) -> io.TextIOWrapper:
    stream = io.FileIO(number, "w", closefd=False)
    return io.TextIOWrapper(
        stream if unbuffered else io.BufferedWriter(stream),  # pyright: ignore[reportArgumentType]
        encoding="utf-8", errors=errors, line_buffering=number == 2 or os.isatty(number), write_through=unbuffered,
    )  # fmt: skip


def _run(arguments: list[str]) -> None:
    """Runs a program as ``python`` does with these arguments: ``-c text``, ``-m module`` or a file, and its own."""
    sys.excepthook = _show
    what, *rest = arguments
    if what == "-m":
        sys.argv = rest
        sys.path.insert(0, os.getcwd())
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
        return
    module = types.ModuleType("__main__")
    if what == "-c":
        text, name = rest[0], "<string>"
        sys.argv = ["-c", *rest[1:]]
        sys.path.insert(0, "")
    else:
        text, name = Path(what).read_bytes(), os.path.abspath(what)
        sys.argv = arguments
        sys.path.insert(0, os.path.dirname(os.path.realpath(name)))
        module.__file__ = name
    sys.modules["__main__"] = module
    exec(compile(text, name, "exec"), module.__dict__)


def _show(kind: type[BaseException], error: BaseException, trace: types.TracebackType | None) -> None:
    """Shows an error without the frames of this file."""
    while trace is not None and trace.tb_frame.f_code.co_filename in (__file__, runpy.__file__, "<frozen runpy>"):
        trace = trace.tb_next
    sys.__excepthook__(kind, error.with_traceback(trace), trace)


if __name__ == "__main__":
    main()
