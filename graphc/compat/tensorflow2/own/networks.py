"""Compositions: losses, normalisation and other parts of networks."""

from __future__ import annotations

import math
from typing import Any

from graphc.compat.tensorflow2.own.draws import uniform
from graphc.compat.tensorflow2.own.numbers import clip_by_norm
from graphc.compat.tensorflow2.own.sequences import as_axes
from graphc.ops import functions as gx
from graphc.ops import nn

__all__ = [
    "batch_normalization",
    "crelu",
    "dropout",
    "embedding_lookup",
    "log_poisson_loss",
    "moments",
    "sigmoid_cross_entropy",
    "silu",
    "softmax_cross_entropy",
    "sparse_softmax_cross_entropy",
    "weighted_cross_entropy",
    "weighted_moments",
]


def silu(features: Any, beta: Any) -> Any:
    """The number times the sigmoid of beta times it."""
    return nn.silu(features) if beta == 1.0 else gx.multiply(features, nn.sigmoid(gx.multiply(beta, features)))


def crelu(features: Any, axis: int) -> Any:
    """The parts above zero of the tensor and of its negative, joined."""
    return nn.relu(gx.concat([features, gx.negative(features)], axis))


def batch_normalization(x: Any, mean: Any, variance: Any, offset: Any, scale: Any, variance_epsilon: Any) -> Any:
    """Shifted by a mean and scaled by a variance, then times scale plus offset."""
    factor = gx.rsqrt(gx.add(variance, variance_epsilon))
    factor = factor if scale is None else gx.multiply(factor, scale)
    shift = gx.negative(gx.multiply(mean, factor))
    return gx.add(gx.multiply(x, factor), shift if offset is None else gx.add(offset, shift))


def moments(x: Any, axes: Any, keepdims: bool) -> tuple[Any, Any]:
    """The mean and the variance over axes."""
    return nn.moments(x, as_axes(axes), keepdims)


def weighted_moments(x: Any, axes: Any, weights: Any, keepdims: bool) -> tuple[Any, Any]:
    """The mean and the variance over axes, with weights."""
    x = gx.asarray(x)
    axes = as_axes(axes)
    weights = gx.broadcast_to(gx.astype(weights, x.dtype), x.shape)
    total = gx.sum(weights, axes, keepdims=True)
    mean = gx.sum(x * weights, axes, keepdims=True) / total
    variance = gx.sum(weights * gx.square(x - mean), axes, keepdims=True) / total
    return (mean, variance) if keepdims else (gx.squeeze(mean, axes), gx.squeeze(variance, axes))


def dropout(x: Any, rate: Any, noise_shape: Any) -> Any:
    """Elements set to 0 with a probability, the others enlarged so that the mean stays."""
    x = gx.asarray(x)
    sizes = gx.shape(x)
    if noise_shape is not None:
        sizes = [have if size is None else size for size, have in zip(noise_shape, sizes, strict=True)]
    kept = gx.greater_equal(uniform(sizes, 0.0, 1.0, "float32"), rate)
    return gx.where(kept, x / gx.astype(gx.subtract(1.0, rate), x.dtype), gx.zeros_like(x))


def embedding_lookup(params: Any, ids: Any, max_norm: Any) -> Any:
    """The rows of a table, cut to a norm on demand."""
    rows = nn.embedding_lookup(params, ids)
    if max_norm is None:
        return rows
    return clip_by_norm(rows, max_norm, tuple(range(gx.ndim(ids), rows.ndim)))


def sigmoid_cross_entropy(labels: Any, logits: Any) -> Any:
    """The cross-entropy of sigmoid(logits) for labels between 0 and 1, without overflow."""
    return gx.add(gx.multiply(gx.subtract(1, labels), logits), nn.softplus(gx.negative(logits)))


def weighted_cross_entropy(labels: Any, logits: Any, pos_weight: Any) -> Any:
    """As sigmoid_cross_entropy, the positive labels' part times pos_weight."""
    weight = gx.add(1, gx.multiply(gx.subtract(pos_weight, 1), labels))
    return gx.add(gx.multiply(gx.subtract(1, labels), logits), gx.multiply(weight, nn.softplus(gx.negative(logits))))


def softmax_cross_entropy(labels: Any, logits: Any, axis: int) -> Any:
    """The cross-entropy of softmax(logits) for labels that are probabilities."""
    return gx.negative(gx.sum(gx.multiply(labels, nn.log_softmax(logits, axis)), axis))


def sparse_softmax_cross_entropy(labels: Any, logits: Any) -> Any:
    """The cross-entropy of softmax(logits) for labels that are numbers of classes."""
    chosen = gx.take_along_axis(nn.log_softmax(logits), gx.expand_dims(labels, -1), -1)
    return gx.negative(gx.squeeze(chosen, -1))


def log_poisson_loss(targets: Any, log_input: Any, compute_full_loss: bool) -> Any:
    """The negative log-likelihood of Poisson's distribution, with Stirling's term on demand."""
    targets = gx.asarray(targets)
    loss = gx.subtract(gx.exp(log_input), gx.multiply(log_input, targets))
    if not compute_full_loss:
        return loss
    large = targets > 1
    safe = gx.where(large, targets, 1)
    stirling = safe * gx.log(safe) - safe + 0.5 * gx.log(2.0 * math.pi * safe)
    return loss + gx.where(large, stirling, 0)
