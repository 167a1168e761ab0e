"""The way of a function from Python to the devices, and the packages that each stretch of it lies in."""

from __future__ import annotations

from pathlib import Path

from docs.figures.svg import Picture

__all__ = ["PACKAGES", "write"]

_STEPS = (
    ("Python", "your function", "green", ("function",)),
    ("Rewritten", "control flow asks its values", "violet", ("autograph",)),
    ("Graph", "nodes, types, effects, regions", "blue", ("ir",)),
    ("Passes", "loops, dead code, order", "blue", ("ir", "gradients")),
    ("Plan", "placed, cut into steps", "amber", ("runtime", "placement", "costs")),
    ("XLA programs", "one a segment", "amber", ("lowering",)),
)

_GROUPS = (
    ("Write", ("layers", "losses", "metrics", "optim", "data", "formats"), "green"),
    ("Train on many", ("distribute", "train", "cluster"), "green"),
    ("Look, save and serve", ("serve", "saving", "inspect", "drawing", "debug", "cli", "testing"), "green"),
    ("TensorFlow 1 and 2", ("compat", "session", "queues"), "green"),
    ("Array functions", ("ops", "arrays", "lax", "checks", "flow", "nest", "composites", "states"), "violet"),
    ("One door to every op", ("devices", "core", "tracing"), "violet"),
    ("Errors, settings, registries", ("base",), "grey"),
)

PACKAGES = frozenset(name for *_, names in _STEPS for name in names) | {
    name for _, names, _ in _GROUPS for name in names
}


def write(path: Path) -> None:
    """Draws it."""
    picture = Picture(900, 500, "The architecture of graphc: from a Python function to XLA programs, and its packages")
    for index, (title, what, colour, names) in enumerate(_STEPS):
        x = 20 + index * 146
        picture.box(x, 40, 130, 84, colour)
        picture.text(x + 65, 66, title, "bold middle")
        picture.text(x + 65, 88, what if len(what) < 22 else what.rsplit(" ", 2)[0], "small middle")
        if len(what) >= 22:
            picture.text(x + 65, 104, " ".join(what.rsplit(" ", 2)[1:]), "small middle")
        picture.text(x + 65, 143, ", ".join(names[:2]), "code middle")
        picture.text(x + 65, 160, ", ".join(names[2:]), "code middle")
        if index:
            picture.arrow(x - 16, 82, x - 2, 82)
    picture.text(20, 24, "A compiled call: traced once, then run as often as you like", "bold")
    picture.text(20, 196, "The packages: each imports only from those below", "bold")
    _row(picture, 212, _GROUPS[:4])
    _wide(picture, 308, *_GROUPS[4])
    _wide(picture, 364, *_GROUPS[5], aside="eager: runs now, through JAX. Traced: adds a node.")
    _wide(picture, 420, *_GROUPS[6])
    picture.text(20, 488, "JAX and XLA: arrays, derivatives, compilation, devices", "small")
    picture.write(path)


def _row(picture: Picture, y: float, groups: tuple[tuple[str, tuple[str, ...], str], ...]) -> None:
    width = (860 - 12 * (len(groups) - 1)) / len(groups)
    for index, (title, names, colour) in enumerate(groups):
        x = 20 + index * (width + 12)
        picture.box(x, y, width, 84, colour)
        picture.text(x + 12, y + 24, title, "bold")
        half = (len(names) + 1) // 2
        picture.text(x + 12, y + 48, ", ".join(names[:half]) + ("," if names[half:] else ""), "code")
        picture.text(x + 12, y + 67, ", ".join(names[half:]), "code")


def _wide(picture: Picture, y: float, title: str, names: tuple[str, ...], colour: str, aside: str = "") -> None:
    picture.box(20, y, 860, 44, colour)
    picture.text(32, y + 27, title, "bold")
    picture.text(270, y + 27, ", ".join(names), "code")
    if aside:
        picture.text(330, y + 27, aside, "small")
