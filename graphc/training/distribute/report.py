"""The report on a step: the communication of its devices, its memory, and its time."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, cast

import jax

from graphc.compiler.base import nest
from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.core import Tensor, Variable, wait_for
from graphc.compiler.devices import Device
from graphc.compiler.function import BoundFunction, Function
from graphc.compiler.runtime.costs import (
    CollectiveReport,
    DeviceTime,
    PrintedReport,
    collectives_of,
    device_times,
    format_bytes,
    format_seconds,
    have_groups,
    memory_of,
    plain_table,
)
from graphc.training.distribute.processes import current_job
from graphc.training.distribute.replica import PerReplica

if TYPE_CHECKING:
    from rich.console import RenderableType

# The report on a step, as an object, as JSON, as text and as tables.

_TELLING = 0.1
"""Share of a step by which others must lose more time than a rank for it to be named the straggler."""


@dataclass(frozen=True)
class DeviceReport:
    """The costs of a step on one device: bytes, and seconds of one step.

    Attributes:
      device: the device's name.
      parameters: the bytes of trained Variables on it.
      state: the bytes of other Variables, such as the optimizer's.
      arguments: the bytes of the program's other inputs: the batch.
      results: the bytes of its outputs, without new values of Variables that reuse the memory of the old ones.
      temporaries: the further bytes that it needs while it runs: activations, gradients, gathered parameters.
      compute: seconds in which an op other than a collective ran; None, like the next two, if it was not measured.
      communication: seconds in which only collectives ran; includes the waiting if ``waiting`` is None.
      waiting: seconds in collectives that another device had not entered yet; None if unknown.
    """

    device: str
    parameters: int
    state: int
    arguments: int | None = None
    results: int | None = None
    temporaries: int | None = None
    compute: float | None = None
    communication: float | None = None
    waiting: float | None = None

    @property
    def memory(self) -> int:
        """The sum of all bytes that the step needs on the device."""
        parts = (self.arguments, self.results, self.temporaries)
        return self.parameters + self.state + sum(part or 0 for part in parts)


@dataclass(frozen=True)
class RankReport:
    """The costs of a step in one process.

    Attributes:
      rank: the process's number.
      seconds: the median time of a step, including all waiting.
      waited: the mean seconds of it in which the step's program waits for the other ranks before it starts.
      devices: the costs on each of its devices.
    """

    rank: int
    seconds: float
    waited: float
    devices: tuple[DeviceReport, ...]

    @property
    def lost(self) -> float:
        """Seconds of a step that its devices lose to others, as far as measured."""
        parts = [(device.communication or 0.0) + (device.waiting or 0.0) for device in self.devices]
        return self.waited + sum(parts) / max(len(parts), 1)


@dataclass(frozen=True)
class StepReport(PrintedReport):
    """The costs of a step on several devices; see :meth:`DataParallel.report`.

    Attributes:
      function: the step's name.
      steps: the number of steps that were timed.
      collectives: the data that devices exchange in a step, by kind; a loop's body counts once.
      ranks: the costs in each process.
      notes: remarks on how to read the figures.
    """

    function: str
    steps: int
    collectives: tuple[CollectiveReport, ...]
    ranks: tuple[RankReport, ...]
    notes: tuple[str, ...]

    @property
    def devices(self) -> tuple[DeviceReport, ...]:
        """The costs on the devices of all ranks."""
        return tuple(device for rank in self.ranks for device in rank.devices)

    @property
    def exchanged(self) -> int:
        """Bytes that collectives return on each device in a step."""
        return sum(each.bytes for each in self.collectives)

    @property
    def straggler(self) -> int | None:
        """The rank that the others waited for most; None for one rank, or where none stands out."""
        least = min(self.ranks, key=lambda rank: rank.lost)
        most = max(rank.lost for rank in self.ranks)
        return least.rank if most - least.lost > _TELLING * least.seconds else None

    def to_dict(self) -> dict[str, Any]:
        """Returns everything in plain numbers, strings, lists and dicts; times are in seconds, memory in bytes."""
        return {**asdict(self), "exchanged": self.exchanged, "straggler": self.straggler}

    def to_json(self) -> str:
        """Returns :meth:`to_dict` as JSON text."""
        return json.dumps(self.to_dict(), indent=2, allow_nan=False)

    def __rich__(self) -> RenderableType:
        from rich.console import Group
        from rich.text import Text

        exchanged = [
            f"  {each.count} {each.kind}, {each.arrays} arrays, {format_bytes(each.bytes)} on each device"
            for each in self.collectives
        ]
        lines = ["exchanged in each step:", *(exchanged or ["  nothing"])]
        if self.straggler is not None:
            lines.append(f"the others wait for rank {self.straggler} most")
        notes = [Text(f"note: {note}", style="yellow") for note in self.notes]
        title = Text(f"{self.function} on {len(self.devices)} devices", style="bold")
        times = f"seconds of a step, over {self.steps} steps:"
        return Group(title, "memory of each device:", self._memory(), times, self._times(), *map(Text, lines), *notes)

    def _memory(self) -> RenderableType:
        names = ("parameters", "state", "arguments", "results", "temporaries", "memory")
        rows = [
            [device.device, *[_shown(getattr(device, name), format_bytes) for name in names]] for device in self.devices
        ]
        return plain_table(["device", *names[:-1], "together"], rows)

    def _times(self) -> RenderableType:
        rows: list[list[str]] = []
        alone = len(self.ranks) == 1
        for rank in self.ranks:
            before = [format_seconds(rank.seconds), *([] if alone else [format_seconds(rank.waited)])]
            for device in rank.devices:
                parts = (device.compute, device.communication, device.waiting)
                rows.append([device.device, *before, *[_shown(part, format_seconds) for part in parts]])
        before = ["step"] if alone else ["step", "wait for ranks"]
        return plain_table(["device", *before, "compute", "communicate", "wait for devices"], rows)

    def __repr__(self) -> str:
        exchanged = format_bytes(self.exchanged)
        return f"<StepReport of {self.function} on {len(self.devices)} devices: {exchanged} exchanged>"


def _shown(value: Any, form: Any) -> str:
    return "not measured" if value is None else form(value)


def report(devices: Mapping[Device, str], step: Callable[..., Any], args: Sequence[Any], steps: int) -> StepReport:
    """See :meth:`DataParallel.report`."""
    if isinstance(steps, bool) or not isinstance(steps, int) or steps < 1:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidArgumentError(f"report: steps must be an int from 1, got {steps!r}").here()
    if isinstance(step, BoundFunction):
        step, args = step.__func__, (step.__self__, *args)
    if not isinstance(step, Function):
        raise InvalidArgumentError(
            f"report: expected a compiled function, got {step!r:.60}; make one by @gx.function, and lay the batch out "
            "by parallel.shard(batch), or by parallel.function(step)"
        ).here()
    run = _waited_for(cast("Function", step), args)
    run()  # compiles it, makes Variables and brings them to the devices
    traced, arguments = step.trace(*args), step.bind(*args)
    if traced.plan is not None:
        raise InvalidArgumentError(
            f"report: {step.name} is pinned to devices or calls the host, so it is no single program; gx.explain shows "
            "its steps, and gx.profile their times"
        ).here()
    executable = traced.lower(arguments).compile()
    used = _devices_of(executable)
    here = [device for device in devices if device in used and device.process_index == jax.process_index()]
    seconds, waited, times = _measured(run, steps, executable)
    grouped = have_groups(executable)
    memory = _memory(executable, list(traced.bound_variables(arguments)), here)
    entries = [
        DeviceReport(devices[device], *memory[device], *_times(times, device, steps, splits=_splits(used, grouped)))
        for device in here
    ]
    job = current_job()
    mine = RankReport(0 if job is None else job.rank, seconds, waited, tuple(entries))
    ranks = [mine] if job is None else _of_all(job.gather(f"the report on {step.name}", json.dumps(asdict(mine))))
    notes = _notes(used, len(devices), grouped, measured=bool(times))
    return StepReport(step.name, steps, collectives_of(executable), tuple(ranks), tuple(notes))


def _waited_for(step: Function, args: Sequence[Any]) -> Callable[[], None]:
    """Returns a function that runs a step until all of its results are computed."""

    def run() -> None:
        result = step(*args)
        variables: Sequence[Variable] = list(step.trace(*args).variables.values())
        leaves = [leaf.stacked if isinstance(leaf, PerReplica) else leaf for leaf in nest.flatten(result)[0]]
        arrays = [leaf.raw for leaf in leaves if isinstance(leaf, Tensor)]
        wait_for([*arrays, *[variable.raw for variable in variables]], f"a step of {step.name}")

    return run


def _measured(run: Callable[[], None], steps: int, executable: Any) -> tuple[float, float, dict[int, DeviceTime]]:
    """Returns the median seconds of a step, the seconds waited for other ranks, and the devices' times in all steps."""
    job = current_job()
    waited = 0.0 if job is None else job.waited
    seconds: list[float] = []
    for _ in range(steps):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    waited = 0.0 if job is None else (job.waited - waited) / steps
    times = device_times(lambda: [run() for _ in range(steps)], executable)
    return statistics.median(seconds), waited, times


def _devices_of(executable: Any) -> set[Device]:
    shardings: list[Any] = jax.tree.leaves((executable.input_shardings, executable.output_shardings))
    return {device for sharding in shardings for device in sharding.device_set}


def _memory(
    executable: Any, variables: Sequence[Variable], devices: Sequence[Device]
) -> dict[Device, tuple[int, int, int | None, int | None, int | None]]:
    """Returns the bytes on each device, in the order of the fields of a :class:`DeviceReport`."""
    usage: dict[Device, tuple[int, int, int | None, int | None, int | None]] = {}
    needed = memory_of(executable)
    for device in devices:
        parameters, state = (
            sum(
                shard.data.nbytes
                for variable in variables
                if variable.trainable == trained
                for shard in variable.raw.addressable_shards
                if shard.device == device
            )
            for trained in (True, False)
        )
        usage[device] = (parameters, state, None, None, None)
        if needed is not None:
            arguments = max(needed.arguments - parameters - state, 0)
            usage[device] = (parameters, state, arguments, needed.outputs - needed.aliased, needed.temporaries)
    return usage


def _splits(used: set[Device], grouped: bool) -> bool:
    """Returns True if it is known when each participating device has entered a collective."""
    return not grouped and len({device.process_index for device in used}) == 1


def _times(
    times: dict[int, DeviceTime], device: Any, steps: int, *, splits: bool
) -> tuple[float | None, float | None, float | None]:
    """Returns the seconds of one step in which a device computes, communicates and waits."""
    measured = times.get(device.id, times.get(device.local_hardware_id or 0))
    if measured is None:
        return None, None, None
    if not splits:
        return measured.compute / steps, (measured.communication + measured.waiting) / steps, None
    return measured.compute / steps, measured.communication / steps, measured.waiting / steps


def _of_all(texts: Sequence[str]) -> list[RankReport]:
    rows: list[dict[str, Any]] = [json.loads(text) for text in texts]
    return [
        RankReport(row["rank"], row["seconds"], row["waited"], tuple(DeviceReport(**each) for each in row["devices"]))
        for row in rows
    ]


def _notes(used: set[Device], count: int, grouped: bool, *, measured: bool) -> list[str]:
    notes: list[str] = []
    if len(used) < count:
        notes.append(
            f"the step runs on {len(used)} of the {count} devices: lay its batch out by parallel.shard(batch), or "
            "compile it by parallel.function"
        )
    if not measured:
        notes.append("JAX's profiler records no ops here, or is in use, so compute and communication are not measured")
    elif not _splits(used, grouped):
        why = (
            "collectives join groups of devices" if grouped else "when other processes enter a collective is not known"
        )
        notes.append(f"{why}, so waiting in collectives is part of communication")
    if len(used) > 1 and {device.platform for device in used} == {"cpu"}:
        notes.append("the devices share the cores of a CPU: their times say little about those of real devices")
    return notes
