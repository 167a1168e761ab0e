"""The graph of the loop in the tutorial, drawn from the graph itself."""

from __future__ import annotations

import graphc as gx
from docs.figures.svg import Picture

__all__ = ["draw"]


def draw() -> Picture:
    """Traces and draws it."""

    @gx.function
    def smooth(x: gx.Tensor, times: int) -> gx.Tensor:
        for _ in range(times):
            x = (gx.roll(x, 1) + x + gx.roll(x, -1)) / 3
        return x

    (scan,) = smooth.graph(gx.zeros(64), 20).nodes
    ops = {node.name: node.op.name for node in scan.regions[0].nodes}
    picture = Picture(640, 400, "A scan node whose body has two rolls, two additions, a constant and a division")
    picture.box(30, 20, 130, 40, "green")
    picture.text(95, 45, "x: f32[64]", "code middle")
    picture.box(30, 96, 580, 220, "violet", 10)
    picture.text(46, 120, "scan", "bold")
    picture.text(88, 120, f"{scan.attrs['length']} iterations", "small")
    picture.arrow(95, 60, 95, 96)
    places = {
        "carry": (50, 190), "roll": (180, 145), "roll_1": (180, 235), "add": (290, 145),
        "add_1": (380, 190), "constant": (380, 248), "divide": (500, 190),
    }  # fmt: skip
    labels = {"carry": "x, so far", "constant": "3", **{name: op for name, op in ops.items() if name != "constant"}}
    for name, (x, y) in places.items():
        picture.box(x, y, 90, 36, "amber" if name == "carry" else "grey" if name == "constant" else "blue")
        picture.text(x + 45, y + 23, labels[name], "code middle")
    _links(picture)
    picture.arrow(545, 316, 545, 346)
    picture.box(480, 346, 130, 40, "green")
    picture.text(545, 371, "the result", "middle")
    return picture


def _links(picture: Picture) -> None:
    """Draws the edges of the body, and the one that carries x from iteration to iteration."""
    picture.line([(110, 190), (110, 163), (172, 163)])
    picture.arrow(172, 163, 180, 163)
    picture.line([(110, 226), (110, 253), (172, 253)])
    picture.arrow(172, 253, 180, 253)
    picture.arrow(270, 163, 290, 163)
    picture.line([(140, 200), (335, 200)])
    picture.arrow(335, 200, 335, 181)
    picture.line([(380, 163), (425, 163)])
    picture.arrow(425, 163, 425, 190)
    picture.line([(270, 253), (330, 253), (330, 216)])
    picture.arrow(330, 216, 380, 216)
    picture.arrow(470, 208, 500, 208)
    picture.line([(470, 266), (545, 266)])
    picture.arrow(545, 266, 545, 226)
    picture.line([(590, 208), (600, 208), (600, 300), (70, 300)])
    picture.arrow(70, 300, 70, 226)
    picture.text(84, 291, "the next iteration begins with it", "small")
