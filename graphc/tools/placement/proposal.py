"""Proposal: the proposed devices of a function's parts, with the predicted gain."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from rich.console import Console
from rich.table import Table

from graphc.compiler.function import Function
from graphc.compiler.ir import Graph, Node, Rewriter

__all__ = ["PlacedUnit", "Proposal", "Timing", "pin"]


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
