"""Updates and results of metrics in eager code, against the same in one call of ``jax.jit``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax as _jax
import jax.numpy as _jnp
import numpy as np

import graphc as gx
from benchmarks.harness import Contender, Duel, Row, batch

__all__ = ["ROWS"]

jax: Any = _jax  # its functions are only partly annotated
jnp: Any = _jnp

_RNG = np.random.default_rng(0)
_SCORES, _LABELS = _RNG.random((32, 10)).astype(np.float32), _RNG.integers(0, 10, 32)


def _added(total: Any, more: Any) -> Any:
    """A sum and its rounding error, as metrics keep it, with a number added."""
    high, low = total[0], total[1]
    new = high + more
    part = new - high
    return jnp.stack([new, low + (high - (new - part)) + (more - part)])


def _updates(metric: gx.metrics.Metric, sums: Callable[..., Any], arrays: tuple[Any, ...], quick: bool) -> Duel:
    calls = 5 if quick else 50
    given, theirs = tuple([gx.asarray(array) for array in arrays]), tuple([jnp.asarray(array) for array in arrays])
    state = [jnp.zeros((2, *variable.shape[1:])) for variable in metric.variables]

    @jax.jit
    def step(state: Any, *arrays: Any) -> Any:
        return [_added(total, more) for total, more in zip(state, sums(*arrays), strict=True)]

    def update() -> None:
        state[:] = step(state, *theirs)

    def check() -> list[tuple[Any, Any]]:
        metric.update(*given)
        update()
        return [(metric.variables, state)]

    return Duel(
        Contender("graphc", batch(metric.update, given, calls, metric.variables), calls),
        Contender("jax.jit", batch(update, (), calls, state), calls),
        check,
    )


def _mean(quick: bool) -> Duel:
    def sums(values: Any) -> Any:
        return jnp.sum(values), jnp.float32(values.size)

    return _updates(gx.metrics.Mean(), sums, (_SCORES,), quick)


def _accuracy(quick: bool) -> Duel:
    def sums(labels: Any, scores: Any) -> Any:
        return jnp.sum((jnp.argmax(scores, -1) == labels).astype(jnp.float32)), jnp.float32(labels.size)

    return _updates(gx.metrics.SparseCategoricalAccuracy(), sums, (_LABELS, _SCORES), quick)


class _Squares(gx.metrics.Metric):
    def __init__(self) -> None:
        super().__init__(shapes={"squares": ()})

    def sums(self, values: Any) -> Any:
        return {"squares": gx.sum(values * values)}


def _own(quick: bool) -> Duel:
    def sums(values: Any) -> Any:
        return (jnp.sum(values * values),)

    return _updates(_Squares(), sums, (_SCORES,), quick)


def _result(quick: bool) -> Duel:
    calls = 5 if quick else 50
    metric = gx.metrics.Mean()
    metric.update(_SCORES)
    totals = [jnp.asarray(variable.numpy()) for variable in metric.variables]

    @jax.jit
    def ratio(above: Any, below: Any) -> Any:
        return jnp.where(below.sum() > 0, above.sum() / below.sum(), 0.0)

    return Duel(
        Contender("graphc", batch(metric.result, (), calls), calls),
        Contender("jax.jit", batch(ratio, tuple(totals), calls), calls),
        lambda: [(metric.result(), ratio(*totals))],
    )


ROWS = (
    Row("metric-mean", "Mean.update of a small batch in eager code", 2.0, _mean),
    Row("metric-accuracy", "SparseCategoricalAccuracy.update of a small batch in eager code", 2.0, _accuracy),
    Row("metric-own", "update of a metric of one's own, whose sums are two ops", 4.0, _own),
    Row("metric-result", "Mean.result in eager code", 2.0, _result),
)
