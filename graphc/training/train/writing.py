"""A thread that writes while the program continues, and its errors."""

from __future__ import annotations

import sys
import threading
import weakref
from collections.abc import Callable

from graphc.compiler.base import Location, at, user_location, wait_until
from graphc.compiler.base.errors import GraphcError

__all__ = ["Writing"]


class Writing:
    """A background writer: it writes one thing at a time."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._what = ""
        self._is_busy = False
        self._errors: list[BaseException] = []
        # Also when the program ends: by then, all non-daemon threads have ended.
        weakref.finalize(self, _report, self._errors)

    @property
    def is_busy(self) -> bool:
        """True if something is being written."""
        return self._is_busy

    def start(self, write: Callable[[], None], what: str) -> None:
        """Starts a write on a thread; the program does not end before it is done.

        Args:
          write: the function that writes.
          what: the name of what it writes, for messages.
        """
        self._what, self._is_busy = what, True
        threading.Thread(target=self._run, args=(write, user_location()), name="graphc checkpoint").start()

    def _run(self, write: Callable[[], None], location: Location | None) -> None:
        try:
            write()
        except BaseException as error:
            self._errors.append(at(error, location) if isinstance(error, GraphcError) else error)
        with self._condition:
            self._is_busy = False
            self._condition.notify_all()

    def wait(self) -> None:
        """Waits for the thread; raises its error, once.

        Raises:
          DeadlineExceededError: the deadline in force has passed; writing continues.
        """
        with self._condition:
            wait_until(self._condition, lambda: not self._is_busy, lambda: self._what)
        if self._errors:
            raise self._errors.pop()


def _report(errors: list[BaseException]) -> None:
    """Prints errors that no caller has waited for."""
    for error in errors:
        print(f"graphc: a checkpoint was not written: {error}", file=sys.stderr)
