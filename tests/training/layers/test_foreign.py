"""Modules of flax and equinox as layers: values, training, batch statistics, dropout, names."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError

X = np.sin(np.arange(24.0, dtype="float32")).reshape(8, 3)
Y = np.cos(np.arange(8.0, dtype="float32")).reshape(8, 1)


def trained(layer: Any, steps: int = 30) -> tuple[float, float]:
    """The loss before and after training; one trace holds all steps."""
    optimizer = gx.optim.Adam(0.05)

    @gx.function
    def step(x: Any, y: Any) -> Any:
        loss = lambda: gx.losses.mean_squared_error(y, layer(x, training=True))  # noqa: E731
        return optimizer.minimize(loss, layer.trainable_variables)

    losses = [step(gx.asarray(X), gx.asarray(Y)).item() for _ in range(steps)]
    assert step.num_traces == 1
    return losses[0], losses[-1]


def test_a_linen_module_trains_with_batch_statistics_and_dropout() -> None:
    nn = pytest.importorskip("flax.linen")

    class Net(nn.Module):
        @nn.compact
        def __call__(self, x: Any, train: bool = False) -> Any:
            x = nn.BatchNorm(use_running_average=not train, momentum=0.5)(nn.Dense(8)(x))
            return nn.Dense(1)(nn.Dropout(0.2, deterministic=not train)(nn.relu(x)))

    module = Net()
    variables = module.init(jax.random.key(0), X)
    layer = gx.layers.from_flax(module, variables)
    assert {"params/Dense_0/kernel", "batch_stats/BatchNorm_0/mean"} <= {*layer.named_variables()}
    assert len(layer.trainable_variables) == 6
    assert len(layer.variables) == 8
    np.testing.assert_allclose(layer(X).numpy(), module.apply(variables, X), rtol=1e-5, atol=1e-6)
    _, changed = module.apply(variables, X, train=True, rngs={"dropout": jax.random.key(1)}, mutable=["batch_stats"])
    layer(X, training=True)
    wanted = changed["batch_stats"]["BatchNorm_0"]["mean"]
    np.testing.assert_allclose(layer.state_dict()["batch_stats/BatchNorm_0/mean"], wanted, rtol=1e-5, atol=1e-6)
    assert layer(X, training=True).tolist() != layer(X, training=True).tolist()
    assert layer(X).tolist() == layer(X).tolist()
    before, after = trained(layer)
    assert after < 0.7 * before
    with pytest.raises(InvalidArgumentError, match=r"(?s)give the variables of Net: from_flax\(module, .*test_foreign"):
        gx.layers.from_flax(module)


def test_an_nnx_module_trains_with_batch_statistics_and_dropout() -> None:
    nnx = pytest.importorskip("flax.nnx")
    rngs = nnx.Rngs(0)
    parts = [nnx.Linear(3, 8, rngs=rngs), nnx.BatchNorm(8, rngs=rngs, momentum=0.5), nnx.relu]
    module = nnx.Sequential(*parts, nnx.Dropout(0.2, rngs=rngs), nnx.Linear(8, 1, rngs=rngs))
    layer = gx.layers.from_flax(module)
    assert {"layers/0/kernel", "layers/1/mean"} <= {*layer.named_variables()}
    assert (len(layer.trainable_variables), len(layer.variables)) == (6, 8)
    still = nnx.clone(module)
    still.eval()
    np.testing.assert_allclose(layer(X).numpy(), still(jnp.asarray(X)), rtol=1e-5, atol=1e-6)
    mean = layer.state_dict()["layers/1/mean"]
    assert layer(X, training=True).tolist() != layer(X, training=True).tolist()
    assert layer.state_dict()["layers/1/mean"].tolist() != mean.tolist()
    before, after = trained(layer)
    assert after < 0.7 * before
    assert (np.asarray(module.layers[0].kernel[...]) == np.asarray(still.layers[0].kernel[...])).all()


def test_a_module_of_equinox_trains_with_dropout() -> None:
    eqx = pytest.importorskip("equinox")

    class Net(eqx.Module):
        first: Any
        dropout: Any
        last: Any

        def __init__(self) -> None:
            one, two = jax.random.split(jax.random.key(0))
            self.first, self.dropout = eqx.nn.Linear(3, 8, key=one), eqx.nn.Dropout(0.2)
            self.last = eqx.nn.Linear(8, 1, key=two)

        def __call__(self, x: Any, key: Any = None) -> Any:
            return self.last(self.dropout(jnp.tanh(self.first(x)), key=key))

    module = Net()
    layer = gx.layers.from_equinox(module)
    assert [*layer.named_variables()] == ["first/weight", "first/bias", "last/weight", "last/bias"]
    wanted = jax.vmap(eqx.nn.inference_mode(module))(X)
    np.testing.assert_allclose(layer(X).numpy(), wanted, rtol=1e-5, atol=1e-6)
    with pytest.raises(gx.errors.InvalidArgumentError, match="each row of a batch; for one example, write batched=Fal"):
        gx.layers.from_equinox(eqx.nn.Linear(3, 2, key=jax.random.key(0)))(gx.ones(3))
    alone = gx.layers.from_equinox(module, batched=False)
    np.testing.assert_allclose(alone(X[0]).numpy(), wanted[0], rtol=1e-5, atol=1e-6)
    assert layer(X, training=True).tolist() != layer(X, training=True).tolist()
    before, after = trained(layer)
    assert after < 0.9 * before


def test_something_else_is_refused() -> None:
    with pytest.raises(InvalidTypeError, match=r"(?s)expected a module of flax.linen or flax.nnx, got .*test_foreign"):
        gx.layers.from_flax(gx.layers.Dense(2))
    with pytest.raises(InvalidTypeError, match=r"(?s)expected a module of equinox, got int.*test_foreign"):
        gx.layers.from_equinox(3)
