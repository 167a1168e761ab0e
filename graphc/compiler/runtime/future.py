"""Future: the result of an asynchronous call."""

from __future__ import annotations

import concurrent.futures
from collections.abc import Generator
from typing import Any, TypeVar

from graphc.compiler.base import (
    CancellationToken,
    Location,
    Signal,
    Work,
    at,
    start_on_thread,
    until_called,
    user_location,
)
from graphc.compiler.base.errors import CancelledError, DeadlineExceededError, InvalidArgumentError
from graphc.compiler.runtime.pool import inter_op_pool

__all__ = ["Future"]

T = TypeVar("T")


class Future(concurrent.futures.Future[T]):
    """The result of a call passed to :func:`graphc.submit`; ``await`` it, or call :meth:`result`.

    It is a ``concurrent.futures.Future``, which ``concurrent.futures.wait`` and ``as_completed`` accept.

    Attributes:
      name: the function's name, for messages.
    """

    def __init__(self, name: str, token: CancellationToken, place: Location | None) -> None:
        super().__init__()
        self.name = name
        self._token = token
        self._place = place
        self._work: Work | None = None
        self._finished = Signal()
        self.add_done_callback(lambda _: self._finished.set())

    def attach(self, work: Work) -> None:
        """Sets the pool's work item that computes the result."""
        self._work = work

    def describe(self) -> str:
        """Returns a description of the call, for messages."""
        place = "" if self._place is None else f", submitted at {self._place.short}"
        return f"the call of {self.name!r}{place}"

    def cancel(self) -> bool:
        """Cancels the call if it has not begun. A running call is asked to stop: its waits raise.

        Returns:
          True if it will not run. If False, the result is still that of the call, or a :class:`CancelledError` if the
          call was waiting.
        """
        if self.cancelled():
            return True
        if self._work is not None and self._work.cancel() and super().cancel():
            self.set_running_or_notify_cancel()  # notifies the waiters
            return True
        self._token.cancel("the future was cancelled")
        return False

    def result(self, timeout: float | None = None) -> T:
        """Returns the call's result, after waiting until it is computed.

        Args:
          timeout: the maximum time to wait in seconds; None for the deadline in force, if any.

        Raises:
          DeadlineExceededError: the call was not done in time; it continues.
          CancelledError: it was cancelled.
          Exception: the error of the call.
        """
        self._wait(timeout)
        return super().result(0)

    def exception(self, timeout: float | None = None) -> BaseException | None:
        """Returns the call's exception, or None; waits like :meth:`result`."""
        self._wait(timeout)
        return super().exception(0)

    def __await__(self) -> Generator[Any, None, T]:
        """Waits like :meth:`result`, but lets other asyncio tasks run meanwhile."""
        if not self.done():
            work = self._work
            if work is not None and inter_op_pool.is_mine() and inter_op_pool.is_busy and work.take():
                start_on_thread(work.run)  # all pool threads may be waiting, like the one of this loop
            yield from until_called(lambda done: self.add_done_callback(lambda _: done()), self.describe).__await__()
        return self.result()

    def _wait(self, timeout: float | None) -> None:
        if timeout is not None and not timeout >= 0:
            error = InvalidArgumentError(f"result: expected a nonnegative timeout or None, got {timeout!r}")
            raise at(error, user_location())
        work = self._work
        if not self.done() and work is not None and inter_op_pool.is_mine() and work.take():
            work.run()  # otherwise all pool threads might wait for work that none of them runs
        if not self.done() and not (timeout != 0 and self._finished.wait(self.describe, timeout)):
            error = DeadlineExceededError(f"{self.describe()} was not done within {timeout:g} s, and goes on")
            raise at(error, user_location())
        if self.cancelled():
            raise at(CancelledError(f"{self.describe()} was cancelled before it began"), user_location())
