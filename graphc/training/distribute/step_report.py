"""The report on a step, as an object, as JSON, as text and as tables."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from graphc.compiler.runtime.costs import CollectiveReport, PrintedReport, format_bytes, format_seconds, plain_table

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["DeviceReport", "RankReport", "StepReport"]

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
