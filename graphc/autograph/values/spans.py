"""Between which ints an int lies that depends on tensors, as far as that is known while a function is traced.

The program holds such an int in 32 bits, where Python's ints grow. Arithmetic that may pass them is checked when the
program runs, and a call that may fail waits for its program; so what cannot pass them should not be checked. Two things
tell: the bounds of what a number is computed of, and, for what a loop counts, how far one iteration may move it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np

__all__ = [
    "ANY_INT",
    "HIGHEST",
    "LOWEST",
    "TRUTH",
    "Drift",
    "LoopStart",
    "Span",
    "after_loop",
    "common_span",
    "span_of_dtype",
]

LOWEST, HIGHEST = int(np.iinfo(np.int32).min), int(np.iinfo(np.int32).max)

SMALL_STEP = 8
"""What counts in steps of at most this size needs 2**27 iterations at least to come from the middle of what 32 bits
hold to the ends, and is not checked."""

_MIDDLE = 2**30


class LoopStart:
    """A number at the start of an iteration of a loop.

    Attributes:
      relied: whether more was made of it than other counts, so that its bounds must be right.
      stepped: whether a step was not checked because it is taken for a count.
    """

    __slots__ = ("relied", "stepped")

    def __init__(self) -> None:
        self.relied = False
        self.stepped = False


@dataclass(frozen=True)
class Drift:
    """The difference between a number and its value at the start of an iteration.

    Attributes:
      low: at least so much.
      high: at most so much.
      down: but for small steps down that a loop of unknown length took.
      up: but for small steps up, likewise.
    """

    low: int = 0
    high: int = 0
    down: bool = False
    up: bool = False

    @property
    def is_small(self) -> bool:
        """True if it is a step of a count."""
        return self.low >= -SMALL_STEP and self.high <= SMALL_STEP

    def moved(self, low: int, high: int) -> Drift:
        """Returns the drift of a number that is larger by between ``low`` and ``high``."""
        return replace(self, low=self.low + low, high=self.high + high)

    def union(self, other: Drift) -> Drift:
        """Returns what holds for a number that is one of two."""
        low, high = min(self.low, other.low), max(self.high, other.high)
        return Drift(low, high, self.down or other.down, self.up or other.up)


_NOWHERE: Mapping[LoopStart, Drift] = MappingProxyType({})
_NOBODY: frozenset[LoopStart] = frozenset()


@dataclass(frozen=True)
class Span:
    """The ints between two.

    Attributes:
      low: the smallest.
      high: the largest.
      counted: whether a number in it comes to the ends of what 32 bits hold, where they are its bounds, only by more
        small steps than a loop takes.
      drifts: how far the number is from what it was at the start of an iteration, by loop variables.
      counters: the loop variables that must be counts if it is ``counted``.
    """

    low: int
    high: int
    counted: bool = False
    drifts: Mapping[LoopStart, Drift] = field(default_factory=lambda: _NOWHERE, compare=False)
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

    def holds(self, other: Span) -> bool:
        """Returns True if all of another one lies in this one."""
        if other.low < self.low or self.high < other.high:
            return False
        return other.is_in_the_middle if self.counted else not other.counted or self == ANY_INT

    def clamped(self) -> Span:
        """Returns what of it 32 bits hold."""
        return replace(self, low=max(self.low, LOWEST), high=min(self.high, HIGHEST))

    def moved(self, other: Span) -> Span:
        """Returns the sums with the numbers of another one, which is no count."""
        drifts = {start: drift.moved(other.low, other.high) for start, drift in self.drifts.items()}
        return Span(self.low + other.low, self.high + other.high, self.counted, drifts, self.counters)

    def negated(self) -> Span:
        """Returns the numbers of the other sign."""
        return Span(-self.high, -self.low, self.counted, counters=self.counters)

    def rely(self) -> None:
        """Notes that something is made of a number for which its bounds must be right."""
        for start in self.drifts:
            start.relied = True

    def step(self) -> None:
        """Notes that a step from a number is not checked, because it is a count."""
        for start in self.counters:
            start.stepped = True


TRUTH = Span(0, 1)
"""Of a truth value."""

ANY_INT = Span(LOWEST, HIGHEST)
"""Of a number of which nothing is known."""


def common_span(first: Span | None, second: Span | None) -> Span | None:
    """Returns the span of a number that is one of two; None where one of them is not known."""
    if first is None or second is None:
        return None
    common = {
        start: drift.union(second.drifts[start]) for start, drift in first.drifts.items() if start in second.drifts
    }
    counted = first.counted or second.counted
    if counted and not (first.is_in_the_middle and second.is_in_the_middle):
        return replace(ANY_INT, drifts=common)
    counters = first.counters | second.counters
    return Span(min(first.low, second.low), max(first.high, second.high), counted, common, counters)


def after_loop(initial: Span, drift: Drift, trips: int | None) -> Span:
    """Gives the span of a number that each iteration of a loop moves, at the start of any iteration and after the loop.

    Args:
      initial: its span before the loop.
      drift: how far one iteration moves it.
      trips: how many iterations there are at most; None where that is not known.
    """
    low, high = min(drift.low, 0), max(drift.high, 0)
    down, up = drift.down or low < 0, drift.up or high > 0
    if not (drift.down or drift.up or initial.counted) and (trips is not None or low == high == 0):
        there = initial.moved(Span(low * (trips or 0), high * (trips or 0)))
        if there.is_in_the_middle:
            return there
    if drift.is_small and initial.is_in_the_middle:
        drifts = {
            start: replace(outer, down=outer.down or down, up=outer.up or up) for start, outer in initial.drifts.items()
        }
        low, high = LOWEST if down else initial.low, HIGHEST if up else initial.high
        return Span(low, high, True, drifts, initial.counters)
    return ANY_INT


def span_of_dtype(dtype: Any) -> Span:
    """Returns the span of the elements of an integer tensor."""
    if dtype.kind == "b":
        return TRUTH
    return Span(int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)).clamped() if dtype.kind in "iu" else ANY_INT
