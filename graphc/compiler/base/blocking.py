"""Waiting for calls that cannot be interrupted: on a separate thread, or in asyncio without blocking its loop."""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from graphc.compiler.base.deadlines import Subject, interruption
from graphc.compiler.base.frames import user_location
from graphc.compiler.base.pool import Pool
from graphc.compiler.base.waiting import Signal

__all__ = ["finish_given_up", "run_on_thread", "start_on_thread", "until_called", "when_done"]

T = TypeVar("T")

# One thread for each wait: a wait that never ends must not keep others from working.
_threads = Pool("graphc.wait", lambda: sys.maxsize, grace_seconds=0)

_given_up: dict[Signal, tuple[Subject, list[int]]] = {}
"""Abandoned functions that still run: the signal set at their end, their description, and their thread."""


def run_on_thread(function: Callable[[], T], subject: Subject, *, inherits: bool = False) -> T:
    """Runs a blocking function that cannot be interrupted on another thread, and waits for it.

    If the wait ends early, the function continues on a daemon thread that ends with it, and its result is dropped.

    Args:
      function: the function to call.
      subject: the subject of the wait as a noun, for messages.
      inherits: whether the deadlines and tokens in force apply inside the function.

    Returns:
      The function's result.

    Raises:
      DeadlineExceededError: the deadline in force has passed.
      CancelledError: a token in force was cancelled.
      Exception: the function's error.
    """
    done, results, errors, threads = Signal(), list[T](), list[BaseException](), list[int]()

    def run() -> None:
        threads.append(threading.get_ident())
        try:
            results.append(function())
        except BaseException as error:
            errors.append(error)
        finally:
            done.set()
            _given_up.pop(done, None)

    _threads.give(run, inherits=inherits)
    try:
        done.wait(subject)
    except BaseException:
        _given_up[done] = subject, threads
        if done.is_set:
            _given_up.pop(done, None)
        _report_given_up(done, subject)
        raise
    if errors:
        raise errors.pop()
    return results.pop()


def _report_given_up(done: Signal, subject: Subject) -> None:
    """Logs after some seconds that an abandoned function still runs: two of them hold all XLA threads of two cores."""
    place = user_location()

    def run() -> None:
        if not done.wait(subject, _REPORT_SECONDS):
            what = subject if isinstance(subject, str) else subject()
            line = "" if place is None else f"\n  given up at {place}"
            _logger.warning(
                "%s is still being computed, %g s after its caller gave up, and may hold threads of its device for "
                "which other work waits. XLA cannot be interrupted: bound the loop "
                "(gx.loop_options(max_iterations=...)), or run it in a process of its own%s",
                what,
                _REPORT_SECONDS,
                line,
            )

    _threads.give(run, inherits=False)


_REPORT_SECONDS = 5.0
_logger = logging.getLogger("graphc.watchdog")


def finish_given_up() -> None:
    """Waits for the functions abandoned by :func:`run_on_thread`, except one that calls this function.

    Raises:
      DeadlineExceededError: the deadline in force has passed.
      CancelledError: a token in force was cancelled.
    """
    here = threading.get_ident()
    for done, (subject, threads) in list(_given_up.items()):
        if here not in threads:
            done.wait(
                lambda subject=subject: f"{subject if isinstance(subject, str) else subject()}, which was abandoned"
            )


def start_on_thread(function: Callable[[], None]) -> None:
    """Calls a function, which must not raise, on a separate thread that acts for this one."""
    _threads.give(function)


async def until_called(register: Callable[[Callable[[], None]], object], subject: Subject) -> None:
    """Waits in asyncio, without blocking its loop, until a callback is called.

    Args:
      register: receives the callback, which any thread may call.
      subject: the subject of the wait as a noun, for messages.

    Raises:
      DeadlineExceededError: the deadline in force has passed.
      CancelledError: a token in force was cancelled.
    """
    import asyncio  # the caller has imported it already; it takes 9 ms

    loop = asyncio.get_running_loop()
    woken, called = asyncio.Event(), list[bool]()

    def wake() -> None:
        with suppress(RuntimeError):  # the loop was closed: nobody waits
            loop.call_soon_threadsafe(woken.set)

    def callback() -> None:
        called.append(True)
        wake()

    current = interruption()
    register(callback)
    if current is None:
        await woken.wait()
        return
    forget = [token.on_cancel(wake) for token in current.tokens]
    timer = None
    try:
        while not called:
            current.check(subject)
            left = current.remaining()
            timer = None if left is None else loop.call_later(left, woken.set)
            await woken.wait()
            woken.clear()
    finally:
        if timer is not None:
            timer.cancel()
        for take_back in forget:
            take_back()


def when_done(function: Callable[[], object], callback: Callable[[], None]) -> None:
    """Calls a blocking function on a separate thread, and then the callback, even if the function raised."""

    def run() -> None:
        try:
            with suppress(BaseException):  # raised again for the waiting caller
                function()
        finally:
            callback()

    _threads.give(run, inherits=False)
