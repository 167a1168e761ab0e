"""The losses: for regression and for classification."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import jax
import jax.numpy as jnp

from graphc.compiler.base.errors import GraphcError, InvalidArgumentError, InvalidTypeError
from graphc.compiler.core import ArrayLike, Tensor, apply, shorten
from graphc.compiler.ir import OPS, Attrs, OpDef, define_op
from graphc.compiler.ops import as_numbers, infer_by_evaluation

# The losses as ops: one kernel each in eager mode. They are computed in float32 at least.

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


REDUCED = define_op(
    "losses.reduced",
    impl=_only_reduced,
    infer=infer_by_evaluation(_only_reduced),
    params=("losses", "*weights"),
    doc="The losses of examples, weighted and reduced.",
)


Reduction = Literal["mean", "sum", "none", "weighted_mean"]


def mean_squared_error(
    labels: ArrayLike, predictions: ArrayLike, *, sample_weight: ArrayLike | None = None, reduction: Reduction = "mean"
) -> Tensor:
    """Computes the mean of the squared differences.

    Args:
      labels: what the predictions should be.
      predictions: of exactly the shape of ``labels`` (nothing is broadcast) and a floating dtype. The first axis is the
        batch.
      sample_weight: a weight for each example; 1 when None.
      reduction: ``"mean"`` or ``"sum"`` over the batch, or ``"none"`` for one number for each example. The mean counts
        examples, whatever their weights; ``"weighted_mean"`` divides by the sum of the weights.

    Raises:
      InvalidArgumentError: the shapes differ, or there is no such reduction.
      InvalidTypeError: ``predictions`` is not of a floating dtype.

    Example:
      >>> import graphc as gx
      >>> gx.losses.mean_squared_error([[1.0, 2.0]], [[1.0, 4.0]]).item()
      2.0
    """
    return _regression("mean_squared_error", labels, predictions, sample_weight, reduction)


def mean_absolute_error(
    labels: ArrayLike, predictions: ArrayLike, *, sample_weight: ArrayLike | None = None, reduction: Reduction = "mean"
) -> Tensor:
    """Computes the mean of the magnitudes of the differences.

    Args:
      labels: what the predictions should be.
      predictions: of exactly the shape of ``labels`` and a floating dtype. The first axis is the batch.
      sample_weight: a weight for each example; 1 when None.
      reduction: ``"mean"``, ``"sum"``, ``"weighted_mean"`` or ``"none"``, as for :func:`mean_squared_error`.

    Raises:
      InvalidArgumentError: the shapes differ, or there is no such reduction.
      InvalidTypeError: ``predictions`` is not of a floating dtype.

    Example:
      >>> import graphc as gx
      >>> gx.losses.mean_absolute_error([[1.0, 2.0]], [[1.0, 4.0]]).item()
      1.0
    """
    return _regression("mean_absolute_error", labels, predictions, sample_weight, reduction)


def huber(
    labels: ArrayLike,
    predictions: ArrayLike,
    delta: float = 1.0,
    *,
    sample_weight: ArrayLike | None = None,
    reduction: Reduction = "mean",
) -> Tensor:
    """Computes half the squared difference up to ``delta``, linear beyond: outliers count less (Huber, 1964).

    Args:
      labels: what the predictions should be.
      predictions: of exactly the shape of ``labels`` and a floating dtype. The first axis is the batch.
      delta: where the loss becomes linear.
      sample_weight: a weight for each example; 1 when None.
      reduction: ``"mean"``, ``"sum"``, ``"weighted_mean"`` or ``"none"``, as for :func:`mean_squared_error`.

    Raises:
      InvalidArgumentError: the shapes differ, ``delta`` is not above zero, or there is no such reduction.
      InvalidTypeError: ``predictions`` is not of a floating dtype.

    Example:
      >>> import graphc as gx
      >>> gx.losses.huber([1.0, 2.0], [1.5, 5.0], reduction="none").tolist()
      [0.125, 2.5]
    """
    if isinstance(delta, bool) or not isinstance(delta, int | float) or not delta > 0:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise _error(InvalidArgumentError, f"huber: delta must be a number above zero, got {delta!r:.60}")
    return _regression("huber", labels, predictions, sample_weight, reduction, delta=float(delta))


def hinge(
    labels: ArrayLike, predictions: ArrayLike, *, sample_weight: ArrayLike | None = None, reduction: Reduction = "mean"
) -> Tensor:
    """Computes how much a prediction's sign misses its label by: ``max(1 - labels * predictions, 0)``.

    Args:
      labels: 1 and -1.
      predictions: of exactly the shape of ``labels`` and a floating dtype. The first axis is the batch.
      sample_weight: a weight for each example; 1 when None.
      reduction: ``"mean"``, ``"sum"``, ``"weighted_mean"`` or ``"none"``, as for :func:`mean_squared_error`.

    Raises:
      InvalidArgumentError: the shapes differ, or there is no such reduction.
      InvalidTypeError: ``predictions`` is not of a floating dtype.

    Example:
      >>> import graphc as gx
      >>> gx.losses.hinge([1.0, -1.0], [0.5, 0.5], reduction="none").tolist()
      [0.5, 1.5]
    """
    return _regression("hinge", labels, predictions, sample_weight, reduction)


def sigmoid_cross_entropy(
    labels: ArrayLike,
    logits: ArrayLike,
    *,
    label_smoothing: float = 0.0,
    sample_weight: ArrayLike | None = None,
    reduction: Reduction = "mean",
) -> Tensor:
    """Computes the cross-entropy between probabilities and ``sigmoid(logits)``, without overflow.

    Args:
      labels: probabilities, such as 0 and 1; of the shape of ``logits``. Several for each example are independent.
      logits: unnormalised log-odds of a floating dtype. The first axis is the batch.
      label_smoothing: how far labels are drawn towards one half, from 0 to 1.
      sample_weight: a weight for each example; 1 when None.
      reduction: ``"mean"``, ``"sum"``, ``"weighted_mean"`` or ``"none"``, as for :func:`mean_squared_error`.

    Raises:
      InvalidArgumentError: the shapes differ, ``label_smoothing`` is out of range, or there is no such reduction.
      InvalidTypeError: ``logits`` is not of a floating dtype.

    Example:
      >>> import graphc as gx
      >>> f"{gx.losses.sigmoid_cross_entropy([1, 0], [0.0, 0.0]).item():.4f}"
      '0.6931'
    """
    options = _smoothing("sigmoid_cross_entropy", label_smoothing)
    return _regression("sigmoid_cross_entropy", labels, logits, sample_weight, reduction, name="logits", **options)


def softmax_cross_entropy(
    labels: ArrayLike,
    logits: ArrayLike,
    *,
    label_smoothing: float = 0.0,
    sample_weight: ArrayLike | None = None,
    reduction: Reduction = "mean",
) -> Tensor:
    """Computes the cross-entropy between class probabilities and ``softmax(logits)``, without overflow.

    Args:
      labels: the probability of each class, such as one-hot rows; of the shape of ``logits``.
      logits: unnormalised log-probabilities of a floating dtype; the classes lie along the last axis.
      label_smoothing: how much of each label is spread over all classes, from 0 to 1 (Szegedy and others, 2016).
      sample_weight: a weight for each example; 1 when None.
      reduction: ``"mean"``, ``"sum"``, ``"weighted_mean"`` or ``"none"``, as for :func:`mean_squared_error`.

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
    options = _smoothing("softmax_cross_entropy", label_smoothing)
    return _apply("softmax_cross_entropy", label, logit, sample_weight, reduction=reduction, **options)


def sparse_softmax_cross_entropy(
    labels: ArrayLike, logits: ArrayLike, *, sample_weight: ArrayLike | None = None, reduction: Reduction = "mean"
) -> Tensor:
    """Computes the cross-entropy of ``softmax(logits)``, without overflow, for labels that are class numbers.

    Args:
      labels: integers from 0; the shape is that of ``logits`` without the last axis. A label that names no class gives
        NaN.
      logits: unnormalised log-probabilities of a floating dtype; the classes lie along the last axis.
      sample_weight: a weight for each example; 1 when None.
      reduction: ``"mean"``, ``"sum"``, ``"weighted_mean"`` or ``"none"``, as for :func:`mean_squared_error`.

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
    return _apply("sparse_softmax_cross_entropy", label, logit, sample_weight, reduction=reduction)


def _regression(
    loss: str, labels: Any, predictions: Any, weight: Any, reduction: str, *, name: str = "predictions", **options: Any
) -> Tensor:
    """Returns a loss of labels and predictions of one shape."""
    try:
        label, prediction = _arguments(loss, labels, predictions, name, reduction)
        if label.shape != prediction.shape:
            raise _error(
                InvalidArgumentError,
                f"{loss}: labels have shape {label.shape} and {name} {prediction.shape}; they must be "
                "equal, since broadcasting would average over pairs that do not belong together; use gx.reshape",
            )
        return _apply(loss, label, prediction, weight, reduction=reduction, **options)
    except Exception as error:
        shorten(error)
        raise


def _apply(loss: str, labels: Tensor, outputs: Tensor, weight: Any, **attrs: Any) -> Tensor:
    weights = () if weight is None else (_tensor(loss, "sample_weight", weight),)
    try:
        return apply(LOSSES[loss], (labels, outputs, *weights), Attrs(**attrs))
    except Exception as error:
        shorten(error)
        raise


def reduced(loss: str, losses: Any, weight: Any, reduction: str) -> Tensor:
    """Weights and reduces the losses of examples that a loss of the user's gives."""
    weights = () if weight is None else (_tensor(loss, "sample_weight", weight),)
    return apply(REDUCED, (_tensor(loss, "what call returns", losses), *weights), Attrs(reduction=reduction))


def _smoothing(loss: str, value: Any) -> dict[str, float]:
    """Returns the attribute for a smoothing of labels; none where there is none."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise _error(InvalidArgumentError, f"{loss}: label_smoothing must be a number from 0 to 1, got {value!r:.60}")
    return {"label_smoothing": float(value)} if value else {}


def _arguments(loss: str, labels: Any, outputs: Any, name: str, reduction: str) -> tuple[Tensor, Tensor]:
    """Both arguments as tensors, once what all losses ask of them has been checked."""
    if reduction not in REDUCTIONS:
        raise _error(
            InvalidArgumentError,
            f"{loss}: reduction must be one of {', '.join(map(repr, REDUCTIONS))}, got {reduction!r}",
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
    return kind(message).here()
