"""A comparison as a figure of matplotlib's."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphc.compiler.base.errors import FailedPreconditionError
from graphc.compiler.runtime.costs import format_seconds, unit_of
from graphc.tools.inspect.render import speed_text

if TYPE_CHECKING:
    from graphc.tools.inspect.report import Comparison
    from graphc.tools.inspect.timing import Timing

__all__ = ["draw_timings"]

_FAR = 20.0
"""From this ratio of the longest to the shortest time on the axis is logarithmic, and there are no bars."""
_NAME = 26
"""So many characters of a mode's name stand in a line."""
_WIDTH = 8.0


def draw_timings(comparison: Comparison, path: Path | None, title: str | None = None) -> Any:
    """Draws the samples of each mode, its middle half and its median; see ``Comparison.plot``."""
    timed = [(mode.name, mode.timing) for mode in comparison.modes if mode.timing is not None]
    if not timed:
        raise FailedPreconditionError(
            f"the comparison of {comparison.function} has no times to draw: nothing was timed"
        )
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise FailedPreconditionError("drawing needs matplotlib: pip install 'graphc[viz]'") from None
    medians = [timing.median for _, timing in timed]
    unit, size = unit_of(max(medians))
    far = max(medians) / min(medians) > _FAR
    figure: Any = Figure(figsize=(_WIDTH, 1.9 + 0.6 * len(timed)), layout="constrained")
    axes = figure.add_subplot()
    for position, (name, timing) in enumerate(timed):
        _draw(axes, position, timing, size, far)
        speed = "" if name == "eager" else speed_text(comparison, name)
        label = f"{format_seconds(timing.median)}{speed and f'  {speed}'}"
        axes.annotate(label, (1.01, position), xycoords=("axes fraction", "data"), va="center", fontsize="medium")
    names = ["\n".join(textwrap.wrap(name, _NAME)) for name, _ in timed]
    axes.set_yticks(range(len(timed)), names)
    axes.set_ylim(len(timed) - 0.5, -0.5)
    if far:
        axes.set_xscale("log")
    else:
        axes.set_xlim(0, 1.05 * max(max(timing.samples) for _, timing in timed) / size)
    mark = "line" if far else "bar"
    axes.set_xlabel(f"time of one call, {unit}\n{mark}: median; thick: middle half; dots: samples")
    axes.spines[["top", "right"]].set_visible(False)
    heading = "\n".join(textwrap.wrap(title or comparison.function, 80))
    axes.set_title(heading, loc="left", fontsize="medium", parse_math=False)
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=150)
    return figure


def _draw(axes: Any, position: int, timing: Timing, size: float, far: bool) -> None:
    samples = [sample / size for sample in timing.samples]
    median, (lower, upper) = timing.median / size, timing.quartiles
    if far:
        axes.plot([median, median], [position - 0.28, position + 0.28], color="C0", linewidth=2)
    else:
        axes.barh(position, median, height=0.55, color="C0", alpha=0.35)
    axes.plot([lower / size, upper / size], [position, position], color="C0", linewidth=6, solid_capstyle="butt")
    axes.plot(samples, [position] * len(samples), "o", color="0.2", markersize=3, alpha=0.5)
