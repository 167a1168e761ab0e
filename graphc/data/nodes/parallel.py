"""Python functions of elements, called in several threads or processes."""

from __future__ import annotations

import contextvars
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any

from graphc.data.elements import Row
from graphc.data.functions import UserFunction
from graphc.data.nodes.maps import Noted
from graphc.data.plan import Rows
from graphc.data.sources import State
from graphc.data.workers import WorkerPool, packed

__all__ = ["MappedInProcesses", "MappedInThreads"]


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
        self._pool: ThreadPoolExecutor | WorkerPool | None = None
        self._work: list[_Work] = []
        self._passed: set[int] = set()

    def __next__(self) -> Row:
        self._fill()
        waiting = [work for work in self._work if not work.given]
        if not waiting:
            self._end()
            raise StopIteration
        work = waiting[0]
        if not self._ordered:
            done, _ = wait([work.future for work in waiting], return_when=FIRST_COMPLETED)
            work = next(work for work in waiting if work.future in done)
        work.given = True
        while self._work and self._work[0].given:
            self.number = self._work.pop(0).number + 1
        try:
            return work.future.result()
        except Exception as error:
            self._end()
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
            self._work.append(_Work(before, number, self._submit(row)))

    def _submit(self, row: Row) -> Future[Row]:
        if not isinstance(self._pool, ThreadPoolExecutor):
            self._pool = ThreadPoolExecutor(self._threads, "graphc-data")
        run: Callable[..., Any] = contextvars.copy_context().run
        return self._pool.submit(run, self.function.row, row)

    def state(self) -> State:
        first = self._work[0].before if self._work else self.input.state()
        given = [work.number for work in self._work if work.given]
        return {"number": self.number, "given": [*given, *sorted(self._passed)], "inputs": [first]}

    def restore(self, state: State) -> None:
        super().restore(state)
        self.number, self._passed = state["number"], set(state["given"])

    def _end(self) -> None:
        """Ends the threads; finished results remain available."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None
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
