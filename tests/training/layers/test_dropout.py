"""Dropout: its statistics, its seed, and when it does nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base.errors import InvalidArgumentError


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("rate", [0.1, 0.5, 0.9])
def test_the_rate_and_the_mean(rate: float, compiled: bool) -> None:
    gx.random.seed(0)
    layer = gx.layers.Dropout(rate)

    def train(x: Any) -> Any:
        return layer(x, training=True)

    y = (gx.function(train) if compiled else train)(gx.ones(20_000)).numpy()
    # The share of zeros has a deviation of at most 0.0035.
    assert abs((y == 0).mean() - rate) < 0.02
    np.testing.assert_allclose(y[y != 0], 1 / (1 - rate), rtol=1e-6)


def test_nothing_happens_outside_training() -> None:
    x = gx.ones(100)
    layer = gx.layers.Dropout(0.5)
    for run in (layer, gx.function(layer)):
        assert run(x).tolist() == run(x, training=False).tolist() == [1.0] * 100
    assert gx.layers.Dropout(0)(x, training=True).tolist() == [1.0] * 100


def test_each_call_and_each_iteration_draws_anew() -> None:
    layer = gx.layers.Dropout(0.5)

    @gx.function
    def masks(x: Any) -> Any:
        y = gx.zeros((4, 200))
        for i in gx.arange(4):
            y = y.at[i].set(layer(x, training=True))
        return y

    first, second = masks(gx.ones(200)).numpy(), masks(gx.ones(200)).numpy()
    rows = {row.tobytes() for row in (*first, *second)}
    assert len(rows) == 8


def test_eager_and_compiled_code_drop_the_same() -> None:
    layer = gx.layers.Dropout(0.5)
    runs: list[Any] = []
    for run in (layer, gx.function(layer)):
        gx.random.seed(11)
        runs.append([run(gx.ones(50), training=True).tolist() for _ in range(3)])
    assert runs[0] == runs[1]


def test_gradients_go_where_the_numbers_went() -> None:
    layer = gx.layers.Dropout(0.25)
    x = gx.ones(64)
    with gx.GradientTape() as tape:
        tape.watch(x)
        y = layer(x, training=True)
    assert tape.gradient(y, x).tolist() == y.tolist()


@pytest.mark.parametrize("rate", [1, -0.1, 1.5, "half", None])
def test_a_rate_that_is_none_is_refused(rate: Any) -> None:
    with pytest.raises(InvalidArgumentError, match=r"(?s)rate must be a number with 0 <= rate < 1.*test_dropout.py"):
        gx.layers.Dropout(rate)
