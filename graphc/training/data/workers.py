"""Processes that call a Python function for elements: for functions that hold the GIL for long."""

from __future__ import annotations

import multiprocessing
import pickle
import signal
import time
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, cast

import jax

from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import AbortedError, InvalidTypeError
from graphc.training.data.elements import Row
from graphc.training.data.functions import UserFunction


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
            raise at(InvalidTypeError(problem), user_location()) from error
    try:
        return cloudpickle.dumps(content)
    except Exception as error:
        problem = f"{use}: workers= sends the function to other processes, but it cannot be pickled: {error}"
        raise at(InvalidTypeError(problem), user_location()) from error


class WorkerPool:
    """Processes that call one function, as an executor of rows. Each starts fresh: it shares no threads and no locks.

    Args:
      payload: the result of :func:`packed`.
    """

    def __init__(self, payload: bytes, count: int, name: str) -> None:
        self._processes: list[Any] = []
        self._executor = ProcessPoolExecutor(count, self._context(), _start, (payload,))
        self._name = name

    def _context(self) -> Any:
        """Returns a way to start processes that notes them, so that those that do not end can be killed."""
        # A server that has imported this module, if the system has one: the import takes seconds.
        method = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
        context: Any = multiprocessing.get_context(method)
        if method == "forkserver":
            context.set_forkserver_preload([__name__])
        processes, kind = self._processes, cast("Any", type(context))

        class Context(kind):
            def Process(self, *args: Any, **options: Any) -> Any:  # noqa: N802
                process = context.Process(*args, **options, daemon=True)
                processes.append(process)
                return process

        return Context()

    def submit(self, row: Row) -> Future[Row]:
        """Schedules a call of the function for a row, in the next free process."""
        future: Future[Row] = Future()

        def done(call: Future[Row]) -> None:
            if call.cancelled():
                future.cancel()
            elif (error := call.exception()) is None:
                future.set_result(call.result())
            else:
                future.set_exception(self._lost() if isinstance(error, BrokenProcessPool) else error)

        try:
            self._executor.submit(_call, row).add_done_callback(done)
        except BrokenProcessPool:
            future.set_exception(self._lost())
        return future

    def _lost(self) -> AbortedError:
        remedy = "a script that uses workers= must start its work under `if __name__ == '__main__':`"
        return AbortedError(f"a worker process of map({self._name}) was killed or ended by itself; {remedy}")

    def close(self, seconds: float) -> None:
        """Drops calls that have not begun, and ends the processes; kills those that run longer than ``seconds``."""
        self._executor.shutdown(wait=False, cancel_futures=True)
        end = time.monotonic() + seconds
        for process in self._processes:
            process.join(max(0.0, end - time.monotonic()))
            process.kill()
            process.join()


# What a worker process has: the function, once an element has come.

_payload = b""
_function: UserFunction | None = None


def _start(payload: bytes) -> None:
    global _payload
    _payload = payload
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent process handles Ctrl-C
    jax.config.update("jax_platforms", "cpu")


def _call(row: Row) -> Row:
    global _function
    if _function is None:  # here, so that an error of the import is the call's
        _function = UserFunction(*pickle.loads(_payload), compiled=False)
    return _function.row(row)
