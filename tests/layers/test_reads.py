"""What layers say that their calls read is what they read."""

from __future__ import annotations

from typing import Any

import pytest

import graphc as gx

LAYERS: list[Any] = [
    gx.layers.Dense(2, activation=gx.nn.relu, in_features=2),
    gx.layers.Dropout(0.5),
    gx.layers.Sequential([gx.layers.Dense(2, in_features=2)]),
]


@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: type(layer).__name__)
def test_a_layer_tells_of_all_that_its_call_reads(layer: Any) -> None:
    kind, read = type(layer), set[str]()
    layer(gx.ones((1, 2)), training=True)  # it is built

    class Spy(kind):  # type: ignore[misc, valid-type]
        def __getattribute__(self, name: str) -> Any:
            read.add(name)
            return super().__getattribute__(name)

    layer.__class__ = Spy
    layer(gx.ones((1, 2)), training=True)
    layer.__class__ = kind
    assert read & {*vars(layer)} <= {*kind.__graphc_reads__}


def test_every_layer_is_among_them() -> None:
    declaring = {kind for kind in vars(gx.layers).values() if "__graphc_reads__" in getattr(kind, "__dict__", {})}
    assert declaring == set(map(type, LAYERS))
