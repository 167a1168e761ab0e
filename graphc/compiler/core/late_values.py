"""Tensors as static attributes of ops, in graphs that are built by hand.

A compiled function refuses them, since it is traced for the shapes of one call. A graph that is built once and run for
many shapes keeps them as extra inputs of a node that is applied late (see :mod:`graphc.compiler.ir.late`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from graphc.compiler.core.context import context
from graphc.compiler.ir import LATE_MARK, Attrs, OpDef, known_ints, late_attrs, late_op, static_ints

__all__ = ["LateValue", "has_late_values", "is_by_hand", "late_value", "with_late_inputs"]


class LateValue:
    """A placeholder, in an attribute, for the value of a tensor that is known only when the graph runs.

    Args:
      tensor: a tensor of integers.
    """

    __slots__ = ("tensor",)

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor


def is_by_hand() -> bool:
    """Returns True if ops go to a graph that is built by hand, outside its branches and bodies."""
    return context.trace is not None and context.trace.is_graph


def late_value(tensor: Any) -> Any:
    """Returns the attribute value for a tensor: ints, or nested tuples of ints, if its values are known.

    Args:
      tensor: a symbolic tensor or a Variable.

    Returns:
      A placeholder if the values are not known; None if a tensor cannot be an attribute here, as no graph is built by
      hand or the tensor is not of integers.
    """
    trace = context.trace
    if trace is None or not trace.root.is_graph or tensor.dtype.kind not in "iu":
        return None
    known = known_ints(trace.lift(tensor).raw)
    if known is not None and None not in known.ravel().tolist():
        trace.root.note_attribute(trace.lift(tensor).raw)
        return static_ints(known)
    return LateValue(tensor)


def has_late_values(attrs: Mapping[str, Any]) -> bool:
    """Returns True if an attribute is, or holds, a late value."""
    return any(True for value in attrs.values() for _ in _late_in(value))


def with_late_inputs(op: OpDef, inputs: Sequence[Any], attrs: Attrs) -> tuple[OpDef, Sequence[Any], Attrs]:
    """Returns the application of an op, made a late application if its attributes hold late values."""
    late = {name: list(_late_in(value)) for name, value in attrs.items()}
    tensors = [item.tensor for items in late.values() for item in items]
    if not tensors:
        return op, inputs, attrs
    trace = context.trace
    assert trace is not None
    known: list[Any] = []
    # In the order in which the values are taken out of the attributes: by attribute name.
    names = sorted(name for name in late if late[name])
    tensors = [trace.late_input(trace.lift(item.tensor)) for name in names for item in late[name]]
    for tensor in tensors:
        found = known_ints(trace.lift(tensor).raw)
        known.append(None if found is None else tuple(found.ravel().tolist()))
    marked = {name: _marked(value) for name, value in attrs.items()}
    return late_op(op), [*inputs, *tensors], late_attrs(op, marked, names, known)


def _late_in(value: Any) -> Iterator[LateValue]:
    if isinstance(value, LateValue):
        yield value
    elif isinstance(value, tuple):
        for item in cast("tuple[Any, ...]", value):
            yield from _late_in(item)


def _marked(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_marked, cast("tuple[Any, ...]", value)))
    return LATE_MARK if isinstance(value, LateValue) else value
