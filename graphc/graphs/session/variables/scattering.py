"""Assignments to rows of Variables of graphs, as methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from graphc.compiler.base.errors import InvalidTypeError
from graphc.compiler.core import FUNCTIONS
from graphc.graphs.refusals import user_error

if TYPE_CHECKING:
    from graphc.graphs.session.variables.variable import GraphVariable

HOWS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "update": ("set", lambda rows: rows),
    "add": ("add", lambda rows: rows),
    "sub": ("add", lambda rows: -rows),
    "mul": ("multiply", lambda rows: rows),
    "div": ("multiply", lambda rows: 1 / rows),
    "min": ("min", lambda rows: rows),
    "max": ("max", lambda rows: rows),
}
"""For each kind of assignment, the update of rows and the function applied to the updates first."""


def scattered(
    variable: GraphVariable, how: str, indices: Any, updates: Any, name: str | None, *, nd: bool = False
) -> Any:
    """Makes an operation that assigns rows of a Variable.

    Args:
      nd: whether the last axis of the indices holds one position for each of the first axes.
    """
    word, change = HOWS[how]
    graph = variable.graph

    def new_value() -> Any:
        rows = graph.trace.lift(variable.given(updates))
        positions = tuple(FUNCTIONS["unstack"](graph.trace.lift(indices), axis=-1)) if nd else indices
        return FUNCTIONS["update_item"](variable.value(), positions, change(rows), word)

    return variable.updated(new_value, name or f"Scatter{'Nd' if nd else ''}{how.title()}")


def _rows(how: str, does: str) -> Any:
    """Makes a method of :class:`Scattering` that assigns rows."""

    def method(self: Any, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        del use_locking  # each assignment is one step
        if not (hasattr(sparse_delta, "indices") and hasattr(sparse_delta, "values")):
            raise user_error(
                f"scatter_{how} of Variable {self.name!r}: expected something with indices and values, got "
                f"{sparse_delta!r:.60}",
                InvalidTypeError,
            )
        return scattered(self, how, sparse_delta.indices, sparse_delta.values, name)

    method.__name__, method.__doc__ = f"scatter_{how}", f"{does} rows."
    method.__qualname__ = f"Scattering.{method.__name__}"
    return method


def _elements(how: str, does: str) -> Any:
    """Makes a method of :class:`Scattering` that assigns elements or slices."""

    def method(self: Any, indices: Any, updates: Any, name: str | None = None) -> Any:
        return scattered(self, how, indices, updates, name, nd=True)

    method.__name__ = f"scatter_nd_{how}"
    method.__qualname__ = f"Scattering.{method.__name__}"
    method.__doc__ = f"{does} slices: the last axis of the indices holds a position for each of the first axes."
    return method


class Scattering:
    """Assigns rows of a Variable of a graph.

    Each method makes an operation whose result is the new value. ``sparse_delta`` is something with ``indices`` and
    ``values``, such as ``IndexedSlices``; positions that a tensor holds and that are out of range are left out.
    """

    __slots__ = ()

    scatter_update = _rows("update", "Replaces")
    scatter_add = _rows("add", "Adds to")
    scatter_sub = _rows("sub", "Subtracts from")
    scatter_mul = _rows("mul", "Multiplies")
    scatter_div = _rows("div", "Divides")
    scatter_min = _rows("min", "Bounds from above")
    scatter_max = _rows("max", "Bounds from below")
    scatter_nd_update = _elements("update", "Replaces")
    scatter_nd_add = _elements("add", "Adds to")
    scatter_nd_sub = _elements("sub", "Subtracts from")

    def sparse_read(self, indices: Any, name: str | None = None) -> Any:
        """Returns the rows at these positions."""
        variable: Any = self
        with variable.graph.making(name):
            return variable.graph.named(FUNCTIONS["take"](variable.value(), indices, axis=0), name)
