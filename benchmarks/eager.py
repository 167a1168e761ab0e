"""Eager operators against ``jax.numpy``."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

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


ROWS = (
    Row("eager-add", "eager a + b, 4x4", 1.0, _operator(operator.add)),
    Row("eager-matmul", "eager a @ b, 4x4", 1.0, _operator(operator.matmul)),
)
