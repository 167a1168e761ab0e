"""Training steps of multilayer perceptrons: eager, compiled per step, and compiled with the loop over the steps.

On graphc's side the model kit; on JAX's a dict for each layer, ``jax.value_and_grad``, and a rule by hand or optax.
"""

from __future__ import annotations

import gc
import itertools
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np
import optax

import graphc as gx
from benchmarks.harness import Contender, Duel, Row, Sample, batch

__all__ = ["ROWS"]

_SMALL = (64, 64, 64, 64)
_RATE = 0.01
Array = np.ndarray[Any, Any]
Weights = list[dict[str, Any]]
Step = Callable[[gx.Tensor, gx.Tensor], gx.Tensor]


def _data(sizes: Sequence[int], batch_size: int) -> tuple[Weights, Array, Array]:
    """Initial weights, inputs and targets."""
    random = np.random.default_rng(0)

    def normal(*shape: int) -> Array:
        return random.normal(size=shape).astype(np.float32)

    weights = [
        {"kernel": normal(fan_in, fan_out) / np.float32(fan_in) ** 0.5, "bias": np.zeros(fan_out, np.float32)}
        for fan_in, fan_out in itertools.pairwise(sizes)
    ]
    return weights, normal(batch_size, sizes[0]), normal(batch_size, sizes[-1])


def _graphc_step(weights: Weights, optimizer: gx.optim.Optimizer) -> tuple[list[gx.Variable], Step]:
    """The trained variables, and a step on them."""
    model = gx.layers.Sequential(
        [
            gx.layers.Dense(
                layer["kernel"].shape[1], None if layer is weights[-1] else "tanh", in_features=len(layer["kernel"])
            )
            for layer in weights
        ]
    )
    variables = model.trainable_variables
    for variable, value in zip(
        variables, [layer[name] for layer in weights for name in ("kernel", "bias")], strict=True
    ):
        variable.assign(value)
    optimizer.build(variables)

    def step(x: gx.Tensor, y: gx.Tensor) -> gx.Tensor:
        with gx.GradientTape() as tape:
            loss = gx.losses.mean_squared_error(y, model(x))
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return loss

    return variables, step


def _raw_loss(weights: Weights, x: Any, y: Any) -> Any:
    for layer in weights[:-1]:
        x = jnp.tanh(x @ layer["kernel"] + layer["bias"])
    predictions = x @ weights[-1]["kernel"] + weights[-1]["bias"]
    return jnp.mean((predictions - y) ** 2)


def _raw_step(weights: Weights, x: jax.Array, y: jax.Array) -> tuple[Weights, jax.Array]:
    loss, gradients = jax.value_and_grad(_raw_loss)(weights, x, y)
    return jax.tree.map(lambda weight, gradient: weight - _RATE * gradient, weights, gradients), loss


class _Raw:
    """What a JAX step takes and gives back, kept between calls.

    Args:
      state: the initial state, which is copied, since steps may donate it.
      step: takes the state, x and y; returns the new state and the loss.
    """

    def __init__(self, state: Any, step: Callable[..., Any]) -> None:
        self.state = jax.tree.map(jnp.array, state)
        self._step = step

    def __call__(self, x: jax.Array, y: jax.Array) -> tuple[jax.Array, Any]:
        self.state, loss = self._step(self.state, x, y)
        return loss, self.state


def _duel(
    labels: tuple[str, str],
    ours: tuple[list[gx.Variable], Step],
    raw: _Raw,
    data: tuple[Array, Array],
    *,
    calls: int = 1,
    steps: int = 1,
    checked_calls: int = 3,
) -> Duel:
    """Both sides on the same data; a call does ``steps`` steps."""
    variables, step = ours
    tensors = gx.asarray(data[0]), gx.asarray(data[1])
    arrays = jnp.asarray(data[0]), jnp.asarray(data[1])

    def check() -> list[tuple[Any, Any]]:
        losses = [(np.asarray(step(*tensors)), np.asarray(raw(*arrays)[0])) for _ in range(checked_calls)]
        weights = raw.state[0] if isinstance(raw.state, tuple) else raw.state
        trained = [np.array(layer[name]) for layer in weights for name in ("kernel", "bias")]
        return [*losses, ([variable.numpy() for variable in variables], trained)]

    return Duel(
        Contender(labels[0], batch(step, tensors, calls, wait_for=variables), calls * steps),
        Contender(labels[1], batch(raw, arrays, calls), calls * steps),
        check,
    )


def _eager(quick: bool) -> Duel:
    weights, *data = _data(_SMALL, 32)
    ours = _graphc_step(weights, gx.optim.SGD(_RATE))
    raw = _Raw(weights, _raw_step)
    labels = ("graphc eager", "jax.grad, un-jitted")
    return _duel(labels, ours, raw, (data[0], data[1]), calls=1 if quick else 5)


def _compiled(quick: bool) -> Duel:
    weights, *data = _data(_SMALL, 32)
    variables, step = _graphc_step(weights, gx.optim.SGD(_RATE))
    raw = _Raw(weights, jax.jit(_raw_step, donate_argnums=0))
    ours = variables, gx.function(step)
    return _duel(("graphc", "jax.jit, donated"), ours, raw, (data[0], data[1]), calls=2 if quick else 10)


def _in_loop(quick: bool) -> Duel:
    steps = 20 if quick else 500
    weights, *data = _data(_SMALL, 32)
    variables, step = _graphc_step(weights, gx.optim.SGD(_RATE))

    @gx.function
    def train(x: gx.Tensor, y: gx.Tensor) -> gx.Tensor:
        loss = gx.zeros(())
        for _ in range(steps):
            loss = step(x, y)
        return loss

    def hand_written(weights: Weights, x: jax.Array, y: jax.Array) -> tuple[Weights, jax.Array]:
        return jax.lax.fori_loop(0, steps, lambda _, carry: _raw_step(carry[0], x, y), (weights, jnp.zeros(())))

    raw = _Raw(weights, jax.jit(hand_written, donate_argnums=0))
    labels = ("graphc", "fori_loop, donated")
    return _duel(labels, (variables, train), raw, (data[0], data[1]), steps=steps, checked_calls=1)


def _large(quick: bool) -> Duel:
    sizes, batch_size = ((16, 32, 16, 1), 8) if quick else ((512, 2048, 512, 1), 1024)
    weights, *data = _data(sizes, batch_size)
    variables, step = _graphc_step(weights, gx.optim.Adam(_RATE))
    rule = optax.adam(_RATE)

    def hand_written(state: tuple[Weights, Any], x: jax.Array, y: jax.Array) -> tuple[tuple[Weights, Any], jax.Array]:
        weights, moments = state
        loss, gradients = jax.value_and_grad(_raw_loss)(weights, x, y)
        updates, moments = rule.update(gradients, moments, weights)
        return (optax.apply_updates(weights, updates), moments), loss

    raw = _Raw((weights, rule.init(weights)), jax.jit(hand_written, donate_argnums=0))
    return _duel(("graphc", "jax.jit and optax"), (variables, gx.function(step)), raw, (data[0], data[1]))


def _first(quick: bool) -> Duel:
    """The first call of a step, of a function that is new each time; its state is there."""
    weights, *data = _data((4, 4, 4) if quick else _SMALL, 32)
    step = cast("FunctionType", _graphc_step(weights, gx.optim.Adam(_RATE))[1])
    tensors, arrays = [*map(gx.asarray, data)], [*map(jnp.asarray, data)]
    rule = optax.adam(_RATE)
    state = weights, rule.init(weights)

    def fresh() -> Sample:
        code = step.__code__.replace()  # its own, so that it is rewritten anew
        ours = gx.function(FunctionType(code, step.__globals__, "step", None, step.__closure__))
        gc.collect()

        def sample() -> None:
            ours(*tensors)
            gx.wait_all()

        return sample

    def raw() -> _Raw:
        def hand_written(state: Any, x: jax.Array, y: jax.Array) -> tuple[Any, jax.Array]:
            weights, moments = state
            loss, gradients = jax.value_and_grad(_raw_loss)(weights, x, y)
            updates, moments = rule.update(gradients, moments, weights)
            return (optax.apply_updates(weights, updates), moments), loss

        return _Raw(state, jax.jit(hand_written, donate_argnums=0))

    def fresh_raw() -> Sample:
        theirs = raw()
        gc.collect()
        return lambda: jax.block_until_ready(theirs(*arrays)) and None

    def check() -> list[tuple[Any, Any]]:
        return [(np.asarray(gx.function(step)(*tensors)), np.asarray(raw()(*arrays)[0]))]

    return Duel(Contender("graphc", fresh), Contender("jax.jit and optax", fresh_raw), check)


def _first_network(quick: bool) -> Duel:
    """The first call of a step whose layers and optimizer make their state in it, drawn by JAX's initializers."""
    sizes = (4, 4, 4) if quick else _SMALL
    _, *data = _data(sizes, 32)
    tensors, arrays = [*map(gx.asarray, data)], [*map(jnp.asarray, data)]
    rule, draw = optax.adam(_RATE), jax.nn.initializers.glorot_uniform()

    def network() -> gx.Function:
        hidden = [gx.layers.Dense(size, "tanh") for size in sizes[1:-1]]
        model = gx.layers.Sequential([*hidden, gx.layers.Dense(sizes[-1])])
        optimizer = gx.optim.Adam(_RATE)

        def step(x: gx.Tensor, y: gx.Tensor) -> gx.Tensor:
            with gx.GradientTape() as tape:
                loss = gx.losses.mean_squared_error(y, model(x))
            variables = model.trainable_variables
            optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
            return loss

        plain = cast("FunctionType", step)
        code = plain.__code__.replace()  # its own, so that it is rewritten anew
        return gx.function(FunctionType(code, plain.__globals__, "step", None, plain.__closure__))

    def fresh() -> Sample:
        jax.clear_caches()  # of what draws, which all rounds have in common
        ours = network()

        def sample() -> None:
            ours(*tensors)
            gx.wait_all()

        return sample

    def hand_written(state: Any, x: jax.Array, y: jax.Array) -> tuple[Any, jax.Array]:
        weights, moments = state
        loss, gradients = jax.value_and_grad(_raw_loss)(weights, x, y)
        updates, moments = rule.update(gradients, moments, weights)
        return (optax.apply_updates(weights, updates), moments), loss

    def fresh_raw() -> Sample:
        jax.clear_caches()

        def sample() -> None:
            keys = jax.random.split(jax.random.key(0), len(sizes) - 1)
            weights = [
                {"kernel": draw(key, shape), "bias": jnp.zeros(shape[1])}
                for key, shape in zip(keys, itertools.pairwise(sizes), strict=True)
            ]
            theirs = jax.jit(lambda *given: hand_written(*given), donate_argnums=0)
            jax.block_until_ready(theirs((weights, rule.init(weights)), *arrays))

        return sample

    return Duel(Contender("graphc", fresh), Contender("jax.jit and optax", fresh_raw), list)


ROWS = (
    Row("mlp-eager", "MLP 3x64, batch 32: gradient and SGD, eager step", 0.2, _eager, rounds=100),
    Row("mlp-step", "the same, compiled per step", 1.25, _compiled),
    Row("mlp-loop", "the same, 500 steps in one compiled loop, per step", 1.1, _in_loop, rounds=100),
    Row(
        "first-step",
        "the small MLP with Adam: first call of a compiled step, compiling included",
        1.1,
        _first,
        rounds=15,
    ),
    Row(
        "first-network",
        "the same, with the weights and the optimizer's state made in the call",
        1.1,
        _first_network,
        rounds=5,
    ),
    Row("mlp-large", "MLP 512-2048-512-1, batch 1024, Adam: compiled step", 1.03, _large, rounds=60),
)
