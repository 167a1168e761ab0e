"""Random loops that fill arrays and read them: one loop or two, one inside the other, over a table and a vector."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from graphc.compiler.base import Registry
from graphc.compiler.ir import CONSTANT, Attrs, Graph, GraphBuilder, Literal, OpDef, TensorType, Value
from tests.compiler.ir.strategies import INT, TEST_OPS

NUMPY_OPS: Registry[OpDef] = Registry("op")
"""The ops of the loops, evaluated by NumPy."""


def _wider(types: Sequence[TensorType], attrs: Any, regions: Any) -> tuple[TensorType, ...]:
    del attrs, regions
    return (max(types, key=lambda type: len(type.shape)),)


for name in TEST_OPS:
    NUMPY_OPS.add(name, TEST_OPS[name])
for name, function in {
    "subtract": np.subtract, "minimum": np.minimum, "maximum": np.maximum,
}.items():  # fmt: skip
    NUMPY_OPS.add(name, OpDef(name, function, _wider, ("x", "y"), light=True))
NUMPY_OPS.add(
    "permute_dims",
    OpDef(
        "permute_dims",
        lambda x, *, axes: np.transpose(x, axes),
        lambda t, a, r: (TensorType(tuple(t[0].shape[axis] for axis in a["axes"]), t[0].dtype),),
        ("x",),
    ),
)
NUMPY_OPS.add(
    "arange",
    OpDef(
        "arange",
        lambda *, start, stop, step: np.arange(start, stop, step, np.int32),
        lambda t, a, r: (TensorType((len(range(a["start"], a["stop"], a["step"])),), INT.dtype),),
        (),
    ),
)

SIZE = 6
TABLE = TensorType((SIZE, SIZE), np.dtype("float32"))
VECTOR = TensorType((SIZE,), np.dtype("float32"))
ALL = (None, None, None)


@dataclass(frozen=True)
class Trips:
    """The indices of a loop."""

    length: int
    start: int
    step: int
    reverse: bool

    @property
    def attrs(self) -> dict[str, Any]:
        return {"length": self.length, "start": self.start, "step": self.step, "reverse": self.reverse}


@st.composite
def trips(draw: st.DrawFn, low: int, high: int) -> Trips:
    """Indices to which numbers from ``low`` to ``high`` can be added, for a place that is there."""
    step = draw(st.sampled_from([1, 1, 1, -1, 2]))
    first, last = -low, SIZE - 1 - high
    start = draw(st.integers(first, last))
    most = (last - start) // step + 1 if step > 0 else (start - first) // -step + 1
    return Trips(draw(st.integers(min(2, most), most)), start, step, draw(st.booleans()))


class Writer:
    """Appends nodes to a body."""

    def __init__(self, ops: Registry[OpDef], builder: GraphBuilder) -> None:
        self.ops, self.builder = ops, builder

    def add(self, op: str, *inputs: Value, **attrs: Any) -> Value:
        return self.builder.append(self.ops[op], inputs, Attrs(attrs)).outputs[0]

    def number(self, number: float, type: TensorType) -> Value:
        return self.builder.append(CONSTANT, (), Attrs(value=Literal(np.asarray(number, type.dtype)))).outputs[0]

    def place(self, index: Value, offset: int) -> Value:
        if offset == NEAREST:
            return self.add("maximum", self.add("subtract", index, self.number(1, INT)), self.number(0, INT))
        return index if not offset else self.add("add", index, self.number(offset, INT))

    def read(self, array: Value, items: Sequence[Any]) -> Value:
        index, tensors = self._index(items)
        return self.add("get_item", array, *tensors, index=index, inside=True)

    def write(self, array: Value, items: Sequence[Any], value: Value, how: str) -> Value:
        index, tensors = self._index(items)
        return self.add("update_item", array, value, *tensors, index=index, how=how, inside=True)

    def _index(self, items: Sequence[Any]) -> tuple[tuple[Any, ...], list[Value]]:
        return (
            tuple("tensor" if isinstance(item, Value) else item for item in items),
            [item for item in items if isinstance(item, Value)],
        )


NEAREST = 100
"""Stands for the place before, or the first one."""


def spread(offsets: Sequence[int]) -> tuple[int, int]:
    """The least and the greatest of what is added to an index."""
    known = [0 if offset == NEAREST else offset for offset in offsets]
    return min(known), max(known)


FROM = st.sampled_from([-2, -1, -1, 0, 0, 1, NEAREST])
OFFSETS = st.sampled_from([-2, -1, -1, 0, 0, 1])
HOW = st.sampled_from(["set", "set", "set", "add", "max"])


@st.composite
def array_loops(draw: st.DrawFn, ops: Registry[OpDef]) -> Graph:
    """A graph of a table, a vector and a number, that gives both after a loop, and what the loop adds up."""
    builder = GraphBuilder("arrays")
    table, vector = builder.input(TABLE, "table"), builder.input(VECTOR, "vector")
    total = builder.input(TensorType((), VECTOR.dtype), "total")
    loop = draw(st.sampled_from([_over_vector, _over_rows, _over_columns, _over_cells]))
    return builder.build(loop(draw, Writer(ops, builder), table, vector, total))


def _scan(outer: Writer, trips: Trips, carried: Sequence[Value], rest: Sequence[Value], body: Any) -> Sequence[Value]:
    builder = GraphBuilder("body")
    inputs = [builder.input(INT, "i"), *(builder.input(value.type) for value in (*carried, *rest))]
    region = builder.build(body(Writer(outer.ops, builder), *inputs))
    attrs = Attrs(trips.attrs, num_carry=len(carried), num_xs=0, num_ys=0)
    return outer.builder.append(outer.ops["scan"], [*carried, *rest], attrs, regions=[region]).outputs


def _mixed(draw: st.DrawFn, to: Writer, values: Sequence[Value]) -> Value:
    """A number, or a row, that is computed of some."""
    found = values[0]
    for value in values[1:]:
        found = to.add(draw(st.sampled_from(["add", "subtract", "multiply"])), found, value)
    return found


def _over_vector(draw: st.DrawFn, to: Writer, table: Value, vector: Value, total: Value) -> Sequence[Value]:
    reads = draw(st.lists(FROM, min_size=1, max_size=3))
    late = draw(st.lists(OFFSETS, max_size=2))
    target, fixed, how = draw(OFFSETS), draw(st.booleans()), draw(HOW)
    every = [*reads, *late, target]
    given = draw(trips(*spread(every)))

    def body(own: Writer, i: Value, vector: Value, total: Value, table: Value) -> list[Value]:
        found = [own.read(vector, [own.place(i, offset)]) for offset in reads]
        found.append(own.read(table, [own.place(i, target), 0]))
        if fixed:
            found.append(own.read(vector, [0]))
        value = _mixed(draw, own, [own.number(0.5, VECTOR), *found])
        after = own.write(vector, [own.place(i, target)], value, how)
        sums = [own.read(after, [own.place(i, offset)]) for offset in late]
        return [after, _mixed(draw, own, [total, *sums])]

    vector, total = _scan(to, given, [vector, total], [table], body)
    return [table, vector, total]


def _rows(draw: st.DrawFn, to: Writer, table: Value, vector: Value, total: Value, axis: int) -> Sequence[Value]:
    reads, target, how = draw(st.lists(FROM, min_size=1, max_size=2)), draw(OFFSETS), draw(HOW)
    late = draw(st.lists(OFFSETS, max_size=1))
    every = [*reads, *late, target]
    given = draw(trips(*spread(every)))

    def items(place: Value) -> list[Any]:
        return [place] if not axis else [ALL, place]

    def body(own: Writer, i: Value, table: Value, total: Value, vector: Value) -> list[Value]:
        found = [own.read(table, items(own.place(i, offset))) for offset in reads]
        after = own.write(table, items(own.place(i, target)), _mixed(draw, own, [vector, *found]), how)
        one = draw(st.integers(0, SIZE - 1))
        sums = [own.read(after, [own.place(i, offset), one][:: 1 - 2 * axis]) for offset in late]
        return [after, _mixed(draw, own, [total, *sums])]

    table, total = _scan(to, given, [table, total], [vector], body)
    return [table, vector, total]


def _over_rows(draw: st.DrawFn, to: Writer, table: Value, vector: Value, total: Value) -> Sequence[Value]:
    return _rows(draw, to, table, vector, total, 0)


def _over_columns(draw: st.DrawFn, to: Writer, table: Value, vector: Value, total: Value) -> Sequence[Value]:
    return _rows(draw, to, table, vector, total, 1)


def _over_cells(draw: st.DrawFn, to: Writer, table: Value, vector: Value, total: Value) -> Sequence[Value]:
    pairs = st.tuples(OFFSETS, OFFSETS)
    reads, late = draw(st.lists(st.tuples(FROM, FROM), min_size=1, max_size=3)), draw(st.lists(pairs, max_size=1))
    target, how, by_vector, swapped = draw(pairs), draw(HOW), draw(FROM), draw(st.booleans())
    every = [*reads, *late, target]
    lines = [0, *(a for a, _ in every)]
    rows = draw(trips(*spread(lines)))
    columns = [by_vector, *(b for _, b in every)]
    cells = draw(trips(*spread(columns)))

    def items(own: Writer, i: Value, j: Value, offsets: tuple[int, int]) -> list[Value]:
        found = [own.place(i, offsets[0]), own.place(j, offsets[1])]
        return found[::-1] if swapped else found

    def cell(own: Writer, j: Value, table: Value, total: Value, vector: Value, i: Value) -> list[Value]:
        found = [own.read(table, items(own, i, j, pair)) for pair in reads]
        found.append(own.read(vector, [own.place(j, by_vector)]))
        found.append(own.read(vector, [i]))
        after = own.write(table, items(own, i, j, target), _mixed(draw, own, [own.number(0.5, VECTOR), *found]), how)
        sums = [own.read(after, items(own, i, j, pair)) for pair in late]
        return [after, _mixed(draw, own, [total, *sums])]

    def row(own: Writer, i: Value, table: Value, total: Value, vector: Value) -> Sequence[Value]:
        return _scan(own, cells, [table, total], [vector, i], cell)

    table, total = _scan(to, rows, [table, total], [vector], row)
    return [table, vector, total]
