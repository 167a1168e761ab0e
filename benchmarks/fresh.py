"""The first eager call of a function with a new shape: tracing, compiling and one run, against ``jax.numpy``."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import jax.numpy as jnp
import numpy as np

import graphc as gx
from benchmarks.harness import Contender, Duel, Row, Sample, arrays

__all__ = ["ROWS"]

# Of the namespace and a matrix.
_CASES: tuple[Callable[[Any, Any], Any], ...] = (
    lambda xp, a: a + a,
    lambda xp, a: a * 2.0,
    lambda xp, a: xp.exp(a),
    lambda xp, a: xp.maximum(a, 0.0),
    lambda xp, a: xp.sum(a, axis=0),
    lambda xp, a: xp.mean(a),
    lambda xp, a: xp.matmul(a, a),
    lambda xp, a: xp.reshape(a, (-1,)),
    lambda xp, a: xp.concat([a, a]),
    lambda xp, a: a[1:],
)


def _first_calls(quick: bool) -> Duel:
    cases = _CASES[:2] if quick else _CASES
    sizes = itertools.count(5)

    def contender(label: str, xp: Any, sizes: Iterator[int]) -> Contender:
        def fresh() -> Sample:
            size = next(sizes)  # of its own for each side: JAX keeps what both use, such as the inner functions
            a = xp.asarray(np.ones((size, size), np.float32))

            def sample() -> None:
                for case in cases:
                    for array in arrays(case(xp, a)):
                        array.block_until_ready()

            return sample

        return Contender(label, fresh, len(cases))

    ones = np.ones((4, 4), np.float32)
    return Duel(
        contender("graphc", gx, sizes),
        contender("jax.numpy", jnp, sizes),
        lambda: [(case(gx, gx.asarray(ones)), case(jnp, jnp.asarray(ones))) for case in cases],
    )


ROWS = (Row("eager-fresh", "first call with a new shape, 10 functions", 1.2, _first_calls, rounds=15),)
