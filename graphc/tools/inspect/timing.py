"""Timings that cannot lie: every call is waited for, the modes take turns, the warm-up is kept apart."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import jax

from graphc.compiler.base import nest
from graphc.compiler.core import ArrayMethods, Variable

MIN_ROUNDS = 3
"""So many rounds are run also when the time is up: quartiles of fewer mean nothing."""

_MIN_HALF = 3
"""Of fewer samples the halves are not compared."""

MIN_SAMPLE_SECONDS = 1e-3
"""Short calls are repeated until a sample is this long, so that the clock and a preemption do not decide it."""


@dataclass(frozen=True)
class CallTiming:
    """The time of a call.

    Attributes:
      samples: seconds of one call, one figure a round, each the mean of ``calls`` calls.
      calls: how many calls a sample is the mean of.
    """

    samples: tuple[float, ...]
    calls: int = 1

    @property
    def median(self) -> float:
        """The median of the samples, in seconds."""
        return statistics.median(self.samples)

    @property
    def quartiles(self) -> tuple[float, float]:
        """The lower and the upper quartile of the samples, in seconds."""
        if len(self.samples) == 1:
            return self.samples[0], self.samples[0]
        lower, _, upper = statistics.quantiles(self.samples, n=4, method="inclusive")
        return lower, upper

    @property
    def interquartile_range(self) -> float:
        """The distance between the quartiles, in seconds."""
        lower, upper = self.quartiles
        return upper - lower

    @property
    def spread(self) -> float:
        """The interquartile range as a part of the median."""
        return self.interquartile_range / self.median

    def ratios(self, other: CallTiming) -> CallTiming:
        """Returns the ratio of the other's time to this one's in each round, which measures both in turn."""
        return CallTiming(tuple(theirs / mine for mine, theirs in zip(self.samples, other.samples, strict=False)))

    @property
    def drift(self) -> float:
        """The relative difference between the medians of the first and the second half of the samples."""
        middle = len(self.samples) // 2
        if middle < _MIN_HALF:
            return 0.0
        halves = statistics.median(self.samples[:middle]), statistics.median(self.samples[-middle:])
        return max(halves) / min(halves) - 1.0

    def overlaps(self, other: CallTiming) -> bool:
        """Returns True if the ranges between the quartiles have a point in common."""
        (low, high), (other_low, other_high) = self.quartiles, other.quartiles
        return low <= other_high and other_low <= high


class TimedCall(Protocol):
    """Something that can be timed."""

    @property
    def name(self) -> str:
        """Returns what it is called."""
        ...

    def sample(self, calls: int) -> float:
        """Seconds of one call, the mean of so many, each of them waited for."""
        ...


def wait_for(result: Any, variables: Sequence[Variable] = ()) -> None:
    """Waits until a result, nested or not, and the values of variables are computed."""
    leaves = [result] if isinstance(result, ArrayMethods | jax.Array) else nest.flatten(result)[0]
    arrays = [leaf.raw if isinstance(leaf, ArrayMethods) else leaf for leaf in (*leaves, *variables)]
    jax.block_until_ready(arrays)


def measure(contenders: Sequence[TimedCall], rounds: int, seconds: float) -> dict[str, CallTiming]:
    """Times contenders in turns: A B A B, so that a slow spell of the machine hits all of them."""
    samples: dict[str, list[float]] = {contender.name: [] for contender in contenders}
    calls: dict[str, int] = {}
    start = time.perf_counter()
    for number in range(rounds):
        if number >= MIN_ROUNDS and time.perf_counter() - start > seconds:
            break
        for contender in contenders:
            if number == 0:
                calls[contender.name], sample = _first_sample(contender)
            else:
                sample = contender.sample(calls[contender.name])
            samples[contender.name].append(sample)
    return {name: CallTiming(tuple(times), calls[name]) for name, times in samples.items()}


def _first_sample(contender: TimedCall) -> tuple[int, float]:
    """Returns how many calls make a sample long enough, and the first such sample."""
    seconds = contender.sample(1)
    calls = math.ceil(MIN_SAMPLE_SECONDS / seconds)
    return (1, seconds) if calls <= 1 else (calls, contender.sample(calls))
