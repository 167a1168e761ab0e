"""Assignments to Variables of graphs as functions: whole values, and rows of them."""

from __future__ import annotations

from typing import Any

from graphc.compiler.base.errors import InvalidTypeError
from graphc.graphs.refusals import user_error
from graphc.graphs.session.variables.scattering import scattered
from graphc.graphs.session.variables.variable import GraphVariable


def variable_of(what: str, variable: Any) -> GraphVariable:
    """Returns a Variable of a graph that is given to a function."""
    if not isinstance(variable, GraphVariable):
        raise user_error(
            f"{what}: expected a Variable of a graph, got {type(variable).__name__} {variable!r:.60}", InvalidTypeError
        )
    return variable


def assign(
    ref: Any, value: Any, validate_shape: bool | None = None, use_locking: bool | None = None, name: str | None = None
) -> Any:
    """Makes an operation that sets the value of a Variable.

    Args:
      ref: the Variable.
      value: a value of its shape, or of any shape if that is open (made with ``validate_shape=False``).
      validate_shape: ignored: the Variable knows whether its shape is fixed.
      use_locking: ignored: each assignment is one step.
      name: the name of the operation.

    Returns:
      The new value as a tensor.

    Raises:
      InvalidTypeError: ``ref`` is no Variable of a graph, or the value is of another dtype.
      InvalidArgumentError: the value is of another shape.

    Example:
      >>> import graphc as gx
      >>> from graphc.graphs.session import assign
      >>> with gx.Graph().as_default() as graph:
      ...     v = gx.Variable([1.0, 2.0])
      ...     doubled = assign(v, v * 2.0)
      >>> with gx.Session(graph=graph) as session:
      ...     session.run(v.initializer)
      ...     print(session.run(doubled), session.run(doubled))
      [2. 4.] [4. 8.]
    """
    del validate_shape, use_locking
    return variable_of("assign", ref).assign(value, name=name)


def assign_add(ref: Any, value: Any, use_locking: bool | None = None, name: str | None = None) -> Any:
    """Makes an operation that adds to the value of a Variable; see :func:`assign`."""
    del use_locking
    return variable_of("assign_add", ref).assign_add(value, name=name)


def assign_sub(ref: Any, value: Any, use_locking: bool | None = None, name: str | None = None) -> Any:
    """Makes an operation that subtracts from the value of a Variable; see :func:`assign`."""
    del use_locking
    return variable_of("assign_sub", ref).assign_sub(value, name=name)


def count_up_to(ref: Any, limit: int, name: str | None = None) -> Any:
    """Makes an operation that gives the value of a Variable and adds one; see :meth:`GraphVariable.count_up_to`."""
    variable = variable_of("count_up_to", ref)
    with variable.graph.making(name):
        return variable.graph.named(variable.count_up_to(limit), name)


def _scatter(how: str, text: str, *, nd: bool = False) -> Any:
    def function(ref: Any, indices: Any, updates: Any, use_locking: bool | None = None, name: str | None = None) -> Any:
        del use_locking
        return scattered(variable_of(function.__name__, ref), how, indices, updates, name, nd=nd)

    function.__name__ = function.__qualname__ = f"scatter_{'nd_' if nd else ''}{how}"
    meaning = "the last axis holds one position for each of the first axes" if nd else "rows of the first axis"
    function.__doc__ = f"""Makes an operation that {text}.

    Args:
      ref: the Variable.
      indices: integers: {meaning}. What a tensor holds that is out of range is left out.
      updates: one for each index.
      use_locking: not needed: each assignment is one step.
      name: the name of the operation.

    Returns:
      The new value as a tensor.

    Raises:
      InvalidTypeError: ``ref`` is no Variable of a graph, or the updates are of another dtype.
      InvalidArgumentError: the shapes do not fit.
      OutOfRangeError: a list or array of indices has one that is out of range.
    """
    return function


scatter_update = _scatter("update", "replaces rows of a Variable")
scatter_add = _scatter("add", "adds to rows of a Variable")
scatter_sub = _scatter("sub", "subtracts from rows of a Variable")
scatter_mul = _scatter("mul", "multiplies rows of a Variable")
scatter_div = _scatter("div", "divides rows of a Variable")
scatter_min = _scatter("min", "bounds rows of a Variable from above")
scatter_max = _scatter("max", "bounds rows of a Variable from below")
scatter_nd_update = _scatter("update", "replaces elements or slices of a Variable", nd=True)
scatter_nd_add = _scatter("add", "adds to elements or slices of a Variable", nd=True)
scatter_nd_sub = _scatter("sub", "subtracts from elements or slices of a Variable", nd=True)
