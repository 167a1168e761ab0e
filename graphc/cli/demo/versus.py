"""Programs in graphc and written for JAX by hand: what their first call takes, and what later calls take."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np
import optax

import graphc as gx
from graphc.cli.demo.scenes import edit_distance, square_roots

__all__ = ["Race", "race"]

_lax: Any = jax.lax
_jit = cast("Any", jax.jit)


@dataclass(frozen=True)
class Race:
    """A program both ways.

    Attributes:
      program: what it does.
      by_hand: what JAX needs written.
      equal: whether the results are.
      first: the seconds of the first calls, compiling included: graphc's, JAX's.
      later: the seconds of the later ones, the fastest of several: graphc's, JAX's.
    """

    program: str
    by_hand: str
    equal: bool
    first: tuple[float, float]
    later: tuple[float, float]


@_jit
def square_roots_in_jax(x: Any) -> Any:
    """Newton's method by hand."""

    def goes_on(state: Any) -> Any:
        return jnp.max(jnp.abs(state[0] * state[0] - x) / x) > 1e-6

    def round_of(state: Any) -> Any:
        y, rounds = state
        return (y + x / y) / 2, rounds + 1

    return _lax.while_loop(goes_on, round_of, (x, 0))


@_jit
def edit_distance_in_jax(a: Any, b: Any) -> Any:
    """The table by hand: a scan over rows, and one over each row."""

    def row(above: Any, entry: Any) -> Any:
        i, letter = entry

        def cell(left: Any, entry: Any) -> Any:
            corner, up, other = entry
            value = jnp.where(letter == other, corner, 1 + jnp.minimum(jnp.minimum(up, left), corner))
            return value, value

        first = i + 1
        _, values = _lax.scan(cell, first, (above[:-1], above[1:], b))
        return jnp.concatenate([first[None], values]), None

    last, _ = _lax.scan(row, jnp.arange(len(b) + 1), (jnp.arange(len(a)), a))
    return last[-1]


@gx.function
def heat(u: gx.Tensor) -> gx.Tensor:
    """The heat equation with a cold border."""
    for _ in range(200):
        u = u + 0.2 * (
            gx.roll(u, 1, axis=0) + gx.roll(u, -1, axis=0) + gx.roll(u, 1, axis=1) + gx.roll(u, -1, axis=1) - 4 * u
        )
        cast("Any", u)[0, :] = 0.0
        cast("Any", u)[-1, :] = 0.0
    return u


@_jit
def heat_in_jax(u: Any) -> Any:
    """The same by hand."""

    def step(_: Any, u: Any) -> Any:
        rolled = jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0) + jnp.roll(u, 1, 1) + jnp.roll(u, -1, 1)
        return (u + 0.2 * (rolled - 4 * u)).at[0, :].set(0.0).at[-1, :].set(0.0)

    return _lax.fori_loop(0, 200, step, u)


def networks(x: Any, y: Any) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """Returns fifty steps of Adam over a small network: in graphc, and in JAX with optax."""
    model = gx.layers.Sequential([gx.layers.Dense(64, activation="tanh"), gx.layers.Dense(1)])
    model(x)
    start = [variable.numpy() for variable in model.trainable_variables]
    optimizer = gx.optim.Adam(0.01)
    optimizer.build(model.trainable_variables)

    @gx.function
    def trained(x: gx.Tensor, y: gx.Tensor) -> gx.Tensor:
        loss = gx.asarray(0.0)
        for _ in range(50):
            loss = optimizer.minimize(lambda: gx.mean((model(x) - y) ** 2), model)
        return loss

    rule = optax.adam(0.01)

    def loss_of(weights: Any, x: Any, y: Any) -> Any:
        first, bias, second, offset = weights
        return jnp.mean((jnp.tanh(x @ first + bias) @ second + offset - y) ** 2)

    @partial(jax.jit, donate_argnums=(0, 1))
    def trained_in_jax(weights: Any, state: Any, x: Any, y: Any) -> Any:
        def step(carried: Any, _: Any) -> Any:
            weights, state = carried
            loss, gradients = cast("Any", jax.value_and_grad)(loss_of)(weights, x, y)
            changes, state = rule.update(gradients, state, weights)
            return (cast("Any", optax.apply_updates(weights, changes)), state), loss

        carried, losses = _lax.scan(step, (weights, state), None, length=50)
        return carried, losses[-1]

    held: list[Any] = [[cast("Any", jnp.asarray)(array) for array in start]]
    held.append(rule.init(held[0]))

    def by_hand() -> Any:
        (held[0], held[1]), loss = cast("Any", trained_in_jax)(held[0], held[1], x.raw, y.raw)
        return loss

    return lambda: trained(x, y), by_hand


def race(size: int, rounds: int) -> Iterator[Race]:
    """Runs each program both ways, in turns.

    Args:
      size: a length for all of them; 200 for the figures.
      rounds: how many later calls are timed.
    """
    rng = np.random.default_rng(0)

    def rows(*shape: int) -> gx.Tensor:
        return gx.asarray(rng.uniform(1.0, 2.0, shape).astype("float32"))

    numbers, grid = rows(500 * size), rows(size, size)
    words = [gx.asarray(rng.integers(0, 4, size + 1)) for _ in range(2)]  # a length that no scene has compiled
    network = networks(rows(2 * size, 16), rows(2 * size, 1))
    programs: dict[tuple[str, str], tuple[Callable[[], Any], Callable[[], Any]]] = {
        ("square roots, a while loop", "lax.while_loop"): (
            lambda: square_roots(numbers)[0],
            lambda: square_roots_in_jax(numbers.raw)[0],
        ),
        ("edit distance, a table", "two nested lax.scan"): (
            lambda: edit_distance(*words),
            lambda: edit_distance_in_jax(*(word.raw for word in words)),
        ),
        ("heat equation, 200 steps", "lax.fori_loop, .at[].set"): (lambda: heat(grid), lambda: heat_in_jax(grid.raw)),
        ("50 training steps of Adam", "lax.scan, optax"): network,
    }
    for (program, by_hand), calls in programs.items():
        firsts, results = zip(*map(_timed, calls), strict=True)
        laters = [(_timed(calls[0])[0], _timed(calls[1])[0]) for _ in range(rounds)]
        equal = np.allclose(np.asarray(results[0]), np.asarray(results[1]), rtol=1e-3, atol=1e-5)
        fastest = min(one for one, _ in laters), min(other for _, other in laters)
        yield Race(program, by_hand, bool(equal), (firsts[0], firsts[1]), fastest)


def _timed(call: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = call()
    (result.wait() if isinstance(result, gx.Tensor) else result.block_until_ready())
    return time.perf_counter() - start, result
