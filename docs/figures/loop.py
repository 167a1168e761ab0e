"""The graph of the loop in the tutorial, drawn from the graph itself."""

from __future__ import annotations

from pathlib import Path

import graphc as gx

__all__ = ["write"]


def write(path: Path) -> None:
    """Traces the function, and draws its graph."""

    @gx.function
    def smooth(x: gx.Tensor, times: int) -> gx.Tensor:
        for _ in range(times):
            x = (gx.roll(x, 1) + x + gx.roll(x, -1)) / 3
        return x

    smooth.graph(gx.zeros(64), 20).draw(path)
