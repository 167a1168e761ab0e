"""Carries by itself the part of an array that a loop reads and writes at one place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from graphc.compiler.base import Registry, UniqueNames
from graphc.compiler.ir.graph import Graph, Node, Value
from graphc.compiler.ir.opdef import OpDef
from graphc.compiler.ir.passes.base import Copier
from graphc.compiler.ir.passes.items import ALL, COMBINE, Access, At, Item, accesses, index_attrs, index_of, size_of
from graphc.compiler.ir.passes.loop_pass import Loop, LoopPass, Replacement, controlled
from graphc.compiler.ir.types import Attrs, TensorType

_LARGE = 8
"""A part may be this many times as large as what the iterations write: the loop takes it out and puts it back once."""


@dataclass(frozen=True)
class Promote(LoopPass):
    """Takes the part of an array out of a loop in which all its iterations write: a row of a table, or one item.

    Compilers call it scalar promotion. The inner loop of ``table[i, j] = f(table[i - 1, j], table[i, j - 1])`` carries
    a row and reads another one, in place of the whole table, of which the gradient would copy all in each iteration.

    Before: a valid graph. After: the same, but that a ``scan`` that changes an array only at places that are the same
    in all iterations along some axes carries what is there. It is taken before the loop and assigned behind it. What
    the loop reads at other places along those axes is taken before the loop, too: they must be known to be others,
    ``i - 1`` and ``i``, or 0 and 1.
    """

    name: ClassVar[str] = "promote"
    needs: ClassVar[frozenset[str]] = frozenset(("update_item",))

    def plan(self, loop: Loop) -> _Parts | None:
        """Returns the parts, the loop that carries them, and the arrays with them."""
        parts = _parts(loop, self.ops)
        return _Parts(loop, self.ops, parts) if parts else None


@dataclass(frozen=True)
class _Part:
    """A part of an array that a loop carries."""

    place: int
    array: TensorType
    axes: tuple[int, ...]
    where: tuple[At, ...]
    others: tuple[tuple[At, ...], ...]  # the places of parts that are only read
    found: tuple[Access, ...]

    @property
    def type(self) -> TensorType:
        """The type of the part."""
        shape = [size for axis, size in enumerate(self.array.shape) if axis not in self.axes]
        return TensorType(tuple(shape), self.array.dtype)

    def rest(self, items: Sequence[Item]) -> list[Item]:
        """Returns what some items of the array name of the part."""
        return [item for axis, item in enumerate(items) if axis not in self.axes]

    def index(self, where: Sequence[At]) -> list[Item]:
        """Returns what the part at a place is of the array."""
        at = dict(zip(self.axes, where, strict=True))
        return [at.get(axis, ALL) for axis in range(len(self.array.shape))]


def _parts(loop: Loop, ops: Registry[OpDef]) -> list[_Part]:
    """Returns the parts that a loop can carry in place of arrays."""
    body, waiting = loop.body, controlled(loop.body)
    fixed = loop.free(loop.invariants(), ops)
    found: list[_Part] = []
    if loop.test is not None or not loop.attrs["length"]:
        return []
    for place in loop.places:
        array = loop.inside[place]
        if not array.type.ranked or not array.type.shape or array.type.weak:
            continue
        uses = accesses(body, array, body.outputs[place], waiting)
        part = _part(place, array.type, uses, fixed) if uses else None
        if part is not None and _pays(loop, part):
            found.append(part)
    return found


def _part(position: int, array: TensorType, uses: Sequence[Access], fixed: set[Value]) -> _Part | None:
    """Returns the part in which all writes are, if all reads are known to be in it or not."""
    writes = [one for one in uses if one.is_write]

    def is_fixed(item: Item) -> bool:
        return isinstance(item, At) and (item.base is None or item.base in fixed)

    axes = tuple(
        axis
        for axis in range(len(array.shape))
        if len({one.items[axis] for one in writes}) == 1 and all(is_fixed(one.items[axis]) for one in uses)
    )
    if not axes:
        return None
    where = [_on(one.items, axes) for one in uses]
    own = _on(writes[0].items, axes)
    others = tuple(dict.fromkeys(position for position in where if position != own))
    for other in others:
        if not any(mine.apart(its) for mine, its in zip(own, other, strict=True)):
            return None
    return _Part(position, array, axes, own, others, tuple(uses))


def _on(items: Sequence[Item], axes: Sequence[int]) -> tuple[At, ...]:
    return tuple([item for axis in axes if isinstance(item := items[axis], At)])


def _pays(loop: Loop, part: _Part) -> bool:
    """Returns True if the part is small as against what the loop writes; a single item must be assigned as it is."""
    writes = [one for one in part.found if one.is_write]
    if not part.type.shape:
        return all(one.node.inputs[1].type == part.type for one in writes)
    written = loop.attrs["length"] * max(size_of(part.array.shape, one.items) for one in writes)
    return part.type.size * (1 + len(part.others)) <= _LARGE * written


@dataclass(frozen=True)
class _Parts(Replacement):
    """A loop that carries parts of arrays in place of them."""

    parts: Sequence[_Part]

    def emit(self, inputs: Sequence[Value], names: UniqueNames) -> tuple[Sequence[Node], Sequence[Value]]:
        """Returns what takes the parts, the loop, and what puts them back."""
        loop, around = self.loop, self.loop.copier(inputs, names)
        operands, more = [*inputs], list[Value]()
        for part in self.parts:
            array = inputs[part.place]
            operands[part.place] = self._taken(array, part, part.where, around)
            more += [self._taken(array, part, where, around) for where in part.others]
        operands += more
        node = loop.rebuilt(operands, [self._body(loop.body, operands)])
        around.nodes.append(node)
        outputs = [*node.outputs]
        for part in self.parts:
            index, tensors = self._place(part, part.where, around)
            array, attrs = inputs[part.place], index_attrs(index, tensors, how="set")
            given = [array, outputs[part.place], *tensors]
            outputs[part.place] = around.add(self.ops["update_item"], given, array.type, attrs, like=loop.node)
        return around.nodes, outputs

    def _place(self, part: _Part, where: Sequence[At], before: Copier) -> tuple[tuple[object, ...], list[Value]]:
        """Returns the index of a part before the loop, and the tensors in it."""
        indexed = index_of(part.index(where))
        assert indexed is not None
        return indexed[0], [before.values[value] for value in indexed[1]]

    def _taken(self, array: Value, part: _Part, where: Sequence[At], before: Copier) -> Value:
        """Returns a part, taken out before the loop."""
        before.copy_sources((at.value for at in where if at.value is not None), self.loop.body.nodes)
        index, tensors = self._place(part, where, before)
        attrs = index_attrs(index, tensors)
        return before.add(self.ops["get_item"], [array, *tensors], part.type, attrs, like=self.loop.node)

    def _body(self, body: Graph, operands: Sequence[Value]) -> Graph:
        types, count = [value.type for value in body.inputs], len(body.inputs) - len(self.loop.operands)
        for part in self.parts:
            types[count + part.place] = part.type
        types += [operand.type for operand in operands[len(self.loop.operands) :]]
        names = [*(value.name for value in body.inputs), *(f"part_{place}" for place in range(len(types)))]
        entries = [Value(type, None, place, names[place]) for place, type in enumerate(types)]
        copier = Copier(dict(zip(body.inputs, entries, strict=False)))
        known = {one.node: (part, one) for part in self.parts for one in part.found}
        others = iter(entries[len(body.inputs) :])
        taken = {(part.place, where): next(others) for part in self.parts for where in part.others}
        for node in body.nodes:
            if node not in known:
                copier.copy([node])
                continue
            part, one = known[node]
            source = taken.get((part.place, _on(one.items, part.axes)))
            result = self._access(part, one, copier.values[node.inputs[0]] if source is None else source, copier)
            copier.values[node.outputs[0]] = result
        return Graph(entries, copier.nodes, [copier.values[value] for value in body.outputs], body.name)

    def _access(self, part: _Part, one: Access, source: Value, copier: Copier) -> Value:
        """Returns what a read of a part gives, or the part after a write."""
        node, rest = one.node, index_of(part.rest(one.items))
        values = [copier.values[value] for value in node.inputs]
        if rest is None and not one.is_write:
            return source
        op, operands, attrs = node.op, [source], Attrs()
        if rest is None and values[1].type == part.type:
            if node.attrs["how"] == "set":
                return values[1]
            op, operands = self.ops[COMBINE[node.attrs["how"]]], [source, values[1]]
        else:
            index, tensors = rest or ((ALL,) * len(part.type.shape), [])
            operands += [*values[1:2]] * one.is_write
            operands += [copier.values[value] for value in tensors]
            attrs = index_attrs(index, tensors, **({"how": node.attrs["how"]} if one.is_write else {}))
        return copier.add(op, operands, part.type if one.is_write else node.outputs[0].type, attrs, like=node)
