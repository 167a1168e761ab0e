"""Sums of metrics over the rows of a batch, as ops: one kernel each in eager mode."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp

from graphc.compiler.ir import OPS, OpDef
from graphc.compiler.ops import infer_by_evaluation

__all__ = ["ABOVE", "ADD", "CONFUSION", "MATCHES", "RATIO", "TOTAL", "TOTAL_RATIO", "WEIGHTED"]


def _weights(weights: Any, shape: tuple[int, ...]) -> Any:
    """A weight for each element: those given are for the first axes, and may have an axis of size 1 at their end."""
    if weights is None:
        return jnp.ones(shape, jnp.float32)
    if weights.ndim == len(shape) + 1 and weights.shape[-1] == 1:
        weights = weights[..., 0]
    weights = weights.reshape((*weights.shape, *[1] * (len(shape) - weights.ndim)))
    return jnp.broadcast_to(weights.astype(jnp.float32), shape)


def _alike(labels: Any, predictions: Any) -> tuple[Any, Any]:
    """Both of one shape: an axis of size 1 at the end that only one of them has is left out."""
    short = [value.shape[:-1] if value.shape[-1:] == (1,) else None for value in (labels, predictions)]
    if predictions.shape == short[0]:
        labels = labels[..., 0]
    elif labels.shape == short[1]:
        predictions = predictions[..., 0]
    if labels.shape != predictions.shape:
        raise ValueError(f"labels have shape {labels.shape} and predictions {predictions.shape}; they must be equal")
    return labels, predictions


def _classes(labels: Any, predictions: Any) -> tuple[Any, Any]:
    """Class numbers: of labels with an axis of size 1 too much, and of predictions that are scores."""
    if predictions.ndim == labels.ndim and labels.shape[-1:] == (1,) and predictions.shape[-1] > 1:
        labels = labels[..., 0]
    if predictions.ndim == labels.ndim + 1 and predictions.shape[-1] > 1:
        predictions = jnp.argmax(predictions, axis=-1)
    return _alike(labels, predictions)


def _weighted(values: Any, weights: Any = None) -> tuple[Any, Any]:
    weights = _weights(weights, values.shape)
    return jnp.sum(values.astype(jnp.float32) * weights), jnp.sum(weights)


def _matches(labels: Any, predictions: Any, weights: Any = None, *, kind: str, threshold: float) -> tuple[Any, Any]:
    if kind == "sparse":
        labels, predictions = _classes(labels, predictions)
    elif kind == "categorical":
        labels, predictions = (jnp.argmax(value, axis=-1) for value in _alike(labels, predictions))
    else:
        labels, predictions = _alike(labels, predictions)
    if kind == "binary":
        predictions = (predictions > threshold).astype(labels.dtype)
    return _weighted(labels == predictions, weights)


def _above(labels: Any, predictions: Any, weights: Any = None, *, thresholds: tuple[float, ...]) -> tuple[Any, ...]:
    """By threshold the weight of true and of false positives, then that of all positives and of all negatives."""
    labels, predictions = _alike(labels, predictions)
    weights = _weights(weights, labels.shape).reshape(-1)
    positive = labels.reshape(-1).astype(bool)
    above = predictions.reshape(-1) > jnp.asarray(thresholds, jnp.float32)[:, None]
    true, false = jnp.where(positive, weights, 0), jnp.where(positive, 0, weights)
    both = [jnp.sum(jnp.where(above, part, 0), axis=-1) for part in (true, false)]
    return (*both, jnp.sum(true), jnp.sum(false))


def _confusion(labels: Any, predictions: Any, weights: Any = None, *, num_classes: int) -> Any:
    labels, predictions = _classes(labels, predictions)
    weights = _weights(weights, labels.shape)
    bad = (jnp.minimum(labels, predictions) < 0) | (jnp.maximum(labels, predictions) >= num_classes)
    cells = jnp.where(bad, num_classes**2, labels.astype(jnp.int32) * num_classes + predictions.astype(jnp.int32))
    counts = jnp.zeros(num_classes**2, jnp.float32).at[cells.reshape(-1)].add(weights.reshape(-1), mode="drop")
    # A class that is none must not vanish without a word: it makes everything NaN, as in the sparse cross-entropy.
    return jnp.where(jnp.any(bad), jnp.nan, counts).reshape(num_classes, num_classes)


def _add(total: Any, more: Any) -> Any:
    """Returns a sum and what rounding took from it, with another number added (Knuth's two-sum)."""
    high, low = total[0], total[1]
    new = high + more
    part = new - high
    return jnp.stack([new, low + (high - (new - part)) + (more - part)])


def _total(total: Any) -> Any:
    return total[0] + total[1]


def _ratio(above: Any, below: Any) -> Any:
    """A quotient, 0 where there is nothing to divide by."""
    return jnp.where(below > 0, above / jnp.where(below > 0, below, 1), 0)


def _total_ratio(above: Any, below: Any) -> Any:
    return _ratio(_total(above), _total(below))


def _define(name: str, impl: Callable[..., Any], params: str, doc: str) -> OpDef:
    op = OpDef(
        name, impl=impl, infer=infer_by_evaluation(impl), params=tuple(params.split()), differentiable=False, doc=doc
    )
    return OPS.add(name, op)


_ROWS = "labels predictions weights"
WEIGHTED = _define("metrics.weighted", _weighted, "values weights", "The weighted sum, and the sum of the weights.")
MATCHES = _define("metrics.matches", _matches, _ROWS, "The weight of right predictions, and the sum of the weights.")
ABOVE = _define("metrics.above", _above, _ROWS, "The weights of positives above thresholds, and of all.")
CONFUSION = _define("metrics.confusion", _confusion, _ROWS, "The weight of each pair of label and prediction.")
TOTAL = _define("metrics.total", _total, "total", "A sum, of which the rounding error is kept apart.")
RATIO = _define("metrics.ratio", _ratio, "above below", "A quotient, 0 where there is nothing to divide by.")
TOTAL_RATIO = _define("metrics.total_ratio", _total_ratio, "above below", "The quotient of two such sums.")
ADD = _define("metrics.add", _add, "total more", "A sum and its rounding error, with a number added.")
