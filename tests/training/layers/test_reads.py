"""What layers say that their calls read is what they read."""

from __future__ import annotations

from typing import Any

import pytest

import graphc as gx

LAYERS: list[Any] = [
    gx.layers.Dense(2, activation=gx.nn.relu, in_features=2),
    gx.layers.Dropout(0.5),
    gx.layers.Sequential([gx.layers.Dense(2, in_features=2)]),
    gx.layers.BatchNormalization(),
    gx.layers.LayerNormalization(),
    gx.layers.Activation("relu"),
    gx.layers.Flatten(),
    gx.layers.Reshape((2, 1)),
    gx.layers.Embedding(3, 2),
    *(getattr(gx.layers, name)(1) for name in ("MaxPooling1D", "AveragePooling1D", "MaxPooling2D", "AveragePooling2D")),
    *(getattr(gx.layers, f"Global{kind}Pooling{space}D")() for kind in ("Max", "Average") for space in (1, 2)),
    gx.layers.Conv1D(2, 1, activation=gx.nn.relu),
    gx.layers.Conv2D(2, 1, activation=gx.nn.relu),
    gx.layers.LSTM(2),
    gx.layers.GRU(2),
    gx.layers.Bidirectional(gx.layers.GRU(2)),
    gx.layers.MultiHeadAttention(1, 2),
]
SEQUENCES = ("LSTM", "GRU", "Bidirectional", "MultiHeadAttention")


@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: type(layer).__name__)
def test_a_layer_tells_of_all_that_its_call_reads(layer: Any) -> None:
    kind, read = type(layer), set[str]()
    name = kind.__name__
    shape = (1, 2, 2) if name.endswith("1D") or name in SEQUENCES else (1, 2, 2, 2) if name.endswith("2D") else (1, 2)
    x = gx.ones(shape, dtype="int32" if name == "Embedding" else "float32")
    inputs = (x, x) if name == "MultiHeadAttention" else (x,)
    layer(*inputs, training=True)  # it is built

    class Spy(kind):  # type: ignore[misc, valid-type]
        def __getattribute__(self, asked: str) -> Any:
            read.add(asked)
            return super().__getattribute__(asked)

    layer.__class__ = Spy
    layer(*inputs, training=True)
    layer.__class__ = kind
    assert read & {*vars(layer)} <= {*kind.__graphc_reads__}


def test_every_layer_is_among_them() -> None:
    declaring = {kind for kind in vars(gx.layers).values() if "__graphc_reads__" in getattr(kind, "__dict__", {})}
    assert declaring == set(map(type, LAYERS))
