"""``gx.submit``: asynchronous calls of functions."""

from __future__ import annotations

import concurrent.futures
import functools
from collections.abc import Callable, Generator
from dataclasses import dataclass
from numbers import Real
from typing import Any, TypeVar

import jax

from graphc.compiler.base import (
    CancellationToken,
    Location,
    Signal,
    Work,
    check_interrupted,
    checked_seconds,
    deadline,
    interruption,
    nest,
    pause,
    start_on_thread,
    until_called,
    user_location,
)
from graphc.compiler.base.errors import CancelledError, DeadlineExceededError, InvalidArgumentError, InvalidTypeError
from graphc.compiler.core import Tensor, context, device_scope, thread_settings, wait_for
from graphc.compiler.runtime.executor import inter_op_pool
from graphc.compiler.tracing import refuse_in_trace

# Future: the result of an asynchronous call.

T = TypeVar("T")


class Future(concurrent.futures.Future[T]):
    """The result of a call passed to :func:`graphc.submit`; ``await`` it, or call :meth:`result`.

    It is a ``concurrent.futures.Future``, which ``concurrent.futures.wait`` and ``as_completed`` accept.

    Attributes:
      name: the function's name, for messages.
    """

    def __init__(self, name: str, token: CancellationToken, location: Location | None) -> None:
        super().__init__()
        self.name = name
        self._token = token
        self._place = location
        self._work: Work | None = None
        self._finished = Signal()
        self.add_done_callback(lambda _: self._finished.set())

    def attach(self, work: Work) -> None:
        """Sets the pool's work item that computes the result."""
        self._work = work

    def describe(self) -> str:
        """Returns a description of the call, for messages."""
        where = "" if self._place is None else f", submitted at {self._place.short}"
        return f"the call of {self.name!r}{where}"

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
            raise InvalidArgumentError(f"result: expected a nonnegative timeout or None, got {timeout!r}").here()
        work = self._work
        if not self.done() and work is not None and inter_op_pool.is_mine() and work.take():
            work.run()  # otherwise all pool threads might wait for work that none of them runs
        if not self.done() and not (timeout != 0 and self._finished.wait(self.describe, timeout)):
            raise DeadlineExceededError(f"{self.describe()} was not done within {timeout:g} s, and goes on").here()
        if self.cancelled():
            raise CancelledError(f"{self.describe()} was cancelled before it began").here()


# RetryPolicy: rules for retrying failed work.


@dataclass(frozen=True)
class RetryPolicy:
    """The number of attempts, and the failures after which to retry.

    Variables keep their state after a failed attempt: a compiled function that fails leaves them unchanged, but Python
    code may have assigned some.

    Args:
      max_attempts: the maximum number of attempts, including the first.
      on: the exceptions after which to retry. A passed deadline or a cancellation always ends the work.
      backoff: the seconds to wait before the second attempt; None for no wait.
      factor: the factor by which each wait exceeds the one before.

    Example:
      >>> RetryPolicy(3, on=(OSError,), backoff=0.5).delay(2)
      1.0
    """

    max_attempts: int
    on: tuple[type[Exception], ...] = (Exception,)
    backoff: float | None = None
    factor: float = 2.0

    def __post_init__(self) -> None:
        if type(self.max_attempts) is not int or self.max_attempts < 1:
            raise _error(f"max_attempts must be a positive int, got {self.max_attempts!r}")
        requested: Any = self.on
        kinds: tuple[Any, ...] = nest.as_tuple(requested)
        if not kinds or not all(isinstance(kind, type) and issubclass(kind, Exception) for kind in kinds):
            raise _error(f"on must be exception classes, got {requested!r}")
        object.__setattr__(self, "on", kinds)
        checked_seconds(self.backoff, "gx.RetryPolicy: backoff")
        if isinstance(self.factor, bool) or not isinstance(self.factor, Real) or not self.factor >= 1:
            raise _error(f"factor must be a number of at least 1, got {self.factor!r}")

    def delay(self, attempt: int) -> float:
        """Returns the seconds to wait after an attempt, counted from 1."""
        return (self.backoff or 0.0) * self.factor ** (attempt - 1)


def _error(message: str) -> InvalidArgumentError:
    return InvalidArgumentError(f"gx.RetryPolicy: {message}").here()


def submit(
    fn: Callable[..., T],
    *args: Any,
    retry: RetryPolicy | None = None,
    priority: float = 0,
    timeout: float | None = None,
    **kwargs: Any,
) -> Future[T]:
    """Calls a function on another thread; up to ``gx.config.inter_op_threads`` such calls run at once.

    The call inherits the deadline, the cancellation tokens, the device scope and the 64-bit setting in force. Open
    gradient tapes do not record it. The future is done when the tensors in the result are computed. At program exit,
    calls that have not begun are dropped, and running ones are awaited for at most five seconds.

    Args:
      fn: the function, compiled or not.
      *args: the positional arguments.
      retry: the policy for calling it again after a failure; None for no retry.
      priority: the priority among calls that wait for a thread; higher runs first.
      timeout: the time limit in seconds from now on, including the wait for a thread.
      **kwargs: the keyword arguments; use ``functools.partial`` for one named like an option of this function.

    Returns:
      The future of the result.

    Raises:
      InvalidArgumentError: an option has an invalid value.
      DeadlineExceededError: the queue of waiting calls was full, and no room became free in time.

    Example:
      >>> import graphc as gx
      >>> futures = [gx.submit(lambda n=n: gx.sum(gx.arange(n))) for n in (3, 4)]
      >>> [future.result().item() for future in futures]
      [3, 6]
    """
    refuse_in_trace(
        "gx.submit in a compiled function would run once, when the function is traced. Call it outside; "
        "independent ops of a compiled function run in parallel anyway"
    )
    _check(fn, retry, priority)
    checked_seconds(timeout, "gx.submit: timeout")
    name = getattr(fn, "__name__", type(fn).__name__)
    token = CancellationToken()
    future: Future[T] = Future(name, token, user_location())
    call, device, settings = functools.partial(fn, *args, **kwargs), context.device, thread_settings()

    def run() -> None:
        if not future.set_running_or_notify_cancel():
            return
        try:
            with settings(), device_scope(device):
                result = _attempts(call, retry, future.describe)
        except BaseException as error:
            future.set_exception(error)
        else:
            future.set_result(result)

    with deadline(timeout), token:  # the work inherits a copy of this context
        future.attach(inter_op_pool.give(run, priority=priority, name=name))
    return future


def _attempts(call: Callable[[], T], retry: RetryPolicy | None, what: Callable[[], str]) -> T:
    attempt = 1
    while True:
        check_interrupted(what)
        try:
            result = call()
            leaves = nest.flatten(result)[0]
            arrays = [leaf.raw if isinstance(leaf, Tensor) else leaf for leaf in leaves]
            wait_for([array for array in arrays if isinstance(array, jax.Array)], what)
            check_interrupted(what)
            return result
        except Exception as error:
            current = interruption()
            over = retry is None or attempt >= retry.max_attempts or (current is not None and current.is_due)
            if retry is None or over or not isinstance(error, retry.on):
                if attempt > 1:
                    error.add_note(f"in attempt {attempt} of {what()}")
                raise
        delay = retry.delay(attempt)
        if delay:
            pause(delay, lambda: f"the next attempt of {what()}")
        attempt += 1


def _check(fn: Any, retry: Any, priority: Any) -> None:
    if not callable(fn):
        raise InvalidTypeError(f"gx.submit: expected a function, got {fn!r:.80}").here()
    if not (retry is None or isinstance(retry, RetryPolicy)):
        raise InvalidTypeError(f"gx.submit: retry must be a gx.RetryPolicy or None, got {retry!r:.80}").here()
    if isinstance(priority, bool) or not isinstance(priority, Real) or priority != priority:
        raise InvalidArgumentError(f"gx.submit: priority must be a number, got {priority!r:.80}").here()
