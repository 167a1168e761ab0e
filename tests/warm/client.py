"""Starts programs by the server, in place of new interpreters."""

from __future__ import annotations

import atexit
import ctypes
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from tests.draws import SEED
from tests.process_state import READ_BY_IMPORTS
from tests.warm.server import receive, send

__all__ = ["warm_processes"]

_READ_LATER = (
    *("GRAPHC_AUTHKEY", "GRAPHC_COORDINATOR", "GRAPHC_CPU_DEVICES", "GRAPHC_LOCAL_", "GRAPHC_PROCESS"),
    *("GRAPHC_RESTART", "GRAPHC_SERVE_TOKEN", "PYTHONBREAKPOINT", "PYTHONPATH", "PYTHONUNBUFFERED"),
)
_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER


class _Server:
    """The server of this process, which starts with the first program and ends with the process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._channel: socket.socket | None = None
        self._environment = _of_imports(os.environ)

    def may_run(self, environment: Mapping[str, str]) -> bool:
        """Returns True if imports would find the environment as the server's did."""
        found = dict(_of_imports(environment))
        if found.get("PYTHONWARNINGS") == "error":
            del found["PYTHONWARNINGS"]
        return found == self._environment and "GRAPHC_CPU_DEVICES" in environment

    def start(self, request: dict[str, Any], files: list[int]) -> int:
        """Starts a program; returns the number of the process."""
        with self._lock:
            if self._channel is None:
                self._channel = self._begun()
            _take_in_orphans(True)
            try:
                send(self._channel, request, files)
                return receive(self._channel)[0]
            finally:
                _take_in_orphans(False)

    def _begun(self) -> socket.socket:
        here, there = socket.socketpair()
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
        command = [sys.executable, str(Path(__file__).with_name("server.py")), str(there.fileno())]
        with there:
            server = subprocess.Popen(command, env=environment, pass_fds=[there.fileno()], stdin=subprocess.DEVNULL)
        server.returncode = 0  # it ends by itself, when this process has ended
        receive(here)
        atexit.register(here.close)
        return here


def _of_imports(environment: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value
        for name, value in environment.items()
        if name.startswith(READ_BY_IMPORTS) and not name.startswith(_READ_LATER)
    }


def _take_in_orphans(whether: bool) -> None:
    ctypes.CDLL(None, use_errno=True).prctl(_SUBREAPER, int(whether), 0, 0, 0)


_server = _Server()


@contextmanager
def warm_processes() -> Generator[None]:
    """Starts Python programs by the server inside the scope, where the system allows it.

    In ``make test-slow`` all start as new interpreters.
    """
    if sys.platform != "linux" or os.environ[SEED] == "all":
        yield
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subprocess, "Popen", _Popen)
        yield


class _Popen(subprocess.Popen[Any]):
    """Starts Python programs by the server, and everything else as usual."""

    def _execute_child(self, *given: Any) -> None:
        names = _PARAMETERS[: len(given)]
        found = dict(zip(names, given, strict=True))
        request = _request(found)
        if request is None:
            super()._execute_child(*given)  # pyright: ignore[reportAttributeAccessIssue]
            return
        streams = [found[name] for name in ("p2cread", "c2pwrite", "errwrite")]
        files = [number if stream == -1 else stream for number, stream in enumerate(streams)]
        self.pid = _server.start(request, files)
        self._child_created = True
        ends = ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")
        self._close_pipe_fds(*(found[name] for name in ends))  # pyright: ignore[reportAttributeAccessIssue]


_code: Any = cast("Any", subprocess.Popen)._execute_child.__code__
_PARAMETERS: tuple[str, ...] = _code.co_varnames[1 : _code.co_argcount]


def _request(found: Mapping[str, Any]) -> dict[str, Any] | None:
    """Returns what to tell the server, or None for a program that it cannot run."""
    arguments: Any = found["args"]
    if not isinstance(arguments, list) or arguments[0] != sys.executable or found["shell"] or found["pass_fds"]:
        return None
    environment = dict(os.environ if found["env"] is None else found["env"])
    rest = [os.fspath(argument) for argument in cast("list[str]", arguments)[1:]]
    unbuffered = rest[:1] == ["-u"]
    rest = rest[unbuffered:]
    if not rest or (rest[0].startswith("-") and rest[0] not in ("-c", "-m")) or not _server.may_run(environment):
        return None
    return {
        "arguments": rest,
        "environment": environment,
        "folder": os.fspath(found["cwd"] or os.getcwd()),
        "session": found["start_new_session"],
        "unbuffered": unbuffered,
    }
