"""Python functions of elements, called in several threads or processes."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from graphc.compiler.base import Pool, wait_until
from graphc.compiler.base.errors import CancelledError, DeadlineExceededError
from graphc.training.data.elements import Row
from graphc.training.data.functions import UserFunction
from graphc.training.data.nodes.maps import Noted
from graphc.training.data.plan import Rows
from graphc.training.data.sources import State
from graphc.training.data.workers import WorkerPool, packed

__all__ = ["MappedInProcesses", "MappedInThreads"]

_END_SECONDS = 1.0
"""The time that calls in progress have when the iteration ends before them."""


@dataclass(eq=False)
class _Work:
    """One element in progress.

    Attributes:
      before: the position of the input before it.
      number: its index.
      given: whether its result was returned before those of earlier elements.
    """

    before: State
    number: int
    future: Future[Row]
    given: bool = False


class MappedInThreads(Noted):
    """Calls a function for several elements at a time.

    Args:
      function: the function.
      rows: the rows to call it with.
      threads: the number of concurrent calls.
      ordered: whether results come in the order of the elements.
    """

    def __init__(self, function: UserFunction, rows: Rows, threads: int, ordered: bool) -> None:
        super().__init__(function, rows)
        self._threads, self._ordered = threads, ordered
        self._pool: Pool | WorkerPool | None = None
        self._done = threading.Condition()  # notified when a call is done
        self._gave_up = False
        self._work: list[_Work] = []
        self._passed: set[int] = set()

    def __next__(self) -> Row:
        self._fill()
        waiting = [work for work in self._work if not work.given]
        if not waiting:
            self._end()
            raise StopIteration
        wanted = waiting[:1] if self._ordered else waiting
        self._gave_up = True  # unless the wait ends
        with self._done:
            wait_until(self._done, lambda: any(work.future.done() for work in wanted), self._waited_for)
        self._gave_up = False
        work = next(work for work in wanted if work.future.done())
        work.given = True
        while self._work and self._work[0].given:
            self.number = self._work.pop(0).number + 1
        try:
            return work.future.result()
        except Exception as error:
            self._pause()
            self.note(error, work.number)
            raise

    def _fill(self) -> None:
        while sum(not work.given for work in self._work) < 2 * self._threads:
            before = self.input.state()
            row = next(self.input, None)
            if row is None:
                return
            number = self._work[-1].number + 1 if self._work else self.number
            if number in self._passed:
                self._passed.discard(number)
                self._work.append(_Work(before, number, Future(), given=True))
                continue
            future = self._submit(row)
            future.add_done_callback(self._notify)
            self._work.append(_Work(before, number, future))

    def _submit(self, row: Row) -> Future[Row]:
        if not isinstance(self._pool, Pool):
            threads = self._threads
            self._pool = Pool("graphc-data", lambda: threads, grace_seconds=0)
        future: Future[Row] = Future()

        def run() -> None:
            try:
                result = self.function.row(row)
            except BaseException as error:
                future.set_exception(error)
            else:
                future.set_result(result)

        self._pool.give(run)
        return future

    def _notify(self, _: Future[Row]) -> None:
        with self._done:
            self._done.notify_all()

    def _waited_for(self) -> str:
        return f"an element of a dataset, for which {self.function.use}({self.function.name}) is running"

    def state(self) -> State:
        first = self._work[0].before if self._work else self.input.state()
        given = [work.number for work in self._work if work.given]
        return {"number": self.number, "given": [*given, *sorted(self._passed)], "inputs": [first]}

    def restore(self, state: State) -> None:
        super().restore(state)
        self.number, self._passed = state["number"], set(state["given"])

    def _pause(self) -> None:
        """Ends the threads if all calls end soon, since nobody may take another element; their results remain."""
        with self._done, suppress(DeadlineExceededError, CancelledError):
            if wait_until(
                self._done, lambda: all(work.future.done() for work in self._work), self._waited_for, _END_SECONDS
            ):
                self._end()

    def _end(self) -> None:
        """Drops the calls that have not begun, and ends the threads or processes."""
        if self._pool is not None:
            self._pool.close(0 if self._gave_up else _END_SECONDS)
            self._pool = None

    def close(self) -> None:
        self._end()
        self._work.clear()
        super().close()


class MappedInProcesses(MappedInThreads):
    """Calls a function for several elements at a time, in separate processes.

    Args:
      function: the function.
      spec: the types of the elements that it is called with.
      rows: the rows to call it with.
      workers: the number of processes.
      ordered: whether results come in the order of the elements.
    """

    def __init__(self, function: UserFunction, spec: Any, rows: Rows, workers: int, ordered: bool) -> None:
        super().__init__(function, rows, workers, ordered)
        self._spec = spec

    def _submit(self, row: Row) -> Future[Row]:
        if not isinstance(self._pool, WorkerPool):
            payload = packed(self.function.function, self._spec, self.function.use)
            self._pool = WorkerPool(payload, self._threads, self.function.name)
        return self._pool.submit(row)
