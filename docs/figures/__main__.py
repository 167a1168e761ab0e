"""Draws the figures: ``python -m docs.figures [NAME ...]``."""

from __future__ import annotations

import os
import sys
from pathlib import Path

os.environ.setdefault("GRAPHC_CPU_DEVICES", "8")

from docs.figures import architecture, explained, loop, scaling, timeline

FOLDER = Path(__file__).parent
FIGURES = {
    "architecture": architecture.write,
    "explained": explained.write_page,
    "loop": loop.write,
    "scaling": scaling.write,
    "timeline": timeline.write,
    "training-step": explained.write_graph,
}


def main(names: list[str]) -> None:
    """Draws the named figures, or all."""
    for name in names or FIGURES:
        FIGURES[name](FOLDER / f"{name}.svg")


if __name__ == "__main__":
    main(sys.argv[1:])
