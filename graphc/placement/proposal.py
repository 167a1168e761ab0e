"""A proposal: where the parts of a function are to run, and what that brings."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from rich.console import Console
from rich.table import Table

from graphc.function import Function
from graphc.ir import Graph, Node, Rewriter

__all__ = ["PlacedUnit", "Proposal", "Timing", "pin"]


@dataclass(frozen=True)
class PlacedUnit:
    """A part of the function.

    Attributes:
      name: of its first op and its last.
      ops: how many it has.
      device: where it is to run.
      pinned: whether the user has said so.
      seconds: how long it takes there.
    """

    name: str
    ops: int
    device: str
    pinned: bool
    seconds: float


@dataclass(frozen=True)
class Timing:
    """How long a call takes.

    Attributes:
      predicted: by the simulation, in seconds.
      measured: in seconds; None where it was not measured.
    """

    predicted: float
    measured: float | None = None


@dataclass(frozen=True)
class Proposal:
    """What :func:`graphc.placement.auto` proposes.

    Attributes:
      placed: the function.
      devices: the device of each op that the proposal decides about, by the name of its node.
      units: the parts, in the order of the program.
      spread: how long a call takes with the best placement over several devices.
      alone: how long it takes on one device, the one that is best for that.
      one_device: the device, where the proposal is to use that one alone; empty where it is to use several.
      transfers: how many values are moved in a call.
      peaks: the most bytes that each device holds, by the simulation.
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
        """The function, placed so; for arguments like those that the proposal is for."""
        return self.placed.clone(placement=self)

    def __call__(self, graph: Graph) -> Graph:
        """The graph of the function with its ops pinned; what the option ``placement`` of ``gx.function`` is for."""
        return pin(graph, self.devices)

    def __str__(self) -> str:
        table = Table()
        for name, justify in (("unit", "left"), ("ops", "right"), ("device", "left"), ("ms", "right")):
            table.add_column(name, justify=justify)  # pyright: ignore[reportArgumentType]
        for unit in self.units:
            pinned = " (pinned)" if unit.pinned else ""
            table.add_row(unit.name, str(unit.ops), unit.device + pinned, f"{unit.seconds * 1e3:.3f}")
        console = Console(file=(file := io.StringIO()), width=100, color_system=None)
        console.print(self._title(), soft_wrap=True)  # a title of the table's would be broken at its width
        console.print(table)
        for what, timing in (("several devices", self.spread), ("one device", self.alone)):
            measured = "not measured" if timing.measured is None else f"measured {timing.measured * 1e3:.3f} ms"
            console.print(f"{what}: predicted {timing.predicted * 1e3:.3f} ms, {measured}")
        return "\n".join(line.rstrip() for line in file.getvalue().splitlines())

    def _title(self) -> str:
        if self.one_device:
            return f"{self.placed.name}: one device, {self.one_device}"
        used = dict.fromkeys(unit.device for unit in self.units)
        return f"{self.placed.name}: {', '.join(used)}; {self.transfers} values are moved in a call"

    def __repr__(self) -> str:
        return f"<Proposal: {self._title()}>"


def pin(graph: Graph, devices: Mapping[str, str]) -> Graph:
    """Returns the graph with its nodes pinned, and those of their bodies; pins that are there stay.

    Args:
      graph: of a whole function.
      devices: by the names of its nodes.
    """
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
