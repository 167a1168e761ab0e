"""How a row is measured: two contenders, checked for equal results, then timed in turns.

A sample is a batch of calls and one wait at its end, so that what is timed is the work and not the queueing of it. The
contenders take turns, and who goes first changes from round to round, so that a slow spell of the machine hits both.
Samples are short, half a millisecond where one call is shorter, and many: other processes that take turns on the core,
for some milliseconds each, then spoil few of them, which the median does not see. The figure of a row is the ratio of
the medians.
"""

from __future__ import annotations

import gc
import itertools
import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import jax
import numpy as np

import graphc as gx

__all__ = ["Contender", "Duel", "Reading", "Result", "Row", "arrays", "batch", "measure"]

# A row ends when it has so many rounds and has taken so long: the median of more would not say more.
_ENOUGH_ROUNDS = 30
_SECONDS = 2.0

Sample = Callable[[], None]


@dataclass(frozen=True)
class Contender:
    """One side of a comparison.

    Attributes:
      label: what it is, in a few words.
      fresh: makes the next sample; called before each one, outside the timing.
      units: how many calls, operations or steps a sample does; times are divided by it.
    """

    label: str
    fresh: Callable[[], Sample]
    units: int = 1


@dataclass(frozen=True)
class Duel:
    """What a row compares.

    Attributes:
      measured: whose time is the numerator.
      baseline: whose time is the denominator.
      check: gives pairs of results that must be equal up to rounding; called before anything is timed.
    """

    measured: Contender
    baseline: Contender
    check: Callable[[], Iterable[tuple[Any, Any]]]


@dataclass(frozen=True)
class Reading:
    """What a row compares that is no time, such as the memory before and after.

    Attributes:
      labels: what is read, of the numerator and of the denominator.
      unit: of the two.
      read: reads both, and says what else is to be told of them.
    """

    labels: tuple[str, str]
    unit: str
    read: Callable[[], tuple[float, float, str]]


@dataclass(frozen=True)
class Row:
    """A line of the table.

    Attributes:
      name: what ``--only`` selects it by.
      case: what is compared, for people.
      bar: the ratio that must not be exceeded.
      prepare: makes the duel; told whether the run is a quick one, in which sizes are small and times mean nothing. A
        row of several duels, by name, shows the one with the largest ratio, and says how many are within the bar.
      rounds: at most so many samples of each contender; fewer than the default where a sample takes long.
    """

    name: str
    case: str
    bar: float
    prepare: Callable[[bool], Duel | Mapping[str, Duel] | Reading]
    rounds: int = 1000


@dataclass(frozen=True)
class Result:
    """A measured row; times are in seconds per unit.

    Attributes:
      unit: of what was measured; ``s`` for times.
      parts: the single results of a row of several duels, by name.
      ratio: the median time of the measured contender over that of the baseline.
      floor: the same of the fastest tenths, which tell more than the medians when other work takes turns on the cores.
      spread: the quartiles of the ratios of the single rounds.
      met: whether the ratio is within the bar.
      verdict: the same in a word, with a question mark where the bar lies between the quartiles.
    """

    name: str
    case: str
    bar: float
    labels: tuple[str, str]
    measured: list[float] = field(repr=False)
    baseline: list[float] = field(repr=False)
    unit: str = "s"
    parts: dict[str, Result] = field(default_factory=dict[str, "Result"], repr=False)

    @property
    def ratio(self) -> float:
        return statistics.median(self.measured) / statistics.median(self.baseline)

    @property
    def floor(self) -> float:
        return float(np.quantile(self.measured, 0.1) / np.quantile(self.baseline, 0.1))

    @property
    def spread(self) -> tuple[float, float]:
        return quartiles([a / b for a, b in zip(self.measured, self.baseline, strict=True)])

    @property
    def met(self) -> bool:
        return self.ratio <= self.bar

    @property
    def verdict(self) -> str:
        low, high = self.spread
        return ("met" if self.met else "missed") + (" ?" if low <= self.bar <= high else "")

    def as_json(self) -> dict[str, Any]:
        medians = {
            side: {"median": statistics.median(times), "quartiles": quartiles(times)}
            for side, times in (("measured", self.measured), ("baseline", self.baseline))
        }
        return {
            **{name: value for name, value in asdict(self).items() if name != "parts"},
            **({"parts": {name: part.as_json() for name, part in self.parts.items()}} if self.parts else {}),
            "ratio": self.ratio,
            "floor": self.floor,
            "spread": self.spread,
            "met": self.met,
            "seconds": medians,
        }


def quartiles(values: Sequence[float]) -> tuple[float, float]:
    """The first and the third quartile."""
    first, third = np.quantile(values, (0.25, 0.75))
    return float(first), float(third)


def arrays(result: Any) -> list[Any]:
    """The arrays in a nested result; those of tensors and variables by their values."""
    leaves = jax.tree.leaves(result, is_leaf=lambda leaf: isinstance(leaf, gx.Tensor | gx.Variable))
    return [leaf.__jax_array__() if isinstance(leaf, gx.Tensor | gx.Variable) else leaf for leaf in leaves]


def batch(call: Callable[..., Any], args: tuple[Any, ...], calls: int, wait_for: Any = None) -> Callable[[], Sample]:
    """A sample of ``calls`` equal calls.

    Args:
      call: what to call.
      args: its arguments.
      calls: how often.
      wait_for: what to wait for at the end, if the result of the last call is not all (variables that are updated).
    """

    def sample() -> None:
        result = None
        for _ in itertools.repeat(None, calls):
            result = call(*args)
        jax.block_until_ready(arrays((result, wait_for)))

    return lambda: sample


def measure(row: Row, rounds: int, *, quick: bool = False) -> Result:
    """Checks a row and times it.

    Args:
      row: what to measure.
      rounds: how many samples each contender gives, at most; fewer where the row says so, or where they take long.
      quick: whether everything is made small, to see that it runs.

    Raises:
      AssertionError: the contenders do not compute the same.
    """
    prepared = row.prepare(quick)
    rounds = min(rounds, row.rounds)
    if isinstance(prepared, Duel):
        return _fought(row, prepared, rounds)
    if isinstance(prepared, Reading):
        measured, baseline, note = prepared.read()
        return Result(
            row.name, f"{row.case}: {note}", row.bar, prepared.labels, [measured], [baseline], unit=prepared.unit
        )
    parts = {name: _fought(replace(row, name=name, case=name), duel, rounds) for name, duel in prepared.items()}
    worst = max(parts.values(), key=lambda part: part.ratio)
    met = sum(part.met for part in parts.values())
    return replace(
        worst,
        name=row.name,
        case=f"{row.case}: {met} of {len(parts)} within the bar; the worst, {worst.name}",
        parts=parts,
    )


def _fought(row: Row, duel: Duel, rounds: int) -> Result:
    """The result of one duel."""
    for given, expected in duel.check():
        for one, other in zip(arrays(given), arrays(expected), strict=True):
            np.testing.assert_allclose(np.asarray(one), np.asarray(other), rtol=2e-4, atol=2e-5, err_msg=row.case)
    sides = (duel.measured, duel.baseline)
    times: dict[str, list[float]] = {"measured": [], "baseline": []}
    named = list(zip(times, sides, strict=True))
    gc.collect()
    for _, side in named:
        _time(side)  # warm-up
    end = time.perf_counter() + _SECONDS
    for number in range(rounds):
        if number >= _ENOUGH_ROUNDS and time.perf_counter() > end:
            break
        for name, side in named if number % 2 == 0 else reversed(named):
            times[name].append(_time(side))
    return Result(row.name, row.case, row.bar, (sides[0].label, sides[1].label), times["measured"], times["baseline"])


def _time(side: Contender) -> float:
    """Seconds per unit of one sample."""
    sample = side.fresh()
    start = time.perf_counter()
    sample()
    return (time.perf_counter() - start) / side.units
