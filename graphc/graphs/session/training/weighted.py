"""Losses of TensorFlow 1: with weights, taken together, and noted in a collection of the graph.

They compute with graphc's own functions; the formulas are those of ``tf.losses``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphc.compiler.ops import functions as gx
from graphc.compiler.ops import nn
from graphc.graphs.refusals import user_error
from graphc.graphs.session.graphs.control_flow import convert_to_tensor
from graphc.graphs.session.graphs.graph import default_graph
from graphc.graphs.session.graphs.naming import GraphKeys


class Reduction:
    """The ways to reduce the losses of elements to one."""

    NONE = "none"
    SUM = "weighted_sum"
    SUM_OVER_BATCH_SIZE = "weighted_sum_over_batch_size"
    MEAN = "weighted_mean"
    SUM_OVER_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"
    SUM_BY_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"

    @classmethod
    def all(cls) -> tuple[str, ...]:
        """Returns all reductions."""
        return tuple(REDUCTIONS)


def _or_zero(total: Any, count: Any) -> Any:
    """Returns a quotient, 0 where there is nothing to divide by."""
    nothing = gx.equal(count, 0)
    return gx.where(nothing, gx.zeros_like(total), gx.divide(total, gx.where(nothing, gx.ones_like(count), count)))


def _everywhere(weights: Any, losses: Any) -> Any:
    return gx.multiply(weights, gx.ones_like(losses))


REDUCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "none": lambda weighted, weights: weighted,
    "weighted_sum": lambda weighted, weights: gx.sum(weighted),
    "weighted_sum_over_batch_size": lambda weighted, weights: gx.mean(weighted),
    "weighted_mean": lambda weighted, weights: _or_zero(gx.sum(weighted), gx.sum(_everywhere(weights, weighted))),
    "weighted_sum_by_nonzero_weights": lambda weighted, weights: _or_zero(
        gx.sum(weighted), gx.sum(gx.astype(gx.not_equal(_everywhere(weights, weighted), 0), weighted.dtype))
    ),
}
"""Functions that reduce weighted losses to one, by name."""


def add_loss(loss: Any, loss_collection: str | None = GraphKeys.LOSSES) -> None:
    """Notes a loss in a collection of the graph; None for none."""
    if loss_collection:
        default_graph().add_to_collection(loss_collection, loss)


def get_losses(scope: str | None = None, loss_collection: str = GraphKeys.LOSSES) -> list[Any]:
    """Returns the losses of a collection of the graph."""
    return default_graph().get_collection(loss_collection, scope)


def get_regularization_losses(scope: str | None = None) -> list[Any]:
    """Returns the losses that regularizers of Variables give."""
    return default_graph().get_collection(GraphKeys.REGULARIZATION_LOSSES, scope)


def get_regularization_loss(scope: str | None = None) -> Any:
    """Returns the sum of the losses that regularizers of Variables give; 0 if there are none."""
    losses = get_regularization_losses(scope)
    return _total(losses) if losses else gx.asarray(0.0)


def get_total_loss(add_regularization_losses: bool = True, scope: str | None = None) -> Any:
    """Returns the sum of all losses that are noted in the graph."""
    losses = [*get_losses(scope), *(get_regularization_losses(scope) if add_regularization_losses else ())]
    if not losses:
        raise user_error("losses.get_total_loss: the graph has no losses")
    return _total(losses)


def _total(losses: list[Any]) -> Any:
    return sum(losses[1:], losses[0])


def compute_weighted_loss(
    losses: Any, weights: Any = 1.0, loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Any:  # fmt: skip
    """Returns losses of elements taken together, and notes the result.

    Args:
      weights: the factors: a number, or a tensor with 1 or the same size along each axis.
    """
    if reduction not in REDUCTIONS:
        names = ", ".join(map(repr, REDUCTIONS))
        raise user_error(f"losses: there is no reduction {reduction!r}; there are {names}")
    values, kind = convert_to_tensor(losses), None
    if values.dtype.name in ("float16", "bfloat16"):
        values, kind = gx.astype(values, "float32"), values.dtype
    factors = gx.astype(convert_to_tensor(weights), values.dtype)
    if factors.ndim not in (0, values.ndim):
        raise user_error(
            f"losses: the weights have {factors.ndim} axes and the losses {values.ndim}; weights are a number, or have "
            "the axes of the losses, of size 1 where they are shared"
        )
    total = REDUCTIONS[reduction](gx.multiply(values, factors), factors)
    total = total if kind is None else gx.astype(total, kind)
    add_loss(total, loss_collection)
    return total


def _pair(labels: Any, predictions: Any) -> tuple[Any, Any]:
    """Returns labels and predictions as floats of one shape."""
    guessed = convert_to_tensor(predictions)
    guessed = (
        guessed if guessed.dtype.kind in "fV" or guessed.dtype.name == "bfloat16" else gx.astype(guessed, "float32")
    )
    targets = gx.astype(convert_to_tensor(labels), guessed.dtype)
    sizes: tuple[Any, Any] = (targets.shape, guessed.shape)
    if len(sizes[0]) != len(sizes[1]) or any(
        None not in pair and pair[0] != pair[1] for pair in zip(*sizes, strict=True)
    ):
        raise user_error(f"losses: labels have the shape {sizes[0]}, predictions {sizes[1]}; reshape one of them")
    return targets, guessed


def absolute_difference(labels: Any, predictions: Any) -> Any:
    """Returns how far predictions are from labels."""
    targets, guessed = _pair(labels, predictions)
    return gx.abs(guessed - targets)


def mean_squared_error(labels: Any, predictions: Any) -> Any:
    """Returns the squares of how far predictions are from labels."""
    targets, guessed = _pair(labels, predictions)
    return gx.square(guessed - targets)


def sigmoid_cross_entropy(labels: Any, logits: Any, label_smoothing: float) -> Any:
    """Returns the cross-entropy of sigmoid(logits) for labels of 0 and 1, which smoothing moves towards a half."""
    targets, guessed = _pair(labels, logits)
    if label_smoothing:
        targets = targets * (1.0 - label_smoothing) + 0.5 * label_smoothing
    return (1.0 - targets) * guessed + nn.softplus(-guessed)


def softmax_cross_entropy(labels: Any, logits: Any, label_smoothing: float) -> Any:
    """Returns the cross-entropy of softmax(logits), which smoothing moves towards equal probabilities."""
    targets, guessed = _pair(labels, logits)
    if label_smoothing:
        targets = targets * (1.0 - label_smoothing) + label_smoothing / guessed.shape[-1]
    return -gx.sum(targets * nn.log_softmax(guessed, -1), -1)


def sparse_softmax_cross_entropy(labels: Any, logits: Any) -> Any:
    """Returns the cross-entropy of softmax(logits) for labels that are numbers of classes."""
    guessed, targets = convert_to_tensor(logits), convert_to_tensor(labels)
    indices = targets if targets.ndim == guessed.ndim else gx.expand_dims(targets, -1)
    return -gx.squeeze(gx.take_along_axis(nn.log_softmax(guessed, -1), indices, -1), -1)
