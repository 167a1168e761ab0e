"""Settings of the Python interpreter that graphc changes for a while: recursion and garbage collection."""

from __future__ import annotations

import gc
import signal
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

# Room for deep recursion of Python functions.

_DEEP = 5_000
"""Number of frames. Converted code takes several frames per user frame, and a chain of ``elif`` becomes nested
branches. Python 3.11 allows as many on the C stack, where 8 MiB hold some ten thousand."""

_lock = threading.Lock()
_scopes = 0
_before = 0


@contextmanager
def deep_recursion() -> Generator[None]:
    """Allows Python functions to recurse some thousand deep, in all threads, until the last scope ends."""
    global _scopes, _before
    with _lock:
        if not _scopes:
            _before = sys.getrecursionlimit()
            sys.setrecursionlimit(max(_before, _DEEP))
        _scopes += 1
    try:
        yield
    finally:
        with _lock:
            _scopes -= 1
            # Keep a limit that the program set meanwhile.
            if not _scopes and sys.getrecursionlimit() == max(_before, _DEEP):
                sys.setrecursionlimit(_before)


# Control of Python's garbage collector.


@contextmanager
def collection_paused() -> Generator[None]:
    """Pauses the collection of cyclic garbage inside the scope."""
    # A trace makes many small objects that all stay alive, and each collection inspects all of them: tracing 50,000 ops
    # cost 1.3 times as much per op as tracing 4,000; with the collector paused it costs the same.
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def collections_so_far() -> int:
    """Returns the number of garbage collections so far."""
    return sum(generation["collections"] for generation in gc.get_stats())


def collect_since(collections: int) -> None:
    """Collects garbage made since ``collections_so_far()`` was ``collections``, with the collector paused since."""
    # All of it is still in the youngest generation; a full collection takes a tenth of a second once JAX is loaded.
    if gc.isenabled() or collections_so_far() != collections:
        gc.collect()
    else:
        gc.collect(0)


# Deferred Ctrl-C: interrupts wait while code runs that must complete, or that cannot propagate them.


class HeldInterrupts:
    """The handler that defers Ctrl-C inside a scope of :func:`interrupts_held`."""

    __slots__ = ("_handler", "_held", "_must_wait", "open")

    def __init__(self, handler: Any = None, must_wait: Callable[[], bool] | None = None) -> None:
        self.open = False  # True while the scope runs the user's Python code: interrupts pass through
        self._handler = handler
        self._must_wait = must_wait
        self._held: list[tuple[int, Any]] = []

    def __call__(self, number: int, frame: Any) -> None:
        """Handles the signal."""
        if not self.open and (self._must_wait is None or self._must_wait()):
            self._held.append((number, frame))
        else:
            self._handler(number, frame)

    def deliver(self) -> None:
        """Passes the deferred interrupts to the previous handler."""
        if self._held:
            arguments = self._held.pop()
            self._held.clear()
            self._handler(*arguments)


class _Current(threading.local):
    """The thread's current handler of deferred interrupts."""

    held = HeldInterrupts()


_current = _Current()


def held_interrupts() -> HeldInterrupts:
    """Returns the handler that defers Ctrl-C here, or an idle one if none does."""
    # Where Ctrl-C must not leave, Python code sets :attr:`HeldInterrupts.open` around interruptible code by plain
    # assignments: no signal is handled between an assignment and the ``try`` or ``except`` next to it.
    return _current.held


@contextmanager
def interrupts_held(must_wait: Callable[[], bool] | None = None) -> Generator[None]:
    """Defers Ctrl-C to the scope's end or its next call of user code; with ``must_wait``, only if it returns True."""
    handler: Any = signal.getsignal(signal.SIGINT)
    if not callable(handler) or threading.current_thread() is not threading.main_thread():
        yield
        return
    before, deferred = _current.held, HeldInterrupts(handler, must_wait)
    _current.held = deferred
    signal.signal(signal.SIGINT, deferred)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGINT) is deferred:  # unless code inside installed a handler
            signal.signal(signal.SIGINT, handler)
        _current.held = before
        deferred.deliver()
