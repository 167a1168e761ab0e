"""Collection of arrays that a loop fills row by row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from graphc.compiler.base import UniqueNames
from graphc.compiler.ir.graph import Node, Value
from graphc.compiler.ir.passes.base import Copier, subgraph
from graphc.compiler.ir.passes.items import ALL, Access, At, accesses, moves, row_type
from graphc.compiler.ir.passes.loop_pass import Loop, LoopPass, Replacement, controlled
from graphc.compiler.ir.types import Attrs, TensorType


@dataclass(frozen=True)
class Collect(LoopPass):
    """Turns arrays that a loop carries only to fill them into collected rows.

    ``out[t] = h`` in a loop changes an array that the loop carries. Its gradient carries another one, which XLA copies
    in each iteration, so that the time grows with the square of the length: 26 times as long for 400 rows.

    Before: a valid graph. After: the same, but that a ``scan`` collects the rows of an array to which each iteration
    assigns one row, along any axis, at places that lie a constant apart, and which it does not look at. The array after
    the loop is those rows, or the array before the loop with those rows assigned, or added.
    """

    name: ClassVar[str] = "collect"
    needs: ClassVar[frozenset[str]] = frozenset(("update_item",))

    def plan(self, loop: Loop) -> _Rows | None:
        """Returns the loop with collected rows, and the arrays of them."""
        filled = _filled(loop)
        return _Rows(loop, self.ops, filled) if filled else None


@dataclass(frozen=True)
class _Filled:
    """An array that a loop fills."""

    node: Node
    axis: int
    first: int  # the place of the first row that is collected
    step: int  # from each row to the next

    @property
    def row(self) -> Value:
        """Returns the value that each iteration assigns."""
        return self.node.inputs[1]


def _filled(loop: Loop) -> dict[int, _Filled]:
    """Returns the arrays that a loop only fills, by their position among the carried values."""
    if loop.index is None or not loop.attrs["length"]:
        return {}
    waiting, arrays = controlled(loop.body), dict[int, _Filled]()
    for position in loop.places:
        array, result = loop.inside[position], loop.body.outputs[position]
        if result.node is None or result.node.op.name != "update_item":
            continue
        uses = accesses(loop.body, array, result, waiting, anywhere=True)
        if uses is not None and len(uses) == 1 and (filled := _of_write(loop, uses[0])) is not None:
            arrays[position] = filled
    return arrays


def _of_write(loop: Loop, write: Access) -> _Filled | None:
    array, row = write.node.inputs[0].type, write.node.inputs[1].type
    places = [(axis, item) for axis, item in enumerate(write.items) if item != ALL]
    if len(places) != 1:
        return None
    ((axis, at),) = places
    motion = moves(loop, at.base) if isinstance(at, At) else None
    if motion is None or not isinstance(at, At) or row != row_type(array, axis):
        return None
    first, step, last = motion.start + at.offset, motion.step, loop.attrs["length"] - 1
    if loop.attrs.get("reverse"):
        first, step = first + step * last, -step
    inside = all(0 <= place < array.shape[axis] for place in (first, first + step * last))
    return _Filled(write.node, axis, first, step) if inside else None


@dataclass(frozen=True)
class _Rows(Replacement):
    """A loop with some carried arrays replaced by collected rows."""

    filled: dict[int, _Filled]

    def emit(self, inputs: Sequence[Value], names: UniqueNames) -> tuple[Sequence[Node], Sequence[Value]]:
        """Returns the loop and the assignments behind it, and the replacement of each output."""
        loop, body = self.loop, self.loop.body
        carried = [position for position in range(loop.num_carry) if position not in self.filled]
        positions = [*carried, *range(loop.num_carry, len(loop.operands))]
        old = [body.inputs[0], *(loop.inside[position] for position in positions)]
        assignments = [one.node for one in self.filled.values()]
        results = [
            *(body.outputs[position] for position in (*carried, *range(loop.num_carry, len(body.outputs)))),
            *(one.row for one in self.filled.values()),
        ]
        region = subgraph(old, (node for node in body.nodes if node not in assignments), results, body.name)
        attrs = Attrs(loop.attrs, num_carry=len(carried), num_ys=loop.attrs["num_ys"] + len(self.filled))
        scan = loop.rebuilt([inputs[position] for position in positions], [region], attrs)
        outputs = dict(zip(carried, scan.outputs, strict=False))
        ys = scan.outputs[len(carried) :]
        outputs.update(enumerate(ys[: loop.attrs["num_ys"]], loop.num_carry))
        after = loop.copier(inputs, names)
        after.nodes.append(scan)
        for (position, one), rows in zip(self.filled.items(), ys[loop.attrs["num_ys"] :], strict=True):
            outputs[position] = self._array(one, inputs[position], rows, after)
        return after.nodes, [outputs[position] for position in range(len(loop.types))]

    def _array(self, one: _Filled, before: Value, rows: Value, after: Copier) -> Value:
        """Returns an array after the loop."""
        type, axis, length = before.type, one.axis, self.loop.attrs["length"]

        def add(op: str, inputs: Sequence[Value], type: TensorType, **attrs: object) -> Value:
            name = one.node.name if op == "update_item" else op
            return after.add(self.ops[op], inputs, type, Attrs(attrs), like=one.node, name=name)

        first, step = one.first, one.step
        if step < 0:
            first, step = first + step * (length - 1), -step
            rows = add("get_item", [rows], rows.type, index=((None, None, -1),))
        if axis:
            axes = (*range(1, axis + 1), 0, *range(axis + 1, len(type.shape)))
            shape = (*type.shape[:axis], length, *type.shape[axis + 1 :])
            rows = add("permute_dims", [rows], TensorType(shape, type.dtype), axes=axes)
        how = one.node.attrs["how"]
        if how == "set" and rows.type.shape == type.shape:
            return rows
        stop = first + step * (length - 1) + 1
        index = (*[ALL] * axis, (first, stop, None if step == 1 else step))
        return add("update_item", [before, rows], type, index=index, how=how)
