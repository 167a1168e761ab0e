"""The arrays of variables, while programs take them and replace them."""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from graphc.compiler.base.errors import FailedPreconditionError
from graphc.compiler.devices import placed

if TYPE_CHECKING:
    import jax

    from graphc.compiler.core.variable import Variable

__all__ = ["array_of", "brought", "exchanged", "held", "replaced", "variable_lock"]

variable_lock = threading.RLock()
"""Held from the moment a program takes the values of variables until it has stored the new ones. In between, the
variables that it writes hold None: their arrays may be donated."""


def array_of(variable: Variable) -> jax.Array:
    """Returns the array of a variable; waits while a program in another thread replaces it.

    Raises:
      FailedPreconditionError: Python code called by a program reads a variable that the program replaces.
    """
    array = held(variable)
    if array is None:
        with variable_lock:
            array = held(variable)
        if array is None:
            raise replaced(variable)
    return array


held: Callable[[Variable], jax.Array | None] = operator.attrgetter("_array")
"""The array of a variable, without waiting; None while a program replaces it."""


def exchanged(variables: Sequence[Variable], before: Sequence[jax.Array], after: Sequence[jax.Array]) -> bool:
    """Stores new arrays in variables, unless another thread has assigned to one of them meanwhile.

    Args:
      variables: the variables.
      before: their arrays when the new ones were computed.
      after: the new arrays, of the same types, on the same devices.

    Returns:
      Whether it stored them.
    """
    with variable_lock:
        if not all(map(operator.is_, map(held, variables), before)):
            return False
        for variable, array in zip(variables, after, strict=True):
            variable._array = array  # pyright: ignore[reportPrivateUsage]  a family's own
    return True


@contextmanager
def brought(variables: Sequence[Variable], place: Any) -> Generator[None]:
    """Moves variables to a sharding inside the scope, and back after it."""
    homes = [array_of(variable).sharding for variable in variables]
    try:
        _place(variables, [place] * len(homes))
        yield
    finally:
        _place(variables, homes)


def _place(variables: Sequence[Variable], places: Sequence[Any]) -> None:
    with variable_lock:
        for variable, place in zip(variables, places, strict=True):
            variable.raw = placed(variable.raw, place)


def replaced(variable: Variable) -> FailedPreconditionError:
    """Returns the error for Python code that uses a variable while the program that calls it replaces the value."""
    return FailedPreconditionError(
        f"Variable {variable.name!r} has no value while a compiled function replaces it, and Python code that the "
        "function calls uses it; pass the value to that code as an argument"
    )
