"""Memory over time, as a chart."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from graphc.compiler.runtime.costs import Moment, format_bytes

__all__ = ["memory_chart"]

_WIDTH, _HEIGHT = 900.0, 230.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 76.0, 16.0, 26.0, 30.0
_MOST = 600
"""So many bars the chart has at most; of neighbours the highest is shown."""


def memory_chart(moments: Sequence[Moment]) -> str:
    """Returns a chart of the bytes that are needed while each node runs, in the order of the graph."""
    highest = max((moment.live for moment in moments), default=0)
    if not highest:
        return ""
    step = -(-len(moments) // _MOST)
    shown = [max(moments[at : at + step], key=lambda moment: moment.live) for at in range(0, len(moments), step)]
    width = (_WIDTH - _LEFT - _RIGHT) / len(shown)
    room = _HEIGHT - _TOP - _BOTTOM
    bars: list[str] = []
    for number, moment in enumerate(shown):
        x = _LEFT + number * width
        text = f"{moment.node.name}: {format_bytes(moment.live)}"
        height = moment.live / highest * room
        bars.append(
            f'<rect class="{"gx-inside" if moment.depth else "gx-live"}" x="{x:.1f}" y="{_TOP + room - height:.1f}" '
            f'width="{width + 0.3:.1f}" height="{height:.1f}"><title>{escape(text)}</title></rect>'
        )
    lines = "".join(_line(share, highest, room) for share in (0.0, 0.5, 1.0))
    place = max(range(len(shown)), key=lambda number: shown[number].live)
    x = _LEFT + (place + 0.5) * width
    anchor = "end" if x > _WIDTH * 0.7 else "start"
    label = escape(f"most at {shown[place].node.name}")
    return (
        f'<div class="gx-wide"><svg class="gx-chart" viewBox="0 0 {_WIDTH:.0f} {_HEIGHT:.0f}" role="img" '
        f'aria-label="Memory while each node runs" style="min-width:620px">{lines}{"".join(bars)}'
        f'<text x="{x:.1f}" y="{_TOP - 9}" text-anchor="{anchor}">{label}</text>'
        f'<text x="{_LEFT}" y="{_HEIGHT - 9}">nodes in the order of the graph ({len(moments)})</text></svg></div>'
    )


def _line(share: float, highest: int, room: float) -> str:
    y = _TOP + room * (1 - share)
    return (
        f'<path class="gx-rule" d="M{_LEFT},{y:.1f}H{_WIDTH - _RIGHT}"/>'
        f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{format_bytes(round(highest * share))}</text>'
    )
