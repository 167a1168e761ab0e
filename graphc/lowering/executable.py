"""A compiled program and the variables it works on."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from graphc.base import collection_paused
from graphc.core import Variable, context, type_of, variable_lock
from graphc.ir import Graph
from graphc.lowering.lower import LoweredGraph, lower

__all__ = ["Executable", "TypesDiffer", "run_on_variables"]


class TypesDiffer(Exception):
    """A program is called with arrays of other types than it was traced for."""


class Executable:
    """A graph, compiled by XLA for the types of its inputs.

    The variables that the graph writes are donated, so that XLA updates them in place. A buffer that something else
    still refers to (a tensor read from the variable, a NumPy view) is copied first and the copy donated.

    Args:
      graph: what to compile.

    Attributes:
      variables: the names of the variables, those that are written first.
      num_written: how many are written.
      jitted: the ``jax.jit`` function: values of ``variables``, then inputs; outputs, then values of ``written``.
        Called with other types than the graph's it raises :class:`TypesDiffer`: since JAX's C++ cache looks at the
        types anyway, the caller can go without looking at them first.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.lowered: LoweredGraph = lower(graph)
        self.variables = self.lowered.variables
        self.num_written = len(self.lowered.written)
        self.jitted: Any = jax.jit(_guarded(self.lowered, graph), donate_argnums=tuple(range(self.num_written)))

    def __call__(self, arrays: Sequence[Any], variables: Sequence[Variable]) -> Sequence[Any]:
        """Runs the program, and updates the variables that it writes.

        Args:
          arrays: one for each input of the graph.
          variables: one for each name in :attr:`variables`.

        Returns:
          One array for each output of the graph.
        """
        context.launched()
        if not variables:
            return self.jitted(*arrays)
        return run_on_variables(self.jitted, variables, self.num_written, arrays)

    def lower(self, arrays: Sequence[Any], variables: Sequence[Variable]) -> Any:
        """JAX's lowered program (``jax.stages.Lowered``) for arguments like these."""
        with collection_paused():
            return self.jitted.lower(*[variable.current() for variable in variables], *arrays)


def run_on_variables(
    program: Callable[..., Sequence[Any]], variables: Sequence[Variable], num_written: int, arrays: Sequence[Any]
) -> Sequence[Any]:
    """Runs a program, and updates the variables that it writes; threads take turns.

    Args:
      program: takes the values of ``variables``, then ``arrays``; returns outputs, then the values of those written.
      variables: those that are written first; if the program fails they stay as they are.
      num_written: how many are written.
      arrays: the other inputs.

    Returns:
      The outputs.
    """
    with variable_lock:
        results = program(*unshared_values(variables, num_written), *arrays)
        count = len(results) - num_written
        for variable, value in zip(variables, results[count:], strict=False):
            variable.raw = value
    return results[:count]


def _guarded(lowered: LoweredGraph, graph: Graph) -> Callable[..., Any]:
    types = [value.type for value in graph.inputs]

    def function(*arrays: Any) -> tuple[Any, ...]:
        if [type_of(array) for array in arrays[len(lowered.variables) :]] != types:
            raise TypesDiffer
        with collection_paused():
            return lowered.function(*arrays)

    function.__name__ = function.__qualname__ = graph.name
    return function


def unshared_values(variables: Sequence[Variable], num_written: int) -> list[Any]:
    """The values of the variables; of the first ``num_written``, to be donated, a copy where the value is shared."""
    values = [variable.raw for variable in variables]
    for position in range(num_written):
        if sys.getrefcount(values[position]) > _UNSHARED:
            values[position] = jnp.array(values[position], copy=True)
            context.launched()
    return values


def _references_of_unshared() -> int:
    """The reference count that :func:`unshared_values` sees for a value only its variable refers to."""

    class Slot:
        raw: Any

    slot = Slot()
    slot.raw = object()
    values = [variable.raw for variable in [slot]]
    return sys.getrefcount(values[0])


_UNSHARED = _references_of_unshared()
