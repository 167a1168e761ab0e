"""Assignments to rows of Variables of graphs, as methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from graphc.compiler.base.errors import InvalidTypeError
from graphc.compiler.core import FUNCTIONS
from graphc.graphs.refusals import user_error

if TYPE_CHECKING:
    from graphc.graphs.session.variables.variable import GraphVariable

__all__ = ["HOWS", "Scattering", "scattered"]

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


class Scattering:
    """Assigns rows of a Variable of a graph.

    Each method makes an operation whose result is the new value. ``sparse_delta`` is something with ``indices`` and
    ``values``, such as ``IndexedSlices``; positions that a tensor holds and that are out of range are left out.
    """

    __slots__ = ()

    def scatter_update(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """Replaces rows."""
        return self._assigned_rows("update", sparse_delta, use_locking, name)

    def scatter_add(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """Adds to rows."""
        return self._assigned_rows("add", sparse_delta, use_locking, name)

    def scatter_sub(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """Subtracts from rows."""
        return self._assigned_rows("sub", sparse_delta, use_locking, name)

    def scatter_mul(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """Multiplies rows."""
        return self._assigned_rows("mul", sparse_delta, use_locking, name)

    def scatter_div(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """Divides rows."""
        return self._assigned_rows("div", sparse_delta, use_locking, name)

    def scatter_min(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """Bounds rows from above."""
        return self._assigned_rows("min", sparse_delta, use_locking, name)

    def scatter_max(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """Bounds rows from below."""
        return self._assigned_rows("max", sparse_delta, use_locking, name)

    def scatter_nd_update(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Replaces elements or slices: the last axis of the indices holds a position for each of the first axes."""
        return scattered(self._variable(), "update", indices, updates, name, nd=True)

    def scatter_nd_add(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Adds to elements or slices; see :meth:`scatter_nd_update`."""
        return scattered(self._variable(), "add", indices, updates, name, nd=True)

    def scatter_nd_sub(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Subtracts from elements or slices; see :meth:`scatter_nd_update`."""
        return scattered(self._variable(), "sub", indices, updates, name, nd=True)

    def sparse_read(self, indices: Any, name: str | None = None) -> Any:
        """Returns the rows at these positions."""
        variable = self._variable()
        with variable.graph.making(name):
            return variable.graph.named(FUNCTIONS["take"](variable.value(), indices, axis=0), name)

    def _assigned_rows(self, how: str, delta: Any, use_locking: bool, name: str | None) -> Any:
        del use_locking  # each assignment is one step
        variable = self._variable()
        if not (hasattr(delta, "indices") and hasattr(delta, "values")):
            raise user_error(
                f"scatter_{how} of Variable {variable.name!r}: expected something with indices and values, got "
                f"{delta!r:.60}",
                InvalidTypeError,
            )
        return scattered(variable, how, delta.indices, delta.values, name)

    def _variable(self) -> GraphVariable:
        variable: Any = self
        return variable
