"""Training steps of multilayer perceptrons: eager, compiled per step, and compiled with the loop over the steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

import graphc as gx
from benchmarks.harness import Contender, Duel, Row, batch

__all__ = ["ROWS"]

_SMALL = (64, 64, 64, 64)
_RATE = 0.01
Weights = list[dict[str, Any]]


def _data(sizes: Sequence[int], batch_size: int) -> tuple[Weights, np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Initial weights, inputs and targets."""
    random = np.random.default_rng(0)

    def normal(*shape: int) -> np.ndarray[Any, Any]:
        return random.normal(size=shape).astype(np.float32)

    weights = [
        {"kernel": normal(fan_in, fan_out) / np.float32(fan_in) ** 0.5, "bias": np.zeros(fan_out, np.float32)}
        for fan_in, fan_out in zip(sizes[:-1], sizes[1:], strict=True)
    ]
    return weights, normal(batch_size, sizes[0]), normal(batch_size, sizes[-1])


def _loss(library: Any, weights: Weights, x: Any, y: Any) -> Any:
    for number, layer in enumerate(weights):
        x = x @ layer["kernel"] + layer["bias"]
        if number < len(weights) - 1:
            x = library.tanh(x)
    return library.mean((x - y) ** 2)


def _graphc_step(initial: Weights) -> tuple[list[gx.Variable], Callable[[gx.Tensor, gx.Tensor], gx.Tensor]]:
    weights = [{name: gx.Variable(value) for name, value in layer.items()} for layer in initial]
    variables = [variable for layer in weights for variable in layer.values()]

    def step(x: gx.Tensor, y: gx.Tensor) -> gx.Tensor:
        with gx.GradientTape() as tape:
            loss = _loss(gx, weights, x, y)
        for variable, gradient in zip(variables, tape.gradient(loss, variables), strict=True):
            variable.assign_sub(_RATE * gradient)
        return loss

    return variables, step


def _raw_step(weights: Weights, x: jax.Array, y: jax.Array) -> tuple[Weights, jax.Array]:
    loss, gradients = jax.value_and_grad(lambda weights: _loss(jnp, weights, x, y))(weights)
    return jax.tree.map(lambda weight, gradient: weight - _RATE * gradient, weights, gradients), loss


class _Raw:
    """Weights that a JAX step takes and gives back."""

    def __init__(self, state: Any, step: Callable[..., Any]) -> None:
        self.state = jax.tree.map(jnp.array, state)
        self.step = step

    def __call__(self, x: jax.Array, y: jax.Array) -> Any:
        self.state, loss = self.step(self.state, x, y)
        return loss, self.state


def _duel(
    labels: tuple[str, str],
    variables: list[gx.Variable],
    step: Callable[..., Any],
    raw: _Raw,
    data: tuple[np.ndarray[Any, Any], ...],
    calls: int,
    steps: int = 1,
    warmup: int = 3,
) -> Duel:
    tensors = tuple(map(gx.asarray, data))
    arrays = tuple(map(jnp.asarray, data))

    def check() -> list[tuple[Any, Any]]:
        pairs: list[tuple[Any, Any]] = []
        for _ in range(warmup):
            loss, (raw_loss, state) = step(*tensors), raw(*arrays)
            pairs.append((np.asarray(loss), np.asarray(raw_loss)))
        weights = state[0] if isinstance(state, tuple) else state
        return [*pairs, ([v.numpy() for v in variables], [np.asarray(w[k]) for w in weights for k in ("kernel", "bias")])]

    return Duel(
        Contender(labels[0], batch(step, tensors, calls, wait_for=variables), calls * steps),
        Contender(labels[1], batch(raw, arrays, calls), calls * steps),
        check,
    )


def _eager(quick: bool) -> Duel:
    initial, *data = _data(_SMALL, 32)
    variables, step = _graphc_step(initial)
    return _duel(("graphc eager", "jax.grad, un-jitted"), variables, step, _Raw(initial, _raw_step), tuple(data), 1 if quick else 10)


def _compiled(quick: bool) -> Duel:
    initial, *data = _data(_SMALL, 32)
    variables, step = _graphc_step(initial)
    raw = _Raw(initial, jax.jit(_raw_step, donate_argnums=0))
    return _duel(("graphc", "jax.jit, donated"), variables, gx.function(step), raw, tuple(data), 2 if quick else 300)


def _in_loop(quick: bool) -> Duel:
    steps = 20 if quick else 500
    initial, *data = _data(_SMALL, 32)
    variables, step = _graphc_step(initial)

    @gx.function
    def train(x: gx.Tensor, y: gx.Tensor) -> gx.Tensor:
        loss = gx.asarray(0.0)
        for _ in range(steps):
            loss = step(x, y)
        return loss

    def hand_written(weights: Weights, x: jax.Array, y: jax.Array) -> tuple[Weights, jax.Array]:
        return jax.lax.fori_loop(0, steps, lambda _, carry: _raw_step(carry[0], x, y), (weights, jnp.float32(0)))

    raw = _Raw(initial, jax.jit(hand_written, donate_argnums=0))
    return _duel(("graphc", "fori_loop, donated"), variables, train, raw, tuple(data), 1, steps, warmup=1)


def _large(quick: bool) -> Duel:
    sizes, batch_size = ((16, 32, 16, 1), 8) if quick else ((512, 2048, 512, 1), 1024)
    initial, *data = _data(sizes, batch_size)
    variables, step = _graphc_step(initial)
    optimizer = optax.sgd(_RATE)

    def hand_written(state: tuple[Weights, Any], x: jax.Array, y: jax.Array) -> tuple[tuple[Weights, Any], jax.Array]:
        weights, moments = state
        loss, gradients = jax.value_and_grad(lambda weights: _loss(jnp, weights, x, y))(weights)
        updates, moments = optimizer.update(gradients, moments, weights)
        return (optax.apply_updates(weights, updates), moments), loss

    raw = _Raw((initial, optimizer.init(initial)), jax.jit(hand_written, donate_argnums=0))
    return _duel(("graphc", "jax.jit and optax"), variables, gx.function(step), raw, tuple(data), 2)


ROWS = (
    Row("mlp-eager", "MLP 3x64, batch 32: gradient and SGD, eager step", 0.2, _eager),
    Row("mlp-step", "the same, compiled per step", 1.25, _compiled),
    Row("mlp-loop", "the same, 500 steps in one compiled loop", 1.1, _in_loop),
    Row("mlp-large", "MLP 512-2048-512-1, batch 1024: compiled step", 1.03, _large),
)
