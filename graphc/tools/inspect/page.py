"""An explanation as a page: the source, the drawing of the graph, costs, memory, traces."""

from __future__ import annotations

import ast
import linecache
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from typing import TYPE_CHECKING

from graphc.compiler.ir import CONSTANT, Graph, Node
from graphc.compiler.runtime.costs import NodeCost, format_bytes, format_seconds, node_costs, three_digits
from graphc.tools.drawing import Note, explorer, page, views
from graphc.tools.inspect.listing import facts_of, ops_note

if TYPE_CHECKING:
    from graphc.tools.inspect.explanation import Explanation, LineReport

# Pieces of pages: tables, lists and figures in words.

_LARGE = (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3))


class Raw(str):
    """Text that is HTML already."""

    __slots__ = ()


def format_flops(count: float) -> str:
    """Returns a number of floating-point operations in words, such as ``2.05 kFLOP``."""
    for name, size in _LARGE:
        if count >= size:
            return f"{three_digits(count / size)} {name}FLOP"
    return f"{count:.0f} FLOP"


def bar(share: float) -> Raw:
    """Returns a bar as long as a share of the whole, from 0 to 1."""
    return Raw(f'<i style="width:{max(0.0, min(share, 1.0)):.1%}"></i>') if share > 0 else Raw("")


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], *, kinds: str = "", name: str = "") -> str:
    """Returns a table; nothing where there are no rows."""
    # ``kinds`` has a letter for each column: ``n`` for numbers, ``c`` for code, ``b`` for bars, a space for text.
    letters = kinds.ljust(len(heads))
    classes = {"n": ' class="n"', "c": ' class="gx-code"', "b": ' class="gx-bar-cell"'}
    body = "".join(f"<tr>{_cells(row, letters, classes)}</tr>" for row in rows)
    if not body:
        return ""
    head = "".join(f"<th{classes.get(kind, '')}>{escape(text)}</th>" for kind, text in zip(letters, heads, strict=True))
    kind = f' class="{name}"' if name else ""
    return f'<div class="gx-wide"><table{kind}><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _cells(row: Sequence[str], letters: str, classes: Mapping[str, str]) -> str:
    pairs = zip(letters, row, strict=True)
    return "".join(f"<td{classes.get(kind, '')}>{_text(cell)}</td>" for kind, cell in pairs)


def _text(cell: str) -> str:
    return cell if isinstance(cell, Raw) else escape(cell)


def listing(rows: Iterable[str]) -> str:
    """Returns a list; nothing where it is empty."""
    items = "".join(f"<li>{_text(row)}</li>" for row in rows)
    return f"<ul>{items}</ul>" if items else ""


def chips(pairs: Iterable[tuple[str, str]]) -> str:
    """Returns figures with what they are below them."""
    items = "".join(f"<li><b>{escape(figure)}</b><span>{escape(name)}</span></li>" for figure, name in pairs)
    return f'<ul class="gx-chips">{items}</ul>'


def section(name: str, heading: str, content: str) -> str:
    """Returns a part of a page with a heading; nothing where it has no content."""
    return f'<section id="{name}"><h2>{escape(heading)}</h2>{content}</section>' if content else ""


# The user's functions, whole, with what became of each line.

_TAGS = (
    ("rolled loop", "rolled", "rolled"),
    ("while loop", "rolled", "while loop"),
    ("unrolled loop", "unrolled", "unrolled"),
    ("cond: ", "branch", "branch"),
    ("switch: ", "branch", "branch"),
    ("runs on the host", "host", "host"),
    ("pinned to", "pinned", "pinned"),
    ("computed once", "moved", "moved out of the loop"),
    ("only when traced", "traced", "only when traced"),
    ("decided when traced", "traced", "decided when traced"),
)
"""The beginnings of notes, with the tag for each: its class and its text."""


def tags_of(line: LineReport) -> list[tuple[str, str]]:
    """Returns the tags of a line: class and text of each."""
    tags = [(kind, text) for start, kind, text in _TAGS if any(note.startswith(start) for note in line.notes)]
    if line.left:
        return [("compiled", "compiled"), *tags]
    if line.ops and not tags:
        outcome = max(("folded", "merged", "removed"), key=lambda name: getattr(line, name))
        return [("removed", outcome if getattr(line, outcome) else "compiled")]
    return tags


def lines_of(file: str, function: str, lines: Sequence[int]) -> range:
    """Returns the lines of a function, from its decorators to its end; if it is not found, the span of ``lines``."""
    first, last = min(lines), max(lines)
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return range(first, last + 1)
    best = None
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == function.rpartition(".")[2]:
            start = min([node.lineno, *(item.lineno for item in node.decorator_list)])
            end = node.end_lineno or last
            if start <= first and last <= end and (best is None or end - start < len(best)):
                best = range(start, end + 1)
    return best or range(first, last + 1)


def source_section(explanation: Explanation, shares: Mapping[str, float], cost: str) -> str:
    """Returns the functions that have a part in the program, each line with what became of it."""
    # ``shares`` has for each line, as ``train.py:12``, its part of the whole cost.
    parts: list[str] = []
    for _, group in groupby(explanation.lines, key=lambda line: (line.location.file, line.location.function)):
        lines = list(group)
        first = lines[0].location
        span = lines_of(first.file, first.function, [line.location.line for line in lines])
        parts.append(f"<h3><code>{escape(first.function)}</code> in <code>{escape(_shown(first.file))}</code></h3>")
        reports = {line.location.line: line for line in lines}
        parts.append(_listing(first.file, span, reports.get, shares, cost))
    return "".join(parts)


def _shown(file: str) -> str:
    """Returns a file as seen from the working directory, where it is in there."""
    try:
        relative = os.path.relpath(file)
    except ValueError:  # another drive
        return file
    return file if relative.startswith("..") else relative


def _listing(
    file: str, span: range, report_of: Callable[[int], LineReport | None], shares: Mapping[str, float], cost: str
) -> str:
    rows: list[str] = []
    for number in span:
        line, key = report_of(number), f"{os.path.basename(file)}:{number}"
        source = escape(linecache.getline(file, number).rstrip("\n").expandtabs(4))
        code = f'<td class="n">{number}</td><td class="gx-code">{source}</td>'
        if line is None:
            rows.append(f"<tr>{code}<td></td><td></td><td></td></tr>")
            continue
        ops = f"{line.ops} → {line.left}" if line.ops else ""
        share = shares.get(key, 0.0)
        rows.append(
            f'<tr class="gx-said" data-place="{escape(key)}">{code}<td class="n">{ops}</td>'
            f'<td class="n">{f"{share:.0%}" if share >= 0.005 else ""}{bar(share)}</td>'
            f'<td class="gx-notes">{_notes(line)}</td></tr>'
        )
    heads = (("n", "line"), ("", "source"), ("n", "ops"), ("n", cost), ("gx-notes", "what became of it"))
    head = "".join(f'<th class="{kind}">{text}</th>' for kind, text in heads)
    body = "\n".join(rows)
    content = f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
    return f'<div class="gx-wide"><table class="gx-source">{content}</table></div>'


def _notes(line: LineReport) -> str:
    tags = "".join(f'<span class="gx-tag t-{kind}">{escape(text)}</span>' for kind, text in tags_of(line))
    texts = [text for text in (ops_note(line), *map(_without_tag, line.notes)) if text]
    return f"{tags} {escape('; '.join(texts))}"


def _without_tag(note: str) -> str:
    """Returns a note without the words that its tag says already."""
    head, separator, rest = note.partition(": ")
    return rest if separator and any(f"{head}: ".startswith(start) for start, _, _ in _TAGS) else note


# The page of an explanation, section by section.

_EXPLAINED_MOST = 15
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
        shares: defaultdict[str, float] = defaultdict(float)
        for node, share in self.shares.items():
            if node.location is not None and not (node.regions and node.op.regions):
                shares[node.location.short] += share
        return shares


def explanation_page(explanation: Explanation) -> str:
    """Returns the page of an explanation: one file, which loads nothing."""
    costs = _costs_of(explanation)
    notes = {node: _note(node, costs) for node in costs.paths}
    parts = [
        section("source", "Source", source_section(explanation, costs.lines(), costs.measured)),
        section("graph", "Graph", explorer(views(explanation.graph, notes=notes))),
        section("costs", "Costs", _cost_table(costs, explanation)),
        section("memory", "Memory", _memory(explanation)),
        *(section(name, name.capitalize(), listing(rows)) for name, rows in facts_of(explanation) if name != "cost"),
        section("text", "Text", f'<details><summary>The graph as text</summary><pre class="gx-text">'
                f"{escape(str(explanation.graph))}</pre></details>"),
    ]  # fmt: skip
    lead = f"<p class='gx-lead'>{escape(_lead(explanation))}</p>"
    title = f"{explanation.function}, explained"
    return page(
        title, f"<h1>{escape(explanation.function)}</h1>{lead}{chips(_figures(explanation, costs))}{''.join(parts)}"
    )


def _walk(graph: Graph, scope: str = "") -> Iterator[tuple[Node, str]]:
    for node in graph.nodes:
        yield node, node.path(scope)
        for index, region in enumerate(node.regions):
            yield from _walk(region, f"{node.path(scope, index)}/")


def _costs_of(explanation: Explanation) -> _Costs:
    paths = dict(_walk(explanation.graph))
    counted, times = node_costs(explanation.graph), explanation.node_times
    own = {
        node: times.get(path, 0.0) if times else (counted[node].flops or 0.0) if node in counted else 0.0
        for node, path in paths.items()
    }
    whole = sum(own[node] for node in explanation.graph.nodes)
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


def _lead(explanation: Explanation) -> str:
    where = f" It runs on {explanation.device}." if explanation.device else ""
    steps = f" It runs in {len(explanation.steps)} steps." if explanation.steps else ""
    return f"What graphc made of each line of {explanation.function} for these arguments.{where}{steps}"


def _figures(explanation: Explanation, costs: _Costs) -> Iterator[tuple[str, str]]:
    yield f"{explanation.ops} → {explanation.left}", "ops traced → in the program"
    flops = sum(costs.counted[node].flops or 0.0 for node in explanation.graph.nodes)
    if any(cost.per_iteration for cost in costs.counted.values()):
        yield f"at least {format_flops(flops)}", "arithmetic of a call (loops that end by a test count once)"
    else:
        yield format_flops(flops), "arithmetic of a call"
    if costs.times:
        yield (
            format_seconds(sum(costs.times.get(node.name, 0.0) for node in explanation.graph.nodes)),
            "measured in kernels",
        )
    if explanation.memory is not None:
        yield format_bytes(explanation.memory.total), "memory at most, by XLA"
    if explanation.cost is not None:
        yield format_seconds(explanation.cost.total), "to trace, lower and compile, once"
    yield str(len(explanation.traces)), "trace" if len(explanation.traces) == 1 else "traces"


def _cost_table(costs: _Costs, explanation: Explanation) -> str:
    leaves = [node for node in costs.paths if not (node.regions and node.op.regions)]
    dearest = sorted(leaves, key=lambda node: -costs.shares.get(node, 0.0))[:_EXPLAINED_MOST]
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
        table(heads, rows, kinds="cc" + "n" * 5 + "b")
        + f'<p class="gx-lead">{escape(text)} {escape(_xla(explanation))}</p>'
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


def _xla(explanation: Explanation) -> str:
    if explanation.cost is None:
        return ""
    steps = [f"{name} {format_seconds(seconds)}" for name, seconds in vars(explanation.cost).items()]
    return f"Compiling took {' + '.join(steps)}."


def _memory(explanation: Explanation) -> str:
    if explanation.memory is None:
        return ""
    rows = [(name, format_bytes(count)) for name, count in vars(explanation.memory).items()]
    rows.append(("at most at once", format_bytes(explanation.memory.total)))
    return table(("what the compiled program needs, by XLA", "bytes"), rows, kinds=" n")
