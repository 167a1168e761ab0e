"""How contenders are timed: in turns, often enough, each from its start."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphc as gx
from graphc.tools.inspect import CallTiming
from graphc.tools.inspect.timing import MIN_ROUNDS, measure, wait_for


@dataclass
class Scripted:
    """A contender whose calls take as long as it is told; it notes when it is called."""

    name: str
    seconds: float
    log: list[tuple[str, int]] = field(default_factory=list)

    def sample(self, calls: int) -> float:
        self.log.append((self.name, calls))
        return self.seconds


def test_contenders_take_turns() -> None:
    log: list[tuple[str, int]] = []
    found = measure([Scripted("a", 1.0, log), Scripted("b", 2.0, log)], rounds=4, seconds=60.0)
    assert log == [("a", 1), ("b", 1)] * 4
    assert found == {"a": CallTiming((1.0,) * 4, 1), "b": CallTiming((2.0,) * 4, 1)}


def test_short_calls_are_repeated_until_a_sample_is_long_enough() -> None:
    contender = Scripted("a", 1e-5)
    found = measure([contender], rounds=2, seconds=60.0)
    assert contender.log == [("a", 1), ("a", 100), ("a", 100)]
    assert found["a"].calls == 100
    assert len(found["a"].samples) == 2


def test_time_ends_the_rounds_but_not_before_quartiles_mean_something() -> None:
    assert len(measure([Scripted("a", 1.0)], rounds=100, seconds=1e-9)["a"].samples) == MIN_ROUNDS
    assert len(measure([Scripted("a", 1.0)], rounds=2, seconds=1e-9)["a"].samples) == 2


def test_quartiles() -> None:
    timing = CallTiming((1.0, 2.0, 3.0, 4.0, 5.0))
    assert (timing.median, timing.quartiles, timing.interquartile_range) == (3.0, (2.0, 4.0), 2.0)
    assert timing.spread == pytest.approx(2 / 3)
    assert CallTiming((2.0,)).quartiles == (2.0, 2.0)


@pytest.mark.parametrize(
    ("other", "overlaps"),
    [((3.0, 3.5, 4.0, 9.0), True), ((4.5, 5.0, 6.0, 7.0), False), ((2.5, 2.5, 2.5), True), ((0.1, 0.2, 0.3), False)],
)
def test_overlap_of_the_middle_halves(other: tuple[float, ...], overlaps: bool) -> None:
    timing = CallTiming((1.0, 2.0, 3.0, 4.0, 5.0))
    assert timing.overlaps(CallTiming(other)) is overlaps
    assert CallTiming(other).overlaps(timing) is overlaps


@given(st.lists(st.floats(1e-6, 1e3), min_size=1, max_size=30))
def test_the_median_lies_between_the_quartiles(samples: list[float]) -> None:
    timing = CallTiming(tuple(samples))
    lower, upper = timing.quartiles
    assert min(samples) <= lower <= timing.median <= upper <= max(samples)


def test_waiting_reaches_tensors_in_any_structure_and_variables() -> None:
    v = gx.Variable(1.0)
    v.assign_add(1.0)
    wait_for({"a": (gx.ones((2,)) + 1, "text", 3, None)}, [v])
    assert v.raw.is_ready()
