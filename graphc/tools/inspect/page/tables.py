"""Pieces of pages: tables, lists and figures in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

from graphc.compiler.runtime.costs import three_digits

__all__ = ["Raw", "bar", "chips", "format_flops", "listing", "section", "table"]

_LARGE = (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3))


class Raw(str):
    """Text that is HTML already."""

    __slots__ = ()


def format_flops(count: float) -> str:
    """Returns a number of floating-point operations in words.

    Example:
      >>> format_flops(2048.0), format_flops(3e9), format_flops(12)
      ('2.05 kFLOP', '3 GFLOP', '12 FLOP')
    """
    for name, size in _LARGE:
        if count >= size:
            return f"{three_digits(count / size)} {name}FLOP"
    return f"{count:.0f} FLOP"


def bar(share: float) -> Raw:
    """Returns a bar as long as a share of the whole, from 0 to 1."""
    return Raw(f'<i style="width:{max(0.0, min(share, 1.0)):.1%}"></i>') if share > 0 else Raw("")


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], *, kinds: str = "", name: str = "") -> str:
    """Returns a table; nothing where there are no rows.

    Args:
      heads: of the columns.
      rows: their cells.
      kinds: a letter for each column: ``n`` for numbers, ``c`` for code, ``b`` for bars, a space for text.
      name: the class of the table.
    """
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
