"""Waiting for what cannot be interrupted itself: on a thread of its own, or in asyncio without blocking its loop."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from graphc.base.deadlines import What, interruption
from graphc.base.pool import Pool
from graphc.base.waiting import Signal

__all__ = ["finish_given_up", "run_on_thread", "start_on_thread", "until_called", "when_done"]

T = TypeVar("T")

# As many threads as there are waits: one that waits for what never comes must not keep others from their work.
_threads = Pool("graphc.wait", lambda: sys.maxsize)

_given_up: dict[Signal, tuple[What, list[int]]] = {}
"""Functions that go on though nobody waits for them any more: set when they are done, what they are, their thread."""


def run_on_thread(function: Callable[[], T], what: What, *, inherits: bool = False) -> T:
    """Runs a function that blocks and cannot be interrupted on another thread, and waits for it.

    Where waiting ends early the function goes on, on a daemon thread that ends with it, and what it returns is dropped.

    Args:
      function: what to call.
      what: what is waited for, as a noun.
      inherits: whether what is in force here holds in the function.

    Returns:
      What the function returns.

    Raises:
      DeadlineExceededError: the deadline in force has passed.
      CancelledError: a token in force was cancelled.
      Exception: what the function raises.
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
        done.wait(what)
    except BaseException:
        _given_up[done] = what, threads
        if done.is_set:
            _given_up.pop(done, None)
        raise
    if errors:
        raise errors.pop()
    return results.pop()


def finish_given_up() -> None:
    """Waits for the functions that :func:`run_on_thread` has given up, but for one that calls this.

    Raises:
      DeadlineExceededError: the deadline in force has passed.
      CancelledError: a token in force was cancelled.
    """
    here = threading.get_ident()
    for done, (what, threads) in list(_given_up.items()):
        if here not in threads:
            done.wait(lambda what=what: f"{what if isinstance(what, str) else what()}, which was given up")


def start_on_thread(function: Callable[[], None]) -> None:
    """Calls a function, which must not raise, on a thread of its own that acts for this one."""
    _threads.give(function)


async def until_called(register: Callable[[Callable[[], None]], object], what: What) -> None:
    """Waits in asyncio, without blocking its loop, until a callback is called.

    Args:
      register: is given the callback, which any thread may call.
      what: what is waited for, as a noun.

    Raises:
      DeadlineExceededError: the deadline in force has passed.
      CancelledError: a token in force was cancelled.
    """
    import asyncio  # who calls this has it, and it takes 9 ms to import

    loop = asyncio.get_running_loop()
    woken, called = asyncio.Event(), list[bool]()

    def wake() -> None:
        with suppress(RuntimeError):  # the loop was closed: nobody waits any more
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
            current.check(what)
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
    """Calls a function that blocks on a thread of its own, and then the callback, also where it has raised."""

    def run() -> None:
        try:
            with suppress(BaseException):  # asked again by who waits
                function()
        finally:
            callback()

    _threads.give(run, inherits=False)
