"""``auto``: measures the parts of a function and proposes their devices."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import jax
import jax.numpy as jnp

from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError, UnimplementedError
from graphc.compiler.core import progress
from graphc.compiler.devices import Device, canonical_device, device_name, devices, find_device
from graphc.compiler.function import BoundFunction, Function, TracedFunction, function
from graphc.compiler.ir import CONSTANT, Node, Value
from graphc.compiler.lowering import lower
from graphc.compiler.ops import HOST_CALLS, calls_host
from graphc.compiler.runtime import Placement, Stateless, extract, place, run_plan
from graphc.tools.placement.proposal import (
    Assignment,
    DeviceLink,
    PlacedUnit,
    Problem,
    Proposal,
    ScheduledUnit,
    SimulatedSchedule,
    Timing,
    best_assignment,
    one_device,
    pin,
    simulate,
)

# Units: the parts of a graph that are placed together.
#
# Each op that may take long is a separate unit; the small ones that follow it (an activation after a matrix product)
# belong to it.

_SMALL = 4096
"""Maximum number of output elements of an op that joins the unit before it, whatever it computes."""


@dataclass(eq=False)
class NodeGroup:
    """Nodes that are placed together."""

    number: int
    nodes: list[Node]
    device: str
    needs: int  # the parts that it waits for, directly or indirectly, as one bit for each number

    @property
    def name(self) -> str:
        """The names of the first and the last op."""
        first, last = self.nodes[0].name, self.nodes[-1].name
        return first if len(self.nodes) == 1 else f"{first}..{last}"


def find_parts(stateless: Stateless, placement: Placement) -> list[NodeGroup]:
    """Returns the parts of a graph, each after those that it waits for; ``placement`` shows the pins."""
    parts: list[NodeGroup] = []
    made_by: dict[Value, NodeGroup] = {}
    for node in stateless.nodes:
        values = [*map(stateless.resolve, node.inputs), *stateless.before(node)]
        sources = {made_by[value] for value in values if value in made_by}
        pin = placement.devices.get(node, "") if _is_pinned(node) else ""
        part = _joinable(node, sources, pin)
        if part is None:
            needs = 0
            for source in sources:
                needs |= source.needs | 1 << source.number
            part = NodeGroup(len(parts), [], pin, needs)
            parts.append(part)
        part.nodes.append(node)
        made_by.update(dict.fromkeys(node.outputs, part))
    return parts


def _is_pinned(node: Node) -> bool:
    return bool(node.device) or any(inner.device for region in node.regions for inner in region.walk())


def _joinable(node: Node, sources: set[NodeGroup], pin: str) -> NodeGroup | None:
    """Returns the part that a small op joins: its operands' part, if it waits for nothing else."""
    small = all(math.prod(output.type.shape) <= _SMALL for output in node.outputs)
    if not (node.op.light or small) or node.regions or node.op in HOST_CALLS or not sources:
        return None
    latest = max(sources, key=lambda part: part.number)
    others = (source for source in sources if source is not latest)
    fits = (
        latest.device == pin
        and latest.nodes[0].op not in HOST_CALLS
        and all(latest.needs >> other.number & 1 for other in others)
    )
    return latest if fits else None


def size_of(value: Value) -> int:
    """Returns the size of a value in bytes."""
    return math.prod(value.type.shape) * value.type.dtype.itemsize


def is_constant(value: Value) -> bool:
    """Returns True if a value is a constant, which is copied to where it is used at compile time."""
    return value.node is not None and value.node.op is CONSTANT


def operands(part: NodeGroup, stateless: Stateless) -> Sequence[Value]:
    """Returns the values from outside that a part uses, each once, without constants."""
    own = {output for node in part.nodes for output in node.outputs}
    values = (stateless.resolve(value) for node in part.nodes for value in node.inputs)
    return [value for value in dict.fromkeys(values) if value not in own and not is_constant(value)]


# Costs of units on devices and of transfers between devices: XLA's estimates, and measurements.

_MOST_MEASURED = 64
_ROUNDS = 7
_SMALL_BYTES, _LARGE_BYTES = 4, 1 << 22


class Costs:
    """The costs of the parts of a graph."""

    # XLA estimates the operations and bytes of each part. The most expensive parts are timed, on one device of each
    # model; for all others, and for those that call the host, the estimate is scaled by the ratio of the timed parts.
    # Without ``measure``, a part takes a nanosecond for each thousand operations or bytes: only comparisons are
    # meaningful.

    def __init__(
        self, stateless: Stateless, parts: Sequence[NodeGroup], wanted: Collection[Value], *, measure: bool
    ) -> None:
        graphs = [extract(part.nodes, wanted, stateless.resolve)[0] for part in parts]
        self._types = [[value.type for value in graph.inputs] for graph in graphs]
        self._programs: list[Any] = [jax.jit(lower(graph).function) for graph in graphs]
        self._calls_host = list(map(calls_host, graphs))
        self._measure = measure
        self._estimates = [self._estimate(number) for number in range(len(parts))]

    def seconds(self, device: Device) -> list[float]:
        """Returns the time of each part on a device, in seconds."""
        if not self._measure:
            return [estimate * 1e-12 for estimate in self._estimates]
        largest = sorted(range(len(self._estimates)), key=lambda number: -self._estimates[number])
        pure = [number for number in largest if not self._calls_host[number]]
        measured = {number: self._timed(number, device) for number in pure[:_MOST_MEASURED]}
        scale = statistics.median(measured[number] / self._estimates[number] for number in measured) if measured else 0
        return [measured.get(number, estimate * scale) for number, estimate in enumerate(self._estimates)]

    def _estimate(self, number: int) -> float:
        structs = [jax.ShapeDtypeStruct(type.shape, type.dtype) for type in self._types[number]]
        analysis: Any = self._programs[number].lower(*structs).compile().cost_analysis() or {}
        costs: Any = analysis
        # XLA reports -1 for unknown costs, such as those of host calls.
        return max(0.0, float(costs.get("flops", 0.0))) + max(0.0, float(costs.get("bytes accessed", 0.0))) + 1.0

    def _timed(self, number: int, device: Device) -> float:
        target: Any = device
        arrays = [jax.device_put(jnp.zeros(type.shape, type.dtype), target) for type in self._types[number]]
        with jax.default_device(target):
            return timed(lambda: self._programs[number](*arrays))


def measure_link(source: Device, target: Device) -> DeviceLink:
    """Derives latency and rate of a link from the transfer times of a small and a large array."""
    seconds: list[float] = []
    for size in (_SMALL_BYTES, _LARGE_BYTES):
        array = jax.device_put(jnp.zeros(size // 4, jnp.float32), source)  # pyright: ignore[reportArgumentType]
        seconds.append(timed(lambda array=array: jax.device_put(array, target)))  # pyright: ignore[reportArgumentType]
    latency, large = seconds
    return DeviceLink(latency, max(0.0, large - latency) / (_LARGE_BYTES - _SMALL_BYTES))


def timed(run: Callable[[], Any], rounds: int = _ROUNDS) -> float:
    """Returns the fastest of several runs in seconds, each waited for, after one that may compile."""
    jax.block_until_ready(run())
    times: list[float] = []
    for _ in range(rounds):
        start = time.perf_counter()
        jax.block_until_ready(run())
        times.append(time.perf_counter() - start)
    return min(times)


_START_SECONDS = 50e-6
"""Time in seconds that the host takes to start a segment, measured by ``make bench`` (``runtime-step``)."""
_WORTH = 0.95
"""Maximum fraction of the single-device time at which several devices are proposed."""


def auto(
    fn: Callable[..., Any],
    *args: Any,
    devices: Any = None,
    memory: Mapping[str, float] | None = None,
    measure: bool = True,
    rounds: int = 10,
    **kwargs: Any,
) -> Proposal:
    """Proposes devices for the parts of a function, by their costs, as described in TensorFlow's white paper.

    The function is traced for these arguments. XLA estimates the cost of each part; the parts are timed on one device
    of each model, and so are transfers. A search over assignments, each simulated, finds one that finishes early and
    fits into memory; the user's pins and the devices of Variables are kept. The result is then timed against the best
    single device, unless it makes host calls, and one device is proposed if several do not pay off. No Variable
    changes.

    Args:
      fn: a compiled function, or a plain one.
      *args: its arguments.
      devices: a device or several, given by name such as ``"gpu:0"`` or as objects; None for the default platform's.
      memory: the available bytes on each device, by name; by default as the device reports.
      measure: whether to time parts and whole calls; if not, costs are XLA's estimates, and seconds are meaningless.
      rounds: the number of timed runs of whole calls.
      **kwargs: keyword arguments of ``fn``.

    Returns:
      The proposal; ``proposal.function`` is the placed function, and ``print(proposal)`` shows a table.

    Raises:
      InvalidArgumentError: ``fn`` is not a function, or ``devices`` is empty or has duplicates.
      UnimplementedError: a loop or branch of the function spans devices by the user's pins, so that it has no single
        cost.

    Example:
      >>> import graphc as gx
      >>> proposal = gx.placement.auto(lambda x: gx.tanh(x) * 2, gx.ones(8), devices=["cpu:0"])
      >>> proposal.one_device
      '/device:CPU:0'
      >>> proposal.function(gx.zeros(8)).device
      '/device:CPU:0'
    """
    if isinstance(fn, BoundFunction):
        fn, args = fn.__func__, (fn.__self__, *args)
    if not callable(fn):
        raise InvalidArgumentError(f"gx.placement.auto: expected a function, got {fn!r:.60}").here()
    compiled = cast("Function[..., Any]", fn if isinstance(fn, Function) else function(fn))
    with progress.telling(f"placing {compiled.name}"):
        search = _Auto(compiled, args, kwargs, _devices(devices), _rooms(memory), measure=measure)
        return search.proposal(rounds)


def _devices(requested: Any) -> list[Device]:
    if requested is None:
        everything = devices()
        return [device for device in everything if device.platform == everything[0].platform]
    listed: list[Any] = (
        [requested] if isinstance(requested, str) or not isinstance(requested, Iterable) else [*requested]
    )
    chosen = [find_device(device) for device in listed]
    if not chosen or len(set(chosen)) < len(chosen):
        raise InvalidArgumentError(
            f"gx.placement.auto: expected one or more different devices, got {requested!r}"
        ).here()
    return chosen


class _Auto:
    def __init__(
        self, compiled: Function, args: Sequence[Any], kwargs: Mapping[str, Any], chosen: Sequence[Device],
        memory: Mapping[str, float], *, measure: bool,
    ) -> None:  # fmt: skip
        self._function = compiled
        traced = compiled.trace(*args, **kwargs)
        self._traced = traced
        arguments = compiled.bind(*args, **kwargs)
        self._variables = traced.bound_variables(arguments)
        self._arrays = [*arguments.arrays, *traced.captures(arguments)]
        names = traced.executable.variables
        self._homes = {name: variable.device for name, variable in zip(names, self._variables, strict=True)}
        self._written = names[: traced.executable.num_written]
        self._chosen = [device_name(device) for device in chosen]
        self._placement = place(traced.graph, self._homes, self._chosen[0])
        self._check_spans(traced)
        # Devices used only by pins and Variables take part, but receive nothing else.
        self._names = [*dict.fromkeys((*self._chosen, *self._placement.used, *self._homes.values()))]
        self._stateless = Stateless(traced.graph, names, self._written)
        self._parts = find_parts(self._stateless, self._placement)
        self._measure = measure
        self._problem = self._make_problem(memory)

    def _check_spans(self, traced: TracedFunction) -> None:
        for node in self._placement.spanning:
            raise UnimplementedError(
                f"gx.placement.auto: the body of {node.name!r} is pinned to several devices, so that it has no single "
                f"cost; remove its pins, or place {traced.graph.name!r} by hand"
            ).at(node.location)

    def _make_problem(self, memory: Mapping[str, float]) -> Problem:
        stateless, parts = self._stateless, self._parts
        makers = {output: part for part in parts for node in part.nodes for output in node.outputs}
        taken = {part.number: operands(part, stateless) for part in parts}
        wanted = {*stateless.results, *(value for values in taken.values() for value in values)}
        outputs = [[value for node in part.nodes for value in node.outputs if value in wanted] for part in parts]
        values = [*stateless.inputs, *(value for row in outputs for value in row)]
        numbers = {value: number for number, value in enumerate(values)}
        costs = Costs(stateless, parts, wanted, measure=self._measure)
        by_model: dict[str, list[float]] = {}
        seconds: list[list[float]] = []
        for name in self._names:
            device = find_device(name)
            model = f"{device.platform} {device.device_kind}"
            if model not in by_model:
                by_model[model] = costs.seconds(device)
            seconds.append(by_model[model])
        units = tuple(
            ScheduledUnit(
                part.name,
                self._costs(part, [row[part.number] for row in seconds]),
                tuple(numbers[value] for value in taken[part.number]),
                tuple(numbers[value] for value in outputs[part.number]),
            )
            for part in parts
        )
        homes = [*self._homes.values(), *[self._chosen[0]] * len(self._traced.graph.inputs)]
        at = {number: self._names.index(home) for number, home in enumerate(homes)}
        count = len(self._traced.graph.outputs)
        ends = zip(stateless.results[count:], self._written, strict=True)
        return Problem(
            tuple(self._names),
            units,
            tuple(map(size_of, numbers)),
            self._links(),
            at,
            tuple(
                (numbers[value], self._names.index(self._homes[name]))
                for value, name in ends
                if not is_constant(value) and (value in makers or value in numbers)
            ),
            tuple(memory.get(name, _room(name)) for name in self._names),
            _START_SECONDS if self._measure else 0.0,
        )

    def _costs(self, part: NodeGroup, seconds: Sequence[float]) -> tuple[float, ...]:
        """Returns the cost of a part on each device; infinite where it must not run."""
        allowed = [part.device] if part.device else self._chosen
        return tuple(cost if name in allowed else math.inf for name, cost in zip(self._names, seconds, strict=True))

    def _links(self) -> dict[tuple[int, int], DeviceLink]:
        links: dict[tuple[int, int], DeviceLink] = {}
        by_models: dict[tuple[str, str], DeviceLink] = {}
        for a, source in enumerate(map(find_device, self._names)):
            for b, target in enumerate(map(find_device, self._names)):
                if a != b:
                    models = source.device_kind, target.device_kind
                    if models not in by_models:
                        by_models[models] = measure_link(source, target) if self._measure else DeviceLink(0.0, 1e-12)
                    links[a, b] = by_models[models]
        return links

    def proposal(self, rounds: int) -> Proposal:
        """Searches, measures, and decides."""
        problem = self._problem
        chosen = [self._names.index(name) for name in self._chosen]
        alone: Assignment = min(
            (candidate for device in chosen if (candidate := one_device(problem, device)) is not None),
            key=lambda assignment: simulate(problem, assignment).seconds,
        )
        spread = best_assignment(problem)
        if simulate(problem, spread).seconds > _WORTH * simulate(problem, alone).seconds:
            spread = alone
        spread_timing, alone_timing = self._timings(spread, alone, rounds)
        best = spread
        measured = spread_timing.measured, alone_timing.measured
        if measured[0] is not None and measured[1] is not None and measured[0] > _WORTH * measured[1]:
            best = alone
        schedule = simulate(problem, best)
        if not schedule.seconds < math.inf:
            raise self._no_room(schedule).here()
        return self._describe(best, schedule, spread_timing, alone_timing)

    def _no_room(self, schedule: SimulatedSchedule) -> InvalidArgumentError:
        usage = "; ".join(
            f"{name} needs {peak:,.0f} bytes and has {room:,.0f}"
            for name, peak, room in zip(self._names, schedule.peaks, self._problem.memory, strict=True)
        )
        return InvalidArgumentError(f"gx.placement.auto: no placement fits into memory: {usage}")

    def _timings(self, spread: Sequence[int], alone: Sequence[int], rounds: int) -> tuple[Timing, Timing]:
        """Returns the times of both placements, measured alternately."""
        predicted = [simulate(self._problem, assignment).seconds for assignment in (spread, alone)]
        if not self._measure or calls_host(self._traced.graph):
            return Timing(predicted[0]), Timing(predicted[1])
        alone_seconds = timed(partial(self._run, self._pinned(alone)), rounds)
        if spread == alone:
            return Timing(predicted[0], alone_seconds), Timing(predicted[1], alone_seconds)
        spread_seconds = timed(partial(self._run, self._pinned(spread)), rounds)
        return Timing(predicted[0], spread_seconds), Timing(predicted[1], alone_seconds)

    def _devices_of(self, assignment: Sequence[int]) -> dict[str, str]:
        return {
            node.name: self._names[device]
            for part, device in zip(self._parts, assignment, strict=True)
            for node in part.nodes
        }

    def _pinned(self, assignment: Sequence[int]) -> Callable[[Sequence[Any]], Sequence[Any]]:
        graph = pin(self._traced.graph, self._devices_of(assignment))
        placement: Placement = place(graph, self._homes, self._chosen[0])
        return run_plan(graph, placement, list(self._homes), self._written)

    def _run(self, program: Callable[[Sequence[Any]], Sequence[Any]]) -> Sequence[Any]:
        results = program([*(variable.raw for variable in self._variables), *self._arrays])
        return cast("Any", jax).block_until_ready(list(results))

    def _describe(
        self, assignment: Sequence[int], schedule: SimulatedSchedule, spread: Timing, alone: Timing
    ) -> Proposal:
        where = self._devices_of(assignment)
        units = tuple(
            PlacedUnit(part.name, len(part.nodes), self._names[device], bool(part.device), unit.seconds[device])
            for part, unit, device in zip(self._parts, self._problem.units, assignment, strict=True)
        )
        used = dict.fromkeys(unit.device for unit in units)
        return Proposal(
            placed=self._function,
            devices=where,
            units=units,
            spread=spread,
            alone=alone,
            one_device=next(iter(used), self._chosen[0]) if len(used) <= 1 else "",
            transfers=len(schedule.transfers),
            peaks=dict(zip(self._names, schedule.peaks, strict=True)),
        )


def _rooms(memory: Mapping[str, float] | None) -> dict[str, float]:
    """Returns the available bytes by full device name."""
    limits: Any = {} if memory is None else memory
    if not isinstance(limits, Mapping) or not all(map(_is_size, cast("Any", limits).values())):
        raise InvalidTypeError(
            "gx.placement.auto: memory must be a dict with the number of bytes for each device, such as "
            f"{{'gpu:0': 8e9}}, got {limits!r:.60}"
        ).here()
    return {canonical_device(name): room for name, room in (memory or {}).items()}


def _is_size(room: Any) -> bool:
    return isinstance(room, int | float) and type(room) is not bool and room >= 0


def _room(name: str) -> float:
    """Returns the available bytes of a device, as far as it reports them."""
    stats = find_device(name).memory_stats() or {}
    return float(stats.get("bytes_limit", math.inf))
