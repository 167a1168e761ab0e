"""What an open tape costs, and the way back, against the operations themselves."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import graphc as gx
from benchmarks.harness import Contender, Duel, Row, Sample, batch

__all__ = ["ROWS"]

_OPERATIONS = 20


def _chain(x: gx.Tensor, w: gx.Tensor) -> gx.Tensor:
    """A chain of 20 operations."""
    for _ in range(_OPERATIONS // 4):
        x = x * w
        x = x + w
        x = gx.tanh(x)
        x = x * 0.5
    return x


def _taped(x: gx.Tensor, w: gx.Tensor) -> tuple[gx.GradientTape, gx.Tensor]:
    with gx.GradientTape() as tape:
        tape.watch(x)
        y = _chain(x, w)
    return tape, y


def _tensors() -> tuple[gx.Tensor, gx.Tensor]:
    x, w = np.random.default_rng(0).normal(size=(2, 4, 4)).astype(np.float32)
    return gx.asarray(x), gx.asarray(w)


def _open(quick: bool) -> Duel:
    calls = 1 if quick else 2
    given = _tensors()
    return Duel(
        Contender("tape open", batch(lambda x, w: _taped(x, w)[1], given, calls), calls * _OPERATIONS),
        Contender("without", batch(_chain, given, calls), calls * _OPERATIONS),
        lambda: [(_taped(*given)[1], _chain(*given))],
    )


def _backward(quick: bool) -> Duel:
    calls = 1 if quick else 2
    x, w = _tensors()

    def fresh() -> Sample:
        taped = [_taped(x, w) for _ in range(calls)]

        def sample() -> None:
            for gradient in [tape.gradient(y, x) for tape, y in taped]:
                gradient.wait()

        return sample

    def differences() -> list[tuple[Any, Any]]:
        """The gradient's inner product with a direction, and the central difference along it."""
        tape, y = _taped(x, w)
        step = 1e-2 * gx.sign(w)
        found = gx.sum(tape.gradient(y, x) * step)
        return [(found, gx.sum(_chain(x + step / 2, w)) - gx.sum(_chain(x - step / 2, w)))]

    return Duel(
        Contender("gradient()", fresh, calls * _OPERATIONS),
        Contender("forward, tape open", batch(lambda x, w: _taped(x, w)[1], (x, w), calls), calls * _OPERATIONS),
        differences,
    )


def _around(quick: bool, size: int = 256) -> Duel:
    """A tape around a compiled function, which ends in one number, against JAX's own pair of compiled passes."""
    size = min(size, 32) if quick else size
    draw = np.random.default_rng(0)
    weights = [draw.normal(size=(size, size)).astype(np.float32) / np.float32(size) ** 0.5 for _ in range(3)]
    inputs = draw.normal(size=(size, size)).astype(np.float32)
    variables, x = [gx.Variable(weight) for weight in weights], gx.asarray(inputs)

    @gx.function
    def loss(x: gx.Tensor) -> gx.Tensor:
        for variable in variables:
            x = gx.tanh(x @ variable)
        return gx.mean(x * x)

    def graphc() -> list[gx.Tensor]:
        with gx.GradientTape() as tape:
            value = loss(x)
        return tape.gradient(value, variables)

    def raw_loss(weights: list[jax.Array], x: jax.Array) -> jax.Array:
        for weight in weights:
            x = jnp.tanh(x @ weight)
        return jnp.mean(x * x)

    forward = jax.jit(lambda weights, x: jax.vjp(lambda weights: raw_loss(weights, x), weights))
    backward = jax.jit(lambda pullback, cotangent: pullback(cotangent))
    raw_weights, raw_x, one = list(map(jnp.asarray, weights)), jnp.asarray(inputs), jnp.float32(1)

    def raw() -> list[jax.Array]:
        _, pullback = forward(raw_weights, raw_x)
        return backward(pullback, one)[0]

    return Duel(
        Contender("tape, gx.function", batch(graphc, (), 1), 1),
        Contender("jax.vjp in jax.jit", batch(raw, (), 1), 1),
        lambda: [(graphc(), raw())],
    )


ROWS = (
    Row("tape-open", "20 operations with an open tape, per operation", 2.2, _open),
    Row("tape-backward", "gradient of a chain of 20 operations, per operation", 1.5, _backward),
    Row("tape-around", "gradient from outside of a compiled function, three products of 256x256", 1.15, _around),
    Row("tape-around-small", "the same with products of 4x4", 3.0, partial(_around, size=4)),
)
