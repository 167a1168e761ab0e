"""The arrays of variables, while programs take them and replace them."""

from __future__ import annotations

import contextvars
import operator
import threading
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import SingleDeviceSharding

from graphc.compiler.base.errors import FailedPreconditionError
from graphc.compiler.devices import placed

if TYPE_CHECKING:
    from graphc.compiler.core.variable import Variable

variable_lock = threading.RLock()
"""Held from the moment a program takes the values of variables until it has stored the new ones. In between, the
variables that it writes hold None: their arrays may be donated."""


def array_of(variable: Variable) -> jax.Array:
    """Returns a variable's array; waits for a program that replaces it, but fails in Python that the program calls."""
    array = held(variable)
    if array is None:
        with variable_lock:
            array = held(variable)
        if array is None:
            raise replaced(variable)
    if _running:
        _check_settled(variable)
    return array


held: Callable[[Variable], jax.Array | None] = operator.attrgetter("_array")
"""The array of a variable, without waiting; None while a program replaces it."""


def exchanged(variables: Sequence[Variable], before: Sequence[jax.Array], after: Sequence[jax.Array]) -> bool:
    """Stores arrays of the same types and devices, and returns True, unless another thread assigned to a variable."""
    with variable_lock:
        if not all(map(operator.is_, map(held, variables), before)):
            return False
        for variable, array in zip(variables, after, strict=True):
            variable._array = array  # pyright: ignore[reportPrivateUsage]  a family's own
    return True


# Programs that call Python assign their variables when they end, so that what Python reads meanwhile is an old value.


@dataclass(eq=False)
class RunningProgram:
    """A program that calls Python and assigns variables, while it runs."""

    name: str
    assigned: Mapping[str, Variable]  # by their names in the program

    @contextmanager
    def running(self) -> Generator[None]:
        """Marks the program as running while the scope is open."""
        _running.append(self)
        try:
            yield
        finally:
            _running.remove(self)

    @contextmanager
    def calling(self, assigned: Collection[str] | None) -> Generator[None]:
        """Marks the context and its copies as Python code that the program calls, in which no new value is there yet.

        Args:
          assigned: what was assigned before; None for all. Other threads, which may outlast the call, are refused all.
        """
        call = self, self.assigned.keys() if assigned is None else assigned, threading.get_ident()
        before = _calls.set((*_calls.get(), call))
        try:
            yield
        finally:
            _calls.reset(before)


_running: list[RunningProgram] = []
_calls: contextvars.ContextVar[tuple[tuple[RunningProgram, Collection[str], int], ...]]
_calls = contextvars.ContextVar("graphc.calls_of_programs", default=())


def _check_settled(variable: Variable) -> None:
    for program, assigned, thread in _calls.get():
        if program in _running:
            names = assigned if thread == threading.get_ident() else program.assigned
            if any(program.assigned.get(name) is variable for name in names):
                raise FailedPreconditionError(
                    f"Variable {variable.name!r} was read by Python code that the compiled function {program.name!r} "
                    "calls, and still has its value from before the call: the function assigns it, which takes effect "
                    "when the call returns; pass the value to that code as an argument of gx.pyfunc, or run the code "
                    "outside the function"
                )


@contextmanager
def brought(variables: Sequence[Variable], sharding: Any) -> Generator[None]:
    """Moves variables to a sharding inside the scope, and back after it."""
    homes = [array_of(variable).sharding for variable in variables]
    try:
        _place(variables, [sharding] * len(homes))
        yield
    finally:
        _place(variables, homes)


def _place(variables: Sequence[Variable], shardings: Sequence[Any]) -> None:
    with variable_lock:
        for variable, sharding in zip(variables, shardings, strict=True):
            variable.raw = placed(variable.raw, sharding)


def replaced(variable: Variable) -> FailedPreconditionError:
    """Returns the error for Python code that uses a variable while the program that calls it replaces the value."""
    return FailedPreconditionError(
        f"Variable {variable.name!r} has no value while a compiled function replaces it, and Python code that the "
        "function calls uses it; pass the value to that code as an argument"
    )


# New JAX arrays: made of numbers and NumPy arrays, and copies of other JAX arrays, with memory of their own.

_SMALL = 64 * 1024


def taken_over(copy: Any) -> jax.Array:
    """Returns a NumPy array that nobody else has as a JAX array, which may keep its memory."""
    # ``jnp.asarray(x)`` and ``jnp.array(x)`` copy in the background: of arrays of 4 MB that are written to afterwards,
    # one in twenty showed what was written (JAX 0.10). So the copy is NumPy's. JAX copies it once more unless it takes
    # it over, which pays for large arrays: 0.6 ms for 4 MB, where ``jnp.asarray`` of the copy takes 0.8 to 8.
    take_over = cast("Any", _held if copy.nbytes <= _SMALL else jax.device_put)
    return take_over(copy)


def new_array(value: Any, dtype: np.dtype[Any]) -> jax.Array:
    """Returns a JAX array, in a fifth of the time of ``jnp.array``; a NumPy ``value`` must be nobody else's."""
    return copied_array(value, dtype) if isinstance(value, jax.Array) else taken_over(np.asarray(value, dtype))


def copied_array(array: jax.Array, dtype: np.dtype[Any] | None = None) -> jax.Array:
    """Returns a copy of a JAX array, in a dtype; None keeps the array's, and whether it is weak."""
    is_small = type(array.sharding) is SingleDeviceSharding and array.nbytes <= _SMALL
    copy = cast("Any", _copied if is_small else _copied_now)
    return copy(array, dtype)


@jax.jit
def _held(x: jax.Array) -> jax.Array:
    """Returns a NumPy array as a JAX array; a small one in a fifth of the time of ``jnp.array``."""
    return x


def _copied_now(x: jax.Array, dtype: np.dtype[Any] | None) -> jax.Array:
    return jnp.array(x, dtype, copy=True)


_copied = jax.jit(_copied_now, static_argnames="dtype")
