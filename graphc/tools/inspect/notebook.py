"""A comparison as a notebook shows it: a table, and bars."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from graphc.compiler.runtime.costs import format_bytes, format_seconds
from graphc.tools.drawing import Bar, bars, shown
from graphc.tools.inspect.render import failures_of, middle_half, one_time_costs, speed_text

if TYPE_CHECKING:
    from graphc.tools.inspect.report import Comparison, ModeReport

__all__ = ["comparison_html"]


def comparison_html(comparison: Comparison) -> str:
    """Returns a comparison as a piece of HTML."""
    heads = ("mode", "equal", "median", "middle half", "speed", "launches", "memory")
    head = "".join(f"<th{_number(place)}>{text}</th>" for place, text in enumerate(heads))
    rows = "".join(f"<tr>{_row(comparison, mode)}</tr>" for mode in comparison.modes)
    table = f'<table class="gx-table"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'
    timed = [(mode, mode.timing) for mode in comparison.modes if mode.timing is not None]
    chart = bars([Bar(mode.name, time.median, *time.quartiles, format_seconds(time.median)) for mode, time in timed])
    title = f"<b>{escape(comparison.function)}</b> on {escape(comparison.machine.device)}"
    failures = "".join(f'<div class="gx-bad">{escape(line.text)}</div>' for line in failures_of(comparison))
    costs = "".join(f'<div class="gx-caption">{escape(line.text)}</div>' for line in one_time_costs(comparison))
    notes = "".join(f"<div>note: {escape(note)}</div>" for note in comparison.notes)
    return shown(f"<div>{title}</div>{table}{chart if timed else ''}{failures}{costs}{notes}")


def _row(comparison: Comparison, mode: ModeReport) -> str:
    timing = mode.timing
    equal = "" if mode.values is None else "yes" if mode.equal else "NO"
    cells = (
        mode.name,
        equal,
        "" if timing is None else format_seconds(timing.median),
        "" if timing is None else middle_half(timing),
        "" if mode.values is None else speed_text(comparison, mode.name),
        "" if mode.launches is None else str(mode.launches),
        "" if mode.memory is None else format_bytes(mode.memory.total),
    )
    colour = {"yes": ' class="gx-good"', "NO": ' class="gx-bad"'}
    return "".join(
        f"<td{colour.get(cell, '') if place == 1 else _number(place)}>{escape(cell)}</td>"
        for place, cell in enumerate(cells)
    )


def _number(place: int) -> str:
    return ' class="n"' if place > 1 else ""
