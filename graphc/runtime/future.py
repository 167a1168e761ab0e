"""Future: the result of a call that runs beside the program."""

from __future__ import annotations

import concurrent.futures
from collections.abc import Generator
from typing import Any, TypeVar

from graphc.base import CancellationToken, Location, Signal, Work, at, start_on_thread, until_called, user_location
from graphc.base.errors import CancelledError, DeadlineExceededError, InvalidArgumentError
from graphc.runtime.pool import inter_op_pool

__all__ = ["Future"]

T = TypeVar("T")


class Future(concurrent.futures.Future[T]):
    """The result of a call given to :func:`graphc.submit`; ``await`` it, or ask for :meth:`result`.

    It is a ``concurrent.futures.Future``, so that ``concurrent.futures.wait`` and ``as_completed`` take it.

    Attributes:
      name: of the function, for messages.
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
        """Says which work of the pool computes the result."""
        self._work = work

    def describe(self) -> str:
        """Returns the call in words, for messages."""
        place = "" if self._place is None else f", submitted at {self._place.short}"
        return f"the call of {self.name!r}{place}"

    def cancel(self) -> bool:
        """Takes the call back if it has not begun. One that runs is asked to stop: what it waits for raises.

        Returns:
          Whether it will not run. Where False, the result is that of the call all the same, or a
          :class:`CancelledError` if it was waiting for something.
        """
        if self.cancelled():
            return True
        if self._work is not None and self._work.cancel() and super().cancel():
            self.set_running_or_notify_cancel()  # tells those who wait
            return True
        self._token.cancel("the future was cancelled")
        return False

    def result(self, timeout: float | None = None) -> T:
        """Returns what the call returns, computed; waits for it.

        Args:
          timeout: how many seconds to wait at most; None for as long as the deadline in force allows.

        Raises:
          DeadlineExceededError: it is not done in time; it goes on.
          CancelledError: it was cancelled.
          Exception: what the call raises.
        """
        self._wait(timeout)
        return super().result(0)

    def exception(self, timeout: float | None = None) -> BaseException | None:
        """Returns what the call raises, None if nothing; waits as :meth:`result` does."""
        self._wait(timeout)
        return super().exception(0)

    def __await__(self) -> Generator[Any, None, T]:
        """Waits in asyncio, whose other tasks go on meanwhile; as :meth:`result`."""
        if not self.done():
            work = self._work
            if work is not None and inter_op_pool.is_mine() and inter_op_pool.is_busy and work.take():
                start_on_thread(work.run)  # its threads may all wait, as the one of this loop does
            yield from until_called(lambda done: self.add_done_callback(lambda _: done()), self.describe).__await__()
        return self.result()

    def _wait(self, timeout: float | None) -> None:
        if timeout is not None and not timeout >= 0:
            error = InvalidArgumentError(f"result: expected a timeout from 0 on or None, got {timeout!r}")
            raise at(error, user_location())
        work = self._work
        if not self.done() and work is not None and inter_op_pool.is_mine() and work.take():
            work.run()  # else all threads of the pool might wait for work that none of them does
        if not self.done() and not (timeout != 0 and self._finished.wait(self.describe, timeout)):
            error = DeadlineExceededError(f"{self.describe()} was not done within {timeout:g} s")
            raise at(error, user_location())
        if self.cancelled():
            raise at(CancelledError(f"{self.describe()} was cancelled before it began"), user_location())
