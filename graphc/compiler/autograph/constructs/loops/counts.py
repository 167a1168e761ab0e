"""Between which ints the ints lie that a loop carries from one iteration to the next.

A trial of the loop's body takes bounds for granted: those that they have before the loop, or what the last trial
makes likely. What the trial leaves in them says whether that was right: it lies between the bounds too, or each
iteration moves the number by so little that it stays there. If not, the bounds are widened. The body must be traced
again only where it made more of the number than a count, see :mod:`graphc.compiler.autograph.values.spans`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from graphc.compiler.autograph.values.number import span_of
from graphc.compiler.autograph.values.spans import (
    ANY_INT,
    HIGHEST,
    InductionStep,
    LoopStart,
    ValueRange,
    after_loop,
    common_span,
)
from graphc.compiler.core import SymbolicTensor
from graphc.compiler.ir import Node, Value

_MAX_WIDENINGS = 2
"""After so many the bounds are those of any int."""


class Count:
    """An int that a loop carries."""

    def __init__(self, initial: ValueRange) -> None:
        self._initial = initial
        self.start = LoopStart()  # what it is at the start of an iteration
        self._bounds = replace(initial, drifts={})
        self._widenings = 0
        self._expected = False
        self.after = initial

    @classmethod
    def of(cls, leaf: Any) -> Count | None:
        """Returns the count of a leaf before the loop; None if it is no int."""
        span = span_of(leaf)
        return None if span is None else cls(span)

    @classmethod
    def of_new(cls, leaf: Any) -> Count | None:
        """Returns the count of what an iteration binds that is not bound before the loop, where zero stands for it."""
        span = common_span(span_of(leaf), ValueRange(0, 0))
        return None if span is None else cls(span)

    @property
    def is_counted(self) -> bool:
        """True if it is taken for a count."""
        return self._bounds.counted

    @property
    def at_start(self) -> ValueRange:
        """Its span at the start of an iteration."""
        counters = self._bounds.counters | {self.start} if self._bounds.counted else frozenset[LoopStart]()
        return replace(self._bounds, drifts={self.start: InductionStep()}, counters=counters)

    def expect_any(self) -> None:
        """Sets the bounds before a trial has told anything: most numbers count up, and most others are not negative."""
        self._expected = True
        if self._initial.is_in_the_middle:
            bounds = ValueRange(min(self._initial.low, 0), HIGHEST, counted=True, counters=self._initial.counters)
            self._bounds = bounds
        else:
            self._bounds = ANY_INT

    def expect(self, after: ValueRange | None, trips: int | None) -> None:
        """Sets the bounds by what an iteration made of the number that it is before the loop."""
        if after is not None:
            low, high = after.low - self._initial.low, after.high - self._initial.high
            drift = InductionStep(down=low < 0, up=high > 0) if after.counted else InductionStep(low, high)
            bounds = after_loop(self._initial, drift, trips)
            if bounds == ANY_INT:
                bounds = common_span(self._initial, after) or ANY_INT
            self._bounds = replace(bounds, drifts={})

    def counts(self, after: ValueRange | None, others: Collection[LoopStart]) -> bool:
        """Returns True if it may be taken for a count after a trial."""
        drift = None if after is None else after.drifts.get(self.start)
        if drift is not None and drift.is_small:
            return True
        return self._bounds.holds(after or ANY_INT) and (after is None or after.counters.isdisjoint(others))

    def is_none(self) -> None:
        """Notes that it is no count."""
        self._bounds = replace(self._bounds, counted=False)

    def settle(self, after: ValueRange | None, trips: int | None) -> tuple[bool, LoopStart | None]:
        """Compares the number after a trial with the bounds."""
        # Returns whether the trial holds, if nothing else was made of the number; and the number at the start of an
        # iteration if its bounds were others than was taken for granted.
        drift = None if after is None else after.drifts.get(self.start)
        moved = None if drift is None else after_loop(self._initial, drift, trips)
        if moved is not None and self._bounds.holds(moved):
            self.after = replace(self._bounds, drifts=moved.drifts)
            if self._expected:
                self.after = moved
            elif after is not None and self._bounds.counted and not after.counted:
                # What the test of the loop says bounds what an iteration leaves.
                self.after = replace(common_span(self._initial, after) or ANY_INT, drifts=moved.drifts)
            return True, None
        if self._bounds.holds(after or ANY_INT) and not (self.start.stepped and not self._bounds.counted):
            self.after = self._bounds
            if self._expected:
                self.after = replace(common_span(self._initial, after) or ANY_INT, drifts={})
            return True, None
        self._widenings += 1
        # Each widening may cost a trial of the body.
        if self._widenings > _MAX_WIDENINGS or (self._expected and moved is None):
            moved = ANY_INT
        bounds = moved or common_span(self._bounds, after) or ANY_INT
        self._bounds, self.after = replace(bounds, drifts={}), bounds
        return moved is not None and moved != ANY_INT and not self.start.relied, self.start

    def begin(self) -> None:
        """Is called before the body is traced again."""
        self.start.relied = self.start.stepped = False


def settle_counts(counts: Sequence[tuple[Count | None, ValueRange | None]], trips: int | None) -> bool:
    """Returns True if what was taken for granted of the ints of a loop held in a trial of its body."""
    # counts: the ints, and their spans after the trial; None for what is no int.
    counted = _counting([(count, span) for count, span in counts if count is not None])
    settled = [count.settle(span, trips) for count, span in counted]
    for (_, start), (own, _) in zip(settled, counted, strict=True):
        # What another number is made of must be right for that one, too.
        if start is not None and any(
            span is not None and start in span.drifts for count, span in counted if count is not own
        ):
            start.relied = True
    fits = all(holds and not (start is not None and start.relied) for holds, start in settled)
    for count, _ in counted:
        count.begin()
    return fits


def _counting(pairs: Sequence[tuple[Count, ValueRange | None]]) -> list[tuple[Count, ValueRange | None]]:
    """Finds which numbers are no counts though they were taken for some, those that take their values among them."""
    # Returns the numbers with their spans after the trial, which are no counts where that was taken from such numbers.
    left, none = dict(pairs), set[LoopStart]()
    # To a fixpoint: after `a = b`, a is a count only if b is one.
    while new := [count for count, span in left.items() if count.is_counted and not count.counts(span, none)]:
        for count in new:
            del left[count]
            count.is_none()
            none.add(count.start)
    own = {count.start for count, _ in pairs}
    for count, span in left.items():
        if count.is_counted and span is not None and span.counted:
            replace(span, counters=span.counters - own).step()  # from the next iteration on
    return [(count, _without(span, none)) for count, span in pairs]


def _without(span: ValueRange | None, none: Collection[LoopStart]) -> ValueRange | None:
    return span if span is None or span.counters.isdisjoint(none) else replace(span, counted=False)


# After how many iterations a loop stops whose ``break`` or ``return`` depends on nothing but its index.
#
# Such a test is a tensor only because the body is traced once for all iterations: Python knows the answer. Here it is
# computed for all values of the index at once.

Known = dict[Value, Any]

_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "abs": np.abs,
    "add": np.add,
    "equal": np.equal,
    "floor_divide": np.floor_divide,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
    "less": np.less,
    "less_equal": np.less_equal,
    "logical_not": np.logical_not,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "multiply": np.multiply,
    "not_equal": np.not_equal,
    "remainder": np.remainder,
    "subtract": np.subtract,
}
"""The operations on ints and bools that are evaluated; Python and XLA may round floats differently."""


def iterations_until(going_on: SymbolicTensor, numbers: Mapping[Value, Any], order: range) -> int | None:
    """Returns how many iterations a loop runs; None where that is not known."""
    # numbers: what is known at the start of an iteration, the index first: an array for all iterations, or one value.
    test = _evaluate(going_on.raw, dict(numbers))  # which it adds to
    if test is None:
        return None
    stops = np.flatnonzero(~np.broadcast_to(np.asarray(test, bool), (len(order),)))
    return int(stops[0]) + 1 if len(stops) else len(order)


def _evaluate(value: Value, numbers: Known) -> Any:
    """Returns a scalar for all iterations, or an array of one for each; None where that is not known."""
    if value not in numbers:
        numbers[value] = None if value.node is None or value.type.shape else _output(value.node, value.index, numbers)
    return numbers[value]


def _output(node: Node, index: int, numbers: Known) -> Any:
    name = node.op.name
    if name == "cond":
        return _chosen(node, index, numbers)
    if any(value.type.dtype.kind not in "bi" for value in (*node.inputs, *node.outputs)):
        return None
    if name == "constant":
        return node.attrs["value"].array
    operands = [_evaluate(value, numbers) for value in node.inputs]
    if name in ("logical_and", "logical_or"):
        return _logical(name, operands)
    if any(operand is None for operand in operands):
        return None
    if name in ("astype", "as_number"):
        return operands[0].astype(node.outputs[0].type.dtype)
    function = _FUNCTIONS.get(name)
    # An int by zero: NumPy gives 0, XLA does not, and Python raises.
    if function is None or (name in ("floor_divide", "remainder") and not np.all(operands[1])):
        return None
    return function(*operands)


def _logical(name: str, operands: list[Any]) -> Any:
    """Of one operand alone, if it decides for all iterations."""
    evaluated = [operand for operand in operands if operand is not None]
    if len(evaluated) == 2:
        return np.logical_and(*evaluated) if name == "logical_and" else np.logical_or(*evaluated)
    decides = len(evaluated) == 1 and (np.all(evaluated[0]) if name == "logical_or" else not np.any(evaluated[0]))
    return np.asarray(name == "logical_or") if decides else None


def _chosen(node: Node, index: int, numbers: Known) -> Any:
    """Returns an output of a branch."""
    selector = _evaluate(node.inputs[0], numbers)
    if selector is None:
        return None
    sides: list[Any] = []
    for region in node.regions:
        pairs = zip(region.inputs, node.inputs[1:], strict=True)
        inside: Known = {inner: _evaluate(outer, numbers) for inner, outer in pairs}
        sides.append(_evaluate(region.outputs[index], inside))
    # A side that no iteration takes may stay unknown.
    used = [np.any(selector), not np.all(selector)]
    if any(side is None and needed for side, needed in zip(sides, used, strict=True)):
        return None
    true, false = [np.asarray(False) if side is None else side for side in sides]
    return np.where(selector, true, false)
