"""Host calls: Python functions that run while a compiled program runs, and the status that they share with failures.

A call of a compiled function has a status: 0 as long as all is well, else a number that says what failed first. A
host call takes the status and gives it back, so that a failed call makes no more of them, and one that raises fails the
call. It also takes a count of the host calls before it, and gives the next one: that keeps them in the order of the
program, loops and branches included, by nothing but what each computes from the other. No more is asked of XLA, and
nothing is lost where JAX takes a program apart to differentiate it.

A call that needs no order is an op of its own, which takes neither: it waits for nothing but its arguments. The status
that it gives is joined into that of the call, in the order of the program, so that what comes after it in order does
not happen where it has failed.
"""

from __future__ import annotations

import contextvars
import itertools
import threading
import weakref
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, cast

import jax
import numpy as np
from jax.experimental import io_callback as _io_callback

from graphc.base import Location, What, held_interrupts, note_progress, set_detour, user_location
from graphc.base.errors import InternalError, NotFoundError, UnimplementedError
from graphc.core import SymbolicTensor, apply, apply_all, examine, trace_scope, unexamined
from graphc.ir import OPS, WORLD, Attrs, Effect, Graph, OpDef, TensorType, part_of_world, writes
from graphc.tracing import CallState

__all__ = [
    "HOST_CALL",
    "HOST_CALLS",
    "ORDER",
    "STATUS",
    "UNORDERED_HOST_CALL",
    "HostFunction",
    "calls_host",
    "emit_host_call",
    "host_error",
    "host_function",
    "host_lock",
    "is_in_host_call",
    "is_interrupt",
    "is_replaying",
    "numbered_calls",
    "replaying",
    "take_turns",
    "waited_for",
    "with_calls",
]

STATUS = CallState("graphc.status", np.zeros((), np.int32))
"""The status of a call: 0 when all is well; positive, the number of a failure that the program itself found; negative,
the number of an exception that a host call raised (see :func:`host_error`)."""

ORDER = CallState("graphc.order", np.zeros((), np.int32))
"""How many host calls the call has made."""

io_callback: Any = _io_callback  # it is only partly annotated

_functions: weakref.WeakValueDictionary[str, HostFunction] = weakref.WeakValueDictionary()
_errors: dict[int, tuple[BaseException, Sequence[Location]]] = {}
_numbers = itertools.count(1)

_ERRORS_KEPT = 256
"""How many exceptions wait to be asked for; of several that were raised at once only one is."""


_lent: contextvars.ContextVar[bool] = contextvars.ContextVar("graphc.host_lock", default=False)


class _HostLock:
    """A lock that its holder may take again, and that may be lent to what the holder waits for, on any thread."""

    def __init__(self) -> None:
        self._lock = threading.RLock()

    @property
    def is_lent(self) -> bool:
        """True if what runs here has it already, since its holder waits for that."""
        return _lent.get()

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """As for any lock; what has it already gets it at once."""
        return _lent.get() or self._lock.acquire(blocking, timeout)

    def release(self) -> None:
        """As for any lock."""
        if not _lent.get():
            self._lock.release()

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(self, *exception: object) -> None:
        self.release()

    @contextmanager
    def lent(self) -> Generator[None]:
        """Inside the scope what runs here, or in a copy of this context, acts for the one that holds the lock.

        Programs that are called meanwhile take the long way: those that call the host hand the context on.
        """
        before, key = _lent.set(True), object()
        set_detour(key, "a Python function runs that a program calls", active=True)
        try:
            yield
        finally:
            set_detour(key, "", active=False)
            _lent.reset(before)


host_lock = _HostLock()
"""Held while a program runs that calls the host and touches variables, so that such programs take turns."""


_depth: contextvars.ContextVar[int] = contextvars.ContextVar("graphc.host_depth", default=0)

_DEEPEST = 16
"""How many programs may wait for each other, each of which calls Python that calls the next. JAX has at most 32 in
flight on a CPU: one more waits for ever."""


def is_in_host_call() -> bool:
    """Returns True if what runs here was called by a program, which waits for it."""
    return _depth.get() > 0


class HostFunction:
    """A Python function that a program calls; graphs refer to it by its name.

    It lives as long as somebody holds it, as the trace does whose graph calls it.

    Attributes:
      takes_turns: whether a program calls it that holds :data:`host_lock` meanwhile.
      title: the function and the line that calls it, for people: ``print (train.py:12)``.

    Args:
      function: takes one NumPy array, of its own, for each tensor; returns one for each result.
      kind: what it is, for the name; after a dot the name that the user gave it.
      results: the types of the results.
      places: the lines of the user's where it is called, the outermost first.
    """

    def __init__(
        self,
        function: Callable[..., Sequence[np.ndarray[Any, Any]]],
        kind: str,
        results: Sequence[TensorType] = (),
        places: Sequence[Location] = (),
    ) -> None:
        self.name = f"{kind}_{next(_numbers)}"
        self.results = tuple(results)
        self.places = tuple(places)
        self.takes_turns = False
        place = self.places[-1] if self.places else user_location()
        self.title = kind.partition(".")[2] or kind
        if place is not None:
            self.title += f" ({place.short})"
        self._function = function
        _functions[self.name] = self

    def __call__(self, status: Any, order: Any, *arrays: Any) -> tuple[Any, ...]:
        """Runs the function if the status is still 0; JAX calls this, on a thread of its own choice.

        An exception goes no further: inside the program nobody could catch it. It becomes the status.
        """
        found, count = int(np.asarray(status)), np.int32(order) + np.int32(1)
        if found:
            return (np.int32(found), count, *self._nothing())
        found, *results = self.run(*arrays)
        return (found, count, *results)

    def _nothing(self) -> list[np.ndarray[Any, Any]]:
        return [np.zeros(type.shape, type.dtype) for type in self.results]

    def run(self, *arrays: Any) -> tuple[Any, ...]:
        """Runs the function, whatever failed before; returns the status and the results. It raises nothing, either."""
        held = held_interrupts()
        try:
            held.open = True
            held.deliver()
            # The arrays that JAX gives are views of memory that the program uses again.
            copies = [np.array(array) for array in arrays]
            # This may be the thread that waits for the program; nothing that is open there is meant for the function.
            lent = host_lock.lent() if self.takes_turns or host_lock.is_lent else nullcontext()
            with self._deeper(), trace_scope(None), lent:
                results = (np.int32(0), *self._function(*copies))
            held.open = False
            return results
        except BaseException as error:
            held.open = False
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
                "through Python code that they call; have it end, or write the recursion in plain Python"
            )
        before = _depth.set(depth + 1)
        try:
            yield
        finally:
            _depth.reset(before)


def host_function(name: str) -> HostFunction:
    """Returns the function of that name.

    Raises:
      NotFoundError: there is none in this process.
    """
    found = _functions.get(name)
    if found is None:
        raise NotFoundError(f"the graph calls the Python function {name!r}, which does not exist in this process")
    return found


def take_turns(functions: Iterable[str]) -> None:
    """Says of which functions the programs that call them hold :data:`host_lock` meanwhile."""
    for name in functions:
        found = _functions.get(name)
        if found is not None:
            found.takes_turns = True


def host_error(status: int) -> tuple[BaseException, Sequence[Location]]:
    """The exception that a negative status stands for, and the lines where its function was called; given once."""
    return _errors.pop(-status)


def is_interrupt(status: int) -> bool:
    """Returns True if the exception that a negative status stands for is Ctrl-C, or another one that ends a program."""
    found = _errors.get(-status)
    return found is not None and not isinstance(found[0], Exception)


def emit_host_call(function: HostFunction, values: Sequence[Any], *, ordered: bool = True) -> list[SymbolicTensor]:
    """Calls a function from the trace that is open, at this point of the program.

    Args:
      function: what to call; the caller keeps it for as long as the graph may run.
      values: the tensors to give it.
      ordered: whether it comes after the host calls before it, and not at all if the call has failed. One call of this
        function must then be all that uses it in the graph.

    Returns:
      The results.
    """
    attrs = Attrs(function=function.name, results=function.results)
    if not ordered:
        status, *results = apply_all(UNORDERED_HOST_CALL, values, attrs)
        before = STATUS.value()
        fine = apply(OPS["equal"], (before, STATUS.initial))
        STATUS.assign(apply(OPS["where"], (fine, status, before)))
        return cast("list[SymbolicTensor]", results)
    given = (STATUS.value(), ORDER.value(), *values)
    with unexamined():
        status, order, *results = apply_all(HOST_CALL, given, attrs)
    STATUS.assign(status)
    ORDER.assign(order)
    examine(HOST_CALL, given, attrs, [status, order, *results])
    return cast("list[SymbolicTensor]", results)


class _Replay(threading.local):
    """Whether a program is evaluated again for its gradient only."""

    active: bool = False


_replay = _Replay()


def is_replaying() -> bool:
    """Returns True if :func:`replaying` is on; what JAX is given to trace later notes it."""
    return _replay.active


@contextmanager
def replaying(active: bool = True) -> Generator[None]:
    """Inside the scope JAX traces the forward pass of a gradient once more: what it does to the world is done."""
    before, _replay.active = _replay.active, active
    try:
        yield
    finally:
        _replay.active = before


def _host_call(status: Any, order: Any, *values: Any, function: str, results: Sequence[TensorType]) -> tuple[Any, ...]:
    if _replay.active:
        _check_replayed(results)
        return (status, order)
    host = host_function(function)
    return _call(host.title, host, (STATUS.type, ORDER.type, *results), (status, order, *values))


def _unordered_host_call(*values: Any, function: str, results: Sequence[TensorType]) -> tuple[Any, ...]:
    if _replay.active:
        _check_replayed(results)
        return (STATUS.initial,)
    host = host_function(function)
    return _call(host.title, host.run, (STATUS.type, *results), values)


def _check_replayed(results: Sequence[TensorType]) -> None:
    if results:
        raise UnimplementedError(
            "this gradient evaluates gx.pyfunc a second time, which would run its Python again; open the tape "
            "inside the compiled function, or take the gradient with one tape only; and call pyfunc before a while "
            "loop, not in it, or pass its results in as arguments"
        )


_GIVEN_UP = np.int32(np.iinfo(np.int32).min)
"""The status of a call that nobody waits for any more."""


class _Numbering(threading.local):
    """The number of the call, as JAX knows it, of the program that it is tracing; None for a program without."""

    number: Any = None


_numbering = _Numbering()
_calls: dict[int, tuple[contextvars.Context, Callable[[], bool]]] = {}
_running: dict[int, list[str]] = {}
"""By the numbers of calls the titles of the functions that they are calling."""


@contextmanager
def numbered_calls(number: Any) -> Generator[None]:
    """JAX traces a program inside the scope that is told, as an input, the number of its call.

    Its host calls run in the context of the one who calls, with the deadline that is in force there, and once nobody
    waits for the call any more they do not run.
    """
    before, _numbering.number = _numbering.number, number
    try:
        yield
    finally:
        _numbering.number = before


@contextmanager
def waited_for(is_given_up: Callable[[], bool] = lambda: False) -> Generator[int]:
    """Somebody waits inside the scope for a call of such a program.

    Args:
      is_given_up: whether the call is not waited for any more, though the scope is still open.

    Yields:
      The number of the call.
    """
    number = next(_numbers)
    _calls[number] = contextvars.copy_context(), is_given_up
    _running[number] = []
    try:
        yield number
    finally:
        del _calls[number], _running[number]


def with_calls(what: What, number: int) -> str:
    """Returns what is waited for, with the Python functions that it is calling just now, as a call of that number."""
    text, titles = what if isinstance(what, str) else what(), list(_running.get(number, ()))
    return f"{text}, which calls {', '.join(titles)}" if titles else text


def _numbered(title: str, function: Callable[..., Any], types: Sequence[TensorType]) -> Callable[..., Any]:
    """Returns a host function that takes the number of the call first."""

    def call(number: Any, *values: Any) -> Any:
        context, is_given_up = _calls.get(int(number), (None, None))
        if context is None or is_given_up is None or is_given_up():
            return (_GIVEN_UP, *[np.zeros(type.shape, type.dtype) for type in types[1:]])

        running = _running.get(int(number), [])

        def run() -> Any:
            note_progress()
            running.append(title)
            results = function(*values)
            running.remove(title)
            note_progress()
            return results

        try:
            return context.copy().run(run)  # one context cannot be entered by several threads at once
        finally:
            del context  # who keeps an error keeps this frame, and must not keep what is in force

    return call


def _call(
    title: str, function: Callable[..., Any], types: Sequence[TensorType], values: Sequence[Any]
) -> tuple[Any, ...]:
    number = _numbering.number
    if number is not None:
        function, values = _numbered(title, function, types), (number, *values)
    shapes = [jax.ShapeDtypeStruct(type.shape, type.dtype) for type in types]
    return tuple(io_callback(function, shapes, *map(jax.lax.stop_gradient, values)))


def _host_call_types(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    del regions
    if list(types[:2]) != [STATUS.type, ORDER.type]:
        raise InternalError(f"host_call: status and order are {STATUS.type}, not {types[0]} and {types[1]}")
    return (STATUS.type, ORDER.type, *attrs["results"])


def _unordered_types(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    del types, regions
    return (STATUS.type, *attrs["results"])


def _touches_world(attrs: Mapping[str, Any]) -> tuple[Effect, ...]:
    del attrs
    return (writes(WORLD),)


def _touches_its_own(attrs: Mapping[str, Any]) -> tuple[Effect, ...]:
    return (writes(part_of_world(attrs["function"])),)


HOST_CALL = OPS.add(
    "host_call",
    OpDef(
        "host_call",
        impl=_host_call,
        infer=_host_call_types,
        takes_open=True,
        params=("status", "order", "*values"),
        effects=_touches_world,
        differentiable=False,
        doc="Runs a Python function, unless the call has failed before.",
    ),
)
UNORDERED_HOST_CALL = OPS.add(
    "unordered_host_call",
    OpDef(
        "unordered_host_call",
        impl=_unordered_host_call,
        infer=_unordered_types,
        takes_open=True,
        params=("*values",),
        effects=_touches_its_own,
        differentiable=False,
        doc="Runs a Python function whenever its arguments are there.",
    ),
)
HOST_CALLS = (HOST_CALL, UNORDERED_HOST_CALL)
"""The ops that run Python."""


def calls_host(graph: Graph) -> bool:
    """Returns True if a graph calls Python functions, in its loops and branches too."""
    return any(node.op in HOST_CALLS for node in graph.walk())
