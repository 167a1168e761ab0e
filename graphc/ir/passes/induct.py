"""Ints that a loop counts, computed from its index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from graphc.base import UniqueNames
from graphc.ir.graph import Graph
from graphc.ir.node import Node, Value
from graphc.ir.opdef import CONSTANT, constant_attrs
from graphc.ir.passes.copying import Copier
from graphc.ir.passes.loop_nodes import Loop, controlled
from graphc.ir.passes.loop_pass import LoopPass, Replacement
from graphc.ir.rewrite import free_names
from graphc.ir.types import Attrs

__all__ = ["Induct"]


@dataclass(frozen=True)
class Induct(LoopPass):
    """Computes from a loop's index what each iteration moves by the same step.

    What a loop carries, each iteration waits for, and its gradient keeps. A count that is computed of the index lies
    between known bounds, and an array filled at it is collected.

    Before: a valid graph. After: the same, but that no ``scan`` carries a 32-bit int to which each iteration adds a
    constant that is a multiple of the index's step. It wraps around as it did. Loops that are differentiated, or that
    others wait for, stay as they are.
    """

    name: ClassVar[str] = "induct"
    replaces_whole: ClassVar[bool] = False

    def plan(self, loop: Loop) -> _Counts | None:
        """Returns the loop without the ints, and what they are after it."""
        steps = _steps(loop)
        return _Counts(loop, self.ops, steps) if steps else None


def _steps(loop: Loop) -> dict[int, int]:
    """Returns by how much a loop moves what it carries in each iteration, by the places of those that it moves so."""
    if loop.index is None or not loop.attrs["length"] or loop.node.device:
        return {}
    found: dict[int, int] = {}
    waiting = controlled(loop.body)
    for place in loop.places:
        start, node = loop.inside[place], loop.body.outputs[place].node
        if node is None or node in waiting or node.device or start.type.shape or start.type.dtype != np.int32:
            continue
        if node.op.name != "add" or start not in node.inputs or loop.index.type.dtype != np.int32:
            continue
        if start.type.weak and not loop.index.type.weak:
            continue  # their sum is not weak
        (by,) = [value for value in node.inputs if value is not start] or [None]
        step = None if by is None or by.type.shape or by.type.dtype != np.int32 else _constant(by)
        if step is not None and step % loop.attrs.get("step", 1) == 0:
            found[place] = step
    return found


def _constant(value: Value) -> int | None:
    return None if value.node is None or value.node.op is not CONSTANT else int(value.node.attrs["value"].array)


@dataclass(frozen=True)
class _Counts(Replacement):
    """A loop that does not carry some ints.

    Attributes:
      steps: by the places of the ints what each iteration adds.
    """

    steps: dict[int, int]

    def emit(self, inputs: Sequence[Value], names: UniqueNames) -> tuple[Sequence[Node], Sequence[Value]]:
        """Returns the loop and what follows it, and what stands for each output."""
        loop, body, count = self.loop, self.loop.body, self.loop.num_carry
        carried = [place for place in range(count) if place not in self.steps]
        places = [*carried, *range(count, len(loop.operands)), *self.steps]  # the first of each count is invariant
        old = [body.inputs[0], *(loop.inside[place] for place in places)]
        new = [Value(value.type, None, place, value.name) for place, value in enumerate(old)]
        inside = dict(zip(old, new, strict=True))
        counts = Copier(inside, free_names(body))
        for place, step in self.steps.items():
            start = loop.inside[place]
            inside[start] = self._at(inside[start], new[0], step, counts)
        copier = Copier(inside)
        copier.copy(body.nodes)
        outputs = [body.outputs[place] for place in (*carried, *range(count, len(body.outputs)))]
        region = Graph(new, [*counts.nodes, *copier.nodes], [copier.values[value] for value in outputs], body.name)
        attrs = Attrs(loop.attrs, num_carry=len(carried))
        node = loop.rebuilt([inputs[place] for place in places], [region], attrs)
        after, results = loop.copier(inputs, names), iter(node.outputs)
        after.nodes.append(node)
        found = [
            self._moved(inputs[place], self.steps[place] * loop.attrs["length"], after)
            if place in self.steps
            else next(results)
            for place in range(len(loop.types))
        ]
        return after.nodes, found

    def _at(self, start: Value, index: Value, step: int, into: Copier) -> Value:
        """Returns the count in the iteration of an index."""
        attrs = self.loop.attrs
        each, sign = step // attrs.get("step", 1), -1 if attrs.get("reverse") else 1
        first = attrs.get("start", 0) + (attrs.get("step", 1) * (attrs["length"] - 1) if sign < 0 else 0)
        if each * sign != 1:
            factor = self._number(each * sign, index, into)
            index = self._apply("multiply", factor, index, index, into)
        if first:
            index = self._moved(index, -first * each * sign, into)
        return self._apply("add", start, index, start, into)

    def _moved(self, value: Value, by: int, into: Copier) -> Value:
        return self._apply("add", value, self._number(by, value, into), value, into)

    def _number(self, number: int, like: Value, into: Copier) -> Value:
        """Returns a constant, which wraps around as sums do."""
        wrapped = np.array(number & 0xFFFFFFFF, np.uint32).view(np.int32)
        return into.add(CONSTANT, (), like.type, constant_attrs(wrapped, like.type), like=self.loop.node)

    def _apply(self, op: str, first: Value, second: Value, like: Value, into: Copier) -> Value:
        return into.add(self.ops[op], [first, second], like.type, like=self.loop.node)
