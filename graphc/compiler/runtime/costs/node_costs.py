"""The costs of each node of a graph: arithmetic as XLA counts it, bytes by the types, and the values in memory."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, cast

import jax

from graphc.compiler.ir import CONSTANT, Graph, Node, TensorType

if TYPE_CHECKING:
    from rich.console import RenderableType

_MOST = 400
"""So many different ops of one graph are counted; each takes some milliseconds."""
_STRING = 16
"""Bytes for a string, of which the types do not tell the length."""


@dataclass(frozen=True)
class NodeCost:
    """The cost of a node in one run of the graph."""

    flops: float | None  # transcendental functions count as one each; None where XLA does not tell
    bytes: int  # the size of the values that it reads and writes
    runs: int = 1  # iterations that the program decides count once
    per_iteration: bool = False  # whether it is in a loop of that kind, so that the figures are those of one iteration


def bytes_of(type: TensorType) -> int:
    """Returns the bytes of a tensor; open sizes count as 1."""
    size = 1
    for axis in type.shape:
        size *= max(axis, 1) if axis != 0 else 0
    return size * (_STRING if type.dtype.kind == "O" else type.dtype.itemsize)


def node_costs(graph: Graph) -> dict[Node, NodeCost]:
    """Counts what each node costs, those of bodies too; a node with bodies costs what is inside."""
    # The figures are of the graph, before XLA fuses operations. Of a branch, the dearer one counts.
    return _Counter().count(graph, 1, False)


class _Counter:
    """Counts each kind of op once."""

    def __init__(self) -> None:
        self._known: dict[Any, float | None] = {}

    def count(self, graph: Graph, runs: int, open_ended: bool) -> dict[Node, NodeCost]:
        counted: dict[Node, NodeCost] = {}
        for node in graph.nodes:
            own = sum(bytes_of(value.type) for value in (*dict.fromkeys(node.inputs), *node.outputs))
            if not node.regions or not node.op.regions:
                flops = self._flops(node)
                moved = 0 if node.op is CONSTANT else own * runs
                counted[node] = NodeCost(None if flops is None else flops * runs, moved, runs, open_ended)
                continue
            length = node.attrs["length"] if node.op.name == "scan" else 1
            inner_open = open_ended or node.op.name == "while"
            bodies = [self.count(region, runs * length, inner_open) for region in node.regions]
            sums = [_sum(region, costs) for region, costs in zip(node.regions, bodies, strict=True)]
            is_loop = node.op.name in ("scan", "while")
            pick = sum if is_loop else partial(max, default=0)
            flops = pick(flops or 0.0 for flops, _ in sums)
            counted[node] = NodeCost(flops, pick(moved for _, moved in sums), runs, inner_open)
            for costs in bodies:
                counted |= costs
        return counted

    def _flops(self, node: Node) -> float | None:
        if node.op is CONSTANT or "variable" in node.attrs or not node.outputs:
            return 0.0
        key = node.op.name, node.attrs, tuple(value.type for value in node.inputs), node.regions
        if key not in self._known:
            is_counted = len(self._known) < _MOST and not node.op.host and not node.op.effects(node.attrs)
            self._known[key] = _counted(node) if is_counted else None
        return self._known[key]


def _sum(graph: Graph, costs: Mapping[Node, NodeCost]) -> tuple[float, int]:
    own = [costs[node] for node in graph.nodes]
    return sum(cost.flops or 0.0 for cost in own), sum(cost.bytes for cost in own)


def _counted(node: Node) -> float | None:
    """Returns what XLA says of a node by itself; None where it cannot be lowered so."""
    types = [value.type for value in node.inputs]
    try:
        shapes = [jax.ShapeDtypeStruct(type.shape, type.dtype, weak_type=type.weak) for type in types]
        analysis: Any = jax.jit(partial(node.op.impl, **node.attrs)).lower(*shapes).cost_analysis()
    except Exception:  # a figure that is not there is no failure
        return None
    if not isinstance(analysis, Mapping):
        return None
    costs = cast("Mapping[str, float]", analysis)
    return max(costs.get("flops", 0.0), 0.0) + max(costs.get("transcendentals", 0.0), 0.0)


# The memory of a compiled program.


@dataclass(frozen=True)
class Memory:
    """The memory that a compiled program needs, in bytes."""

    arguments: int
    outputs: int
    temporaries: int
    aliased: int  # outputs that take over the buffers of inputs

    @property
    def total(self) -> int:
        """Returns what is in use at the most."""
        return self.arguments + self.outputs + self.temporaries - self.aliased


def memory_of(executable: Any) -> Memory | None:
    """Returns what a program of JAX's needs, where the backend tells."""
    try:
        analysis = executable.memory_analysis()
    except NotImplementedError:
        return None
    if analysis is None:
        return None
    return Memory(
        arguments=analysis.argument_size_in_bytes,
        outputs=analysis.output_size_in_bytes,
        temporaries=analysis.temp_size_in_bytes,
        aliased=analysis.alias_size_in_bytes,
    )


# Times and amounts of memory in words.

_UNITS = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9))


def unit_of(seconds: float) -> tuple[str, float]:
    """Returns the unit that suits a time, and its size in seconds."""
    return next((unit for unit in _UNITS if seconds >= unit[1]), _UNITS[-1])


def format_seconds(seconds: float) -> str:
    """Returns a time in a unit that suits it."""
    name, size = unit_of(seconds)
    return f"{three_digits(seconds / size)} {name}"


def format_bytes(count: int) -> str:
    """Returns an amount of memory in a unit that suits it."""
    size, units = float(count), ["B", "KiB", "MiB", "GiB", "TiB"]
    while size >= 1024 and len(units) > 1:
        size /= 1024
        del units[0]
    return f"{three_digits(size)} {units[0]}"


def three_digits(value: float) -> str:
    """Returns a number with three digits, or all of those before the point."""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


# Reports that print as tables.


class PrintedReport:
    """A report whose text is what its ``__rich__`` method shows, without colours."""

    _width: ClassVar[int] = 140

    def __str__(self) -> str:
        from rich.console import Console

        console = Console(file=(file := io.StringIO()), width=self._width, color_system=None, force_jupyter=False)
        console.print(self)
        return "\n".join(line.rstrip() for line in file.getvalue().splitlines())


def plain_table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> RenderableType:
    """Returns a table of numbers; the first column holds names."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column(names[0], no_wrap=True)
    for name in names[1:]:
        table.add_column(name, justify="right")
    for row in rows:
        table.add_row(*row)
    return table
