"""``gx.submit``: asynchronous calls of functions."""

from __future__ import annotations

import functools
from collections.abc import Callable
from numbers import Real
from typing import Any, TypeVar

import jax

from graphc.compiler.base import (
    CancellationToken,
    at,
    check_interrupted,
    checked_seconds,
    deadline,
    interruption,
    nest,
    pause,
    user_location,
)
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError
from graphc.compiler.core import Tensor, context, device_scope, thread_settings, wait_for
from graphc.compiler.runtime.future import Future
from graphc.compiler.runtime.pool import inter_op_pool
from graphc.compiler.runtime.retry import RetryPolicy
from graphc.compiler.tracing import refuse_in_trace

__all__ = ["submit"]

T = TypeVar("T")


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
        raise at(InvalidTypeError(f"gx.submit: expected a function, got {fn!r:.80}"), user_location())
    if not (retry is None or isinstance(retry, RetryPolicy)):
        error = InvalidTypeError(f"gx.submit: retry must be a gx.RetryPolicy or None, got {retry!r:.80}")
        raise at(error, user_location())
    if isinstance(priority, bool) or not isinstance(priority, Real) or priority != priority:
        raise at(InvalidArgumentError(f"gx.submit: priority must be a number, got {priority!r:.80}"), user_location())
