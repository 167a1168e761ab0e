"""The losses as ops: one kernel each in eager mode. They are computed in float32 at least."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

from graphc.compiler.ir import OPS, OpDef
from graphc.compiler.ops import infer_by_evaluation

__all__ = ["LOSSES", "REDUCED", "REDUCTIONS"]

REDUCTIONS = ("mean", "sum", "none", "weighted_mean")


def _wide(values: Any) -> Any:
    return values.astype(jnp.float32) if values.dtype.itemsize < 4 else values


def _examples(losses: Any) -> Any:
    return losses.mean(axis=tuple(range(1, losses.ndim)))


def _squares(labels: Any, predictions: Any) -> Any:
    return _examples(jnp.square(predictions - labels))


def _magnitudes(labels: Any, predictions: Any) -> Any:
    return _examples(jnp.abs(predictions - labels))


def _huber(labels: Any, predictions: Any, *, delta: float) -> Any:
    off = jnp.abs(predictions - labels)
    return _examples(jnp.where(off <= delta, 0.5 * jnp.square(off), delta * off - 0.5 * delta**2))


def _hinge(labels: Any, predictions: Any) -> Any:
    return _examples(jnp.maximum(1 - labels * predictions, 0))


def _binary(labels: Any, logits: Any, *, label_smoothing: float = 0.0) -> Any:
    labels = labels.astype(logits.dtype)
    labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing if label_smoothing else labels
    # -labels * log(p) - (1 - labels) * log(1 - p), without overflow for logits of either sign.
    return _examples(jnp.maximum(logits, 0) - logits * labels + jnp.log1p(jnp.exp(-jnp.abs(logits))))


def _categorical(labels: Any, logits: Any, *, label_smoothing: float = 0.0) -> Any:
    if label_smoothing:
        labels = labels * (1 - label_smoothing) + label_smoothing / logits.shape[-1]
    return -jnp.sum(labels * jax.nn.log_softmax(logits), axis=-1)


def _sparse(labels: Any, logits: Any) -> Any:
    # A negative label must not count from the end, as an index does. Past the end, it gives NaN as too large ones do.
    positions = jnp.where(labels < 0, logits.shape[-1], labels.astype(jnp.int32))
    chosen = jnp.take_along_axis(logits, positions[..., None], axis=-1, mode="fill")[..., 0]
    return jax.nn.logsumexp(logits, axis=-1) - chosen


def _reduced(losses: Any, weights: Any, reduction: str) -> Any:
    if weights is not None:
        if weights.ndim == losses.ndim + 1 and weights.shape[-1] == 1:
            weights = weights[..., 0]
        if weights.shape != losses.shape[: weights.ndim]:
            raise ValueError(f"sample_weight has shape {weights.shape}, the examples have shape {losses.shape}")
        weights = weights.astype(losses.dtype).reshape((*weights.shape, *[1] * (losses.ndim - weights.ndim)))
        losses = losses * weights
    if reduction == "none":
        return losses
    if reduction == "mean":
        return jnp.mean(losses)
    total = jnp.sum(losses)
    if reduction == "sum" or weights is None:
        return total if reduction == "sum" else jnp.mean(losses)
    weight = jnp.sum(jnp.broadcast_to(weights, losses.shape))
    return jnp.where(weight > 0, total / jnp.where(weight > 0, weight, 1), 0)


def _loss(
    labels: Any, outputs: Any, *weights: Any, examples: Callable[..., Any], reduction: str, **options: Any
) -> Any:
    losses = examples(labels, _wide(outputs), **options)
    return _reduced(losses, weights[0] if weights else None, reduction)


def _define(name: str, examples: Callable[..., Any], outputs: str, doc: str) -> OpDef:
    impl = partial(_loss, examples=examples)
    op = OpDef(
        f"losses.{name}", impl=impl, infer=infer_by_evaluation(impl), params=("labels", outputs, "*weights"), doc=doc
    )
    return OPS.add(op.name, op)


LOSSES = {
    name: _define(name, examples, outputs, doc)
    for name, examples, outputs, doc in (
        ("mean_squared_error", _squares, "predictions", "The mean of the squared differences."),
        ("mean_absolute_error", _magnitudes, "predictions", "The mean of the magnitudes of the differences."),
        ("huber", _huber, "predictions", "Squared for small differences, their magnitudes for large ones."),
        ("hinge", _hinge, "predictions", "How much labels times predictions lack to 1."),
        ("sigmoid_cross_entropy", _binary, "logits", "Cross-entropy of sigmoid(logits)."),
        ("softmax_cross_entropy", _categorical, "logits", "Cross-entropy of softmax(logits)."),
        (
            "sparse_softmax_cross_entropy",
            _sparse,
            "logits",
            "Cross-entropy of softmax(logits) for labels that are class numbers.",
        ),
    )
}


def _only_reduced(losses: Any, *weights: Any, reduction: str) -> Any:
    return _reduced(losses, weights[0] if weights else None, reduction)


REDUCED = OPS.add(
    "losses.reduced",
    OpDef(
        "losses.reduced",
        impl=_only_reduced,
        infer=infer_by_evaluation(_only_reduced),
        params=("losses", "*weights"),
        doc="The losses of examples, weighted and reduced.",
    ),
)
