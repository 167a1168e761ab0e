"""What one device holds of a network and its optimizer, on one to eight devices, by the rules that split them."""

from __future__ import annotations

from pathlib import Path

import graphc as gx
from docs.figures.svg import Picture

__all__ = ["RULES", "held", "write"]

RULES = (
    ("whole on each device", {}, "grey", 0.0),
    ("Adam's state split (ZeRO 1)", {"adam/": "data"}, "violet", 0.0),
    ("weights split as well (FSDP)", {"kernel": "data", "bias": "data"}, "blue", 0.0),
)
_DEVICES = (1, 2, 4, 8)


def held(devices: int, rules: dict[str, str]) -> int:
    """Returns the bytes of Variables on the first device, for a network of 4.2 million weights trained by Adam."""
    sharding = gx.distribute.Sharding({"data": devices}, rules)
    with sharding.scope():
        layers = [gx.layers.Dense(1024, in_features=size) for size in (1024, 1024, 1024, 1024)]
        variables = [variable for layer in layers for variable in layer.variables]
        optimizer = gx.optim.Adam(1e-3)
        optimizer.build(variables)
    return sum(v.raw.addressable_shards[0].data.nbytes for v in [*variables, *optimizer.variables])


def write(path: Path) -> None:
    """Counts and draws it."""
    found = {title: [held(devices, rules) / 2**20 for devices in _DEVICES] for title, rules, *_ in RULES}
    picture = Picture(720, 360, "Megabytes of weights and optimizer state on each device, for one to eight devices")
    left, top, width, height, most = 70, 50, 420, 240, 50

    def place(index: int, megabytes: float) -> tuple[float, float]:
        return left + 20 + (width - 40) * index / 3, top + height * (1 - megabytes / most)

    picture.text(left, 28, "MiB of weights and Adam's state on each device", "bold")
    for megabytes in range(0, most + 1, 10):
        y = place(0, megabytes)[1]
        picture.rule(left, y, left + width, y)
        picture.text(left - 8, y + 4, str(megabytes), "small end")
    for index, devices in enumerate(_DEVICES):
        picture.text(place(index, 0)[0], top + height + 22, str(devices), "middle")
    picture.text(left + width / 2, top + height + 46, "devices", "small middle")
    for title, _, colour, shift in RULES:
        points = [place(index, megabytes) for index, megabytes in enumerate(found[title])]
        picture.line(points, colour, dots=True)
        x, y = points[-1]
        picture.text(x + 16, y - 4 + shift, title)
        picture.text(x + 16, y + 12 + shift, f"{found[title][-1]:.0f} MiB", "small")
    picture.write(path)
