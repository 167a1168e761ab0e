"""remat: same values and gradients, in less memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError, UnimplementedError


def deep(count: int) -> list[Any]:
    gx.random.seed(0)
    blocks = [gx.layers.Sequential([gx.layers.Dense(64, "tanh"), gx.layers.Dropout(0.3)]) for _ in range(count)]
    for block in blocks:
        block(gx.ones((1, 64)))
    return blocks


def gradients(blocks: list[Any], functions: list[Any]) -> Any:
    weights = [variable for block in blocks for variable in block.trainable_variables]

    def step(x: Any) -> Any:
        with gx.GradientTape() as tape:
            for function in functions:
                x = function(x, training=True)
            loss = gx.sum(x**2)
        return loss, tape.gradient(loss, weights)

    return step


def test_gradients_are_the_same_and_compute_the_values_again() -> None:
    blocks, x = deep(8), gx.ones((512, 64))
    found: dict[str, Any] = {}
    lowered: dict[str, str] = {}
    for name, functions in (("plain", blocks), ("remat", [gx.remat(block) for block in blocks])):
        step = gradients(blocks, functions)
        gx.random.seed(1)
        compiled = gx.function(step)
        found[name] = compiled(x)
        lowered[name] = compiled.lower(x).as_text()
        gx.random.seed(1)
        found[f"{name}, eager"] = step(x)
    for name, (loss, slopes) in found.items():
        np.testing.assert_allclose(loss.item(), found["plain"][0].item(), rtol=1e-5, err_msg=name)
        for slope, wanted in zip(slopes, found["plain"][1], strict=True):
            np.testing.assert_allclose(slope.numpy(), wanted.numpy(), rtol=1e-4, atol=1e-4, err_msg=name)
    # XLA for CPUs joins what is computed twice again, with plain JAX too, so that memory is measured on GPUs.
    assert lowered["remat"].count("stablehlo.tanh") == 2 * lowered["plain"].count("stablehlo.tanh") == 16
    assert "optimization_barrier" in lowered["remat"]


@pytest.mark.gpu
def test_a_gradient_takes_less_memory() -> None:
    weights = [(gx.Variable(gx.ones((64, 1024)) / 64), gx.Variable(gx.ones((1024, 64)) / 1024)) for _ in range(8)]
    x, memory = gx.ones((512, 64)), dict[str, int]()
    for name, wrap in (("plain", lambda f: f), ("remat", gx.remat)):
        blocks = [wrap(lambda x, pair=pair: gx.tanh(gx.tanh(x @ pair[0]) @ pair[1])) for pair in weights]

        @gx.function
        def step(x: Any, blocks: Any = blocks) -> Any:
            with gx.GradientTape() as tape:
                for block in blocks:
                    x = block(x)
                loss = gx.sum(x**2)
            return tape.gradient(loss, [weight for pair in weights for weight in pair])

        memory[name] = step.lower(x).compile().memory_analysis().temp_size_in_bytes
    assert memory["remat"] < 0.6 * memory["plain"], memory


@pytest.mark.parametrize("compiled", [False, True])
def test_variables_are_read_made_and_assigned(compiled: bool) -> None:
    layer = gx.layers.Sequential(
        [gx.layers.Dense(3, kernel_initializer="ones"), gx.layers.BatchNormalization(momentum=0.5)]
    )
    block = gx.remat(layer, policy="dots_saveable")
    run = gx.function(lambda x: block(x, training=True)) if compiled else lambda x: block(x, training=True)
    x = gx.asarray([[1.0, 2.0], [3.0, 4.0]])
    for _ in range(2):
        run(x)
    assert layer.state_dict()["batchnormalization/moving_mean"].tolist() == [3.75] * 3
    nested = gx.remat(lambda x, scale: {"y": gx.sum(x) * scale, "n": 1})
    assert [value.item() for value in nested(x, scale=2.0).values()] == [20.0, 1]


def test_a_layer_stays_one_in_a_model_and_knows_whether_it_trains() -> None:
    inner = gx.layers.Sequential([gx.layers.Dense(4), gx.layers.Dropout(0.5)], name="inner")
    model = gx.layers.Sequential([gx.remat(inner), gx.layers.Dense(1)])
    x = gx.ones((2, 3))
    assert model(x).tolist() == model(x).tolist()
    assert model(x, training=True).tolist() != model(x, training=True).tolist()
    assert model(x).tolist() == model(x).tolist()
    assert [*model.named_variables()][:2] == ["inner/dense/kernel", "inner/dense/bias"]
    assert len(model.trainable_variables) == 4
    loose = gx.layers.Sequential([gx.remat(lambda x: inner(x))])
    assert loose(x).tolist() == loose(x).tolist()
    assert loose(x, training=True).tolist() != loose(x, training=True).tolist()
    model.trainable = False
    assert inner.trainable_variables == []


def test_what_cannot_be_done_twice_is_refused() -> None:
    def printing(x: Any) -> Any:
        gx.print(x)
        return x

    with pytest.raises(
        UnimplementedError, match=r"'printing' of gx.remat prints or calls gx.pyfunc, which would happen"
    ):
        gx.remat(printing)(gx.ones(2))
    with pytest.raises(InvalidTypeError, match=r"(?s)remat: expected a function, got 3.*test_remat.py"):
        gx.remat(3)  # pyright: ignore[reportArgumentType]
    with pytest.raises(
        InvalidArgumentError, match=r"(?s)there is no policy 'dots'; there are .*dots_saveable.*test_re"
    ):
        gx.remat(printing, policy="dots")
