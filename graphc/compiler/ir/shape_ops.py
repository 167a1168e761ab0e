"""Ops that return a tensor's shape as a tensor, and the known values of integers computed from shapes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from graphc.compiler.ir.opdef import CONSTANT, OPS, OpDef
from graphc.compiler.ir.types import OPEN, Attrs, TensorType

if TYPE_CHECKING:
    from graphc.compiler.ir.graph import Graph, Node, Value

_INT = np.dtype(np.int32)
_DEEPEST = 100
"""Maximum depth to which the computation of an integer is followed."""
_FED = 16
"""Maximum number of fed integers that may be sizes."""
_MOST = 64
"""Maximum number of elements of a tensor whose values are tracked: shapes have few."""


def _shape_type(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    del attrs, regions
    return (TensorType((len(types[0].shape) if types[0].ranked else OPEN,), _INT),)


def _number_type(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    del types, attrs, regions
    return (TensorType((), _INT),)


def _shape(x: Any) -> Any:
    return np.array(np.shape(x), _INT)


def _size(x: Any) -> Any:
    return np.array(np.size(x), _INT)


def _rank(x: Any) -> Any:
    return np.array(np.ndim(x), _INT)


def _fact(name: str, impl: Callable[[Any], Any], infer: Any, doc: str) -> OpDef:
    op = OpDef(
        name, impl=impl, infer=infer, params=("x",), fold=impl, differentiable=False, takes_open=True, doc=doc
    )  # fmt: skip
    return OPS.add(name, op)


SHAPE_OF = _fact("shape_of", _shape, _shape_type, "The size of each axis.")
SIZE_OF = _fact("size_of", _size, _number_type, "The number of elements.")
RANK_OF = _fact("rank_of", _rank, _number_type, "The number of axes.")
SHAPE_FACTS = (SHAPE_OF, SIZE_OF, RANK_OF)
"""The ops whose values depend only on types."""


def shape_fact(op: OpDef, type: TensorType) -> np.ndarray[Any, Any] | None:
    """Returns the value of a shape op; None if the type does not determine it."""
    if op is RANK_OF:
        return np.array(len(type.shape), _INT) if type.ranked else None
    if type.is_open:
        return np.array(0, _INT) if op is SIZE_OF and 0 in type.shape else None
    return np.array(type.shape if op is SHAPE_OF else type.size, _INT)


def known_ints(value: Value) -> np.ndarray[Any, Any] | None:
    """Returns the elements of an integer tensor that are known without running the graph.

    Args:
      value: a value with a small shape, whose computation is followed.

    Returns:
      An array of Python ints, with None for unknown ones; None if the shape is unknown.

    Example:
      >>> from graphc.compiler.ir import GraphBuilder
      >>> builder = GraphBuilder()
      >>> x = builder.input(TensorType((OPEN, 10), np.dtype("float32")))
      >>> known_ints(builder.append(SHAPE_OF, [x]).outputs[0])
      array([None, 10], dtype=object)
    """
    return _known(value, 0)


def is_shape_value(value: Value) -> bool:
    """Returns True if a tensor is computed only from shapes, constants and single fed integers.

    Such a value is known before anything is compiled, and there are few: a run's programs are cached by them.
    """
    waiting, seen = [value], {value}
    while waiting:
        value = waiting.pop()
        node = value.node
        if node is not None and (node.op is CONSTANT or node.op in SHAPE_FACTS or node.op.host):
            continue
        if value.type.dtype.kind not in "iub" or node is None or node.regions or node.effects:
            return False
        if not node.inputs and (value.type.is_open or value.type.size > _FED):
            return False
        waiting += [part for part in node.inputs if part not in seen]
        seen.update(node.inputs)
    return True


def _known(value: Value, depth: int) -> np.ndarray[Any, Any] | None:
    type, node = value.type, value.node
    if type.dtype.kind not in "iu" or type.is_open or type.size > _MOST:
        return None
    computed = None
    if node is not None and depth < _DEEPEST and not node.regions and not node.effects:
        try:
            computed = _computed(node, depth + 1)
        except Exception:  # a failed computation means unknown
            computed = None
    return np.full(type.shape, None, object) if computed is None or computed.shape != type.shape else computed


def _computed(node: Node, depth: int) -> np.ndarray[Any, Any] | None:
    name, attrs = node.op.name, node.attrs
    if node.op is CONSTANT:
        return _objects(attrs["value"].array)
    if node.op in SHAPE_FACTS:
        type = node.inputs[0].type
        fact = shape_fact(node.op, type)
        if fact is not None:
            return _objects(fact)
        if node.op is SHAPE_OF and type.ranked:
            return _objects([None if size == OPEN else size for size in type.shape])
        return None
    parts = [_known(part, depth) for part in node.inputs]
    if name in _MOVES:
        arrays = [part for part in parts if part is not None]
        return _MOVES[name](arrays, attrs) if arrays and len(arrays) == len(parts) else None
    return _folded(node, parts)


def _folded(node: Node, parts: Sequence[np.ndarray[Any, Any] | None]) -> np.ndarray[Any, Any] | None:
    """Computes a node whose inputs are all known."""
    arrays: list[Any] = []
    for part, value in zip(parts, node.inputs, strict=True):
        if part is None or None in part.ravel().tolist():
            return None
        arrays.append(part.astype(value.type.dtype))
    if node.op.fold is None:
        return None
    return _objects(np.asarray(node.op.fold(*arrays, **node.attrs)).astype(node.outputs[0].type.dtype))


def _objects(array: Any) -> np.ndarray[Any, Any]:
    """Returns Python ints and None as an array of objects."""
    if isinstance(array, list):
        return np.array(cast("Any", array), object)
    return np.array(np.asarray(array).tolist(), object)


def _item(arrays: list[Any], attrs: Attrs) -> Any:
    index: tuple[Any, ...] = attrs["index"]
    parts = [slice(*cast("Any", part)) if isinstance(part, tuple) else ... if part == "..." else part for part in index]
    return np.array(arrays[0][tuple(parts)], object)


_MOVES: dict[str, Callable[[list[Any], Attrs], Any]] = {
    "astype": lambda arrays, attrs: arrays[0],
    "identity": lambda arrays, attrs: arrays[0],
    "stop_gradient": lambda arrays, attrs: arrays[0],
    "get_item": _item,
    "stack": lambda arrays, attrs: np.stack(arrays, attrs.get("axis", 0)),
    "concat": lambda arrays, attrs: np.concatenate(arrays, attrs.get("axis", 0)),
    "reshape": lambda arrays, attrs: np.reshape(arrays[0], attrs["shape"]),
    "expand_dims": lambda arrays, attrs: np.expand_dims(arrays[0], attrs["axis"]),
    "squeeze": lambda arrays, attrs: np.squeeze(arrays[0], attrs.get("axis")),
    "ravel": lambda arrays, attrs: np.ravel(arrays[0]),
}
"""The ops that move integers without changing them, so that some elements may be known and others not."""
