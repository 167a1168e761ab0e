"""The page of an explanation, section by section."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from graphc.compiler.ir import CONSTANT, Graph, Node
from graphc.compiler.ops import REPLICAS
from graphc.compiler.runtime.costs import NodeCost, format_bytes, format_seconds, live_bytes, node_costs
from graphc.tools.drawing import Note, explorer, page, path_of, views
from graphc.tools.inspect.page.memory import memory_chart
from graphc.tools.inspect.page.source import source_section
from graphc.tools.inspect.page.tables import bar, chips, format_flops, listing, section, table

if TYPE_CHECKING:
    from graphc.tools.inspect.explanation import Explanation

__all__ = ["explanation_page"]

_MOST = 15
"""So many nodes stand in the table of the dearest."""


@dataclass(frozen=True)
class _Costs:
    """The costs of a program's nodes, with their shares of the total: of the time, if it was measured."""

    paths: Mapping[Node, str]
    counted: Mapping[Node, NodeCost]
    times: Mapping[str, float]
    shares: Mapping[Node, float]

    @property
    def measured(self) -> str:
        return "time" if self.times else "FLOP"

    def lines(self) -> dict[str, float]:
        """The part that each line of the user's code has of the whole; nodes with bodies count by what is inside."""
        found: defaultdict[str, float] = defaultdict(float)
        for node, share in self.shares.items():
            if node.location is not None and not (node.regions and node.op.regions):
                found[node.location.short] += share
        return found


def explanation_page(found: Explanation) -> str:
    """Returns the page of an explanation: one file, which loads nothing."""
    costs = _costs_of(found)
    notes = {node: _note(node, costs) for node in costs.paths}
    parts = [
        section("source", "Source", source_section(found, costs.lines(), costs.measured)),
        section("graph", "Graph", explorer(views(found.graph, notes=notes))),
        section("costs", "Costs", _cost_table(costs, found)),
        section("memory", "Memory over time", _memory(found)),
        section("collectives", "Collectives", _collectives(found)),
        section("loops", "Loops", _loops(found)),
        section("traces", "Traces and retraces", _traces(found)),
        section("inputs", "Arguments, Variables and what is read besides", _inputs(found)),
        section("host", "Outside the program", _outside(found)),
        section("text", "Text", f'<details><summary>The graph as text</summary><pre class="gx-text">'
                f"{escape(str(found.graph))}</pre></details>"),
    ]  # fmt: skip
    lead = f"<p class='gx-lead'>{escape(_lead(found))}</p>"
    title = f"{found.function}, explained"
    return page(title, f"<h1>{escape(found.function)}</h1>{lead}{chips(_figures(found, costs))}{''.join(parts)}")


def _walk(graph: Graph, scope: str = "") -> Iterator[tuple[Node, str]]:
    for node in graph.nodes:
        yield node, path_of(scope, node)
        for index, region in enumerate(node.regions):
            yield from _walk(region, f"{path_of(scope, node, index)}/")


def _costs_of(found: Explanation) -> _Costs:
    paths = dict(_walk(found.graph))
    counted, times = node_costs(found.graph), found.node_times
    own = {
        node: times.get(path, 0.0) if times else (counted[node].flops or 0.0) if node in counted else 0.0
        for node, path in paths.items()
    }
    whole = sum(own[node] for node in found.graph.nodes)
    shares = {node: amount / whole for node, amount in own.items()} if whole else {}
    return _Costs(paths, counted, times, shares)


def _note(node: Node, costs: _Costs) -> Note:
    if node.op is CONSTANT:
        return Note()
    lines: list[str] = []
    cost = costs.counted.get(node)
    if cost is not None and (cost.flops or cost.bytes):
        flops = f"{format_flops(cost.flops)}, " if cost.flops else ""
        lines.append(f"{flops}{format_bytes(cost.bytes)}{' an iteration' if cost.per_iteration else ''}")
    seconds = costs.times.get(costs.paths[node])
    if seconds:
        lines.append(f"{format_seconds(seconds)} measured")
    return Note(tuple(lines), costs.shares.get(node, 0.0))


def _lead(found: Explanation) -> str:
    where = f" It runs on {found.device}." if found.device else ""
    steps = f" It runs in {len(found.steps)} steps." if found.steps else ""
    return f"What graphc made of each line of {found.function} for these arguments.{where}{steps}"


def _figures(found: Explanation, costs: _Costs) -> Iterator[tuple[str, str]]:
    yield f"{found.ops} → {found.left}", "ops traced → in the program"
    flops = sum(costs.counted[node].flops or 0.0 for node in found.graph.nodes)
    if any(cost.per_iteration for cost in costs.counted.values()):
        yield f"at least {format_flops(flops)}", "arithmetic of a call (loops that end by a test count once)"
    else:
        yield format_flops(flops), "arithmetic of a call"
    if costs.times:
        yield format_seconds(sum(costs.times.get(node.name, 0.0) for node in found.graph.nodes)), "measured in kernels"
    if found.memory is not None:
        yield format_bytes(found.memory.total), "memory at most, by XLA"
    if found.cost is not None:
        yield format_seconds(found.cost.total), "to trace, lower and compile, once"
    yield str(len(found.traces)), "trace" if len(found.traces) == 1 else "traces"


def _cost_table(costs: _Costs, found: Explanation) -> str:
    leaves = [node for node in costs.paths if not (node.regions and node.op.regions)]
    dearest = sorted(leaves, key=lambda node: -costs.shares.get(node, 0.0))[:_MOST]
    rows = [_cost_row(node, costs) for node in dearest if costs.shares.get(node)]
    heads = ("node", "line", "runs", "FLOP", "bytes", "time", "share", "")
    uncounted = sum(costs.counted[node].flops is None for node in leaves if node in costs.counted)
    is_open = any(cost.per_iteration for cost in costs.counted.values())
    remarks = [
        "FLOP and bytes are of the graph, before XLA fuses operations: bytes are those of all values read and written.",
        f"The FLOP of {uncounted} nodes are not known." if uncounted else "",
        "Loops that end by a test count one iteration." if is_open else "",
        "A kernel's time is that of the node whose result it gives." if costs.times else
        "For measured times call the function in gx.profile(jax_profiler=folder), and explain it with profile=folder.",
    ]  # fmt: skip
    text = " ".join(filter(None, remarks))
    return (
        table(heads, rows, kinds="cc" + "n" * 5 + "b") + f'<p class="gx-lead">{escape(text)} {escape(_xla(found))}</p>'
    )


def _cost_row(node: Node, costs: _Costs) -> tuple[str, ...]:
    cost, share = costs.counted.get(node), costs.shares.get(node, 0.0)
    seconds = costs.times.get(costs.paths[node])
    runs = "" if cost is None else f"{cost.runs}{' an iteration' if cost.per_iteration else ''}"
    return (
        costs.paths[node],
        node.location.short if node.location else "",
        runs,
        "" if cost is None or cost.flops is None else format_flops(cost.flops),
        "" if cost is None else format_bytes(cost.bytes),
        format_seconds(seconds) if seconds else "",
        f"{share:.0%}" if share >= 0.01 else "< 1%",
        bar(share),
    )


def _xla(found: Explanation) -> str:
    if found.cost is None:
        return ""
    steps = [f"{name} {format_seconds(seconds)}" for name, seconds in vars(found.cost).items()]
    return f"Compiling took {' + '.join(steps)}."


def _memory(found: Explanation) -> str:
    chart = memory_chart(live_bytes(found.graph))
    text = (
        "Values that are needed then or later, while each node runs; purple in bodies of loops and branches, of which "
        "one run is shown. This is the graph's own need; XLA fuses operations and computes in place, and so needs less."
    )
    if found.steps:
        text += (
            " The values of all devices are added up. XLA's own figures are missing: they are for one program, and "
            "this function is several, with transfers between them."
        )
    elif any(node.op is REPLICAS for node in found.graph.nodes):
        text += " What stands in replicas is what one device needs for its part."
    rows = []
    if found.memory is not None:
        rows = [(name, format_bytes(count)) for name, count in vars(found.memory).items()]
        rows.append(("at most at once", format_bytes(found.memory.total)))
    lead = f'<p class="gx-lead">{text}</p>' if chart else ""
    return chart + lead + table(("what the compiled program needs, by XLA", "bytes"), rows, kinds=" n")


def _collectives(found: Explanation) -> str:
    rows = [(each.kind, str(each.count), str(each.arrays), format_bytes(each.bytes)) for each in found.collectives]
    return table(("kind", "how many", "arrays", "on each device"), rows, kinds=" nnn")


def _loops(found: Explanation) -> str:
    rows = [
        (loop.location.short if loop.location else "", loop.kind, str(loop.times), loop.why) for loop in found.loops
    ]
    return table(("line", "became", "times", "why"), rows, kinds="c n ")


def _traces(found: Explanation) -> str:
    if len(found.traces) <= 1:
        return listing(found.traces)
    return f"<p class='gx-warn'>Traced {len(found.traces)} times.</p>{listing(found.traces)}"


def _inputs(found: Explanation) -> str:
    arguments = [
        (each.path, each.what, "part of the program: another value needs another trace" if each.static else "tensor")
        for each in found.arguments
    ]
    access = {(True, True): "read and written", (True, False): "read", (False, True): "written", (False, False): ""}
    variables = [(each.name, each.type, access[each.read, each.written]) for each in found.variables]
    captured = [(name, type, "a tensor from outside") for name, type in found.captured]
    guards = [(guard.what, guard.was, "checked at each call") for guard in found.guards]
    return table(("name", "what it is", ""), [*arguments, *variables, *captured, *guards], kinds="cc ")


def _outside(found: Explanation) -> str:
    effects = [f"{place.short + ' ' if place else ''}{what}" for what, place in found.side_effects]
    unconverted = [f"{name}: {reason}" for name, reason in found.unconverted.items()]
    lists = (
        ("Steps, in an order", found.steps),
        ("After each run", found.after_call),
        ("Done only when traced", effects),
        ("Functions whose control flow was not converted", unconverted),
    )
    return "".join(f"<h3>{heading}</h3>{listing(rows)}" for heading, rows in lists if rows)
