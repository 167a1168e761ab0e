"""Strength reduction: a loop that computes a number from its counter carries the number instead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from graphc.compiler.base import UniqueNames
from graphc.compiler.ir.graph import Graph, Node, Value
from graphc.compiler.ir.passes.copying import Copier, inputs_like
from graphc.compiler.ir.passes.items import constant
from graphc.compiler.ir.passes.loop_nodes import Loop, controlled
from graphc.compiler.ir.passes.loop_pass import LateLoopPass, Replacement
from graphc.compiler.ir.types import Attrs, TensorType

__all__ = ["ReduceStrength"]

_INT = np.dtype(np.int32)


@dataclass(frozen=True)
class ReduceStrength(LateLoopPass):
    """Carries a number of a range instead of the counter that it is computed from.

    ``for j in range(i * i, n, i)`` becomes a ``while`` that counts ``k`` up to the length of the range, with
    ``j = i * i + i * k`` in its body. Each iteration waits for the product: a sieve took 1.2 times as long as one that
    adds ``i`` to ``j``, and counting inversions 1.1 times.

    Before: a valid graph. After: the same graph, except that a ``while`` whose counter runs from 0 to an invariant
      length, and is only read to compute one number ``start + step * counter``, carries that number, until it is
      ``start + step * length``. No earlier number equals this one: the step is odd, or it is not 0 and its product with
      the length is less than 2**32. The final counter is not used.
    """

    name: ClassVar[str] = "reduce-strength"
    needs: ClassVar[frozenset[str]] = frozenset(("while", "vjp"))

    def plans(self, graph: Graph, loops: Mapping[Node, Loop], whole: set[Node]) -> Mapping[Node, _Reduced]:
        """Returns the loops that carry a number instead of a counter."""
        used = {*graph.outputs, *(value for node in graph.nodes for value in node.inputs)}
        plans: dict[Node, _Reduced] = {}
        for node, loop in loops.items():
            if node in whole or loop.test is None or node.op is not loop.op:
                continue
            found = (_counter(loop, place) for place in loop.places if node.outputs[place] not in used)
            counter = next((counter for counter in found if counter is not None), None)
            if counter is not None:
                plans[node] = _Reduced(loop, self.ops, counter)
        return plans


@dataclass(frozen=True)
class _Counter:
    """A counter, and the number computed from it.

    Attributes:
      less: the node of the test that compares the counter with the length.
      next: the node of the body that adds one to the counter.
      product: the node that multiplies the counter; None if the step is 1.
      start: the number for 0.
      step: what the counter is multiplied by; None for 1.
    """

    place: int
    less: Node
    next: Node
    product: Node | None
    number: Value
    start: Value
    step: Value | None

    @property
    def removed(self) -> set[Node]:
        """The nodes of the body that compute the next counter and the number."""
        nodes = (self.next, self.product, self.number.node)
        return {node for node in nodes if node is not None}


def _users(region: Graph, value: Value) -> list[Node] | None:
    """Returns the nodes that read a value; None if the region returns it, or one of them is ordered by the user."""
    found = [node for node in region.nodes if value in node.inputs]
    return None if value in region.outputs or not controlled(region).isdisjoint(found) else found


def _counter(loop: Loop, place: int) -> _Counter | None:
    """Returns the counter at a place, if it is one."""
    body, test, counter = loop.body, loop.test, loop.inside[place]
    assert test is not None
    if counter.type.shape or counter.type.dtype != _INT or constant(loop.operands[place]) != 0:
        return None
    less = _users(test, test.inputs[place])
    if less is None or len(less) != 1 or not _compares(loop, test, less[0], place):
        return None
    users, after = _users(body, counter), body.outputs[place].node
    if users is None or after not in users or len(users) != 2 or after.op.name != "add":
        return None
    if _other(after, counter) is None or constant(_other(after, counter) or counter) != 1:
        return None
    if sum(value is after.outputs[0] for value in body.outputs) != 1 or any(
        after.outputs[0] in node.inputs for node in body.nodes
    ):
        return None
    (user,) = [node for node in users if node is not after]
    step, product, factor = None, None, counter
    if user.op.name == "multiply":
        step, product, factor = _other(user, counter), user, user.outputs[0]
        users = _users(body, factor)
        if step is None or not _is_invariant(loop, body, step) or users is None or len(users) != 1:
            return None
        (user,) = users
    start = _other(user, factor) if user.op.name == "add" else None
    if start is None or not _is_invariant(loop, body, start) or user.outputs[0].type != counter.type:
        return None
    number = user.outputs[0]
    if not _are_distinct(loop, number, step):
        return None
    return _Counter(place, less[0], after, product, number, start, step)


def _other(node: Node, value: Value) -> Value | None:
    """Returns the operand of a sum or product that is not a given one; None if both are."""
    others = [each for each in node.inputs if each is not value]
    return others[0] if len(others) == 1 else None


def _is_invariant(loop: Loop, region: Graph, value: Value) -> bool:
    """Returns True if a value is an int that the loop is given, or a constant."""
    if value.type.shape or value.type.dtype.kind not in "iu":
        return False
    return constant(value) is not None or value in region.inputs[loop.num_carry :]


def _compares(loop: Loop, test: Graph, node: Node, place: int) -> bool:
    """Returns True if a node compares a counter with an invariant length that an ``int32`` holds."""
    if node.op.name != "less" or node.inputs[0] is not test.inputs[place] or node.inputs[1] is node.inputs[0]:
        return False
    length = node.inputs[1]
    if not _is_invariant(loop, test, length):
        return False
    return length.type.dtype == _INT or (length.type.dtype == np.uint32 and _most(loop, length) < 2**31)


def _most(loop: Loop, length: Value | None = None) -> int:
    """Returns how often a loop runs at most."""
    known = None if length is None else constant(length)
    return loop.attrs.get("max_iterations", 2**32) if known is None else known


def _are_distinct(loop: Loop, number: Value, step: Value | None) -> bool:
    """Returns True if no number of the range equals the one behind its end, modulo 2**32."""
    by = 1 if step is None else constant(step)
    if by is not None and (by % 2 or 0 < _most(loop) * abs(by) < 2**32):
        return True
    # If a range has several numbers, its step is at most their distance, and it is not 0.
    ranges = [
        node.attrs
        for node in loop.body.nodes
        if node.op.name == "as_number" and node.attrs.get("distinct") and node.inputs[0] is number
    ]
    return any(attrs["high"] - attrs["low"] < 2**31 for attrs in ranges)


@dataclass(frozen=True)
class _Reduced(Replacement):
    """A loop that carries a number of a range."""

    counter: _Counter

    def emit(self, inputs: Sequence[Value], names: UniqueNames) -> tuple[Sequence[Node], Sequence[Value]]:
        """Returns the loop, after the nodes that compute where it starts and ends."""
        loop, counter, test = self.loop, self.counter, self.loop.test
        assert test is not None
        before = Copier({}, names, loop.node.device)
        start = self._before(counter.start, loop.body, inputs, before)
        length = self._before(counter.less.inputs[1], test, inputs, before)
        if length.type.dtype != _INT:
            length = self.apply("astype", (length,), before, Attrs(dtype=_INT))
        elif constant(length) is None:
            length = self.apply("maximum", (length, self.constant(0, length.type, before)), before)
        if counter.step is not None:
            length = self.apply("multiply", (self._before(counter.step, loop.body, inputs, before), length), before)
        end = self.apply("add", (start, length), before)
        if start.type != loop.inside[counter.place].type:
            start = self.apply("as_number", (start,), before, Attrs(kind="int"))
        operands = [*inputs[: counter.place], start, *inputs[counter.place + 1 :], end]
        node = loop.rebuilt(operands, [self._test(test, end.type), self._body(loop.body, end.type)])
        return [*before.nodes, node], node.outputs

    def _before(self, value: Value, region: Graph, inputs: Sequence[Value], before: Copier) -> Value:
        """Returns an invariant value of a region, before the loop."""
        if (number := constant(value)) is not None:
            return self.constant(number, value.type, before)
        return inputs[region.inputs.index(value)]

    def _test(self, test: Graph, end: TensorType) -> Graph:
        """Returns the test, which compares the number with the one behind the end."""
        inputs, copier = _entered(test, end)
        for node in test.nodes:
            if node is not self.counter.less:
                copier.copy([node])
                continue
            goes_on = self.apply("not_equal", (inputs[self.counter.place], inputs[-1]), copier, like=node)
            if goes_on.type != node.outputs[0].type:
                goes_on = self.apply("astype", (goes_on,), copier, Attrs(dtype=np.dtype(bool)), like=node)
            copier.values[node.outputs[0]] = goes_on
        return Graph(inputs, copier.nodes, [copier.values[value] for value in test.outputs], test.name)

    def _body(self, body: Graph, end: TensorType) -> Graph:
        """Returns the body, which adds the step to the number."""
        counter = self.counter
        inputs, copier = _entered(body, end)
        number = inputs[counter.place]
        copier.values[counter.number] = number
        copier.copy(node for node in body.nodes if node not in counter.removed)
        step = counter.step or _other(counter.next, body.inputs[counter.place])
        assert step is not None
        after = copier.add(counter.next.op, [number, copier.values[step]], number.type, like=counter.next)
        outputs = [after if value is counter.next.outputs[0] else copier.values[value] for value in body.outputs]
        return Graph(inputs, copier.nodes, outputs, body.name)


def _entered(region: Graph, end: TensorType) -> tuple[list[Value], Copier]:
    """Returns the inputs of a region with one more, and a copier of its nodes."""
    inputs = inputs_like([*region.inputs, Value(end, None, 0, "end")])
    return inputs, Copier(dict(zip(region.inputs, inputs, strict=False)))
