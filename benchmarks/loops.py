"""Rolled loops: compile time against the trip count, run time against ``fori_loop``."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import graphc as gx
from benchmarks.harness import Contender, Duel, Row, Sample, batch

__all__ = ["ROWS"]


def _loop(trips: int) -> Callable[[Any], Any]:
    def function(y: Any) -> Any:
        for _ in range(trips):
            y = y * 0.99 + 1.0
        return y

    return function


def _hand_written(trips: int) -> Callable[[Any], Any]:
    return jax.jit(lambda y: jax.lax.fori_loop(0, trips, lambda _, y: y * 0.99 + 1.0, y))


def _compile(trips: int) -> Callable[[], Sample]:
    x = gx.ones((64, 64))

    def fresh() -> Sample:
        function = gx.function(_loop(trips))
        gc.collect()
        return lambda: function.lower(x).compile()

    return fresh


def _values(trips: int, size: int) -> tuple[Any, Any]:
    x = np.random.default_rng(0).normal(size=(size, size)).astype(np.float32)
    return gx.function(_loop(trips))(gx.asarray(x)), _hand_written(trips)(x)


def _independence(many: int) -> Callable[[bool], Duel]:
    def prepare(quick: bool) -> Duel:
        del quick
        return Duel(
            Contender(f"graphc, {many:,} iterations", _compile(many)),
            Contender("graphc, 100 iterations", _compile(100)),
            lambda: [_values(many, 64), _values(100, 64)],
        )

    return prepare


def _run(trips: int, size: int) -> Callable[[bool], Duel]:
    def prepare(quick: bool) -> Duel:
        sides = (8, 8) if quick else (size, size)
        x = np.random.default_rng(0).normal(size=sides).astype(np.float32)
        function, jitted = gx.function(_loop(trips)), _hand_written(trips)
        tensor, array = gx.asarray(x), jnp.asarray(x)
        return Duel(
            Contender("graphc", batch(function, (tensor,), 1)),
            Contender("fori_loop", batch(jitted, (array,), 1)),
            lambda: [(function(tensor), jitted(array))],
        )

    return prepare


def _again(x: Any) -> Any:
    """Document 001's loop: each iteration computes the same, and only the last is kept."""
    y = x
    for _ in range(1000):
        y = x + 1
    return y


def _invariant(quick: bool) -> Duel:
    x = np.random.default_rng(0).normal(size=(8, 8) if quick else (2000, 2000)).astype(np.float32)
    function, jitted = gx.function(_again), jax.jit(_again)
    tensor, array = gx.asarray(x), jnp.asarray(x)
    return Duel(
        Contender("graphc", batch(function, (tensor,), 1)),
        Contender("jax.jit, the same lines", batch(jitted, (array,), 1)),
        lambda: [(function(tensor), jitted(array))],
    )


def _product(x: Any, w: Any) -> Any:
    y = x
    for _ in range(100):
        y = y * 0.5 + x @ w
    return y


def _product_by_hand(x: Any, w: Any) -> Any:
    return jax.lax.fori_loop(0, 100, lambda _, y: y * 0.5 + x @ w, x)


def _invariant_gradient(quick: bool) -> Duel:
    x, w = (
        np.random.default_rng(seed).normal(size=(8, 8) if quick else (200, 200)).astype(np.float32) for seed in (0, 1)
    )
    function = gx.function(gx.grad(lambda x, w: gx.sum(_product(x, w))))
    jitted = jax.jit(jax.grad(lambda x, w: jnp.sum(_product_by_hand(x, w))))
    tensors, arrays = (gx.asarray(x), gx.asarray(w)), (jnp.asarray(x), jnp.asarray(w))
    return Duel(
        Contender("graphc", batch(function, tensors, 1)),
        Contender("fori_loop", batch(jitted, arrays, 1)),
        lambda: [(function(*tensors), jitted(*arrays))],
    )


def _table(a: Any, b: Any) -> Any:
    """The edit distance of two texts: a table that two branches fill item by item."""
    m, n = a.shape[0], b.shape[0]
    table = gx.zeros((m + 1, n + 1), dtype="int32")
    table[:, 0] = gx.arange(m + 1)
    table[0] = gx.arange(n + 1)
    for i in range(1, m + 1):
        for j in range(1, n + 1):
            if a[i - 1] == b[j - 1]:
                table[i, j] = table[i - 1, j - 1]
            else:
                table[i, j] = 1 + min(table[i - 1, j], table[i, j - 1], table[i - 1, j - 1])
    return table[m, n]


def _table_by_hand(a: Any, b: Any) -> Any:
    m, n = a.shape[0], b.shape[0]
    table = jnp.zeros((m + 1, n + 1), jnp.int32).at[:, 0].set(jnp.arange(m + 1)).at[0].set(jnp.arange(n + 1))

    def cell(i: Any, j: Any, table: Any) -> Any:
        least = jnp.minimum(jnp.minimum(table[i - 1, j], table[i, j - 1]), table[i - 1, j - 1])
        return table.at[i, j].set(jnp.where(a[i - 1] == b[j - 1], table[i - 1, j - 1], 1 + least))

    def row(i: Any, table: Any) -> Any:
        return jax.lax.fori_loop(1, n + 1, lambda j, table: cell(i, j, table), table)

    return jax.lax.fori_loop(1, m + 1, row, table)[m, n]


def _branches(quick: bool) -> Duel:
    a, b = np.random.default_rng(0).integers(0, 4, (2, 8 if quick else 100), dtype=np.int32)
    function, jitted = gx.function(_table), jax.jit(_table_by_hand)
    tensors, arrays = (gx.asarray(a), gx.asarray(b)), (jnp.asarray(a), jnp.asarray(b))
    return Duel(
        Contender("graphc", batch(function, tensors, 1)),
        Contender("fori_loop and where", batch(jitted, arrays, 1)),
        lambda: [(function(*tensors), jitted(*arrays))],
    )


def _filled(h: Any, w: Any) -> Any:
    out = gx.zeros((400, *h.shape))
    for t in range(400):
        h = gx.tanh(h @ w)
        out[t] = h
    return gx.sum(out * out)


def _listed(h: Any, w: Any) -> Any:
    states = []
    for _ in range(400):
        h = gx.tanh(h @ w)
        states.append(h)
    return gx.sum(gx.stack(states) ** 2)


def _scanned(h: Any, w: Any) -> Any:
    def step(h: Any, _: Any) -> Any:
        h = jnp.tanh(h @ w)
        return h, h

    return jnp.sum(jax.lax.scan(step, h, None, length=400)[1] ** 2)


def _states(function: Callable[..., Any]) -> Callable[[bool], Duel]:
    def prepare(quick: bool) -> Duel:
        rng, sides = np.random.default_rng(0), (2, 4) if quick else (16, 64)
        h = rng.normal(size=sides).astype(np.float32)
        w = (rng.normal(size=(sides[1], sides[1])) / 8).astype(np.float32)
        compiled = gx.function(gx.grad(function, argnums=(0, 1)))
        jitted = jax.jit(jax.grad(_scanned, argnums=(0, 1)))
        tensors, arrays = (gx.asarray(h), gx.asarray(w)), (jnp.asarray(h), jnp.asarray(w))
        return Duel(
            Contender("graphc", batch(compiled, tensors, 1)),
            Contender("scan that gives the states", batch(jitted, arrays, 1)),
            lambda: [*zip(compiled(*tensors), jitted(*arrays), strict=True)],
        )

    return prepare


ROWS = (
    Row("loop-compile-1000", "trace and compile: 1,000 iterations against 100", 1.1, _independence(1000), rounds=40),
    Row(
        "loop-compile-10000", "trace and compile: 10,000 iterations against 100", 1.1, _independence(10_000), rounds=40
    ),
    Row("loop-run", "run: 1,000 iterations, 256x256", 1.05, _run(1000, 256), rounds=300),
    # An array that no cache holds, where several iterations at a time pay; each goes through memory once.
    Row("loop-fused", "run: 200 iterations, 2000x2000", 1.0, _run(200, 2000), rounds=20),
    Row("loop-invariant", "run: 1,000 times y = x + 1, 2000x2000", 1.1, _invariant, rounds=200),
    Row(
        "loop-invariant-gradient",
        "gradient of 100 iterations with the same product, 200x200",
        1.0,
        _invariant_gradient,
        rounds=60,
    ),
    Row("loop-branches", "edit distance of 100 letters, a table filled in two branches", 1.15, _branches, rounds=200),
    Row(
        "loop-filled-gradient",
        "gradient through an array of 400 states, filled in a loop",
        1.15,
        _states(_filled),
        rounds=60,
    ),
    Row("loop-list-gradient", "gradient through a list of 400 states", 1.15, _states(_listed), rounds=60),
)
