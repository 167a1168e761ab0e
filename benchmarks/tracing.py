"""Making a program from a function: time against JAX, and time against the number of operations."""

from __future__ import annotations

import gc
from collections.abc import Callable
from types import ModuleType
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np

import graphc as gx
from benchmarks.harness import Contender, Duel, Row, Sample

__all__ = ["ROWS"]

_OPS_PER_ITEM = 4


def _chain(library: ModuleType, num_ops: int) -> Callable[[Any], Any]:
    """A new function of ``num_ops`` operations in a row; a loop over a tuple is unrolled by graphc as by JAX."""
    items = (None,) * (num_ops // _OPS_PER_ITEM)

    def function(x: Any) -> Any:
        for _ in items:
            x = library.sin(x * 0.9 + 0.1) - x
        return x

    return function


def _graphc(num_ops: int, until: Literal["trace", "lower"]) -> Callable[[], Sample]:
    x = gx.ones((8,))

    def fresh() -> Sample:
        function = gx.function(_chain(gx, num_ops))
        gc.collect()
        return (lambda: function.trace(x)) if until == "trace" else (lambda: function.lower(x))

    return fresh


def _jax(num_ops: int) -> Callable[[], Sample]:
    x = jnp.ones((8,))

    def fresh() -> Sample:
        function = jax.jit(_chain(jnp, num_ops))
        gc.collect()
        return lambda: function.lower(x)

    return fresh


def _values(num_ops: int) -> tuple[Any, Any]:
    given = np.linspace(-1, 1, 8, dtype=np.float32)
    return gx.function(_chain(gx, num_ops))(gx.asarray(given)), jax.jit(_chain(jnp, num_ops))(given)


def _against_jax(quick: bool) -> Duel:
    num_ops = 40 if quick else 4000
    return Duel(
        Contender("graphc, trace and lower", _graphc(num_ops, "lower"), num_ops),
        Contender("jax.jit, trace and lower", _jax(num_ops), num_ops),
        lambda: [_values(num_ops)],
    )


def _linearity(until: Literal["trace", "lower"]) -> Callable[[bool], Duel]:
    def prepare(quick: bool) -> Duel:
        few, many = (40, 80) if quick else (4000, 50_000)
        return Duel(
            Contender(f"graphc, {many:,} ops", _graphc(many, until), many),
            Contender(f"graphc, {few:,} ops", _graphc(few, until), few),
            lambda: [_values(few)],
        )

    return prepare


ROWS = (
    Row("trace-4000", "4,000 ops, traced and lowered, per op", 3.0, _against_jax, rounds=20),
    Row("trace-linear", "50,000 ops against 4,000, traced, per op", 1.25, _linearity("trace"), rounds=5),
    Row("lower-linear", "50,000 ops against 4,000, traced and lowered, per op", 1.25, _linearity("lower"), rounds=5),
)
