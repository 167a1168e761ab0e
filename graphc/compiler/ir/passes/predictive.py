"""Carries the rows that a loop reads from where earlier iterations wrote them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from graphc.compiler.base import UniqueNames
from graphc.compiler.ir.graph import Graph, Node, Value
from graphc.compiler.ir.interpreter import free_names
from graphc.compiler.ir.passes.base import Copier
from graphc.compiler.ir.passes.items import (
    ALL,
    COMBINE,
    Access,
    At,
    Item,
    Motion,
    accesses,
    index_attrs,
    index_of,
    moves,
    row_type,
)
from graphc.compiler.ir.passes.loop_pass import Loop, LoopPass, Replacement, controlled
from graphc.compiler.ir.types import Attrs, TensorType

_FARTHEST = 4
"""Reads at most this many rows back are carried; each row costs one carried value."""


@dataclass(frozen=True)
class PredictiveCommoning(LoopPass):
    """Carries what a loop reads of an array that it fills, from the iterations that wrote it.

    In ``x[i] = f(x[i - 1], x[i - 2])`` the two items are what the last two iterations assigned: an expert carries them,
    and collects all. Compilers call it predictive commoning. The gradient of a loop that reads the array carries a
    cotangent of all of it, to which each iteration adds an array of zeros with one row that is not.

    Before: a valid graph. After: the same, but that a ``scan`` that assigns one row of an array in each iteration, at
    places that lie a constant apart, does not read it: what it reads a few rows behind is carried, the row itself is
    what was assigned, and what it reads where nothing was assigned yet is read of the array before the loop.
    """

    name: ClassVar[str] = "predictive commoning"
    needs: ClassVar[frozenset[str]] = frozenset(("update_item",))

    def plan(self, loop: Loop) -> _Commoned | None:
        """Returns the first rows, and the loop that carries rows."""
        rows = _rows(loop)
        return _Commoned(loop, self.ops, rows) if rows else None


_BEFORE = -1
"""Stands for the array as it was before the loop, where other numbers say how many iterations ago a row was written."""


@dataclass(frozen=True)
class _Rows:
    """An array of which each iteration of a loop writes a row."""

    place: int
    axis: int
    write: Access
    motion: Motion
    reads: Mapping[Node, tuple[Access, int]]  # with the iterations since the row was written, or _BEFORE

    @property
    def row(self) -> TensorType:
        """The type of a row."""
        return row_type(self.write.node.inputs[0].type, self.axis)

    @property
    def depth(self) -> int:
        """Returns the number of carried rows."""
        return max(0, *(ago for _, ago in self.reads.values()))

    @property
    def whole(self) -> bool:
        """True if the array before the loop is read."""
        return self.adds or any(ago == _BEFORE for _, ago in self.reads.values())

    @property
    def adds(self) -> bool:
        """True if the row is computed from what was there, and read."""
        return self.write.node.attrs["how"] != "set" and any(ago >= 0 for _, ago in self.reads.values())

    def rest(self, access: Access) -> list[Item]:
        """Returns what a read names of its row."""
        return [item for axis, item in enumerate(access.items) if axis != self.axis]


def _rows(loop: Loop) -> list[_Rows]:
    """Returns the arrays that a loop need not read."""
    if loop.index is None or not loop.attrs["length"]:
        return []
    waiting, arrays = controlled(loop.body), list[_Rows]()
    for position in loop.places:
        array = loop.inside[position]
        uses = accesses(loop.body, array, loop.body.outputs[position], waiting) if not array.type.weak else None
        if uses and len(uses) > 1 and (rows := _of_array(loop, position, uses)) is not None:
            arrays.append(rows)
    return arrays


def _of_array(loop: Loop, position: int, uses: Sequence[Access]) -> _Rows | None:
    write, *others = [one for one in uses if one.is_write]
    indexed = [(axis, item) for axis, item in enumerate(write.items) if item != ALL]
    if others or len(indexed) != 1:
        return None
    ((axis, at),) = indexed
    motion = moves(loop, at.base) if isinstance(at, At) else None
    values = write.node.inputs[1].type
    array = write.node.inputs[0].type
    if motion is None or not isinstance(at, At) or values != row_type(array, axis):
        return None
    reads: dict[Node, tuple[Access, int]] = {}
    for one in uses:
        if not one.is_write:
            ago = _ago(loop, one, at, motion, axis)
            if ago is None or ago > _FARTHEST:
                return None
            reads[one.node] = one, ago
    return _Rows(position, axis, write, motion, reads)


def _ago(loop: Loop, read: Access, written: At, motion: Motion, axis: int) -> int | None:
    """Returns how many iterations ago a row was written that is read; None if it is not known."""
    item = read.items[axis]
    apart = written.apart(item) if isinstance(item, At) else None
    if apart is None:
        return None
    ago, left = divmod(apart, motion.step)
    return _BEFORE if left or not 0 <= ago < loop.attrs["length"] or not (ago or read.writes) else ago


@dataclass(frozen=True)
class _Commoned(Replacement):
    """A loop that does not read arrays that it fills."""

    rows: Sequence[_Rows]

    def emit(self, inputs: Sequence[Value], names: UniqueNames) -> tuple[Sequence[Node], Sequence[Value]]:
        """Returns what takes the first rows, and the loop, in which the rows come first among what is carried."""
        loop, body, before = self.loop, self.loop.body, self.loop.copier(inputs, names)
        first = [self._first(rows, inputs, ago, before) for rows in self.rows for ago in range(1, rows.depth + 1)]
        arrays = [inputs[rows.place] for rows in self.rows if rows.whole]
        types = [body.inputs[0].type, *(value.type for value in first), *(value.type for value in body.inputs[1:])]
        labels = [
            "index",
            *(f"before_{position}" for position in range(len(first))),
            *(v.name for v in body.inputs[1:]),
        ]
        labels += [f"array_{position}" for position in range(len(arrays))]
        types += [value.type for value in arrays]
        entries = [
            Value(type, None, position, name) for position, (type, name) in enumerate(zip(types, labels, strict=True))
        ]
        operands = [*first, *inputs, *arrays]
        region = self._body(entries, len(first))
        attrs = Attrs(loop.attrs, num_carry=loop.num_carry + len(first))
        node = loop.rebuilt(operands, [region], attrs)
        return [*before.nodes, node], node.outputs[len(first) :]

    def _first(self, rows: _Rows, inputs: Sequence[Value], ago: int, before: Copier) -> Value:
        """Returns the row of the array that stands for what was written so many iterations before the first one."""
        at = rows.write.items[rows.axis]
        assert isinstance(at, At)
        place = rows.motion.start + at.offset - ago * rows.motion.step
        attrs, array = index_attrs((*[ALL] * rows.axis, place), ()), inputs[rows.place]
        return before.add(self.ops["get_item"], [array], rows.row, attrs, like=self.loop.node)

    def _body(self, entries: Sequence[Value], count: int) -> Graph:
        body = self.loop.body
        own = [entries[0], *entries[1 + count : count + len(body.inputs)]]
        copier = Copier(dict(zip(body.inputs, own, strict=True)))
        carried, arrays = iter(entries[1 : 1 + count]), iter(entries[count + len(body.inputs) :])
        history = {rows.place: [next(carried) for _ in range(rows.depth)] for rows in self.rows}
        whole = {rows.place: next(arrays) for rows in self.rows if rows.whole}
        reads = {node: (rows, *read) for rows in self.rows for node, read in rows.reads.items()}
        written: dict[int, Value] = {}
        names = free_names(body)
        adding = {rows.write.node: rows for rows in self.rows if rows.adds}
        for node in body.nodes:
            if node in adding:
                rows = adding[node]
                row = written[rows.place] = self._row(rows, whole.get(rows.place), copier, names)
                self._assign(node, row, copier)
                continue
            if node not in reads:
                copier.copy([node])
                continue
            rows, access, ago = reads[node]
            array = whole.get(rows.place)
            if ago == _BEFORE:
                assert array is not None
                copier.values[node.inputs[0]], previous = array, copier.values[node.inputs[0]]
                copier.copy([node])
                copier.values[node.inputs[0]] = previous
                continue
            if ago:
                row = history[rows.place][ago - 1]
            else:
                row = written.get(rows.place) or self._row(rows, array, copier, names)
                written[rows.place] = row
            copier.values[node.outputs[0]] = self._of_row(rows, access, row, copier)
        after: list[Value] = []
        for rows in self.rows:
            if rows.depth:
                row = written.get(rows.place) or self._row(rows, whole.get(rows.place), copier, names)
                after += [row, *history[rows.place][:-1]]
        outputs = [*after, *(copier.values[value] for value in body.outputs)]
        return Graph(entries, copier.nodes, outputs, body.name)

    def _row(self, rows: _Rows, array: Value | None, copier: Copier, names: UniqueNames) -> Value:
        """Returns the row that an iteration writes."""
        node = rows.write.node
        value, how = copier.values[node.inputs[1]], node.attrs["how"]
        if how == "set":
            return value
        assert array is not None
        tensors = [copier.values[tensor] for tensor in node.inputs[2:]]
        attrs = index_attrs(node.attrs["index"], tensors)
        get_item, op = self.ops["get_item"], self.ops[COMBINE[how]]
        there = copier.add(get_item, [array, *tensors], rows.row, attrs, like=node, name=names("get_item"))
        return copier.add(op, [there, value], rows.row, like=node, name=names(op.name))

    def _assign(self, node: Node, row: Value, copier: Copier) -> None:
        """Assigns a row that is computed already."""
        array, *tensors = [copier.values[value] for value in (node.inputs[0], *node.inputs[2:])]
        attrs, result = Attrs(node.attrs, how="set"), node.outputs[0]
        copier.values[result] = copier.add(node.op, [array, row, *tensors], result.type, attrs, like=node)

    def _of_row(self, rows: _Rows, access: Access, row: Value, copier: Copier) -> Value:
        """Returns what a read names of a row."""
        indexed = index_of(rows.rest(access))
        if indexed is None:
            return row
        index, tensors = indexed
        operands, node = [row, *(copier.values[tensor] for tensor in tensors)], access.node
        return copier.add(node.op, operands, node.outputs[0].type, index_attrs(index, tensors), like=node)
