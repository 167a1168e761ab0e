"""Array functions of graphs whose result sizes depend on values: the host counts the elements.

Ordinary ops gather the selected elements, so gradients flow through them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from graphc.compiler.core import FUNCTIONS, apply, apply_all, as_dtype
from graphc.compiler.ir import OPEN, OPS, Attrs, Graph, OpDef, TensorType
from graphc.graphs.refusals import user_error
from graphc.graphs.session.graphs.control_flow import convert_to_tensor
from graphc.graphs.session.graphs.tensor import GraphTensor


class Unique(NamedTuple):
    """The distinct elements, and for each element, the index of its distinct one."""

    y: Any
    idx: Any


class UniqueWithCounts(NamedTuple):
    """The distinct elements, for each element the index of its distinct one, and the count of each distinct one."""

    y: Any
    idx: Any
    count: Any


Types = tuple[TensorType, ...]


def _op(name: str, impl: Callable[..., Any], types: Callable[[Sequence[TensorType], Attrs], Types], doc: str) -> OpDef:
    def infer(inputs: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> Types:
        del regions
        return types(inputs, attrs)

    op = OpDef(name, impl, infer, ("*values",), differentiable=False, takes_open=True, host=True, doc=doc)
    return OPS.add(name, op)


def _vector(dtype: Any) -> TensorType:
    return TensorType((OPEN,), np.dtype(dtype))


def _positions(condition: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.argwhere(condition).astype(as_dtype(np.int64))


def _position_types(inputs: Sequence[TensorType], attrs: Attrs) -> Types:
    del attrs
    (condition,) = inputs
    return (TensorType((OPEN, len(condition.shape) if condition.ranked else OPEN), as_dtype(np.int64)),)


_POSITIONS = _op("by_value.positions", _positions, _position_types, "The positions of true elements, a row for each.")


def _unique(x: np.ndarray[Any, Any], *, dtype: np.dtype[Any]) -> tuple[np.ndarray[Any, Any], ...]:
    values, first, inverse, counts = np.unique(x, return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(first)  # as they come, and not by size
    ranks = np.empty_like(order)
    ranks[order] = np.arange(order.size)
    return values[order], ranks[inverse].astype(dtype), counts[order].astype(dtype)


def _unique_types(inputs: Sequence[TensorType], attrs: Attrs) -> Types:
    (x,) = inputs
    return _vector(x.dtype), TensorType(x.shape, attrs["dtype"], ranked=x.ranked), _vector(attrs["dtype"])


_UNIQUE = _op(
    "by_value.unique",
    _unique,
    _unique_types,
    "The distinct elements, each element's index among them, and their counts.",
)


def positions(condition: Any, name: str | None = None) -> GraphTensor:
    """Returns the positions of true elements, like ``tf.where`` of a condition alone: ``int64[count, axes]``."""
    tensor = convert_to_tensor(condition)
    with tensor.graph.making(name or "Where"):
        return tensor.graph.named(apply(_POSITIONS, (tensor,)), name or "Where")


def boolean_mask(tensor: Any, mask: Any, axis: int | None = None, name: str = "boolean_mask") -> GraphTensor:
    """Returns the elements of a tensor that a mask selects, flattened along the mask's axes.

    Args:
      axis: the first of these axes; 0 if None.
    """
    x, selector = convert_to_tensor(tensor), convert_to_tensor(mask)
    first = axis or 0
    if selector.shape is None or not selector.shape:
        raise user_error(
            f"boolean_mask: the mask {selector!r} must have axes whose number is known; use mask.set_shape"
        )
    count = len(selector.shape)
    with x.graph.making(name):
        shape = FUNCTIONS["shape"](x)
        rows = [shape[dimension] for dimension in range(len(x.shape))]
        flat = FUNCTIONS["reshape"](x, (*rows[:first], -1, *rows[first + count :]))
        chosen = apply(_POSITIONS, (FUNCTIONS["reshape"](selector, (-1,)),))
        picked = FUNCTIONS["take"](flat, FUNCTIONS["reshape"](chosen, (-1,)), axis=first)
        return x.graph.named(picked, name)


def dynamic_partition(data: Any, partitions: Any, num_partitions: int, name: str | None = None) -> list[GraphTensor]:
    """Splits the elements into several parts, in their order."""
    x, part = convert_to_tensor(data), convert_to_tensor(partitions)
    with x.graph.making(name or "DynamicPartition"):
        parts = [boolean_mask(x, FUNCTIONS["equal"](part, number)) for number in range(num_partitions)]
        return x.graph.named(parts, name or "DynamicPartition")


def unique_with_counts(x: Any, out_idx: Any = "int32", name: str | None = None) -> UniqueWithCounts:
    """Returns distinct elements in order of appearance, each element's index among them, and their counts."""
    tensor = convert_to_tensor(x)
    with tensor.graph.making(name or "UniqueWithCounts"):
        results = apply_all(_UNIQUE, (tensor,), Attrs(dtype=as_dtype(out_idx)))
        return UniqueWithCounts(*tensor.graph.named(results, name or "UniqueWithCounts"))


def unique(x: Any, out_idx: Any = "int32", name: str | None = None) -> Unique:
    """Returns a vector's distinct elements, and each element's index among them; see :func:`unique_with_counts`."""
    return Unique(*unique_with_counts(x, out_idx, name or "Unique")[:2])
