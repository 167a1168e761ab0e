"""The placement problem: units of work, devices, what each costs where, and how long an assignment takes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

__all__ = ["Assignment", "Link", "Problem", "Schedule", "Unit", "simulate"]

Assignment: TypeAlias = Sequence[int]
"""The number of the device of each unit."""


@dataclass(frozen=True)
class Unit:
    """Work that is done on one device, without a break.

    Attributes:
      name: for people.
      seconds: how long it takes on each device; ``math.inf`` where it may not run.
      takes: the values that it needs, by number.
      gives: the values that it computes.
    """

    name: str
    seconds: tuple[float, ...]
    takes: tuple[int, ...] = ()
    gives: tuple[int, ...] = ()


@dataclass(frozen=True)
class Link:
    """How long it takes to move a value from one device to another.

    Attributes:
      latency: seconds for nothing.
      seconds_per_byte: the rest.
    """

    latency: float
    seconds_per_byte: float

    def seconds(self, size: int) -> float:
        """For so many bytes."""
        return self.latency + self.seconds_per_byte * size


@dataclass(frozen=True)
class Problem:
    """What is to be placed.

    Attributes:
      devices: their names.
      units: in an order in which each comes after those whose values it takes; devices run them in that order.
      sizes: of the values, in bytes.
      links: between devices, by their numbers: from, to.
      at: values that are there from the start, such as arguments and Variables, and where.
      wanted: values that must be on a device at the end.
      memory: how many bytes each device has room for.
      overhead: seconds that the host takes to start a unit that does not follow another on its device.
    """

    devices: tuple[str, ...]
    units: tuple[Unit, ...]
    sizes: tuple[int, ...]
    links: Mapping[tuple[int, int], Link]
    at: Mapping[int, int] = field(default_factory=dict[int, int])
    wanted: tuple[tuple[int, int], ...] = ()
    memory: tuple[float, ...] = ()
    overhead: float = 0.0


@dataclass(frozen=True)
class Schedule:
    """What becomes of an assignment.

    Attributes:
      seconds: until everything is done; ``math.inf`` if it cannot be done.
      starts: of each unit.
      transfers: the values that are moved: value, from, to.
      peaks: the most bytes that each device holds at a time.
    """

    seconds: float
    starts: tuple[float, ...]
    transfers: tuple[tuple[int, int, int], ...]
    peaks: tuple[float, ...]


def simulate(problem: Problem, assignment: Assignment) -> Schedule:
    """Runs an assignment in thought.

    A device does one unit at a time, a link moves one value at a time, each in the order of the program; a value is
    moved once to each device that needs it, as soon as it is there. A value is released after its last use.

    Args:
      problem: what is to be placed.
      assignment: the device of each unit.
    """
    return _Simulation(problem, assignment).run()


class _Simulation:
    def __init__(self, problem: Problem, assignment: Assignment) -> None:
        self._problem = problem
        self._assignment = assignment
        count = len(problem.devices)
        self._free = [0.0] * count
        self._links: dict[tuple[int, int], float] = {}
        self._ready: dict[tuple[int, int], float] = {}  # by value and device
        self._origin = dict(problem.at)
        self._transfers: list[tuple[int, int, int]] = []
        self._held = [0.0] * count
        self._peaks = [0.0] * count
        self._uses = [0] * len(problem.sizes)
        for unit in problem.units:
            for value in unit.takes:
                self._uses[value] += 1
        for value, _ in problem.wanted:
            self._uses[value] += 1

    def run(self) -> Schedule:
        problem = self._problem
        for value, device in problem.at.items():
            self._put(value, device, 0.0)
        starts: list[float] = []
        end = 0.0
        last = -1
        for unit, device in zip(problem.units, self._assignment, strict=True):
            arrived = max((self._arrive(value, device) for value in unit.takes), default=0.0)
            # Units that follow each other on a device are one program.
            start = max(self._free[device], arrived) + (problem.overhead if device != last else 0.0)
            starts.append(start)
            self._free[device] = start + unit.seconds[device]
            end = max(end, self._free[device])
            for value in unit.gives:
                self._origin[value] = device
                self._put(value, device, self._free[device])
            self._release(unit.takes)
            last = device
        for value, device in problem.wanted:
            end = max(end, self._arrive(value, device))
        fits = all(peak <= room for peak, room in zip(self._peaks, problem.memory, strict=False))
        return Schedule(end if fits else math.inf, tuple(starts), tuple(self._transfers), tuple(self._peaks))

    def _put(self, value: int, device: int, when: float) -> None:
        self._ready[value, device] = when
        self._held[device] += self._problem.sizes[value]
        self._peaks[device] = max(self._peaks[device], self._held[device])

    def _arrive(self, value: int, device: int) -> float:
        """When a value is on a device; moves it there if it is not."""
        found = self._ready.get((value, device))
        if found is not None:
            return found
        source = self._origin[value]
        link = source, device
        begin = max(self._ready[value, source], self._links.get(link, 0.0))
        when = self._links[link] = begin + self._problem.links[link].seconds(self._problem.sizes[value])
        self._transfers.append((value, source, device))
        self._put(value, device, when)
        return when

    def _release(self, values: Sequence[int]) -> None:
        for value in values:
            self._uses[value] -= 1
            if not self._uses[value]:
                for device in range(len(self._held)):
                    if (value, device) in self._ready and value not in self._problem.at:
                        self._held[device] -= self._problem.sizes[value]
