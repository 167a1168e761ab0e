"""A wait for the next element of an iterator that can be abandoned without losing the element."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, Protocol

from graphc.compiler.base import Signal, interruption, when_done

__all__ = ["Attended"]


class _Rows(Iterator[Any], Protocol):
    def close(self) -> None: ...


class _Fetch:
    """The next element, the end, or an error, taken by a separate thread."""

    def __init__(self, rows: _Rows) -> None:
        self._rows = rows
        self._found: list[Any] = []
        self._error: BaseException | None = None
        self.done = Signal()
        when_done(self._take, self.done.set)

    def _take(self) -> None:
        try:
            self._found = list(itertools.islice(self._rows, 1))
        except BaseException as error:  # raised again in the waiting thread
            self._error = error

    def found(self) -> list[Any]:
        if self._error is not None:
            raise self._error
        return self._found


class Attended:
    """An iterator, used by one thread at a time, that respects deadlines and cancellation tokens.

    Args:
      rows: the iterator.
      label: its name in messages.
    """

    def __init__(self, rows: _Rows, label: str) -> None:
        self._rows, self._what = rows, f"the next element of the iterator {label!r}"
        self._fetch: _Fetch | None = None  # a fetch in progress, or one whose element was not taken

    def take(self) -> list[Any]:
        """Returns the next element in a list, which is empty at the end.

        Raises:
          DeadlineExceededError: the deadline in force has passed; the next call returns the element.
          CancelledError: a token in force was cancelled; the same.
        """
        if self._fetch is None and interruption() is None:
            return list(itertools.islice(self._rows, 1))
        fetch = self._fetch = self._fetch or _Fetch(self._rows)
        fetch.done.wait(self._what)
        self._fetch = None
        return fetch.found()

    def close(self) -> None:
        """Ends the iteration, after a fetch in progress."""
        if self._fetch is not None:
            self._fetch.done.wait(self._what)
        self._rows.close()
