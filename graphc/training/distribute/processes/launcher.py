"""Starts a program several times on this machine, as the ranks of one job, and ends all of them when one fails."""

from __future__ import annotations

import os
import queue
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import IO, TextIO

from graphc.compiler.base import HeldInterrupts, checked_seconds, interrupts_held
from graphc.compiler.base.errors import InvalidArgumentError
from graphc.training.distribute.processes.carriers import free_port
from graphc.training.distribute.processes.job import FAILED_WITH_ANOTHER

_LINES = 20
"""Number of last lines of a failed rank's output to show."""
_GRACE = 5.0
"""Seconds that a rank has to end by itself."""
_LOOPBACK = "127.0.0.1"
_TRACE = "Traceback (most recent call last):"


def launch(
    command: Sequence[str],
    processes: int,
    *,
    restarts: int = 0,
    timeout: float | None = None,
    out: TextIO | None = None,
    err: TextIO | None = None,
) -> int:
    """Runs a Python program in several processes on this machine, which ``gx.distribute.initialize`` joins.

    Each printed line is shown with its rank. When one process fails, the others are ended.

    Args:
      command: the arguments of ``python``: a file and its arguments.
      processes: the number of processes.
      restarts: the number of restarts of all ranks after a failure; ``GRAPHC_RESTART`` counts them for the program.
      timeout: the ``timeout`` of ``gx.distribute.initialize`` if the program sets none.
      out: the file for their standard output; this process's when None.
      err: the file for their standard error and for this function's messages.

    Returns:
      The exit code of the first process that failed (128 plus the number of the signal that killed it), else 0.

    Raises:
      InvalidArgumentError: ``processes`` or ``restarts`` is too small.
    """
    if processes < 1 or restarts < 0:
        raise InvalidArgumentError(
            f"graphc launch: expected one or more processes and no negative number of restarts, got {processes} and "
            f"{restarts}"
        )
    checked_seconds(timeout, "graphc launch")
    output, errors = out or sys.stdout, err or sys.stderr
    code = 0
    with _ended_by_signals():
        for attempt in range(restarts + 1):
            code, how, tail = _Attempt(command, processes, attempt, timeout, output, errors).run()
            if code == 0:
                break
            left = restarts - attempt
            again = f"; all start again ({left} more {'time' if left == 1 else 'times'})" if left else ""
            print(f"graphc launch: {how}{again}{tail}", file=errors, flush=True)
    return code


@contextmanager
def _ended_by_signals() -> Generator[None]:
    """Makes SIGTERM and SIGHUP act like Ctrl-C: they end all processes."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(number: int, frame: FrameType | None) -> None:
        previous = signal.getsignal(signal.SIGINT)
        if isinstance(previous, HeldInterrupts):
            previous(number, frame)
        else:
            raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _Attempt:
    """One start of all processes."""

    def __init__(
        self, command: Sequence[str], processes: int, attempt: int, timeout: float | None, out: TextIO, err: TextIO
    ) -> None:
        self._command = [sys.executable, *command]
        self._out, self._err = out, err
        self._printing = threading.Lock()
        self._is_interrupted = False
        self._ended: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._shared = {
            "GRAPHC_PROCESSES": str(processes),
            "GRAPHC_LOCAL_PROCESSES": str(processes),
            "GRAPHC_COORDINATOR": f"{_LOOPBACK}:{free_port(_LOOPBACK)}",
            "GRAPHC_AUTHKEY": secrets.token_hex(16),
            "GRAPHC_RESTART": str(attempt),
            "GRAPHC_CPU_DEVICES": "1",
            "PYTHONUNBUFFERED": "1",
            **({} if timeout is None else {"GRAPHC_PROCESS_TIMEOUT": str(timeout)}),
        }
        self._children: list[subprocess.Popen[str]] = []
        self._readers: list[threading.Thread] = []
        self._last = [deque[str](maxlen=_LINES) for _ in range(processes)]

    def run(self) -> tuple[int, str, str]:
        """Starts all processes and waits for them; returns the exit code, and a failure's description and output."""
        try:
            for rank in range(len(self._last)):
                number = str(rank)
                own = {**self._shared, "GRAPHC_PROCESS_ID": number, "GRAPHC_LOCAL_RANK": number}
                with interrupts_held():  # one between the start of a child and its entry would leave the child behind
                    self._start(rank, {**os.environ, **own})
            failed = self._first_failure()
        except KeyboardInterrupt:
            self._is_interrupted = True
            self._end(signal.SIGINT)
            raise
        self._end(signal.SIGTERM)
        if failed is None:
            return 0, "", ""
        code = self._children[failed].returncode
        lines = "".join(f"\n  {line}" for line in self._last[failed])
        tail = f"; the last that it said:{lines}" if lines else ""
        return (128 - code if code < 0 else code), f"rank {failed} {_how(code)}", tail

    def _start(self, rank: int, environment: Mapping[str, str]) -> None:
        # A session of its own, so that its children end with it, and Ctrl-C reaches it only from here.
        child = subprocess.Popen(
            self._command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, errors="replace", start_new_session=True,
        )  # fmt: skip
        self._children.append(child)
        assert child.stdout is not None
        assert child.stderr is not None
        for stream, target in ((child.stdout, self._out), (child.stderr, self._err)):
            reader = threading.Thread(target=self._show, args=(rank, stream, target), daemon=True)
            reader.start()
            self._readers.append(reader)
        threading.Thread(target=self._watch, args=(rank, child), daemon=True).start()

    def _show(self, rank: int, stream: IO[str], target: TextIO) -> None:
        trace: list[str] = []  # a traceback after Ctrl-C: that of Ctrl-C itself is no news, once for each rank
        with stream:
            for line in map(str.rstrip, stream):
                if line.startswith("[Gloo] Rank "):  # of the connection, not of the program
                    continue
                trace.append(line)
                if self._is_interrupted and trace[0] == _TRACE and (line == _TRACE or line.startswith(" ")):
                    continue
                if trace[0] != _TRACE or line != KeyboardInterrupt.__name__:
                    self._print(rank, trace, target)
                    if stream is self._children[rank].stderr:
                        self._last[rank].extend(trace)
                trace.clear()
        self._print(rank, trace, target)

    def _print(self, rank: int, lines: Sequence[str], target: TextIO) -> None:
        with self._printing:
            for line in lines:
                print(f"[{rank}] {line}", file=target, flush=True)

    def _watch(self, rank: int, child: subprocess.Popen[str]) -> None:
        child.wait()
        self._ended.put(rank)

    def _first_failure(self) -> int | None:
        """Returns the first failed rank, if any; a rank that another brought down counts only if no other failed."""
        second, end = None, float("inf")
        running = len(self._children)
        while running and time.monotonic() < end:
            try:
                rank = self._ended.get(timeout=min(0.5, max(0.0, end - time.monotonic())))
            except queue.Empty:
                continue  # look for signals
            running -= 1
            code = self._children[rank].returncode
            if code not in (0, FAILED_WITH_ANOTHER):
                return rank
            if code and second is None:
                second, end = rank, time.monotonic() + _GRACE
        return second

    def _end(self, number: signal.Signals) -> None:
        """Ends all remaining processes, and everything that they have started."""
        self._tell(number)
        end = time.monotonic() + _GRACE
        for child in self._children:
            with suppress(subprocess.TimeoutExpired):
                child.wait(max(0.0, end - time.monotonic()))
        self._tell(signal.SIGKILL)
        for child in self._children:
            child.wait()
        for reader in self._readers:
            reader.join(_GRACE)

    def _tell(self, number: signal.Signals) -> None:
        for child in self._children:
            with suppress(ProcessLookupError, PermissionError):
                if number is signal.SIGKILL:
                    os.killpg(child.pid, number)
                elif child.poll() is None:
                    child.send_signal(number)
                    child.send_signal(signal.SIGCONT)  # a stopped process accepts no other signal


def _how(code: int) -> str:
    if code < 0:
        with suppress(ValueError):
            return f"was killed by signal {-code} ({signal.Signals(-code).name})"
    return f"ended with exit code {code}"
