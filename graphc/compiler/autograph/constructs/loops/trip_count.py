"""After how many iterations a loop stops whose ``break`` or ``return`` depends on nothing but its index.

Such a test is a tensor only because the body is traced once for all iterations: Python knows the answer. Here it is
computed for all values of the index at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from graphc.compiler.core import SymbolicTensor
from graphc.compiler.ir import Node, Value

__all__ = ["iterations_until"]

Known = dict[Value, Any]

_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "abs": np.abs,
    "add": np.add,
    "equal": np.equal,
    "floor_divide": np.floor_divide,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
    "less": np.less,
    "less_equal": np.less_equal,
    "logical_not": np.logical_not,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "multiply": np.multiply,
    "not_equal": np.not_equal,
    "remainder": np.remainder,
    "subtract": np.subtract,
}
"""The operations on ints and bools that are evaluated; Python and XLA may round floats differently."""


def iterations_until(going_on: SymbolicTensor, known: Mapping[Value, Any], order: range) -> int | None:
    """Returns how many iterations a loop runs; None where that is not known.

    Args:
      going_on: whether it goes on after an iteration.
      known: what is known at the start of an iteration, the index first: an array for all iterations, or one value.
      order: the values of the index.
    """
    found = _evaluate(going_on.raw, dict(known))  # which it adds to
    if found is None:
        return None
    stops = np.flatnonzero(~np.broadcast_to(np.asarray(found, bool), (len(order),)))
    return int(stops[0]) + 1 if len(stops) else len(order)


def _evaluate(value: Value, known: Known) -> Any:
    """Returns a scalar for all iterations, or an array of one for each; None where that is not known."""
    if value not in known:
        known[value] = None if value.node is None or value.type.shape else _output(value.node, value.index, known)
    return known[value]


def _output(node: Node, index: int, known: Known) -> Any:
    name = node.op.name
    if name == "cond":
        return _chosen(node, index, known)
    if any(value.type.dtype.kind not in "bi" for value in (*node.inputs, *node.outputs)):
        return None
    if name == "constant":
        return node.attrs["value"].array
    operands = [_evaluate(value, known) for value in node.inputs]
    if name in ("logical_and", "logical_or"):
        return _logical(name, operands)
    if any(operand is None for operand in operands):
        return None
    if name in ("astype", "as_number"):
        return operands[0].astype(node.outputs[0].type.dtype)
    function = _FUNCTIONS.get(name)
    # An int by zero: NumPy gives 0, XLA does not, and Python raises.
    if function is None or (name in ("floor_divide", "remainder") and not np.all(operands[1])):
        return None
    return function(*operands)


def _logical(name: str, operands: list[Any]) -> Any:
    """Of one operand alone, if it decides for all iterations."""
    found = [operand for operand in operands if operand is not None]
    if len(found) == 2:
        return np.logical_and(*found) if name == "logical_and" else np.logical_or(*found)
    decides = len(found) == 1 and (np.all(found[0]) if name == "logical_or" else not np.any(found[0]))
    return np.asarray(name == "logical_or") if decides else None


def _chosen(node: Node, index: int, known: Known) -> Any:
    """Returns an output of a branch."""
    selector = _evaluate(node.inputs[0], known)
    if selector is None:
        return None
    sides: list[Any] = []
    for region in node.regions:
        pairs = zip(region.inputs, node.inputs[1:], strict=True)
        inside: Known = {inner: _evaluate(outer, known) for inner, outer in pairs}
        sides.append(_evaluate(region.outputs[index], inside))
    # A side that no iteration takes may stay unknown.
    used = [np.any(selector), not np.all(selector)]
    if any(side is None and needed for side, needed in zip(sides, used, strict=True)):
        return None
    true, false = [np.asarray(False) if side is None else side for side in sides]
    return np.where(selector, true, false)
