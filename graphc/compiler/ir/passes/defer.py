"""Checks of a number that a loop counts up, made once after the loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from graphc.compiler.base import Registry, UniqueNames
from graphc.compiler.ir.graph import Node, Value
from graphc.compiler.ir.opdef import OpDef
from graphc.compiler.ir.passes.base import LOOPS
from graphc.compiler.ir.passes.copying import Copier, needed, subgraph
from graphc.compiler.ir.passes.items import constant
from graphc.compiler.ir.passes.loop_nodes import Loop, controlled, is_fixed
from graphc.compiler.ir.passes.loop_pass import LoopPass, Replacement

__all__ = ["Defer"]


@dataclass(frozen=True)
class Defer(LoopPass):
    """Checks after a loop that a number which the loop counts up stayed within its bounds.

    In ``if found: out[n] = x; n += 1`` the iterations that check ``n`` are those that count it, so that the numbers
    they check are the consecutive ones from the first to the last. The bounds of these tell what the call's status is
    after the loop, and which number was the first outside. The loop need not carry them: XLA compiles a loop that
    carries the status and a number to more kernels (a depth-first search took 1.3 times as long).

    Before: a valid graph. After: the same outputs, also where the count wraps around, but that no ``scan`` carries a
    status of which such a check is all that changes it, nor what is stored with it. Loops that are differentiated, or
    that others wait for, stay as they are.
    """

    name: ClassVar[str] = "defer"
    needs: ClassVar[frozenset[str]] = LOOPS
    replaces_whole: ClassVar[bool] = False

    def plan(self, loop: Loop) -> _After | None:
        """Returns the loop without the status, and the check after it."""
        if loop.test is not None or loop.node.device:
            return None
        for check in (_check(loop, place) for place in range(loop.num_carry)):
            if check is not None and _only(loop, check, self.ops):
                return _After(loop, self.ops, check)
        return None


@dataclass(frozen=True)
class _Check:
    """A check of a count in each iteration that counts it.

    Attributes:
      status: the place of the status among the carried values.
      fine: the status for which the check is made.
      low: the least number that passes; None for any.
      stored: the places that the first number outside is stored in.
    """

    status: int
    fine: int
    failed: int
    count: int
    low: int | None
    high: int
    stored: tuple[int, ...]

    @property
    def removed(self) -> set[int]:
        """The places that the loop need not carry."""
        return {self.status, *self.stored}


def _source(value: Value) -> Value:
    """Returns what a value is given on from."""
    while (node := value.node) is not None and not node.control_inputs:
        same = node.op.name == "astype" and node.inputs[0].type.dtype.kind == value.type.dtype.kind == "b"
        if node.op.name != "identity" and not same:
            break
        value = node.inputs[0]
    return value


def _inputs(value: Value, op: str) -> tuple[Value, ...]:
    """Returns the operands of the op that makes a scalar, without what only gives them on; nothing for another op."""
    node = _source(value).node
    if node is None or node.op.name != op or node.control_inputs or node.device or value.type.shape:
        return ()
    return tuple(map(_source, node.inputs))


def _number(value: Value) -> int | None:
    """Returns the number that an int32 is; None if it is not known."""
    return constant(value) if value.type.dtype == np.int32 else None


def _either(pair: Sequence[Value], op: str) -> tuple[tuple[Value, ...], Value] | None:
    """Returns the operands of the one of two values that an op makes, and the other value."""
    for one, other in (pair, pair[::-1]) if len(pair) == 2 else ():
        if found := _inputs(one, op):
            return found, other
    return None


def _check(loop: Loop, status: int) -> _Check | None:
    """Returns the check that is all that changes a carried value; None if it is another change."""
    inside, outputs = loop.inside, loop.body.outputs
    chosen = _inputs(outputs[status], "where")
    if len(chosen) != 3 or chosen[2] is not inside[status] or inside[status].type.dtype != np.int32:
        return None
    counts, new, _ = chosen
    latch = _inputs(new, "where")
    found = _either(_inputs(latch[0], "logical_and"), "equal") if latch and latch[2] is inside[status] else None
    if found is None:
        return None
    pair, outside = found
    same, fine, failed = pair[0], _number(pair[1]), _number(latch[1])
    within = _inputs(outside, "logical_not")
    bounds = _bounds(within[0]) if within else None
    if same is not inside[status] or fine is None or failed is None or fine == failed or bounds is None:
        return None
    checked, low, high = bounds
    count = next((place for place in range(loop.num_carry) if inside[place] is checked), None)
    if count is None or checked.type.dtype != np.int32 or not _counts(outputs[count], counts, checked):
        return None
    stored = [
        place
        for place in range(loop.num_carry)
        if _is_stored(outputs[place], inside[place], (counts, latch[0], checked)) and place not in (count, status)
    ]
    return _Check(status, fine, failed, count, low, high, tuple(stored))


def _bounds(within: Value) -> tuple[Value, int | None, int] | None:
    """Returns the scalar that a condition bounds, and its bounds: ``low <= n < high``."""
    pair = _inputs(within, "logical_and")
    above = _either(pair, "greater_equal") if pair else None
    low = None
    if pair:
        low = None if above is None else _number(above[0][1])
        if above is None or low is None:
            return None
        within = above[1]
    below = _inputs(within, "less")
    high = _number(below[1]) if below else None
    if high is None or below[0].type.shape or (above is not None and above[0][0] is not below[0]):
        return None
    return below[0], low, high


def _counts(after: Value, when: Value, before: Value) -> bool:
    """Returns True if a value is one more than before under a condition, and the same without it."""
    chosen = _inputs(after, "where")
    terms = _inputs(chosen[1], "add") if len(chosen) == 3 and chosen[0] is when and chosen[2] is before else ()
    return any(one is before and _number(other) == 1 for one, other in ((terms, terms[::-1]) if terms else ()))


def _is_stored(after: Value, before: Value, of: tuple[Value, Value, Value]) -> bool:
    """Returns True if a value is the count where an iteration is the first outside, and the same otherwise."""
    counts, fails, checked = of
    chosen = _inputs(after, "where")
    if len(chosen) != 3 or chosen[0] is not counts or chosen[2] is not before:
        return False
    return _inputs(chosen[1], "where") == (fails, checked, before)


def _only(loop: Loop, check: _Check, ops: Registry[OpDef]) -> bool:
    """Returns True if an iteration does nothing else with what need not be carried."""
    reads = {loop.inside[place] for place in check.removed}
    bound = controlled(loop.body)
    for node in loop.body.nodes:
        if not reads.isdisjoint(node.inputs):
            if node in bound or is_fixed(node, ops):
                return False
            reads.update(node.outputs)
    kept = [output for place, output in enumerate(loop.body.outputs) if place not in check.removed]
    return reads.isdisjoint(kept)


@dataclass(frozen=True)
class _After(Replacement):
    """A loop with a check after it.

    Attributes:
      check: the check, which the loop makes in its iterations.
    """

    check: _Check

    def emit(self, inputs: Sequence[Value], names: UniqueNames) -> tuple[Sequence[Node], Sequence[Value]]:
        """Returns the loop and the check, and what stands for each output."""
        loop, check = self.loop, self.check
        node = self._rest(inputs)
        results, after = iter(node.outputs), loop.copier(inputs, names)
        after.nodes.append(node)
        found = [None if place in check.removed else next(results) for place in range(len(loop.types))]
        count = found[check.count]
        assert count is not None
        fails, first = self._first_outside(inputs, count, after)
        failed = self.constant(check.failed, inputs[check.status].type, after)
        for place in check.removed:
            new = failed if place == check.status else first
            found[place] = self.apply("where", (fails, new, inputs[place]), after)
        return after.nodes, [value for value in found if value is not None]

    def _rest(self, inputs: Sequence[Value]) -> Node:
        """Returns the loop without what it need not carry."""
        loop, removed = self.loop, self.check.removed
        body = loop.body
        kept = [place for place in range(len(loop.operands)) if place not in removed]
        outputs = [output for place, output in enumerate(body.outputs) if place not in removed]
        fixed = (node for node in body.nodes if is_fixed(node, self.ops))
        nodes = needed(body.nodes, [*(value.node for value in outputs), *controlled(body), *fixed])
        region = subgraph([body.inputs[0], *(loop.inside[place] for place in kept)], nodes, outputs, body.name)
        return loop.rebuilt([inputs[place] for place in kept], [region], loop.attrs_without(removed))

    def _first_outside(self, inputs: Sequence[Value], last: Value, into: Copier) -> tuple[Value, Value]:
        """Returns whether the check fails, and the first number outside if it does."""
        check, start = self.check, inputs[self.check.count]
        high = self.constant(check.high, start.type, into)
        # The numbers checked end one below the last. They wrapped around only after they had passed the bound.
        tests = [self.apply("greater", (last, high), into), self.apply("less", (last, start), into)]
        first = self.apply("maximum", (start, high), into)
        if check.low is not None:
            below = self.apply("less", (start, self.constant(check.low, start.type, into)), into)
            tests.append(below)
            first = self.apply("where", (below, start, first), into)
        outside = tests[0]
        for test in tests[1:]:
            outside = self.apply("logical_or", (outside, test), into)
        checked = self.apply("not_equal", (last, start), into)
        status = inputs[check.status]
        fine = self.apply("equal", (status, self.constant(check.fine, status.type, into)), into)
        fails = self.apply("logical_and", (fine, self.apply("logical_and", (checked, outside), into)), into)
        return fails, first
