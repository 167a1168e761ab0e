"""Numbers that become tensors in the first iteration of a loop, as the ``s`` of ``s = 0`` and ``s = s + x`` does.

Where each element of such a tensor is computed of the number alone and of other elements at the same place, the number
may as well be a tensor of that shape from the start: the loop carries it, and no iteration is traced by itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from graphc.compiler.autograph.values.join import is_number, is_tensor, leaf_type
from graphc.compiler.core import SymbolicTensor
from graphc.compiler.ir import OPS, Attrs, TensorType, Value
from graphc.compiler.tracing import Region, Trace

__all__ = ["common_type", "filled", "is_as_of_number"]

_ELEMENTWISE = frozenset({
    "abs", "add", "equal", "exp", "greater", "greater_equal", "less", "less_equal", "logical_and", "logical_not",
    "logical_or", "maximum", "minimum", "multiply", "not_equal", "sigmoid", "subtract", "tanh", "where",
})  # fmt: skip
"""Ops that make of a number what they make of a tensor that holds it everywhere, in whatever dtype that holds it."""


def common_type(number: Any, after: Any) -> TensorType | None:
    """Returns the type of a tensor in which a number may start that becomes ``after``; None if there is none."""
    if not is_number(number) or not isinstance(after, SymbolicTensor) or not is_tensor(after) or not after.shape:
        return None
    type, own = after.type, leaf_type(number)
    # An int fits a tensor of floats, never the reverse; find() gives -1 for all other kinds.
    holds = "bif".find(type.dtype.kind) >= "bif".find(own.dtype.kind) >= 0
    if not holds or (own.dtype.kind == "b") != (type.dtype.kind == "b"):
        return None
    with np.errstate(over="ignore"):  # 1e300 is inf in float32
        held = np.asarray(number).astype(type.dtype).item()
    # A float may round, but neither to 0 (1e-50 in float32) nor to inf.
    rounded = type.dtype.kind == "f" and bool(held) == bool(number) and math.isfinite(held) == math.isfinite(number)
    return type if held == number or (own.dtype.kind == "f" and rounded) else None


def filled(trace: Trace, number: Any, type: TensorType) -> SymbolicTensor:
    """Returns a tensor of that type that holds a number everywhere."""
    one = trace.lift(type.dtype.type(number).item())
    one = one if type.weak else trace.cast(one, TensorType((), type.dtype))
    return trace.apply(OPS["broadcast_to"], (one,), Attrs(shape=type.shape))[0]


def is_as_of_number(region: Region, start: Value, number: Any, outputs: Iterable[Value]) -> bool:
    """Returns True if an iteration that is given a tensor gives what it would give of the number that it holds.

    Args:
      region: the iteration.
      start: the tensor, one of its inputs.
      number: the number that it holds everywhere.
      outputs: what the iteration gives.
    """
    types = {start: leaf_type(number)}  # of what differs from what the number would give
    for node in region.builder.nodes:
        given = [types.get(value, value.type) for value in node.inputs]
        if not any(value in types for value in node.inputs):
            continue
        # A sum over the tensor, for one, adds the number up as often as there are elements.
        if node.op.name not in _ELEMENTWISE or node.regions:
            return False
        found = node.op.infer(given, node.attrs, ())
        types.update({value: type for value, type in zip(node.outputs, found, strict=True) if type != value.type})
    return not any(value in types for value in outputs)
