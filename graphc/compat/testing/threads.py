"""Threads of a test, whose failures are the test's."""

from __future__ import annotations

import threading
import unittest
from collections.abc import Callable, Mapping, Sequence
from typing import Any

__all__ = ["CheckedThread"]


class CheckedThread:
    """A thread of a test: what it raises fails the test that joins it (TensorFlow's ``checkedThread``).

    Args:
      case: the test.
      target: what the thread runs.
      args: its arguments.
      kwargs: those by name.
    """

    def __init__(
        self,
        case: unittest.TestCase,
        target: Callable[..., Any],
        args: Sequence[Any] | None = None,
        kwargs: Mapping[str, Any] | None = None,
    ) -> None:
        self._case = case
        self._call = (target, tuple(args or ()), dict(kwargs or {}))
        self._error: BaseException | None = None
        self._joined = False
        # A test that fails must not wait for its threads for ever.
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        target, args, kwargs = self._call
        try:
            target(*args, **kwargs)
        except BaseException as error:
            self._error = error

    def start(self) -> None:
        """Starts the thread."""
        self._thread.start()

    def join(self, timeout: float | None = None) -> None:
        """Waits for the thread, and fails the test if it has failed, or runs still.

        Args:
          timeout: how many seconds to wait at most; None for no bound.
        """
        self._thread.join(timeout)
        if self._thread.is_alive():
            self._case.fail(f"the thread still runs after {timeout} seconds")
        self._joined = True
        if self._error is not None:
            error, self._error = self._error, None
            raise self._case.failureException(f"error in a checked thread: {error!r}") from error

    def is_alive(self) -> bool:
        """Returns whether the thread runs still."""
        return self._thread.is_alive()

    def check_termination(self) -> None:
        """Fails the test unless the thread was joined; each test calls this at its end."""
        if not self._joined:
            state = "runs still" if self.is_alive() else "has ended"
            self._case.fail(f"a checked thread was not joined; it {state}")
