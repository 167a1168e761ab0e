"""Nodes whose work other threads and processes do: parallel maps, and reading ahead."""

from __future__ import annotations

import contextvars
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from graphc.compiler.base import Pool, wait_until
from graphc.compiler.base.errors import CancelledError, DeadlineExceededError, GraphcError
from graphc.training.data.elements import Row
from graphc.training.data.functions import UserFunction
from graphc.training.data.nodes.maps import NamedRows
from graphc.training.data.plan import Epoch, NodeReader, PlanNode
from graphc.training.data.sources import State
from graphc.training.data.workers import WorkerPool, packed

_END_SECONDS, _EXIT_SECONDS = 1.0, 0.1
"""The time that calls in progress have when the iteration ends before them."""


@dataclass(eq=False)
class _Work:
    """One element in progress."""

    before: State  # the position of the input before it
    number: int
    future: Future[Row]
    given: bool = False  # whether its result was returned before those of earlier elements


class MappedInThreads(NamedRows):
    """Calls a function for several elements at a time; if ``ordered``, results come in the order of the elements."""

    def __init__(self, function: UserFunction, rows: NodeReader, threads: int, ordered: bool) -> None:
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
        delivered = [work.number for work in self._work if work.given]
        return {"number": self.number, "given": [*delivered, *sorted(self._passed)], "inputs": [first]}

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
    """Calls a function for several elements at a time, in separate processes."""

    def __init__(self, function: UserFunction, spec: Any, rows: NodeReader, workers: int, ordered: bool) -> None:
        super().__init__(function, rows, workers, ordered)
        self._spec = spec

    def _submit(self, row: Row) -> Future[Row]:
        if not isinstance(self._pool, WorkerPool):
            payload = packed(self.function.function, self._spec, self.function.use)
            self._pool = WorkerPool(payload, self._threads, self.function.name)
        return self._pool.submit(row)


class _Shelf:
    """The buffer between the reading thread and the consumer: rows that are ready, each with the position after it."""

    def __init__(self, rows: NodeReader, size: int, place: Callable[[Row], Row] | None) -> None:
        self.condition = threading.Condition()
        self.ready: deque[tuple[Row | None, BaseException | None, State]] = deque()
        self.stopped = self.abandoned = False
        self._rows, self._size, self._place, self._done = rows, size, place, False

    def fill(self) -> None:
        """Reads ahead until the input ends, fails, or the reader is stopped."""
        going_on = True
        while going_on:
            row, error = None, None
            try:
                row = next(self._rows, None)
                if row is not None and self._place is not None:
                    row = self._place(row)
            except BaseException as problem:
                error = problem
            going_on = row is not None
            item = (row, error, self._rows.state())
            with self.condition:
                self.ready.append(item)
                self.condition.notify_all()
                self.condition.wait_for(lambda: self.stopped or len(self.ready) < self._size)
                going_on = going_on and not self.stopped
        with self.condition:
            self._done = True
            closes = self.abandoned
        if closes:
            self._rows.close()

    def take(self) -> tuple[Row | None, BaseException | None, State]:
        """Waits for the next item and returns it; the end if another thread took it."""
        with self.condition:
            wait_until(
                self.condition, lambda: self.stopped or bool(self.ready), lambda: "the next element of a dataset"
            )
            end: tuple[None, None, State] = (None, None, {})
            entry = self.ready.popleft() if self.ready else end
            self.condition.notify_all()
        return entry

    def stop(self) -> None:
        """Lets the thread end."""
        with self.condition:
            self.stopped = True
            self.condition.notify_all()

    def abandon(self) -> bool:
        """Leaves it to the thread to close the rows, which it still reads; returns False if the thread has ended."""
        with self.condition:
            self.abandoned = not self._done
        return self.abandoned


class ReadAhead(NodeReader):
    """Reads its input in a thread, some rows ahead; ``place`` is applied to each row in the thread."""

    # The thread starts with the first requested row. It ends with the input, after an exception, or on :meth:`close`.

    def __init__(self, rows: NodeReader, size: int, place: Callable[[Row], Row] | None = None) -> None:
        super().__init__(rows)
        self._size, self._place = size, place
        self._shelf: _Shelf | None = None
        self._thread: threading.Thread | None = None
        self._position: State | None = None
        self._gave_up = False

    def __next__(self) -> Row:
        if self._shelf is None:
            self._position = self.input.state()
            self._shelf = _Shelf(self.input, self._size, self._place)
            run = contextvars.copy_context().run
            self._thread = threading.Thread(target=run, args=(self._shelf.fill,), name="graphc-data", daemon=True)
            self._thread.start()
        self._gave_up = True  # unless the wait ends
        row, error, self._position = self._shelf.take()
        self._gave_up = False
        if row is None:
            self._end()
        if error is not None:
            if isinstance(error, GraphcError) and "\n  at " not in str(error):
                raise error.here()
            raise error
        if row is None:
            raise StopIteration
        return row

    @property
    def has_some(self) -> bool:
        """True if the thread has read something that the next call returns."""
        return self._shelf is not None and bool(self._shelf.ready)

    def _end(self) -> bool:
        """Stops the thread; returns True if it is still in a long read, after which it closes the input itself."""
        # Neither a program that exits nor one whose wait ended early waits for the thread.
        shelf, thread = self._shelf, self._thread
        self._shelf = self._thread = None
        if shelf is None or thread is None:
            return False
        shelf.stop()
        if thread is not threading.current_thread():
            patient = threading.main_thread().is_alive() and not self._gave_up
            thread.join(_END_SECONDS if patient else _EXIT_SECONDS)
        return shelf.abandon()

    def state(self) -> State:
        inner = self.input.state() if self._shelf is None or self._position is None else self._position
        return {"inputs": [inner]}

    def close(self) -> None:
        if not self._end():
            super().close()


@dataclass(frozen=True, eq=False)
class Prefetch(PlanNode):
    """The same elements, prefetched."""

    word = "prefetch"
    source: PlanNode
    buffer_size: int
    place: Callable[[Row], Row] | None = field(default=None, repr=False)  # moves a row to devices

    def open(self, epoch: Epoch) -> NodeReader:
        return ReadAhead(self.input.open(epoch), self.buffer_size, self.place)
