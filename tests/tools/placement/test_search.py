"""Assignments run in thought, and the search for good ones."""

from __future__ import annotations

import itertools
import math
import random
import statistics

import pytest

from graphc.tools.placement.proposal import DeviceLink, Problem, ScheduledUnit, best_assignment, one_device, simulate

MILLI = 1e-3


def problem(
    *units: ScheduledUnit, sizes: tuple[int, ...], memory: tuple[float, ...] = (), rate: float = 0.0
) -> Problem:
    links = {pair: DeviceLink(MILLI, rate) for pair in ((0, 1), (1, 0))}
    return Problem(("a", "b"), units, sizes, links, {0: 0}, memory=memory)


def unit(
    name: str, takes: tuple[int, ...], gives: int, seconds: tuple[float, ...] = (10 * MILLI, 10 * MILLI)
) -> ScheduledUnit:
    return ScheduledUnit(name, seconds, takes, (gives,))


DIAMOND = problem(unit("left", (0,), 1), unit("right", (0,), 2), unit("end", (1, 2), 3), sizes=(4, 4, 4, 4))


def test_independent_units_run_beside_each_other() -> None:
    assert simulate(DIAMOND, (0, 0, 0)).seconds == pytest.approx(30 * MILLI)
    found = simulate(DIAMOND, (0, 1, 0))
    assert found.seconds == pytest.approx(22 * MILLI)
    assert found.starts == pytest.approx((0, MILLI, 12 * MILLI))
    assert found.transfers == ((0, 0, 1), (2, 1, 0))
    assert best_assignment(DIAMOND) in {(0, 1, 0), (1, 0, 1), (0, 1, 1)}


def test_a_value_is_moved_once_and_a_link_moves_one_at_a_time() -> None:
    found = problem(
        unit("first", (0,), 1), unit("second", (0,), 2), unit("third", (1,), 3), unit("fourth", (1, 2), 4),
        sizes=(4, 1000, 1000, 4, 4), rate=1e-5,
    )  # fmt: skip
    schedule = simulate(found, (0, 0, 1, 1))
    assert schedule.transfers == ((1, 0, 1), (2, 0, 1))
    assert schedule.starts[2] == pytest.approx(21 * MILLI)
    assert schedule.starts[3] == pytest.approx(32 * MILLI)  # its second value waits for the link


def test_memory_is_released_after_the_last_use_and_bounds_what_is_found() -> None:
    chain = [unit(f"u{n}", (n,), n + 1) for n in range(4)]
    found = problem(*chain, sizes=(0, 100, 100, 100, 100))
    assert simulate(found, (0, 0, 0, 0)).peaks == (200, 0)
    tight = problem(*chain, sizes=(0, 100, 100, 100, 100), memory=(150, 1000))
    assert simulate(tight, (0, 0, 0, 0)).seconds == math.inf
    assert simulate(tight, best_assignment(tight)).seconds < math.inf


def test_what_is_pinned_stays() -> None:
    found = problem(
        unit("free", (0,), 1),
        unit("pinned", (1,), 2, (math.inf, 10 * MILLI)),
        unit("last", (2,), 3),
        sizes=(4, 4, 4, 4),
    )
    assert best_assignment(found)[1] == 1
    assert one_device(found, 0) == (0, 1, 0)


def random_problem(draws: random.Random, count: int, devices: int) -> Problem:
    """A graph of random shape whose units, values and links differ by orders of magnitude."""
    names = tuple(f"d{number}" for number in range(devices))
    units: list[ScheduledUnit] = []
    sizes = [10 ** draws.randint(2, 6)]
    for number in range(count):
        takes = tuple(draws.sample(range(len(sizes)), min(len(sizes), draws.randint(1, 3))))
        base = 10 ** draws.uniform(-4, -2)
        units.append(
            ScheduledUnit(f"u{number}", tuple(base * draws.uniform(0.5, 2) for _ in names), takes, (len(sizes),))
        )
        sizes.append(10 ** draws.randint(2, 6))
    links = {
        (a, b): DeviceLink(draws.uniform(1e-5, 1e-4), 1 / draws.uniform(1e8, 1e10))
        for a in range(devices)
        for b in range(devices)
        if a != b
    }
    return Problem(names, tuple(units), tuple(sizes), links, {0: 0}, overhead=2e-5)


def exact_assignment(problem: Problem) -> tuple[int, ...]:
    choices = [[device for device, time in enumerate(unit.seconds) if time < math.inf] for unit in problem.units]
    return min(itertools.product(*choices), key=lambda assignment: simulate(problem, assignment).seconds)


def gaps(count: int, seed: int, units: int) -> list[float]:
    """By how much more time the assignment takes that is found than the best, for random graphs."""
    draws = random.Random(seed)
    found: list[float] = []
    for number in range(count):
        given = random_problem(draws, units, 2 + number % 2)
        best = simulate(given, exact_assignment(given)).seconds
        found.append(simulate(given, best_assignment(given)).seconds / best - 1)
    return found


def test_the_search_comes_close_to_the_best_of_all() -> None:
    found = gaps(12, seed=1, units=6)
    assert statistics.mean(found) < 0.01
    assert max(found) < 0.05


@pytest.mark.slow
def test_the_search_comes_close_to_the_best_of_all_for_many_graphs() -> None:
    found = gaps(100, seed=2, units=8)
    assert statistics.mean(found) < 0.01
    assert max(found) < 0.1


def test_large_problems_take_bounded_time() -> None:
    given = random_problem(random.Random(3), 200, 3)
    alone = min(simulate(given, (device,) * 200).seconds for device in range(3))
    assert simulate(given, best_assignment(given)).seconds < alone
