"""Losses as objects, as Keras has them: made once with their settings, and called with labels and predictions."""

from __future__ import annotations

from typing import Any

from graphc.base import at, user_location
from graphc.base.errors import InvalidArgumentError, UnimplementedError
from graphc.core import ArrayLike, Tensor
from graphc.losses.losses import mean_squared_error, softmax_cross_entropy, sparse_softmax_cross_entropy
from graphc.ops import as_numbers, clip, log, squeeze
from graphc.ops import mean as mean_of

__all__ = ["CategoricalCrossentropy", "Loss", "MeanSquaredError", "SparseCategoricalCrossentropy"]

_REDUCTIONS: dict[Any, Any] = {
    "sum_over_batch_size": "mean",
    "mean": "mean",
    "sum": "sum",
    "none": "none",
    None: "none",
}
_SMALLEST = 1e-7
"""Probabilities are kept this far from 0, so that their logarithms are finite."""


class Loss:
    """What a prediction costs. Derive from it and override :meth:`call` to write a loss.

    Args:
      name: for people.
      reduction: ``"sum_over_batch_size"`` or ``"mean"`` for the mean over the batch, ``"sum"``, or ``"none"`` for one
        number for each example.

    Raises:
      InvalidArgumentError: there is no such reduction.

    Example:
      >>> import graphc as gx
      >>> class Hinge(gx.losses.Loss):
      ...     def call(self, y_true, y_pred):
      ...         return gx.mean(gx.maximum(1.0 - y_true * y_pred, 0.0), -1)
      >>> Hinge()([[1.0], [-1.0]], [[0.5], [0.5]]).item()
      1.0
    """

    def __init__(self, name: str | None = None, reduction: str | None = "sum_over_batch_size") -> None:
        if reduction not in _REDUCTIONS:
            known = ", ".join(map(repr, _REDUCTIONS))
            error = InvalidArgumentError(
                f"{type(self).__name__}: reduction must be one of {known}, got {reduction!r:.60}"
            )
            raise at(error, user_location())
        self.reduction: str = _REDUCTIONS[reduction]
        self.name = type(self).__name__.lower() if name is None else name

    def call(self, y_true: Any, y_pred: Any) -> Any:
        """Computes one number for each example; subclasses override it."""
        kind = type(self).__name__
        error = UnimplementedError(f"{kind} is a Loss without a call method; write {kind}.call(self, y_true, y_pred)")
        raise at(error, user_location())

    def __call__(self, y_true: ArrayLike, y_pred: ArrayLike) -> Tensor:
        """Computes the loss.

        Args:
          y_true: the labels.
          y_pred: the predictions. Where one of the two has an axis of size 1 more, at the end, it is left out.
        """
        labels, predictions = _alike(as_numbers(y_true), as_numbers(y_pred))
        costs = self.call(labels, predictions)
        return mean_of(costs) if self.reduction == "mean" else costs.sum() if self.reduction == "sum" else costs


class MeanSquaredError(Loss):
    """The mean of the squared differences; see :func:`graphc.losses.mean_squared_error`.

    Args:
      reduction: as for :class:`Loss`.
      name: for people.

    Example:
      >>> import graphc as gx
      >>> gx.losses.MeanSquaredError()([1.0, 2.0], [[1.0], [4.0]]).item()
      2.0
    """

    def __init__(self, reduction: str | None = "sum_over_batch_size", name: str | None = None) -> None:
        super().__init__(name, reduction)

    def call(self, y_true: Any, y_pred: Any) -> Any:
        """Returns the mean of each example's squared differences."""
        return mean_squared_error(y_true, y_pred, reduction="none")


class _CrossEntropy(Loss):
    """A cross-entropy of logits or of probabilities."""

    def __init__(
        self, from_logits: bool = False, *, reduction: str | None = "sum_over_batch_size", name: str | None = None
    ) -> None:
        super().__init__(name, reduction)
        self.from_logits = from_logits

    def _logits(self, y_pred: Any) -> Any:
        if self.from_logits:
            return y_pred
        shares = y_pred / y_pred.sum(-1, keepdims=True)
        return log(clip(shares, _SMALLEST, 1.0 - _SMALLEST))


class CategoricalCrossentropy(_CrossEntropy):
    """The cross-entropy between class probabilities and predictions; see :func:`graphc.losses.softmax_cross_entropy`.

    Args:
      from_logits: whether predictions are unnormalised log-probabilities, or else probabilities.
      reduction: as for :class:`Loss`.
      name: for people.

    Example:
      >>> import graphc as gx
      >>> loss = gx.losses.CategoricalCrossentropy(from_logits=True)([[0.0, 1.0]], [[0.0, 0.0]])
      >>> f"{loss.item():.4f}"
      '0.6931'
    """

    def call(self, y_true: Any, y_pred: Any) -> Any:
        """Returns the cross-entropy of each example."""
        return softmax_cross_entropy(y_true, self._logits(y_pred), reduction="none")


class SparseCategoricalCrossentropy(_CrossEntropy):
    """The cross-entropy where labels are class numbers; see :func:`graphc.losses.sparse_softmax_cross_entropy`.

    Args:
      from_logits: whether predictions are unnormalised log-probabilities, or else probabilities.
      reduction: as for :class:`Loss`.
      name: for people.

    Example:
      >>> import graphc as gx
      >>> loss = gx.losses.SparseCategoricalCrossentropy()([1], [[0.5, 0.5]])
      >>> f"{loss.item():.4f}"
      '0.6931'
    """

    def __call__(self, y_true: ArrayLike, y_pred: ArrayLike) -> Tensor:
        """Computes the loss.

        Args:
          y_true: integers from 0, of the shape of ``y_pred`` without its last axis, or with 1 there.
          y_pred: logits or probabilities, with the classes along the last axis.
        """
        labels, predictions = as_numbers(y_true), as_numbers(y_pred)
        if labels.ndim == predictions.ndim and labels.shape[-1:] == (1,):
            labels = squeeze(labels, -1)
        return sparse_softmax_cross_entropy(labels, self._logits(predictions), reduction=self._reduction)

    @property
    def _reduction(self) -> Any:
        return self.reduction


def _alike(labels: Tensor, predictions: Tensor) -> tuple[Tensor, Tensor]:
    """Both without an axis of size 1 that only one of them has at its end."""
    if predictions.ndim == labels.ndim + 1 and predictions.shape[-1] == 1:
        return labels, squeeze(predictions, -1)
    if labels.ndim == predictions.ndim + 1 and labels.shape[-1] == 1:
        return squeeze(labels, -1), predictions
    return labels, predictions
