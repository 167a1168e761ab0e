"""Processes that call a Python function for elements: for functions that hold the GIL for long.

Each process starts fresh: it shares no threads and no locks with this one. It receives an element through a pipe, and
puts the arrays of its result into a slab of shared memory, which this process owns, copies from, and removes at the
end.
"""

from __future__ import annotations

import multiprocessing
import pickle
import queue
import signal
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from functools import cache
from multiprocessing.connection import Connection, wait
from multiprocessing.shared_memory import SharedMemory
from typing import Any, cast

import jax
import numpy as np

from graphc.compiler.base.errors import AbortedError, InvalidTypeError, UnknownError
from graphc.training.data.elements import Row
from graphc.training.data.functions import UserFunction

_SHARED = 1 << 16
"""Size in bytes from which a result goes through shared memory; a smaller one is as fast through the pipe."""

_GRACE = 2.0
"""Seconds that a process has to end by itself."""


def packed(function: Callable[..., Any], spec: Any, use: str) -> bytes:
    """Pickles a user's function and the types of its elements for another process."""
    content = (function, spec, use)
    try:
        if getattr(function, "__module__", "") == "__main__":  # which a new process may not have
            raise TypeError
        return pickle.dumps(content)
    except Exception as error:
        try:
            import cloudpickle
        except ImportError:
            name = getattr(function, "__name__", repr(function))
            remedy = "define it at the top of a module, or pip install cloudpickle"
            problem = f"{use}: workers= sends {name} to other processes, but Python's pickle cannot pickle it; {remedy}"
            raise InvalidTypeError(problem).here() from error
    try:
        return cloudpickle.dumps(content)
    except Exception as error:
        problem = f"{use}: workers= sends the function to other processes, but it cannot be pickled: {error}"
        raise InvalidTypeError(problem).here() from error


class WorkerPool:
    """Processes that call one function, the payload of :func:`packed`, as an executor of rows."""

    def __init__(self, payload: bytes, count: int, name: str) -> None:
        self._tasks: queue.SimpleQueue[tuple[Row, Future[Row]] | None] = queue.SimpleQueue()
        self._workers = [_Worker(self._tasks, payload, number, name) for number in range(count)]

    @property
    def processes(self) -> Sequence[Any]:
        """The processes."""
        return [worker.process for worker in self._workers]

    def submit(self, row: Row) -> Future[Row]:
        """Schedules a call of the function for a row, in the next free process."""
        future: Future[Row] = Future()
        self._tasks.put((row, future))
        return future

    def close(self, seconds: float) -> None:
        """Drops calls that have not begun, and ends the processes; kills those that run longer than ``seconds``."""
        with suppress(queue.Empty):
            while True:
                task = self._tasks.get_nowait()
                if task is not None:
                    task[1].cancel()
        for _ in self._workers:
            self._tasks.put(None)
        end = time.monotonic() + seconds
        for worker in self._workers:
            worker.join(end)


@cache
def _context() -> Any:
    """Returns the start method: a server that has imported this module, if the system supports it."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])  # the import takes seconds, a process from the server milliseconds
    return context


class _Worker:
    """One process, and the thread that talks to it."""

    def __init__(self, tasks: Any, payload: bytes, number: int, name: str) -> None:
        self._tasks, self._payload, self._what = tasks, payload, f"worker process {number} of map({name})"
        context = _context()
        self._pipe, child_end = context.Pipe()
        self.process = context.Process(target=_serve, args=(child_end,), name=f"graphc-data-{number}", daemon=True)
        self.process.start()
        child_end.close()
        self._slab: SharedMemory | None = None
        self._is_named = False  # a slab that both processes have opened needs no name, so it ends with them
        self._ended_with: Exception | None = None
        self._thread = threading.Thread(target=self._run, name=f"graphc-data-{number}", daemon=True)
        self._thread.start()

    def join(self, end: float) -> None:
        """Waits for the end until a time of ``time.monotonic``, and then kills the process."""
        self._thread.join(max(0.0, end - time.monotonic()))
        if self._thread.is_alive():
            self.process.kill()
            self._thread.join()

    def _run(self) -> None:
        started = False
        try:
            while (task := self._tasks.get()) is not None:
                row, future = task
                if not future.set_running_or_notify_cancel():
                    continue
                try:
                    if not started:
                        self._tell(self._payload)
                        self._answer()
                        started = True
                    self._tell(pickle.dumps(row, 5))
                    result = self._answer()
                except BaseException as error:
                    future.set_exception(error)
                else:
                    future.set_result(result)
        finally:
            self._end()

    def _tell(self, data: bytes) -> None:
        if self._ended_with is not None:
            raise self._ended_with
        try:
            self._pipe.send_bytes(data)
        except OSError:
            raise self._lost() from None

    def _answer(self) -> Any:
        """Returns the answer of the process; raises the exception of the user's function."""
        while True:
            try:
                if self._pipe not in wait([self._pipe, self.process.sentinel]):
                    raise EOFError
                kind, *content = pickle.loads(self._pipe.recv_bytes())
            except (EOFError, OSError):
                raise self._lost() from None
            if kind == "grow":
                self._tell(self._grown(content[0]))
            elif kind == "error":
                raise self._exception(*content)
            else:
                return self._copied(*content) if kind == "shared" else content[0]

    def _lost(self) -> Exception:
        self.process.join(_GRACE)
        code = self.process.exitcode
        if code is not None and code < 0:
            how = f"was killed by {signal.Signals(-code).name}"
        else:
            remedy = "a script that uses workers= must start its work under `if __name__ == '__main__':`"
            how = f"ended by itself, with exit code {code}; {remedy}"
        self._ended_with = AbortedError(f"{self._what} (pid {self.process.pid}) {how}")
        return self._ended_with

    def _exception(self, data: bytes | None, text: str, trace: str) -> BaseException:
        error: BaseException = UnknownError(text)
        if data is not None:
            try:
                error = pickle.loads(data)
            except Exception:  # such as one whose class takes other arguments
                error = UnknownError(text)
        error.add_note(f"in {self._what}:\n{trace.rstrip()}")
        return error

    def _grown(self, size: int) -> bytes:
        """Makes a larger slab, and returns its name."""
        self._drop()
        self._slab, self._is_named = SharedMemory(create=True, size=1 << (size - 1).bit_length()), True
        return self._slab.name.encode()

    def _copied(self, header: bytes, sizes: Sequence[int]) -> Any:
        self._unname()
        memory: Any = np.frombuffer(cast("Any", self._slab).buf, np.uint8)
        stops: list[int] = np.cumsum(sizes).tolist()
        buffers: list[Any] = [memory[stop - size : stop].copy() for size, stop in zip(sizes, stops, strict=True)]
        del memory  # else the slab could not be closed
        return pickle.loads(header, buffers=buffers)

    def _unname(self) -> None:
        if self._slab is not None and self._is_named:
            self._is_named = False
            self._slab.unlink()

    def _drop(self) -> None:
        self._unname()
        if self._slab is not None:
            slab, self._slab = self._slab, None
            slab.close()

    def _end(self) -> None:
        with suppress(OSError):
            self._pipe.send_bytes(b"")
        self.process.join(_GRACE)
        if self.process.is_alive():  # it is still starting, or the user's function left threads running
            self.process.kill()
            self.process.join()
        self._pipe.close()
        self._drop()


def _serve(pipe: Connection) -> None:
    """Calls the function for each element from the pipe; the worker process runs this."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent process handles Ctrl-C
    jax.config.update("jax_platforms", "cpu")
    slab: SharedMemory | None = None
    function: UserFunction | None = None
    try:
        while data := pipe.recv_bytes():
            try:
                if function is None:
                    function = UserFunction(*pickle.loads(data), compiled=False)
                    pipe.send_bytes(pickle.dumps(("ready", None)))
                    continue
                result = function.row(pickle.loads(data))
                slab = _send(pipe, result, slab)
            except Exception as error:
                pipe.send_bytes(_pickled_error(error))
    except (EOFError, OSError, KeyboardInterrupt):
        pass  # the parent process is gone
    finally:
        if slab is not None:
            slab.close()


def _send(pipe: Connection, result: Row, slab: SharedMemory | None) -> SharedMemory | None:
    """Sends a result, large ones through shared memory; returns the slab to use from now on."""
    buffers: list[memoryview] = []
    header = pickle.dumps(result, 5, buffer_callback=lambda buffer: buffers.append(buffer.raw()))
    sizes = [buffer.nbytes for buffer in buffers]
    if sum(sizes) < _SHARED:
        pipe.send_bytes(pickle.dumps(("result", result), 5))
        return slab
    if slab is None or slab.size < sum(sizes):
        if slab is not None:
            slab.close()
        pipe.send_bytes(pickle.dumps(("grow", sum(sizes))))
        slab = SharedMemory(pipe.recv_bytes().decode())
    offset, memory = 0, cast("Any", slab.buf)
    for buffer, size in zip(buffers, sizes, strict=True):
        memory[offset : offset + size] = buffer
        offset += size
    del memory  # else the slab could not be closed
    pipe.send_bytes(pickle.dumps(("shared", header, sizes)))
    return slab


def _pickled_error(error: Exception) -> bytes:
    """Pickles an exception with its traceback as text; without the exception if it cannot be pickled."""
    trace = "".join(traceback.format_exception(error))
    try:
        data: bytes | None = pickle.dumps(error)
    except Exception:
        data = None
    return pickle.dumps(("error", data, f"{type(error).__name__}: {error}", trace))
