"""Loops over the rows of tensors, and while a condition holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from graphc.compiler.autograph import scan as scan_rows
from graphc.compiler.autograph import while_loop as while_state
from graphc.compiler.base import has_mark, nest
from graphc.compiler.core import converted
from graphc.compiler.ops import functions as gx

__all__ = ["foldl", "foldr", "map_fn", "scan", "while_loop"]

Function = Callable[..., Any]


def while_loop(cond: Function, body: Function, loop_vars: Any, maximum_iterations: Any = None) -> Any:
    """Repeats ``loop_vars = body(*loop_vars)`` while ``cond(*loop_vars)`` holds.

    Args:
      cond: the condition.
      body: returns new variables, as many as it takes.
      loop_vars: the first variables, in a list or a tuple, or one alone; structures of tensors.
      maximum_iterations: how often the loop runs at most; None for no bound.

    Returns:
      The last variables, as ``loop_vars`` are given.

    Example:
      >>> import graphc as gx
      >>> i, x = gx.flow.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2.0), (0, 1.0))
      >>> i.item(), x.item()
      (3, 8.0)
    """
    test, step = converted(cond), converted(body)
    several = isinstance(loop_vars, list | tuple)
    first: Any = _tensors(tuple(cast("Any", loop_vars)) if several else (loop_vars,))

    def run(state: Any) -> Any:
        found = step(*state)
        return tuple(cast("Any", found)) if isinstance(found, list | tuple) else (found,)

    if maximum_iterations is None:
        last = while_state(lambda state: test(*state), run, first)
    else:
        limit = gx.asarray(maximum_iterations, dtype="int32")

        def goes_on(state: Any) -> Any:
            return gx.logical_and(state[0] < limit, test(*state[1]))

        start = (gx.asarray(0, dtype="int32"), first)
        last = while_state(goes_on, lambda state: (state[0] + 1, run(state[1])), start)[1]
    if not several:
        return last[0]
    kind: Any = cast("Any", loop_vars).__class__
    return kind(*last) if hasattr(kind, "_fields") else kind(last)


def _tensors(value: Any) -> Any:
    """Returns a structure with tensors for its leaves; composite values stay."""
    parts = None if has_mark(value, "__graphc_composite__") else nest.children(value)
    if has_mark(value, "__graphc_composite__"):
        return value
    return gx.asarray(value) if parts is None else nest.rebuilt(value, [_tensors(part) for part in parts[1]])


def map_fn(fn: Function, elems: Any) -> Any:
    """Returns what a function gives for each row, stacked.

    Args:
      fn: takes a row of each tensor of the structure.
      elems: a structure of tensors of one first size.

    Example:
      >>> import graphc as gx
      >>> x, y = gx.asarray([1.0, 2.0]), gx.asarray([3.0, 4.0])
      >>> gx.flow.map_fn(lambda pair: pair[0] * pair[1], (x, y)).tolist()
      [3.0, 8.0]
    """
    step = converted(fn)
    return scan_rows(lambda state, row: (state, step(row)), gx.asarray(0, dtype="int32"), elems)[1]


def scan(fn: Function, elems: Any, initializer: Any = None, reverse: bool = False) -> Any:
    """Returns all states of ``state = fn(state, row)``, stacked.

    Args:
      fn: takes the state and a row.
      elems: a structure of tensors of one first size.
      initializer: the first state; the first row when None.
      reverse: whether the last row comes first.

    Example:
      >>> import graphc as gx
      >>> gx.flow.scan(lambda total, x: total + x, gx.asarray([1.0, 2.0, 3.0])).tolist()
      [1.0, 3.0, 6.0]
    """
    step = converted(fn)

    def keep(state: Any, row: Any) -> Any:
        found = step(state, row)
        return found, found

    if initializer is not None:
        return scan_rows(keep, nest.map_structure(gx.asarray, initializer), elems, reverse=reverse)[1]
    first = _at(elems, -1 if reverse else 0)
    rest = _at(elems, slice(None, -1) if reverse else slice(1, None))
    states = scan_rows(keep, first, rest, reverse=reverse)[1]

    def joined(one: Any, others: Any) -> Any:
        parts = [gx.expand_dims(one, 0), others]
        return gx.concat(parts[::-1] if reverse else parts, 0)

    return nest.map_structure(joined, first, states)


def foldl(fn: Function, elems: Any, initializer: Any = None) -> Any:
    """Returns the last state of ``state = fn(state, row)``; see :func:`scan`.

    Example:
      >>> import graphc as gx
      >>> gx.flow.foldl(lambda total, x: total - x, gx.asarray([1.0, 2.0, 3.0])).item()
      -4.0
    """
    return _at(scan(fn, elems, initializer), -1)


def foldr(fn: Function, elems: Any, initializer: Any = None) -> Any:
    """Returns the last state of ``state = fn(state, row)`` from the last row on; see :func:`scan`.

    Example:
      >>> import graphc as gx
      >>> gx.flow.foldr(lambda total, x: total - x, gx.asarray([1.0, 2.0, 3.0])).item()
      0.0
    """
    return _at(scan(fn, elems, initializer, reverse=True), 0)


def _at(structure: Any, index: Any) -> Any:
    """Returns the rows of every tensor of a structure that an index names."""

    def item(x: Any) -> Any:
        return gx.asarray(x)[index]

    return nest.map_structure(item, structure)
