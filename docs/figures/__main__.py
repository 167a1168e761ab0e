"""Draws the figures: ``python -m docs.figures [NAME ...]``."""

from __future__ import annotations

import os
import sys
from pathlib import Path

os.environ.setdefault("GRAPHC_CPU_DEVICES", "8")

from docs.figures import architecture, explained, loop, scaling, timeline

FOLDER = Path(__file__).parent
ROOT = FOLDER.parent.parent
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
        path = FOLDER / f"{name}.svg"
        FIGURES[name](path)
        if path.exists():  # a page is a picture of another kind
            path.write_text(path.read_text().replace(f"{ROOT}/", ""))  # places are told from the project's root


if __name__ == "__main__":
    main(sys.argv[1:])
