"""Between which ints an int lies that depends on tensors, as far as that is known while a function is traced.

The program holds such an int in 32 bits, where Python's ints grow. Arithmetic that may pass them is checked when the
program runs, and a call that may fail waits for its program; so what cannot pass them should not be checked. Two things
tell: the bounds of what a number is computed of, and, for what a loop counts, how far one iteration may move it.
"""

from __future__ import annotations

import operator as _operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from types import MappingProxyType
from typing import Any

import numpy as np

LOWEST, HIGHEST = int(np.iinfo(np.int32).min), int(np.iinfo(np.int32).max)

SMALL_STEP = 8
"""What counts in steps of at most this size needs 2**27 iterations at least to come from the middle of what 32 bits
hold to the ends, and is not checked."""

_MIDDLE = 2**30  # from here 2**30 are left to the ends: 2**27 steps of SMALL_STEP


class LoopStart:
    """A number at the start of an iteration of a loop."""

    __slots__ = ("relied", "stepped")

    def __init__(self) -> None:
        self.relied = False  # more was made of it than other counts, so that its bounds must be right
        self.stepped = False  # a step was not checked because it is taken for a count


@dataclass(frozen=True)
class InductionStep:
    """The difference between a number and its value at the start of an iteration, from ``low`` to ``high``."""

    low: int = 0
    high: int = 0
    down: bool = False  # but for small steps down, which a loop of unknown length took
    up: bool = False  # but for small steps up, likewise
    # Between which ints it lies where it was set to something else, as in `run = run + 1 if more else 0`; None: never.
    restart: tuple[int, int] | None = None

    @property
    def is_small(self) -> bool:
        """True if it is a step of a count."""
        low, high = self.restart or (0, 0)
        return self.low >= -SMALL_STEP and self.high <= SMALL_STEP and low >= -_MIDDLE and high <= _MIDDLE

    def moved(self, low: int, high: int) -> InductionStep:
        """Returns the drift of a number that is larger by between ``low`` and ``high``."""
        restart = None if self.restart is None else (self.restart[0] + low, self.restart[1] + high)
        return replace(self, low=self.low + low, high=self.high + high, restart=restart)

    def union(self, other: InductionStep) -> InductionStep:
        """Returns what holds for a number that is one of two."""
        low, high = min(self.low, other.low), max(self.high, other.high)
        restart = self.restart or other.restart
        if self.restart is not None and other.restart is not None:
            restart = min(self.restart[0], other.restart[0]), max(self.restart[1], other.restart[1])
        return InductionStep(low, high, self.down or other.down, self.up or other.up, restart)

    def or_between(self, low: int, high: int) -> InductionStep:
        """Returns what holds for a number that this is the drift of, or that lies between two."""
        return self.union(replace(self, restart=(low, high)))


_NOWHERE: Mapping[LoopStart, InductionStep] = MappingProxyType({})  # shared by all spans, so read-only
_NOBODY: frozenset[LoopStart] = frozenset()


@dataclass(frozen=True)
class ValueRange:
    """The ints between two."""

    low: int
    high: int
    counted: bool = False  # only more small steps than a loop takes reach the ends of 32 bits, if these are its bounds
    # Left out of ==, by which `holds` knows ANY_INT.
    # How far the number is from what it was at the start of an iteration, by loop variables.
    drifts: Mapping[LoopStart, InductionStep] = field(default_factory=lambda: _NOWHERE, compare=False)
    # The loop variables that must be counts if it is ``counted``.
    counters: frozenset[LoopStart] = field(default_factory=lambda: _NOBODY, compare=False)

    @property
    def fits(self) -> bool:
        """True if 32 bits hold all of it."""
        return self.low >= LOWEST and self.high <= HIGHEST

    @property
    def is_small(self) -> bool:
        """True if to add one of it is a step of a count."""
        return self.low >= -SMALL_STEP and self.high <= SMALL_STEP

    @property
    def is_in_the_middle(self) -> bool:
        """True if a count that starts in it is far from the ends of what 32 bits hold."""
        return self.counted or (self.low >= -_MIDDLE and self.high <= _MIDDLE)

    def holds(self, other: ValueRange) -> bool:
        """Returns True if all of another one lies in this one."""
        if other.low < self.low or self.high < other.high:
            return False
        return other.is_in_the_middle if self.counted else not other.counted or self == ANY_INT

    def clamped(self) -> ValueRange:
        """Returns what of it 32 bits hold."""
        return replace(self, low=max(self.low, LOWEST), high=min(self.high, HIGHEST))

    def within(self, low: int, high: int) -> ValueRange:
        """Returns what of it lies between two; all of it if that is nothing."""
        low, high = max(self.low, low), min(self.high, high)
        return replace(self, low=low, high=high) if low <= high else self

    def moved(self, other: ValueRange) -> ValueRange:
        """Returns the sums with the numbers of another one, which is no count."""
        drifts = {start: drift.moved(other.low, other.high) for start, drift in self.drifts.items()}
        return ValueRange(self.low + other.low, self.high + other.high, self.counted, drifts, self.counters)

    def negated(self) -> ValueRange:
        """Returns the numbers of the other sign."""
        return ValueRange(-self.high, -self.low, self.counted, counters=self.counters)  # no drifts: -i is not near i

    def rely(self) -> None:
        """Notes that something is made of a number for which its bounds must be right."""
        for start in self.drifts:
            start.relied = True

    def step(self) -> None:
        """Notes that a step from a number is not checked, because it is a count."""
        for start in self.counters:
            start.stepped = True


TRUTH = ValueRange(0, 1)
"""Of a truth value."""

ANY_INT = ValueRange(LOWEST, HIGHEST)
"""Of a number of which nothing is known."""


def common_span(first: ValueRange | None, second: ValueRange | None) -> ValueRange | None:
    """Returns the span of a number that is one of two; None where one of them is not known."""
    if first is None or second is None:
        return None
    common = _common_drifts(first, second)
    counted = first.counted or second.counted
    if counted and not (first.is_in_the_middle and second.is_in_the_middle):
        return replace(ANY_INT, drifts=common)
    counters = first.counters | second.counters
    return ValueRange(min(first.low, second.low), max(first.high, second.high), counted, common, counters)


def _common_drifts(first: ValueRange, second: ValueRange) -> dict[LoopStart, InductionStep]:
    """Returns how far a number that is one of two is from what numbers were at the start of an iteration."""
    for moved, other in ((first, second), (second, first)):
        if not other.drifts and not other.counted:
            return {start: drift.or_between(other.low, other.high) for start, drift in moved.drifts.items()}
    for start in first.drifts.keys() ^ second.drifts.keys():
        start.relied = True  # nothing else tells that the bounds of the two take those of this one for granted
    return {start: drift.union(second.drifts[start]) for start, drift in first.drifts.items() if start in second.drifts}


def after_loop(initial: ValueRange, drift: InductionStep, trips: int | None) -> ValueRange:
    """Gives the span, in and after a loop, of a number that iterations move; ``trips`` at most, None if unknown."""
    if drift.restart is not None:
        initial = common_span(initial, ValueRange(*drift.restart)) or ANY_INT
    low, high = min(drift.low, 0), max(drift.high, 0)  # with 0, for the start of the first iteration
    down, up = drift.down or low < 0, drift.up or high > 0
    if not (drift.down or drift.up or initial.counted) and (trips is not None or low == high == 0):
        there = initial.moved(ValueRange(low * (trips or 0), high * (trips or 0)))
        if there.is_in_the_middle:
            return there
    if drift.is_small and initial.is_in_the_middle:
        drifts = {
            start: replace(outer, down=outer.down or down, up=outer.up or up) for start, outer in initial.drifts.items()
        }
        low, high = LOWEST if down else initial.low, HIGHEST if up else initial.high
        return ValueRange(low, high, True, drifts, initial.counters)
    return ANY_INT


def span_of_dtype(dtype: Any) -> ValueRange:
    """Returns the span of the elements of an integer tensor."""
    if dtype.kind == "b":
        return TRUTH
    # int() raises for an element beyond.
    return ValueRange(int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)).clamped() if dtype.kind in "iu" else ANY_INT


# The operators of Python's numbers: by name, Python's function, the op that computes it, and bounds of the result.

operator: Any = _operator  # its functions are only partly annotated

Bounds = tuple[int, int]


def _any(*spans: ValueRange) -> Bounds:
    del spans
    return LOWEST, HIGHEST


@dataclass(frozen=True)
class Operator:
    """An operator."""

    symbol: str
    native: Callable[..., Any]
    op: str
    bounds: Callable[..., Bounds] = _any  # between which ints the result lies, of the spans of the operands


_PASSES: Bounds = (LOWEST - 1, HIGHEST + 1)
"""Of what may be larger than it is worth to compute."""


def _of(values: Iterable[int]) -> Bounds:
    numbers = list(values)
    return min(numbers), max(numbers)


def _corners(native: Callable[..., int]) -> Callable[..., Bounds]:
    def bounds(*spans: ValueRange) -> Bounds:
        return _of(native(*corner) for corner in product(*[(span.low, span.high) for span in spans]))

    return bounds


def _abs(a: ValueRange) -> Bounds:
    return _of([abs(a.low), abs(a.high), *([0] if a.low < 0 < a.high else [])])


def _floordiv(a: ValueRange, b: ValueRange) -> Bounds:
    # A quotient is extreme at the ends of the divisor and next to zero; a check refuses zero itself.
    divisors = {value for value in (b.low, b.high, -1, 1) if value and b.low <= value <= b.high}
    return _of(x // y for x, y in product((a.low, a.high), divisors)) if divisors else (0, 0)


def _mod(a: ValueRange, b: ValueRange) -> Bounds:
    del a  # so that a loop finds the bounds of what it carries at once
    return min(b.low + 1, 0), max(b.high - 1, 0)  # Python's % has the sign of the divisor


def _pow(a: ValueRange, b: ValueRange) -> Bounds:
    low, high = max(b.low, 0), max(b.high, 0)
    if high > 32:  # then only powers of -1, 0 and 1 can fit
        return (-1, 1) if a.low >= -1 and a.high <= 1 else _PASSES
    # An even power is smallest at 0.
    bases = {a.low, a.high, *(value for value in (-1, 0, 1) if a.low <= value <= a.high)}
    # Of a negative base the last odd power is the smallest, the last even one the largest.
    return _of(x**y for x, y in product(bases, {low, max(low, high - 1), high}))


def _lshift(a: ValueRange, b: ValueRange) -> Bounds:
    low, high = max(b.low, 0), max(b.high, 0)
    if high > 32:
        return (0, 0) if a.low == a.high == 0 else _PASSES
    return _of(x << y for x, y in product((a.low, a.high), (low, high)))


def _rshift(a: ValueRange, b: ValueRange) -> Bounds:
    shifts = [min(max(shift, 0), 32) for shift in (b.low, b.high)]  # all bits are gone after 32: 0 or -1 is left
    return _of(x >> y for x, y in product((a.low, a.high), shifts))


def _and(a: ValueRange, b: ValueRange) -> Bounds:
    # Such an operand masks the sign, and the result is no larger.
    limits = [span.high for span in (a, b) if span.low >= 0]
    return (0, min(limits)) if limits else (LOWEST, HIGHEST)


def _or(a: ValueRange, b: ValueRange) -> Bounds:
    if a.low < 0 or b.low < 0:
        return LOWEST, HIGHEST
    return 0, (1 << max(a.high, b.high).bit_length()) - 1  # neither sets a bit above the highest of both


BINARY = {
    "add": Operator("+", operator.add, "add", _corners(operator.add)),
    "sub": Operator("-", operator.sub, "subtract", _corners(operator.sub)),
    "mul": Operator("*", operator.mul, "multiply", _corners(operator.mul)),
    "truediv": Operator("/", operator.truediv, "divide"),
    "floordiv": Operator("//", operator.floordiv, "floor_divide", _floordiv),
    "mod": Operator("%", operator.mod, "remainder", _mod),
    "pow": Operator("**", operator.pow, "pow", _pow),
    "and": Operator("&", operator.and_, "bitwise_and", _and),
    "or": Operator("|", operator.or_, "bitwise_or", _or),
    "xor": Operator("^", operator.xor, "bitwise_xor", _or),
    "lshift": Operator("<<", operator.lshift, "bitwise_left_shift", _lshift),
    "rshift": Operator(">>", operator.rshift, "bitwise_right_shift", _rshift),
}

LIMITS = {
    "maximum": Operator("max", max, "maximum", _corners(max)),
    "minimum": Operator("min", min, "minimum", _corners(min)),
}

UNARY = {
    "neg": Operator("-", operator.neg, "negative", _corners(operator.neg)),
    "pos": Operator("+", operator.pos, "positive", _corners(operator.pos)),
    "abs": Operator("abs", abs, "abs", _abs),
    "invert": Operator("~", operator.invert, "bitwise_invert", _corners(operator.invert)),
}

COMPARISONS = {
    "lt": Operator("<", operator.lt, "less"),
    "le": Operator("<=", operator.le, "less_equal"),
    "gt": Operator(">", operator.gt, "greater"),
    "ge": Operator(">=", operator.ge, "greater_equal"),
    "eq": Operator("==", operator.eq, "equal"),
    "ne": Operator("!=", operator.ne, "not_equal"),
}
