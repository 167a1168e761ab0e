"""Search for a good assignment of units to devices: earliest finish first, then local search."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Sequence

from graphc.tools.placement.problem import Problem, Unit, simulate

__all__ = ["best_assignment", "exact_assignment", "one_device"]

_RESTARTS = 4
_MOST_SIMULATED_UNITS = 200_000
_LEAST_SIMULATIONS = 500
_MOST_IN_PAIRS = 24


def best_assignment(problem: Problem, seed: int = 0) -> tuple[int, ...]:
    """Returns a good assignment.

    The search starts from each unit on the device where it finishes first, from everything on one device, for each
    device, and from some random mixtures; it then moves units, singly and in pairs, as long as that helps and time
    remains.

    Args:
      problem: the placement problem.
      seed: the seed of the random mixtures.

    Returns:
      The device number of each unit.
    """
    search = _Search(problem)
    alone = [one_device(problem, device) for device in range(len(problem.devices))]
    best = min(search.improved(start) for start in (_earliest_finish(problem), *filter(None, alone)))
    draws = random.Random(seed)
    for _ in range(_RESTARTS):
        best = min(best, search.improved(_shaken(problem, best[1], draws)))
    return best[1]


def exact_assignment(problem: Problem) -> tuple[int, ...]:
    """Returns the best assignment by trying all; for small problems."""
    choices = [_allowed(unit) for unit in problem.units]
    return min(itertools.product(*choices), key=lambda assignment: simulate(problem, assignment).seconds)


def one_device(problem: Problem, device: int) -> tuple[int, ...] | None:
    """Returns everything on one device, except pinned units; None if that leaves a choice."""
    found: list[int] = []
    for unit in problem.units:
        allowed = _allowed(unit)
        if device in allowed:
            found.append(device)
        elif len(allowed) == 1:
            found.append(allowed[0])
        else:
            return None
    return tuple(found)


def _allowed(unit: Unit) -> list[int]:
    return [device for device, seconds in enumerate(unit.seconds) if seconds < math.inf]


def _earliest_finish(problem: Problem) -> tuple[int, ...]:
    """Returns each unit, in order, on the device where the program up to it finishes first."""
    found: list[int] = []
    for number, unit in enumerate(problem.units):
        part = Problem(
            problem.devices, problem.units[: number + 1], problem.sizes, problem.links, problem.at,
            memory=problem.memory, overhead=problem.overhead,
        )  # fmt: skip

        def finish(device: int, part: Problem = part, unit: Unit = unit) -> tuple[float, float]:
            schedule = simulate(part, [*found, device])
            return schedule.starts[-1] + unit.seconds[device], schedule.seconds

        found.append(min(_allowed(unit), key=finish))
    return tuple(found)


class _Search:
    """Local search with a bounded number of simulations."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._allowed = [_allowed(unit) for unit in problem.units]
        self._makers = {value: number for number, unit in enumerate(problem.units) for value in unit.gives}
        self._left = max(_LEAST_SIMULATIONS, _MOST_SIMULATED_UNITS // max(1, len(problem.units)))

    def improved(self, assignment: Sequence[int]) -> tuple[float, tuple[int, ...]]:
        """Returns the time of the assignment after all moves that help, and the new assignment."""
        best = tuple(assignment)
        seconds = simulate(self._problem, best).seconds
        rounds = max(_LEAST_SIMULATIONS, self._left // 2)
        improving = True
        while improving:
            improving = False
            for change in self._changes():
                if rounds <= 0 or self._left <= 0:
                    return seconds, best
                moved = _changed(best, change)
                if moved == best:
                    continue
                rounds, self._left = rounds - 1, self._left - 1
                found = simulate(self._problem, moved).seconds
                if found < seconds * (1 - 1e-9):
                    best, seconds, improving = moved, found, True
        return seconds, best

    def _changes(self) -> Iterator[dict[int, int]]:
        """Yields changes: one unit moved; a unit moved with one whose value it takes; two units moved."""
        for number, unit in enumerate(self._problem.units):
            for device in self._allowed[number]:
                yield {number: device}
                for value in unit.takes:
                    other = self._makers.get(value)
                    if other is not None and device in self._allowed[other]:
                        yield {number: device, other: device}
        if len(self._allowed) <= _MOST_IN_PAIRS:
            for first, second in itertools.combinations(range(len(self._allowed)), 2):
                for a, b in itertools.product(self._allowed[first], self._allowed[second]):
                    yield {first: a, second: b}


def _changed(assignment: tuple[int, ...], change: dict[int, int]) -> tuple[int, ...]:
    return tuple([change.get(number, device) for number, device in enumerate(assignment)])


def _shaken(problem: Problem, assignment: Sequence[int], draws: random.Random) -> tuple[int, ...]:
    """Returns the assignment with a third of the units moved at random."""
    return tuple(
        draws.choice(_allowed(unit)) if draws.random() < 1 / 3 else device
        for unit, device in zip(problem.units, assignment, strict=True)
    )
