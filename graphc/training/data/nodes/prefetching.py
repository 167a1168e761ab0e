"""Reading ahead in a thread, which can also move elements to devices."""

from __future__ import annotations

import contextvars
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from graphc.compiler.base import at, user_location, wait_until
from graphc.compiler.base.errors import GraphcError
from graphc.training.data.elements import Row
from graphc.training.data.plan import Epoch, Node, Rows
from graphc.training.data.sources import Cardinality, State

__all__ = ["Prefetch", "ReadAhead"]

_END_SECONDS, _EXIT_SECONDS = 1.0, 0.1


class _Shelf:
    """The buffer between the reading thread and the consumer: rows that are ready, each with the position after it."""

    def __init__(self, rows: Rows, size: int, place: Callable[[Row], Row] | None) -> None:
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
            found = self.ready.popleft() if self.ready else end
            self.condition.notify_all()
        return found

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


class ReadAhead(Rows):
    """Reads its input in a thread, some rows ahead.

    The thread starts with the first requested row. It ends with the input, after an exception, or on :meth:`close`.

    Args:
      rows: the rows to read.
      size: the number of rows to keep ready.
      place: a function applied to each row in the thread, such as a transfer to a device.
    """

    def __init__(self, rows: Rows, size: int, place: Callable[[Row], Row] | None = None) -> None:
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
                raise at(error, user_location())
            raise error
        if row is None:
            raise StopIteration
        return row

    @property
    def has_some(self) -> bool:
        """True if the thread has read something that the next call returns."""
        return self._shelf is not None and bool(self._shelf.ready)

    def _end(self) -> bool:
        """Stops the thread; returns True if it is still in a long read, after which it closes the input itself.

        Neither a program that exits nor one whose wait ended early waits for the thread.
        """
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
class Prefetch(Node):
    """The same elements, prefetched.

    Attributes:
      place: a function that moves a row to devices; None to leave it on the host.
    """

    word = "prefetch"
    source: Node
    buffer_size: int
    place: Callable[[Row], Row] | None = field(default=None, repr=False)

    @cached_property
    def cardinality(self) -> Cardinality:
        return self.input.cardinality

    @cached_property
    def spec(self) -> Any:
        return self.input.spec

    def open(self, epoch: Epoch) -> Rows:
        return ReadAhead(self.input.open(epoch), self.buffer_size, self.place)
