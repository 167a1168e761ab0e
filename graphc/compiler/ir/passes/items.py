"""The positions, along each axis, at which the iterations of a loop read and write arrays."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import cast

from graphc.compiler.ir.graph import Graph, Node, Value
from graphc.compiler.ir.opdef import CONSTANT
from graphc.compiler.ir.passes.loop_pass import Loop
from graphc.compiler.ir.types import OPEN, Attrs, TensorType

ALL = (None, None, None)
"""The slice that takes a whole axis."""

COMBINE = {"add": "add", "multiply": "multiply", "min": "minimum", "max": "maximum"}
"""The op that an ``update_item`` applies to what is there, by how it does so."""


@dataclass(frozen=True)
class At:
    """One place of an axis: a value with a number added, or that number alone."""

    base: Value | None  # None for the number alone
    offset: int
    value: Value | None = field(default=None, compare=False)  # the index itself: base and offset together

    def apart(self, other: At) -> int | None:
        """Returns how far it lies behind another place, if that is the same however often the loop runs."""
        return self.offset - other.offset if self.base is other.base else None


Item = At | tuple[int | None, int | None, int | None]


def constant(value: Value) -> int | None:
    """Returns the number that a scalar int is, if it is known."""
    node = value.node
    if node is None or node.op is not CONSTANT or value.type.shape or value.type.dtype.kind not in "iu":
        return None
    return int(node.attrs["value"].array)


def _at(value: Value) -> At:
    """Returns a place, apart from the numbers that are added to it."""
    base, offset = value, 0
    while (number := constant(base)) is None:
        node = base.node
        if node is None or node.op.name not in ("add", "subtract") or node.control_inputs:
            return At(base, offset, value)
        first, second = node.inputs
        by = constant(second)
        if by is None and node.op.name == "add":
            first, by = second, constant(first)
        # Ints of 32 bits and more do not wrap around between two places of an axis.
        if by is None or first.type.shape or first.type.dtype != value.type.dtype:
            return At(base, offset, value)
        base, offset = first, offset + (by if node.op.name == "add" else -by)
    return At(None, offset + number, value)


def items_of(node: Node, *, anywhere: bool = False) -> tuple[Item, ...] | None:
    """Returns the place or slice of each axis that a ``get_item`` or ``update_item`` names, None for other indices."""
    # With ``anywhere``, places count that may not be there.
    array, index = node.inputs[0].type, node.attrs["index"]
    tensors = iter(node.inputs[1 if node.op.name == "get_item" else 2 :])
    if array.is_open or not array.ranked:
        return None
    items: list[Item] = []
    for position, item in enumerate(index):
        if item == "...":
            items += [ALL] * (len(array.shape) - len(items) - (len(index) - position - 1))
        elif item == "tensor":
            value = next(tensors)
            small = value.type.shape or value.type.dtype.kind != "i" or value.type.dtype.itemsize < 4
            if small or not (anywhere or node.attrs.get("inside")):
                return None
            items.append(_at(value))
        elif type(item) is int:
            items.append(At(None, item % array.shape[len(items)]))
        elif isinstance(item, tuple) and not isinstance(cast("tuple[object, ...]", item)[0], str):
            items.append(cast("Item", item))
        else:
            return None
    return (*items, *[ALL] * (len(array.shape) - len(items)))


def index_of(items: Sequence[Item]) -> tuple[tuple[object, ...], list[Value]] | None:
    """Returns the index that names some items, and the tensors in it; None where it takes all there is."""
    index: list[object] = []
    tensors: list[Value] = []
    for item in items:
        if isinstance(item, At) and item.base is not None and item.value is not None:
            index.append("tensor")
            tensors.append(item.value)
        else:
            index.append(item.offset if isinstance(item, At) else item)
    while index and index[-1] == ALL:
        index.pop()
    return (tuple(index), tensors) if index else None


def index_attrs(index: Sequence[object], tensors: Sequence[Value], **others: object) -> Attrs:
    """Returns the attributes of a read or write at an index; the places that tensors name are known to be there."""
    return Attrs(index=tuple(index), **others, **({"inside": True} if tensors else {}))


def size_of(shape: Sequence[int], items: Sequence[Item]) -> int:
    """Returns how many elements some items of an array of that shape are."""
    sizes = (
        1 if isinstance(item, At) else len(range(*slice(*item).indices(size)))
        for size, item in zip(shape, items, strict=True)
    )
    return math.prod(sizes)


@dataclass(frozen=True)
class Access:
    """A read or a write of an array that a loop carries."""

    node: Node
    items: tuple[Item, ...]
    writes: int  # the number of writes before it in the same iteration

    @property
    def is_write(self) -> bool:
        """True if it changes the array."""
        return self.node.op.name == "update_item"


def accesses(
    body: Graph, array: Value, result: Value, waiting: Collection[Node], *, anywhere: bool = False
) -> list[Access] | None:
    """Returns the reads and writes of an array in an iteration, in order; None if it is used in another way."""
    if array.type.is_open or not array.type.ranked or OPEN in array.type.shape:
        return None
    users, uses = body.users(), list[Access]()
    current, writes = array, 0
    while True:
        after: Value | None = None
        for node in users.get(current, ()):
            readable = node.op.name in ("get_item", "update_item") and node not in waiting and not node.device
            items = items_of(node, anywhere=anywhere) if readable else None
            if items is None or node.inputs[0] is not current or node.inputs.count(current) != 1:
                return None
            uses.append(Access(node, items, writes))
            if node.op.name == "update_item":
                if after is not None or node.outputs[0].type != array.type:
                    return None
                (after,) = node.outputs
        if after is None:
            return uses if current is result and body.outputs.count(current) == 1 else None
        if current in body.outputs:
            return None
        current, writes = after, writes + 1


@dataclass(frozen=True)
class Motion:
    """The course of an int of a body from one iteration to the next: what it is in the first one, and its step."""

    start: int
    step: int


def moves(loop: Loop, value: Value | None) -> Motion | None:
    """Returns how an int of a body moves, if it is the index or a multiple of it; None stands for a number."""
    if value is None:
        return None
    if value is loop.index:
        start, step, length = loop.attrs.get("start", 0), loop.attrs.get("step", 1), loop.attrs["length"]
        return Motion(start + step * (length - 1), -step) if loop.attrs.get("reverse") else Motion(start, step)
    if value.node is not None and value.node.op.name == "multiply" and loop.index in value.node.inputs:
        times = next((number for part in value.node.inputs if (number := constant(part))), None)
        motion = None if times is None else moves(loop, loop.index)
        return None if times is None or motion is None else Motion(motion.start * times, motion.step * times)
    return None


def row_type(array: TensorType, axis: int) -> TensorType:
    """Returns the type of one row of an array, along an axis."""
    return TensorType((*array.shape[:axis], *array.shape[axis + 1 :]), array.dtype)
