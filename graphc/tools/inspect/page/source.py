"""The user's functions, whole, with what became of each line."""

from __future__ import annotations

import ast
import linecache
import os
from collections.abc import Callable, Mapping, Sequence
from html import escape
from itertools import groupby
from typing import TYPE_CHECKING

from graphc.tools.inspect.listing import ops_note
from graphc.tools.inspect.page.tables import bar

if TYPE_CHECKING:
    from graphc.tools.inspect.explanation import Explanation, LineReport

__all__ = ["lines_of", "source_section", "tags_of"]

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
    found = [(kind, text) for start, kind, text in _TAGS if any(note.startswith(start) for note in line.notes)]
    if line.left:
        return [("compiled", "compiled"), *found]
    if line.ops and not found:
        outcome = max(("folded", "merged", "removed"), key=lambda name: getattr(line, name))
        return [("removed", outcome if getattr(line, outcome) else "compiled")]
    return found


def lines_of(file: str, function: str, lines: Sequence[int]) -> range:
    """Returns the numbers of the lines of a function, from its decorators to its end.

    Args:
      file: where it is.
      function: its name, maybe with those of what it is in.
      lines: some of its lines, which are all that is returned where it is not found.
    """
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


def source_section(found: Explanation, shares: Mapping[str, float], cost: str) -> str:
    """Returns the functions that have a part in the program, each line with what became of it.

    Args:
      found: the explanation.
      shares: of each line, as ``train.py:12``, its part of the whole cost.
      cost: of what.
    """
    parts: list[str] = []
    for _, group in groupby(found.lines, key=lambda line: (line.location.file, line.location.function)):
        lines = list(group)
        place = lines[0].location
        span = lines_of(place.file, place.function, [line.location.line for line in lines])
        parts.append(f"<h3><code>{escape(place.function)}</code> in <code>{escape(_shown(place.file))}</code></h3>")
        known = {line.location.line: line for line in lines}
        parts.append(_listing(place.file, span, known.get, shares, cost))
    return "".join(parts)


def _shown(file: str) -> str:
    """Returns a file as seen from the working directory, where it is in there."""
    try:
        relative = os.path.relpath(file)
    except ValueError:  # another drive
        return file
    return file if relative.startswith("..") else relative


def _listing(
    file: str, span: range, known: Callable[[int], LineReport | None], shares: Mapping[str, float], cost: str
) -> str:
    rows: list[str] = []
    for number in span:
        line, place = known(number), f"{os.path.basename(file)}:{number}"
        source = escape(linecache.getline(file, number).rstrip("\n").expandtabs(4))
        code = f'<td class="n">{number}</td><td class="gx-code">{source}</td>'
        if line is None:
            rows.append(f"<tr>{code}<td></td><td></td><td></td></tr>")
            continue
        ops = f"{line.ops} → {line.left}" if line.ops else ""
        share = shares.get(place, 0.0)
        rows.append(
            f'<tr class="gx-said" data-place="{escape(place)}">{code}<td class="n">{ops}</td>'
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
    said, separator, rest = note.partition(": ")
    return rest if separator and any(f"{said}: ".startswith(start) for start, _, _ in _TAGS) else note
