"""Optimizers whose Variables are on several devices."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import optax
import pytest

import graphc as gx

X = np.random.default_rng(0).normal(size=(8, 4)).astype(np.float32)


def trained(places: tuple[str, str], rule: optax.GradientTransformation, wrap: Callable[[Any], Any]) -> Any:
    """Two layers on two devices after five steps; the step, too."""
    gx.random.seed(0)
    with gx.device(places[0]):
        first = gx.layers.Dense(3, gx.tanh, in_features=4)
    with gx.device(places[1]):
        second = gx.layers.Dense(2, in_features=3)
    variables = [*first.trainable_variables, *second.trainable_variables]
    optimizer = gx.optim.Optimizer(rule)
    optimizer.build(variables)

    def step(x: Any) -> Any:
        with gx.GradientTape() as tape:
            with gx.device(places[0]):
                hidden = first(x)
            with gx.device(places[1]):
                loss = gx.mean(second(hidden) ** 2)
        gradients = tape.gradient(loss, variables)
        optimizer.apply_gradients(zip([*gradients[:3], None], variables, strict=True))
        return loss

    run = wrap(step)
    for _ in range(5):
        run(X)
    return [variable.numpy() for variable in [*variables, *optimizer.variables]], variables, run


@pytest.mark.parametrize("wrap", [gx.do_not_convert, gx.function], ids=["eager", "compiled"])
def test_each_device_updates_its_own_variables_to_the_values_of_one_device(wrap: Callable[[Any], Any]) -> None:
    rule = optax.chain(optax.clip_by_global_norm(0.1), optax.adam(0.1))
    expected, _, _ = trained(("cpu:0", "cpu:0"), rule, wrap)
    found, variables, _ = trained(("cpu:1", "cpu:2"), rule, wrap)
    for one, other in zip(expected, found, strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-5, atol=1e-6)
    assert [variable.device[-1] for variable in variables] == ["1", "1", "2", "2"]


def test_nothing_is_moved_but_what_the_values_need() -> None:
    _, _, step = trained(("cpu:1", "cpu:2"), optax.adam(0.1), gx.function)
    moved = [text for text in gx.explain(step, X).steps if text.startswith("transfer")]
    # The input, the layer's result, its cotangent, and the count of steps that both halves of the state share.
    whats = sorted(re.split(r"[ :]", text)[1] for text in moved)
    assert [re.sub(r"_\d+$", "", what) for what in whats] == ["optimizer/0/count", "tanh", "vjp", "x"]
