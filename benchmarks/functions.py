"""Forty common functions and operators on small arrays, uncompiled, against ``jax.numpy``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import graphc as gx
from benchmarks.harness import Contender, Duel, Row, batch

__all__ = ["CASES", "ROWS"]

# Of the namespace, two matrices, positions and a mask.
CASES: dict[str, Callable[[Any, Any, Any, Any, Any], Any]] = {
    "a + b": lambda xp, a, b, i, m: a + b,
    "a * 2": lambda xp, a, b, i, m: a * 2,
    "a / b": lambda xp, a, b, i, m: a / b,
    "a ** 2": lambda xp, a, b, i, m: a**2,
    "-a": lambda xp, a, b, i, m: -a,
    "a < b": lambda xp, a, b, i, m: a < b,
    "a @ b": lambda xp, a, b, i, m: a @ b,
    "a[1]": lambda xp, a, b, i, m: a[1],
    "a[1:3, ::2]": lambda xp, a, b, i, m: a[1:3, ::2],
    "subtract": lambda xp, a, b, i, m: xp.subtract(a, b),
    "maximum": lambda xp, a, b, i, m: xp.maximum(a, b),
    "equal": lambda xp, a, b, i, m: xp.equal(a, b),
    "abs": lambda xp, a, b, i, m: xp.abs(a),
    "exp": lambda xp, a, b, i, m: xp.exp(a),
    "log": lambda xp, a, b, i, m: xp.log(b),
    "sqrt": lambda xp, a, b, i, m: xp.sqrt(b),
    "tanh": lambda xp, a, b, i, m: xp.tanh(a),
    "where": lambda xp, a, b, i, m: xp.where(m, a, 0.0),
    "clip": lambda xp, a, b, i, m: xp.clip(a, -1.0, 1.0),
    "sum": lambda xp, a, b, i, m: xp.sum(a),
    "mean": lambda xp, a, b, i, m: xp.mean(a, axis=1, keepdims=True),
    "max": lambda xp, a, b, i, m: xp.max(a, axis=0),
    "std": lambda xp, a, b, i, m: xp.std(a, axis=0),
    "argmax": lambda xp, a, b, i, m: xp.argmax(a, axis=1),
    "any": lambda xp, a, b, i, m: xp.any(m),
    "cumsum": lambda xp, a, b, i, m: xp.cumsum(a, axis=0),
    "sort": lambda xp, a, b, i, m: xp.sort(a),
    "argsort": lambda xp, a, b, i, m: xp.argsort(a),
    "einsum": lambda xp, a, b, i, m: xp.einsum("ij,jk->ik", a, b),
    "reshape": lambda xp, a, b, i, m: xp.reshape(a, (2, 8)),
    "transpose": lambda xp, a, b, i, m: xp.transpose(a),
    "expand_dims": lambda xp, a, b, i, m: xp.expand_dims(a, 0),
    "concat": lambda xp, a, b, i, m: xp.concat([a, b], axis=1),
    "stack": lambda xp, a, b, i, m: xp.stack([a, b]),
    "take": lambda xp, a, b, i, m: xp.take(a, i, axis=0),
    "astype": lambda xp, a, b, i, m: a.astype(xp.int32),
    "zeros": lambda xp, a, b, i, m: xp.zeros((4, 4)),
    "arange": lambda xp, a, b, i, m: xp.arange(4),
    "softmax": lambda xp, a, b, i, m: _nn(xp).softmax(a),
    "relu": lambda xp, a, b, i, m: _nn(xp).relu(a),
}


def _nn(xp: Any) -> Any:
    return gx.nn if xp is gx else jax.nn


def _duels(quick: bool) -> Mapping[str, Duel]:
    calls = 2 if quick else 20
    random = np.random.default_rng(0)
    a, b = random.normal(size=(4, 4)).astype(np.float32), random.uniform(1, 2, size=(4, 4)).astype(np.float32)
    given = (a, b, np.array([2, 0, 3], np.int32), a > 0)
    ours = (gx, *map(gx.asarray, given))
    theirs = (jnp, *map(jnp.asarray, given))

    def duel(case: Callable[..., Any]) -> Duel:
        return Duel(
            Contender("graphc", batch(case, ours, calls), calls),
            Contender("jax.numpy", batch(case, theirs, calls), calls),
            lambda: [(case(*ours), case(*theirs))],
        )

    chosen = list(CASES.items())[:5] if quick else CASES.items()
    return {name: duel(case) for name, case in chosen}


ROWS = (Row("eager-ops", "40 eager functions, 4x4", 1.0, _duels, rounds=300),)
