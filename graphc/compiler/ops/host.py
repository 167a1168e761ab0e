"""Host calls: Python functions called by a running compiled program, and the call's status that they share.

A call of a compiled function has a status: 0 without a failure, else the number of the first failure. A host call takes
the status and returns it, so that a failed call makes no further host calls, and one that raises fails the call. It
also takes the number of host calls before it, and returns the next number: these data dependencies alone keep host
calls in program order, including in loops and branches. XLA needs no other guarantee, and the order survives when JAX
takes a program apart to differentiate it.

A call without an order is a separate op that takes neither: it waits only for its arguments. The status that it returns
is combined with that of the call in program order, so that ordered calls after it do not run if it has failed.
"""

from __future__ import annotations

import contextvars
import itertools
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, cast

import jax
import numpy as np
from jax.experimental import io_callback as _io_callback

from graphc.compiler.base import Subject, note_progress
from graphc.compiler.base.errors import InternalError, UnimplementedError
from graphc.compiler.core import SymbolicTensor, apply, apply_all, examine, unexamined
from graphc.compiler.ir import OPS, WORLD, Attrs, Effect, Graph, TensorType, define_op, part_of_world, writes
from graphc.compiler.ops.host_functions import HostFunction, host_function
from graphc.compiler.tracing import CallState

# Numbers of programs' calls, by which their host calls find the caller's context, or that the call is abandoned.

_GIVEN_UP = np.int32(np.iinfo(np.int32).min)
"""The status of an abandoned call."""


class _Numbering(threading.local):
    """JAX's number for the call of the program that it is tracing; None for a program without numbers."""

    number: Any = None


_numbering = _Numbering()
_numbers = itertools.count(1)
_calls: dict[int, tuple[contextvars.Context, Callable[[], bool]]] = {}
_running: dict[int, list[str]] = {}
"""The titles of the functions that each numbered call is running."""


def call_number() -> Any:
    """Returns JAX's number for the call of the program that it is tracing; None for a program without numbers."""
    return _numbering.number


@contextmanager
def numbered_calls(number: Any) -> Generator[None]:
    """Makes JAX trace a program, inside the scope, that takes the number of its call as an input."""
    # Its host calls run in the caller's context, with the deadline in force there, and no longer run once the call is
    # abandoned.
    before, _numbering.number = _numbering.number, number
    try:
        yield
    finally:
        _numbering.number = before


@contextmanager
def waited_for(is_given_up: Callable[[], bool] = lambda: False) -> Generator[int]:
    """Registers a wait for a numbered call while the scope is open, and yields the number."""
    # ``is_given_up`` returns True if the call is abandoned although the scope is still open.
    number = next(_numbers)
    _calls[number] = contextvars.copy_context(), is_given_up
    _running[number] = []
    try:
        yield number
    finally:
        del _calls[number], _running[number]


def with_calls(subject: Subject, number: int) -> str:
    """Returns the subject of a wait, with the Python functions that the numbered call is running."""
    text, titles = subject if isinstance(subject, str) else subject(), list(_running.get(number, ()))
    return f"{text}, which calls {', '.join(titles)}" if titles else text


def numbered(title: str, function: Callable[..., Any], types: Sequence[TensorType]) -> Callable[..., Any]:
    """Returns a host function that takes the call number first."""

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
            return context.copy().run(run)  # a context cannot be entered by several threads at once
        finally:
            del context  # an error keeps this frame alive, which must not keep the deadline in force

    return call


STATUS = CallState("graphc.status", np.zeros((), np.int32))
"""The status of a call: 0 without a failure; if positive, the number of a failure that the program detected; if
negative, the number of an exception that a host call raised (see :func:`host_error`)."""

ORDER = CallState("graphc.order", np.zeros((), np.int32))
"""The number of host calls that the call has made."""

io_callback: Any = _io_callback  # it is only partly annotated


def emit_host_call(function: HostFunction, values: Sequence[Any], *, ordered: bool = True) -> list[SymbolicTensor]:
    """Adds a call of a function, which the caller keeps alive, at the current point of the open trace."""
    # With ``ordered``, it runs after earlier host calls, and only if the call has not failed; the graph must then use
    # the function only in this one call.
    attrs = Attrs(function=function.name, results=function.results)
    if not ordered:
        status, *results = apply_all(UNORDERED_HOST_CALL, values, attrs)
        before = STATUS.value()
        fine = apply(OPS["equal"], (before, STATUS.initial))
        STATUS.assign(apply(OPS["where"], (fine, status, before)))
        return cast("list[SymbolicTensor]", results)
    inputs = (STATUS.value(), ORDER.value(), *values)
    with unexamined():
        status, order, *results = apply_all(HOST_CALL, inputs, attrs)
    STATUS.assign(status)
    ORDER.assign(order)
    examine(HOST_CALL, inputs, attrs, (), [status, order, *results])
    return cast("list[SymbolicTensor]", results)


class _Replay(threading.local):
    """A thread-local flag: True while a program is evaluated again only for its gradient."""

    active: bool = False


_replay = _Replay()


def is_replaying() -> bool:
    """Returns True inside :func:`replaying`; functions that JAX traces later record it."""
    return _replay.active


@contextmanager
def replaying(active: bool = True) -> Generator[None]:
    """Marks a second trace of a forward pass, for its gradient, whose side effects must not be repeated."""
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
            "this gradient evaluates gx.pyfunc a second time, which would run its Python code again; open the tape "
            "inside the compiled function, or take the gradient with one tape only; and call pyfunc before a while "
            "loop, not in it, or pass its results in as arguments"
        )


def _call(
    title: str, function: Callable[..., Any], types: Sequence[TensorType], values: Sequence[Any]
) -> tuple[Any, ...]:
    number = call_number()
    if number is not None:
        function, values = numbered(title, function, types), (number, *values)
    shapes = [jax.ShapeDtypeStruct(type.shape, type.dtype) for type in types]
    results = io_callback(function, shapes, *map(jax.lax.stop_gradient, values))
    return tuple([_without_gradient(result, *values, title=title) for result in results])


def _without_gradient(result: Any, *values: Any, title: str) -> Any:
    """Returns a result of a host call; its derivative with respect to the call's arguments is refused."""
    inexact = [value for value in values if _is_inexact(value)]
    return _opaque(title, result, inexact) if inexact and _is_inexact(result) else result


def _is_inexact(value: Any) -> bool:
    return jax.numpy.issubdtype(jax.numpy.result_type(value), jax.numpy.inexact)


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def _opaque(title: str, result: Any, values: Sequence[Any]) -> Any:
    del title, values
    return result


def _kept(title: str, result: Any, values: Sequence[Any]) -> tuple[Any, None]:
    del title, values
    return result, None


def _refuse_gradient(title: str, residuals: None, cotangent: Any) -> Any:
    del residuals, cotangent
    raise UnimplementedError(
        f"{title} calls Python at run time, whose derivative graphc does not know; for a constant, pass "
        "gx.stop_gradient(x) to it, or define its gradient by gx.custom_gradient around the call"
    )


_opaque.defvjp(_kept, _refuse_gradient)  # not called where the result is used without a gradient

HOST_RESULT = define_op(
    "host_result",
    impl=_without_gradient,
    infer=lambda types, attrs, regions: (types[0],),
    params=("result", "*values"),
    doc="Returns a result of a Python function that was called with values under a tape.",
)


def _host_call_types(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    del regions
    if list(types[:2]) != [STATUS.type, ORDER.type]:
        raise InternalError(f"host_call: status and order must be {STATUS.type}, got {types[0]} and {types[1]}")
    return (STATUS.type, ORDER.type, *attrs["results"])


def _unordered_types(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    del types, regions
    return (STATUS.type, *attrs["results"])


def _touches_world(attrs: Mapping[str, Any]) -> tuple[Effect, ...]:
    del attrs
    return (writes(WORLD),)


def _touches_its_own(attrs: Mapping[str, Any]) -> tuple[Effect, ...]:
    return (writes(part_of_world(attrs["function"])),)


HOST_CALL = define_op(
    "host_call",
    impl=_host_call,
    infer=_host_call_types,
    takes_open=True,
    params=("status", "order", "*values"),
    effects=_touches_world,
    differentiable=False,
    doc="Runs a Python function, unless the call has failed before.",
)
UNORDERED_HOST_CALL = define_op(
    "unordered_host_call",
    impl=_unordered_host_call,
    infer=_unordered_types,
    takes_open=True,
    params=("*values",),
    effects=_touches_its_own,
    differentiable=False,
    doc="Runs a Python function whenever its arguments are there.",
)
HOST_CALLS = (HOST_CALL, UNORDERED_HOST_CALL)
"""The ops that run Python."""


def calls_host(graph: Graph) -> bool:
    """Returns True if a graph calls Python functions, including in its loops and branches."""
    return any(node.op in HOST_CALLS for node in graph.walk())
