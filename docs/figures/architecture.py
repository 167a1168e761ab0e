"""The way of a function from Python to the devices, and the neighbourhoods of the package as tests hold them."""

from __future__ import annotations

from pathlib import Path

from docs.figures.svg import Picture
from tests.architecture import NEIGHBOURHOODS, PARTS

__all__ = ["write"]

# The steps of a compiled call, and the parts of the compiler that they lie in.
_STEPS = (
    ("Python", "your function", "green", "function"),
    ("Rewritten", "control flow asks its values", "violet", "autograph tracing"),
    ("Graph", "nodes, types, effects, regions", "blue", "ops ir"),
    ("Passes", "loops, dead code, order", "blue", "ir gradients"),
    ("Plan", "placed, cut into steps", "amber", "runtime"),
    ("XLA programs", "one a segment", "amber", "lowering"),
)
_COLOURS = {"compiler": "blue", "library": "violet"}
_HEIGHT = 62


def write(path: Path) -> None:
    """Draws it."""
    rows = _rows()
    picture = Picture(900, 236 + _HEIGHT * len(rows), "graphc: from a Python function to XLA programs, and its folders")
    for index, (title, what, colour, names) in enumerate(_STEPS):
        x = 20 + index * 146
        picture.box(x, 40, 130, 84, colour)
        picture.text(x + 65, 66, title, "bold middle")
        picture.text(x + 65, 88, what if len(what) < 22 else what.rsplit(" ", 2)[0], "small middle")
        if len(what) >= 22:
            picture.text(x + 65, 104, " ".join(what.rsplit(" ", 2)[1:]), "small middle")
        picture.text(x + 65, 143, ", ".join(names.split()), "code middle")
        if index:
            picture.arrow(x - 16, 82, x - 2, 82)
    picture.text(20, 24, "A compiled call: traced once, then run as often as you like", "bold")
    picture.text(20, 184, "The folders of graphc/: each imports only from those below that it names", "bold")
    for row, names in enumerate(rows):
        width = (860 - 12 * (len(names) - 1)) / len(names)
        for column, name in enumerate(names):
            x, y = 20 + column * (width + 12), 200 + row * _HEIGHT
            picture.box(x, y, width, _HEIGHT - 12, _COLOURS.get(name, "green"))
            picture.text(x + 12, y + 22, name, "bold")
            parts = [part for parts in PARTS.get(name, ()) for part in parts.split()]
            picture.text(x + 100, y + 22, ", ".join(parts), "code")
            knows = sorted(NEIGHBOURHOODS[name] - {"compiler", "library"}, key=list(NEIGHBOURHOODS).index)
            picture.text(x + 12, y + 40, f"knows {', '.join(knows)}" if knows else "", "small")
    picture.text(20, 218 + _HEIGHT * len(rows), "JAX and XLA: arrays, derivatives, compilation, devices", "small")
    picture.write(path)


def _rows() -> list[list[str]]:
    """Returns the neighbourhoods in rows: each knows only some of those in lower rows."""
    ranks: dict[str, int] = {}
    for name, known in NEIGHBOURHOODS.items():
        ranks[name] = 1 + max((ranks[other] for other in known), default=0)
    rows = sorted({*ranks.values()}, reverse=True)
    shown = [[name for name in ranks if ranks[name] == row and not name.startswith("_")] for row in rows]
    return [row for row in shown if row]
