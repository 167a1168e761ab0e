"""Proposal: the proposed devices of a function's parts, with the predicted gain."""

from __future__ import annotations

import io
import itertools
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

from rich.console import Console
from rich.table import Table

from graphc.compiler.function import Function
from graphc.compiler.ir import Graph, Node, Rewriter


@dataclass(frozen=True)
class PlacedUnit:
    """A part of the function.

    Attributes:
      name: the names of its first and last op.
      ops: the number of its ops.
      device: its proposed device.
      pinned: whether the user pinned it.
      seconds: its time there.
    """

    name: str
    ops: int
    device: str
    pinned: bool
    seconds: float


@dataclass(frozen=True)
class Timing:
    """The time of a call.

    Attributes:
      predicted: the simulated time in seconds.
      measured: the measured time in seconds; None if it was not measured.
    """

    predicted: float
    measured: float | None = None


@dataclass(frozen=True)
class Proposal:
    """The result of :func:`graphc.placement.auto`.

    Attributes:
      placed: the function with the proposal applied.
      devices: the device of each op that the proposal places, by node name.
      units: the parts, in program order.
      spread: the time of a call with the best placement over several devices.
      alone: the time of a call on the best single device.
      one_device: the device, if the proposal uses a single one; empty if it uses several.
      transfers: the number of values moved in a call.
      peaks: the simulated peak memory of each device in bytes.
    """

    placed: Function
    devices: Mapping[str, str]
    units: tuple[PlacedUnit, ...]
    spread: Timing
    alone: Timing
    one_device: str
    transfers: int
    peaks: Mapping[str, float] = field(default_factory=dict[str, float])

    @cached_property
    def function(self) -> Function:
        """The function with the proposal applied, for arguments like those of the proposal."""
        return self.placed.clone(placement=self)

    def __call__(self, graph: Graph) -> Graph:
        """Returns the function's graph with its ops pinned, for the option ``placement`` of ``gx.function``."""
        return pin(graph, self.devices)

    def __str__(self) -> str:
        table = Table()
        for name, justify in (("unit", "left"), ("ops", "right"), ("device", "left"), ("ms", "right")):
            table.add_column(name, justify=justify)  # pyright: ignore[reportArgumentType]
        for unit in self.units:
            pinned = " (pinned)" if unit.pinned else ""
            table.add_row(unit.name, str(unit.ops), unit.device + pinned, f"{unit.seconds * 1e3:.3f}")
        console = Console(file=(file := io.StringIO()), width=100, color_system=None)
        console.print(self._title(), soft_wrap=True)  # a table's own title would wrap at its width
        console.print(table)
        for what, timing in (("several devices", self.spread), ("one device", self.alone)):
            measured = "not measured" if timing.measured is None else f"measured {timing.measured * 1e3:.3f} ms"
            console.print(f"{what}: predicted {timing.predicted * 1e3:.3f} ms, {measured}")
        return "\n".join(line.rstrip() for line in file.getvalue().splitlines())

    def _title(self) -> str:
        if self.one_device:
            return f"{self.placed.name}: one device, {self.one_device}"
        used = dict.fromkeys(unit.device for unit in self.units)
        return f"{self.placed.name}: {', '.join(used)}; {self.transfers} transfers in a call"

    def __repr__(self) -> str:
        return f"<Proposal: {self._title()}>"


def pin(graph: Graph, devices: Mapping[str, str]) -> Graph:
    """Returns the graph with its nodes and those of their bodies pinned; existing pins stay."""
    rewriter = Rewriter(graph)
    for node in graph.nodes:
        device = devices.get(node.name, "")
        if device and not node.device:
            _put(rewriter, node, device)
        else:
            rewriter.keep(node)
    return rewriter.finish()


def _put(rewriter: Rewriter, node: Node, device: str) -> None:
    regions = tuple(_inside(region, device) for region in node.regions)
    controls = rewriter.controls(node)
    rewriter.replace(
        node, node.op, rewriter.inputs(node), node.attrs, regions=regions, control_inputs=controls, device=device
    )


def _inside(graph: Graph, device: str) -> Graph:
    rewriter = Rewriter(graph)
    for node in graph.nodes:
        if node.device:
            rewriter.keep(node)
        else:
            _put(rewriter, node, device)
    return rewriter.finish()


# Search for a good assignment of units to devices: earliest finish first, then local search.

# The placement problem: units of work, devices, costs, and the simulated time of an assignment.

Assignment: TypeAlias = Sequence[int]
"""The device number of each unit."""


@dataclass(frozen=True)
class ScheduledUnit:
    """A unit of work that runs on one device without interruption."""

    name: str
    seconds: tuple[float, ...]  # its time on each device; ``math.inf`` where it may not run
    takes: tuple[int, ...] = ()
    gives: tuple[int, ...] = ()


@dataclass(frozen=True)
class DeviceLink:
    """The time to move a value from one device to another."""

    latency: float
    seconds_per_byte: float

    def seconds(self, size: int) -> float:
        """Returns the time for a number of bytes."""
        return self.latency + self.seconds_per_byte * size


@dataclass(frozen=True)
class Problem:
    """The units to place, and the costs."""

    devices: tuple[str, ...]
    units: tuple[ScheduledUnit, ...]  # each after those whose values it takes; devices run them in this order
    sizes: tuple[int, ...]
    links: Mapping[tuple[int, int], DeviceLink]
    at: Mapping[int, int] = field(default_factory=dict[int, int])  # the devices of values that exist at the start
    wanted: tuple[tuple[int, int], ...] = ()  # the values required at the end, each with its device
    memory: tuple[float, ...] = ()
    overhead: float = 0.0  # in seconds, to start a unit that does not follow another one on its device


@dataclass(frozen=True)
class SimulatedSchedule:
    """The simulated execution of an assignment."""

    seconds: float  # until everything is done; ``math.inf`` if the assignment is impossible
    starts: tuple[float, ...]
    transfers: tuple[tuple[int, int, int], ...]  # value, source, target
    peaks: tuple[float, ...]


def simulate(problem: Problem, assignment: Assignment) -> SimulatedSchedule:
    """Simulates an assignment."""
    # A device runs one unit at a time, and a link moves one value at a time, both in program order; a value is moved
    # once to each device that needs it, as soon as it is computed. A value is released after its last use.
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

    def run(self) -> SimulatedSchedule:
        problem = self._problem
        for value, device in problem.at.items():
            self._put(value, device, 0.0)
        starts: list[float] = []
        end = 0.0
        last = -1
        for unit, device in zip(problem.units, self._assignment, strict=True):
            arrived = max((self._arrive(value, device) for value in unit.takes), default=0.0)
            # Consecutive units on a device form a single program.
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
        return SimulatedSchedule(end if fits else math.inf, tuple(starts), tuple(self._transfers), tuple(self._peaks))

    def _put(self, value: int, device: int, when: float) -> None:
        self._ready[value, device] = when
        self._held[device] += self._problem.sizes[value]
        self._peaks[device] = max(self._peaks[device], self._held[device])

    def _arrive(self, value: int, device: int) -> float:
        """Returns the time at which a value is on a device, moving it there if necessary."""
        arrival = self._ready.get((value, device))
        if arrival is not None:
            return arrival
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


_RESTARTS = 4
_MOST_SIMULATED_UNITS = 200_000
_LEAST_SIMULATIONS = 500
_MOST_IN_PAIRS = 24


def best_assignment(problem: Problem, seed: int = 0) -> tuple[int, ...]:
    """Returns a good assignment."""
    # The search starts from each unit on the device where it finishes first, from everything on one device, for each
    # device, and from some random mixtures; it then moves units, singly and in pairs, as long as that helps and time
    # remains.
    search = _Search(problem)
    alone = [one_device(problem, device) for device in range(len(problem.devices))]
    best = min(search.improved(start) for start in (_earliest_finish(problem), *filter(None, alone)))
    draws = random.Random(seed)
    for _ in range(_RESTARTS):
        best = min(best, search.improved(_shaken(problem, best[1], draws)))
    return best[1]


def one_device(problem: Problem, device: int) -> tuple[int, ...] | None:
    """Returns everything on one device, except pinned units; None if that leaves a choice."""
    assignment: list[int] = []
    for unit in problem.units:
        allowed = _allowed(unit)
        if device in allowed:
            assignment.append(device)
        elif len(allowed) == 1:
            assignment.append(allowed[0])
        else:
            return None
    return tuple(assignment)


def _allowed(unit: ScheduledUnit) -> list[int]:
    return [device for device, seconds in enumerate(unit.seconds) if seconds < math.inf]


def _earliest_finish(problem: Problem) -> tuple[int, ...]:
    """Returns each unit, in order, on the device where the program up to it finishes first."""
    assignment: list[int] = []
    for number, unit in enumerate(problem.units):
        part = Problem(
            problem.devices, problem.units[: number + 1], problem.sizes, problem.links, problem.at,
            memory=problem.memory, overhead=problem.overhead,
        )  # fmt: skip

        def finish(device: int, part: Problem = part, unit: ScheduledUnit = unit) -> tuple[float, float]:
            schedule = simulate(part, [*assignment, device])
            return schedule.starts[-1] + unit.seconds[device], schedule.seconds

        assignment.append(min(_allowed(unit), key=finish))
    return tuple(assignment)


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
                duration = simulate(self._problem, moved).seconds
                if duration < seconds * (1 - 1e-9):
                    best, seconds, improving = moved, duration, True
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
