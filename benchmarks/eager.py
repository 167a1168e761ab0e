"""Eager operators against ``jax.numpy``."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import graphc as gx
from benchmarks.harness import Contender, Duel, Row, batch

__all__ = ["ROWS"]


def _operator(apply: Callable[[Any, Any], Any]) -> Callable[[bool], Duel]:
    def prepare(quick: bool) -> Duel:
        calls = 10 if quick else 100
        a, b = np.random.default_rng(0).normal(size=(2, 4, 4)).astype(np.float32)
        tensors = gx.asarray(a), gx.asarray(b)
        raw = jnp.asarray(a), jnp.asarray(b)
        return Duel(
            Contender("graphc", batch(apply, tensors, calls), calls),
            Contender("jax.numpy", batch(apply, raw, calls), calls),
            lambda: [(apply(*tensors), apply(*raw))],
        )

    return prepare


def _scoped(quick: bool) -> Duel:
    calls = 10 if quick else 100
    a, b = np.random.default_rng(0).normal(size=(2, 4, 4)).astype(np.float32)
    tensors, raw = (gx.asarray(a), gx.asarray(b)), (jnp.asarray(a), jnp.asarray(b))
    place = jax.devices("cpu")[0]

    def ours(a: Any, b: Any) -> Any:
        with gx.device("cpu:0"):
            for _ in range(10):
                result = a + b
        return result

    def theirs(a: Any, b: Any) -> Any:
        with jax.default_device(place):
            for _ in range(10):
                result = a + b
        return result

    return Duel(
        Contender("graphc", batch(ours, tensors, calls // 10), calls),
        Contender("jax.numpy", batch(theirs, raw, calls // 10), calls),
        lambda: [(ours(*tensors), theirs(*raw))],
    )


def _conversions(quick: bool) -> Mapping[str, Duel]:
    """Between JAX's arrays, NumPy's, numbers, Variables and tensors."""
    calls = 10 if quick else 100
    array = np.random.default_rng(0).normal(size=(4, 4)).astype(np.float32)
    tensor, raw, variable = gx.asarray(array), jnp.asarray(array), gx.Variable(array)
    pairs: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
        "asarray of a jax.Array": (lambda: gx.asarray(raw), lambda: jnp.asarray(raw)),
        "asarray of a NumPy array": (lambda: gx.asarray(array), lambda: jnp.asarray(array)),
        "asarray of a float": (lambda: gx.asarray(2.5), lambda: jnp.asarray(2.5)),
        "asarray of a list": (lambda: gx.asarray([1.0, 2.0]), lambda: jnp.asarray([1.0, 2.0])),
        "np.asarray of a sum": (lambda: np.asarray(tensor + tensor), lambda: np.asarray(raw + raw)),
        "float of an item": (lambda: float(tensor[0, 0]), lambda: float(raw[0, 0])),
        "exp of a Variable": (lambda: gx.exp(variable), lambda: jnp.exp(raw)),
        "sum of a Variable": (lambda: variable.sum(), lambda: raw.sum()),
        "np.sin": (lambda: np.sin(tensor), lambda: jnp.sin(raw)),
    }

    def duel(ours: Callable[[], Any], theirs: Callable[[], Any]) -> Duel:
        return Duel(
            Contender("graphc", batch(ours, (), calls), calls),
            Contender("jax.numpy", batch(theirs, (), calls), calls),
            lambda: [(ours(), theirs())],
        )

    return {name: duel(*pair) for name, pair in pairs.items()}


ROWS = (
    Row("eager-add", "eager a + b, 4x4", 1.0, _operator(operator.add)),
    Row("eager-matmul", "eager a @ b, 4x4", 1.0, _operator(operator.matmul)),
    Row("eager-device", "ten eager a + b in a device scope", 1.5, _scoped),
    Row("eager-conversions", "9 conversions of and to tensors", 1.5, _conversions, rounds=300),
)
