"""Python functions that programs call, the lock that some of these programs hold, and the functions' exceptions."""

from __future__ import annotations

import contextvars
import itertools
import threading
import weakref
from collections.abc import Callable, Collection, Generator, Iterable, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np

from graphc.compiler.base import Location, held_interrupts, set_slow_path_reason, user_location
from graphc.compiler.base.errors import NotFoundError
from graphc.compiler.core import RunningProgram, trace_scope
from graphc.compiler.ir import TensorType

_functions: weakref.WeakValueDictionary[str, HostFunction] = weakref.WeakValueDictionary()
_errors: dict[int, tuple[BaseException, Sequence[Location]]] = {}
_numbers = itertools.count(1)

_ERRORS_KEPT = 256
"""Maximum number of stored exceptions; of several raised at the same time only one is retrieved."""


_lent: contextvars.ContextVar[bool] = contextvars.ContextVar("graphc.host_lock", default=False)


class _HostLock:
    """A reentrant lock that its holder can lend to work that it waits for, on any thread."""

    def __init__(self) -> None:
        self._lock = threading.RLock()

    @property
    def is_lent(self) -> bool:
        """True if the current context has borrowed the lock from its holder."""
        return _lent.get()

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Acquires the lock; returns at once if the context has borrowed it."""
        return _lent.get() or self._lock.acquire(blocking, timeout)

    def release(self) -> None:
        """Releases the lock."""
        if not _lent.get():
            self._lock.release()

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(self, *exception: object) -> None:
        self.release()

    @contextmanager
    def lent(self) -> Generator[None]:
        """Lends the lock, inside the scope, to this context and its copies."""
        # Programs called meanwhile take the slow path: those that call the host pass the context on.
        before, key = _lent.set(True), object()
        set_slow_path_reason(key, "a Python function runs that a program calls", active=True)
        try:
            yield
        finally:
            set_slow_path_reason(key, "", active=False)
            _lent.reset(before)


host_lock = _HostLock()
"""Held while a program runs that calls the host and uses variables, so that such programs run one at a time."""


_depth: contextvars.ContextVar[int] = contextvars.ContextVar("graphc.host_depth", default=0)

_DEEPEST = 16
"""Maximum depth of programs that wait for each other, each calling Python that calls the next. JAX has at most 32 in
flight on a CPU: one more would wait forever."""


def is_in_host_call() -> bool:
    """Returns True if a program called the current code and waits for it."""
    return _depth.get() > 0


class HostFunction:
    """A Python function that a program calls; graphs refer to it by name."""

    # It lives as long as it is referenced, for example by the trace whose graph calls it.

    def __init__(
        self,
        function: Callable[..., Sequence[np.ndarray[Any, Any]]],  # takes one NumPy array, not shared, for each tensor
        kind: str,  # for its name; after a dot, the user's name for it
        results: Sequence[TensorType] = (),
        locations: Sequence[Location] = (),  # the user's lines that call it, the outermost first
    ) -> None:
        self.name = f"{kind}_{next(_numbers)}"
        self.results = tuple(results)
        self.places = tuple(locations)
        self.takes_turns = False  # whether a program that calls it holds :data:`host_lock` meanwhile
        self.program: RunningProgram | None = None  # the one that calls it, if that assigns Variables
        self.assigned: Collection[str] | None = None  # the Variables assigned before the call; None for any
        location = self.places[-1] if self.places else user_location()
        self.title = kind.partition(".")[2] or kind
        if location is not None:
            self.title += f" ({location.short})"
        self._function = function
        _functions[self.name] = self

    def __call__(self, status: Any, order: Any, *arrays: Any) -> tuple[Any, ...]:
        """Runs the function if the status is still 0; JAX calls this on a thread of its choice."""
        # An exception stops here, since the program cannot catch it, and becomes the status.
        code, count = int(np.asarray(status)), np.int32(order) + np.int32(1)
        if code:
            return (np.int32(code), count, *self._nothing())
        code, *results = self.run(*arrays)
        return (code, count, *results)

    def _nothing(self) -> list[np.ndarray[Any, Any]]:
        return [np.zeros(type.shape, type.dtype) for type in self.results]

    def run(self, *arrays: Any) -> tuple[Any, ...]:
        """Runs the function regardless of earlier failures; returns the status and the results; never raises."""
        interrupts = held_interrupts()
        try:
            interrupts.open = True
            interrupts.deliver()
            # JAX's arrays are views of memory that the program reuses.
            copies = [np.array(array) for array in arrays]
            # This may be the thread that waits for the program; its open scopes must not apply to the function.
            lent = host_lock.lent() if self.takes_turns or host_lock.is_lent else nullcontext()
            called = nullcontext() if self.program is None else self.program.calling(self.assigned)
            with self._deeper(), trace_scope(None), lent, called:
                results = (np.int32(0), *self._function(*copies))
            interrupts.open = False
            return results
        except BaseException as error:
            interrupts.open = False
            number = next(_numbers)
            _errors[number] = error, self.places
            for old in list(_errors)[:-_ERRORS_KEPT]:
                _errors.pop(old, None)
            return (np.int32(-number), *self._nothing())

    @contextmanager
    def _deeper(self) -> Generator[None]:
        depth = _depth.get()
        if depth == _DEEPEST:
            raise RecursionError(
                f"{depth} programs wait for each other, the last for {self.title}: compiled functions call themselves "
                "recursively through Python code; end the recursion, or write it in plain Python"
            )
        before = _depth.set(depth + 1)
        try:
            yield
        finally:
            _depth.reset(before)


def host_function(name: str) -> HostFunction:
    """Returns the function of a name."""
    function = _functions.get(name)
    if function is None:
        raise NotFoundError(f"the graph calls the Python function {name!r}, which does not exist in this process")
    return function


def take_turns(functions: Iterable[str]) -> None:
    """Marks functions whose calling programs hold :data:`host_lock` meanwhile."""
    for name in functions:
        function = _functions.get(name)
        if function is not None:
            function.takes_turns = True


@contextmanager
def called_by(program: RunningProgram, functions: Iterable[str]) -> Generator[None]:
    """Tells functions which program calls them while the scope is open; it holds :data:`host_lock`."""
    hosts = [host for name in functions if (host := _functions.get(name)) is not None]
    before = [host.program for host in hosts]  # the same program, if it calls itself through Python
    try:
        for host in hosts:
            host.program = program
        with program.running():
            yield
    finally:
        for host, outer in zip(hosts, before, strict=True):
            host.program = outer


def host_error(status: int) -> tuple[BaseException, Sequence[Location]]:
    """Returns the exception of a negative status, once, and the lines of the function's calls."""
    return _errors.pop(-status)


def is_interrupt(status: int) -> bool:
    """Returns True if the exception of a negative status is Ctrl-C, or another one that ends a program."""
    entry = _errors.get(-status)
    return entry is not None and not isinstance(entry[0], Exception)
