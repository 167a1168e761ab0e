"""The losses: one for regression, two for classification."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import jax
import jax.numpy as jnp

from graphc.base import at, user_location
from graphc.base.errors import GraphcError, InvalidArgumentError, InvalidTypeError
from graphc.core import ArrayLike, Tensor, apply
from graphc.ir import OPS, Attrs, OpDef
from graphc.ops import as_numbers, infer_by_evaluation

__all__ = ["mean_squared_error", "softmax_cross_entropy", "sparse_softmax_cross_entropy"]

Reduction = Literal["mean", "sum", "none"]

_REDUCTIONS: dict[str, Callable[[jax.Array], jax.Array]] = {"mean": jnp.mean, "sum": jnp.sum, "none": jnp.asarray}


def _squares(labels: Any, predictions: Any, *, reduction: str) -> jax.Array:
    squares = jnp.square(predictions - labels)
    if reduction == "mean":  # all examples have the same size, so that it is the mean of their means
        return jnp.mean(squares)
    return _REDUCTIONS[reduction](squares.mean(axis=tuple(range(1, squares.ndim))))


def _cross_entropy(labels: Any, logits: Any, *, reduction: str) -> jax.Array:
    return _REDUCTIONS[reduction](-jnp.sum(labels * jax.nn.log_softmax(logits), axis=-1))


def _sparse_cross_entropy(labels: Any, logits: Any, *, reduction: str) -> jax.Array:
    # A negative label must not count from the end, as an index does. Past the end, it gives NaN as too large ones do.
    positions = jnp.where(labels < 0, logits.shape[-1], labels.astype(jnp.int32))
    chosen = jnp.take_along_axis(logits, positions[..., None], axis=-1, mode="fill")[..., 0]
    return _REDUCTIONS[reduction](jax.nn.logsumexp(logits, axis=-1) - chosen)


def _define(name: str, impl: Callable[..., Any], params: tuple[str, str], doc: str) -> OpDef:
    return OPS.add(name, OpDef(name, impl=impl, infer=infer_by_evaluation(impl), params=params, doc=doc))


_MEAN_SQUARED_ERROR = _define(
    "losses.mean_squared_error", _squares, ("labels", "predictions"), "The mean of the squared differences."
)
_SOFTMAX_CROSS_ENTROPY = _define(
    "losses.softmax_cross_entropy", _cross_entropy, ("labels", "logits"), "Cross-entropy of softmax(logits)."
)
_SPARSE_SOFTMAX_CROSS_ENTROPY = _define(
    "losses.sparse_softmax_cross_entropy",
    _sparse_cross_entropy,
    ("labels", "logits"),
    "Cross-entropy of softmax(logits) for labels that are class numbers.",
)


def mean_squared_error(labels: ArrayLike, predictions: ArrayLike, *, reduction: Reduction = "mean") -> Tensor:
    """The mean of the squared differences.

    Args:
      labels: what the predictions should be.
      predictions: of exactly the shape of ``labels`` (nothing is broadcast) and a floating dtype. The first axis is the
        batch.
      reduction: ``"mean"`` or ``"sum"`` over the batch, or ``"none"`` for one number for each example.

    Raises:
      InvalidArgumentError: the shapes differ, or there is no such reduction.
      InvalidTypeError: ``predictions`` is not of a floating dtype.

    Example:
      >>> import graphc as gx
      >>> gx.losses.mean_squared_error([[1.0, 2.0]], [[1.0, 4.0]]).item()
      2.0
    """
    label, prediction = _arguments("mean_squared_error", labels, predictions, "predictions", reduction)
    if label.shape != prediction.shape:
        raise _error(
            InvalidArgumentError,
            f"mean_squared_error: labels have shape {label.shape} and predictions {prediction.shape}; they must be "
            "equal, since broadcasting would average over pairs that do not belong together; use gx.reshape",
        )
    return apply(_MEAN_SQUARED_ERROR, (label, prediction), Attrs(reduction=reduction))


def softmax_cross_entropy(labels: ArrayLike, logits: ArrayLike, *, reduction: Reduction = "mean") -> Tensor:
    """The cross-entropy between class probabilities and ``softmax(logits)``, computed without overflow.

    Args:
      labels: the probability of each class, such as one-hot rows; of the shape of ``logits``.
      logits: unnormalised log-probabilities of a floating dtype; the classes lie along the last axis.
      reduction: ``"mean"`` or ``"sum"`` over all examples, or ``"none"`` for one number for each example.

    Raises:
      InvalidArgumentError: the shapes differ, there are no classes, or there is no such reduction.
      InvalidTypeError: ``logits`` is not of a floating dtype.

    Example:
      >>> import graphc as gx
      >>> loss = gx.losses.softmax_cross_entropy([[0.0, 1.0]], [[0.0, 0.0]])
      >>> f"{loss.item():.4f}"
      '0.6931'
    """
    label, logit = _arguments("softmax_cross_entropy", labels, logits, "logits", reduction)
    _check_classes("softmax_cross_entropy", logit)
    if label.shape != logit.shape:
        raise _error(
            InvalidArgumentError,
            f"softmax_cross_entropy: labels have shape {label.shape} and logits {logit.shape}; they must be equal, "
            "with one probability for each class; for labels that are class numbers use sparse_softmax_cross_entropy",
        )
    return apply(_SOFTMAX_CROSS_ENTROPY, (label, logit), Attrs(reduction=reduction))


def sparse_softmax_cross_entropy(labels: ArrayLike, logits: ArrayLike, *, reduction: Reduction = "mean") -> Tensor:
    """The cross-entropy of ``softmax(logits)`` where each label is the number of a class, computed without overflow.

    Args:
      labels: integers from 0; the shape is that of ``logits`` without the last axis. A label that names no class gives
        NaN.
      logits: unnormalised log-probabilities of a floating dtype; the classes lie along the last axis.
      reduction: ``"mean"`` or ``"sum"`` over all examples, or ``"none"`` for one number for each example.

    Raises:
      InvalidArgumentError: the shapes do not fit, there are no classes, or there is no such reduction.
      InvalidTypeError: ``labels`` are no integers, or ``logits`` is not of a floating dtype.

    Example:
      >>> import graphc as gx
      >>> loss = gx.losses.sparse_softmax_cross_entropy([1], [[0.0, 0.0]])
      >>> f"{loss.item():.4f}"
      '0.6931'
    """
    label, logit = _arguments("sparse_softmax_cross_entropy", labels, logits, "logits", reduction)
    _check_classes("sparse_softmax_cross_entropy", logit)
    if label.dtype.kind not in "iu":
        raise _error(
            InvalidTypeError,
            f"sparse_softmax_cross_entropy: labels are {label.type}, integers are expected; convert them with "
            "gx.astype(labels, 'int32'), or pass probabilities to softmax_cross_entropy",
        )
    if label.shape != logit.shape[:-1]:
        raise _error(
            InvalidArgumentError,
            f"sparse_softmax_cross_entropy: labels have shape {label.shape}, shape {logit.shape[:-1]} is expected for "
            f"logits of shape {logit.shape}: one class number for each row of logits",
        )
    return apply(_SPARSE_SOFTMAX_CROSS_ENTROPY, (label, logit), Attrs(reduction=reduction))


def _arguments(loss: str, labels: Any, outputs: Any, name: str, reduction: str) -> tuple[Tensor, Tensor]:
    """Both arguments as tensors, once what all losses ask of them has been checked."""
    if reduction not in _REDUCTIONS:
        raise _error(
            InvalidArgumentError,
            f"{loss}: reduction must be one of {', '.join(map(repr, _REDUCTIONS))}, got {reduction!r}",
        )
    label, output = _tensor(loss, "labels", labels), _tensor(loss, name, outputs)
    if not output.type.is_inexact:
        raise _error(InvalidTypeError, f"{loss}: {name} must have a floating dtype, got {output.type}")
    return label, output


def _tensor(loss: str, name: str, value: Any) -> Tensor:
    try:
        return as_numbers(value)
    except GraphcError as error:
        error.args = (f"{loss}: {name}: {error.args[0]}",)
        raise


def _check_classes(loss: str, logits: Tensor) -> None:
    if not logits.shape or not logits.shape[-1]:
        raise _error(
            InvalidArgumentError, f"{loss}: logits need a last axis of at least one class, got shape {logits.shape}"
        )


def _error(kind: type[InvalidArgumentError], message: str) -> InvalidArgumentError:
    return at(kind(message), user_location())
