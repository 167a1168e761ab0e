"""Gives a loop as rows what its iterations read of an array one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from graphc.compiler.base import Registry, UniqueNames
from graphc.compiler.ir.graph import Node, Value
from graphc.compiler.ir.opdef import OpDef
from graphc.compiler.ir.passes.copying import Copier, needed, subgraph
from graphc.compiler.ir.passes.items import ALL, At, Item, index_of, items_of, moves
from graphc.compiler.ir.passes.loop_nodes import Loop, controlled
from graphc.compiler.ir.passes.loop_pass import LoopPass, Replacement
from graphc.compiler.ir.types import Attrs, TensorType

__all__ = ["TakeRows"]


@dataclass(frozen=True)
class TakeRows(LoopPass):
    """Gives the iterations of a loop the rows of arrays that they take one after the other.

    The gradient of ``x[i]`` in a loop over ``i`` is an array as large as ``x``, in each iteration; that of a row that
    ``scan`` takes is a row that it collects.

    Before: a valid graph. After: the same, but that what a ``scan`` reads of an array that it does not change is a row
    that each iteration is given, if the places follow from the index alone: they lie a constant apart, or are computed
    from it by a few numbers, which is done for all iterations at once. The array of these rows is taken before the
    loop, if it is not all of it. What is read at places that are the same in all iterations is taken before the loop,
    if it is less than the array.
    """

    name: ClassVar[str] = "take rows"
    needs: ClassVar[frozenset[str]] = frozenset(("get_item",))

    def plan(self, loop: Loop) -> _Taking | None:
        """Returns the arrays of rows, and the loop that takes them."""
        reads = _reads(loop, self.ops)
        return _Taking(loop, self.ops, reads) if reads else None


_ELEMENTWISE = frozenset(
    ("abs", "add", "floor_divide", "maximum", "minimum", "multiply", "negative", "remainder", "subtract", "where")
)
"""The ops that compute places, of many iterations as of one."""


_LARGER = 4
"""The rows may be this many times as large as the array, since some are taken more than once."""

_SMALL = 1 << 16
"""Rows of at most this many elements in total are always taken."""


@dataclass(frozen=True)
class _Read:
    """A read whose places follow from the index, or are the same in all iterations.

    Attributes:
      course: the place that belongs to the first row, and how far the next one is from it, where there is one axis and
        they lie a constant apart.
    """

    node: Node
    items: tuple[Item, ...]
    axes: tuple[int, ...]
    course: tuple[int, int] | None = None


def _reads(loop: Loop, ops: Registry[OpDef]) -> list[_Read]:
    """Returns the reads of a loop that rows can stand for."""
    if loop.index is None or loop.attrs["length"] < 2:
        return []
    arrays, waiting = {*loop.inside[loop.num_carry + loop.num_rows :]}, controlled(loop.body)
    nodes = [
        node
        for node in loop.body.nodes
        if node.op.name == "get_item" and node.inputs[0] in arrays and node not in waiting and not node.device
    ]
    if not nodes:
        return []
    fixed, known = loop.free(arrays, ops), _known(loop, arrays, ops)
    reads = [
        _read(loop, node, items, fixed, known)
        for node in nodes
        if not node.inputs[0].type.weak and (items := items_of(node)) is not None
    ]
    return [read for read in reads if read is not None]


def _known(loop: Loop, arrays: set[Value], ops: Registry[OpDef]) -> set[Value]:
    """Returns the ints of a body that can be computed for all iterations at once."""
    assert loop.index is not None
    free = loop.free([loop.index, *arrays], ops)
    found = {value for value in loop.free(arrays, ops) if not value.type.shape} | {loop.index}
    for node in loop.body.nodes:
        numbers = node.op.name in _ELEMENTWISE and free.issuperset(node.outputs)
        if numbers and found.issuperset(node.inputs) and all(value.type.dtype.kind in "iub" for value in node.inputs):
            found.update(node.outputs)
    return found


def _read(loop: Loop, node: Node, items: tuple[Item, ...], fixed: set[Value], known: set[Value]) -> _Read | None:
    moving = [
        (axis, item)
        for axis, item in enumerate(items)
        if isinstance(item, At) and item.value is not None and item.base is not None and item.base not in fixed
    ]
    axes = tuple([axis for axis, _ in moving])
    if not moving:
        return _Read(node, items, axes) if node.outputs[0].type.size < node.inputs[0].type.size else None
    motion = moves(loop, moving[0][1].base)
    if len(moving) == 1 and motion is not None:
        first, step, last = motion.start + moving[0][1].offset, motion.step, loop.attrs["length"] - 1
        if loop.attrs.get("reverse"):
            first, step = first + step * last, -step
        if all(0 <= place < node.inputs[0].type.shape[axes[0]] for place in (first, first + step * last)):
            return _Read(node, items, axes, (first, step))
    if not all(item.value in known for _, item in moving):
        return None
    rows = loop.attrs["length"] * node.outputs[0].type.size
    return _Read(node, items, axes) if rows <= max(_LARGER * node.inputs[0].type.size, _SMALL) else None


@dataclass(frozen=True)
class _Taking(Replacement):
    """A loop that takes rows."""

    reads: Sequence[_Read]

    def emit(self, inputs: Sequence[Value], names: UniqueNames) -> tuple[Sequence[Node], Sequence[Value]]:
        """Returns what takes the arrays, and the loop."""
        loop, body = self.loop, self.loop.body
        before = loop.copier(inputs, names)
        moving, fixed = [[read for read in self.reads if bool(read.axes) == moves] for moves in (True, False)]
        arrays, values = [[self._array(read, before) for read in reads] for reads in (moving, fixed)]
        behind = loop.num_carry + loop.num_rows
        given = [*inputs[:behind], *arrays, *inputs[behind:], *values]
        rows, same = [[read.node.outputs[0] for read in reads] for reads in (moving, fixed)]
        old = [*body.inputs[: 1 + behind], *rows, *body.inputs[1 + behind :], *same]
        gone = {read.node for read in self.reads}
        region = subgraph(old, (node for node in body.nodes if node not in gone), body.outputs, body.name, prefix="row")
        node = loop.rebuilt(given, [region], Attrs(loop.attrs, num_xs=loop.num_rows + len(arrays)))
        return [*before.nodes, node], node.outputs

    def _array(self, read: _Read, before: Copier) -> Value:
        """Returns the array whose rows stand for a read, or what all iterations read."""
        array, length, row = before.values[read.node.inputs[0]], self.loop.attrs["length"], read.node.outputs[0].type
        items = [ALL if axis in read.axes else item for axis, item in enumerate(read.items)]
        sizes = [array.type.shape[axis] for axis in read.axes]
        if read.course is not None:
            (first, step), (size,), sizes = read.course, sizes, [length]
            stop = first + step * length
            if (first, stop, step) != (0, size, 1):
                items[read.axes[0]] = (first, None if stop < 0 else stop, None if step == 1 else step)
        sources = (item.value for item in items if isinstance(item, At) and item.base is not None)
        before.copy_sources((value for value in sources if value is not None), self.loop.body.nodes)

        def add(op: str, inputs: Sequence[Value], shape: Sequence[int], **attrs: object) -> Value:
            type = TensorType(tuple(shape), row.dtype)
            return before.add(self.ops[op], inputs, type, Attrs(attrs), like=read.node)

        # The moving axes come among those of the row, and then before them.
        places = [sum(not isinstance(item, At) for item in items[:axis]) for axis in read.axes]
        shape = [*row.shape]
        for place, size in zip(places, sizes, strict=True):
            shape.insert(place, size)
        if (found := index_of(items)) is not None:
            index, tensors = found
            inside = {"inside": True} if tensors else {}
            array = add("get_item", [array, *(before.values[value] for value in tensors)], shape, index=index, **inside)
        if places != [*range(len(places))]:
            axes = (*places, *(axis for axis in range(len(shape)) if axis not in places))
            array = add("permute_dims", [array], [shape[axis] for axis in axes], axes=axes)
        if read.axes and read.course is None:
            tensors = [self._places(read, axis, before) for axis in read.axes]
            array = add("get_item", [array, *tensors], (length, *row.shape), index=("tensor",) * len(tensors))
        return array

    def _places(self, read: _Read, axis: int, before: Copier) -> Value:
        """Returns the places along an axis in all iterations."""
        item, index = read.items[axis], self.loop.index
        assert isinstance(item, At)
        assert item.value is not None
        assert index is not None
        length, start, step = self.loop.attrs["length"], self.loop.attrs.get("start", 0), self.loop.attrs.get("step", 1)
        given = Attrs(start=start, stop=start + step * length, step=step)
        all_indices = TensorType((length,), index.type.dtype)
        many = {index: before.add(self.ops["arange"], [], all_indices, given, like=read.node)}
        for node in needed(self.loop.body.nodes, [item.value.node]):
            if not any(value in many for value in node.inputs):
                if node.outputs[0] not in before.values:
                    before.copy([node])
                continue
            values = [many.get(value) or before.values[value] for value in node.inputs]
            (type,) = node.op.infer([value.type for value in values], node.attrs, ())
            many[node.outputs[0]] = before.add(self.ops[node.op.name], values, type, node.attrs, like=node)
        return many[item.value]
