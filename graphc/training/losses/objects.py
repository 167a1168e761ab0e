"""Losses as objects, as Keras has them: made once with their settings, and called with labels and predictions."""

from __future__ import annotations

from typing import Any

from graphc.compiler.base.errors import InvalidArgumentError, UnimplementedError
from graphc.compiler.core import ArrayLike, Tensor, shorten
from graphc.compiler.ops import all as all_of
from graphc.compiler.ops import as_numbers, as_wide, clip, log, log1p, squeeze, where
from graphc.training.losses.standard import (
    hinge,
    huber,
    mean_absolute_error,
    mean_squared_error,
    reduced,
    sigmoid_cross_entropy,
    softmax_cross_entropy,
    sparse_softmax_cross_entropy,
)

_REDUCTIONS: dict[Any, Any] = {
    "sum_over_batch_size": "mean",
    "mean": "mean",
    "sum": "sum",
    "mean_with_sample_weight": "weighted_mean",
    "none": "none",
    None: "none",
}
_SMALLEST = 1e-7
"""Probabilities are kept this far from 0, so that their logarithms are finite."""


class Loss:
    """A loss: the cost of a prediction. Derive from it and override :meth:`call` to write one.

    Args:
      name: for people.
      reduction: ``"sum_over_batch_size"`` or ``"mean"`` for the mean over the batch, ``"sum"``,
        ``"mean_with_sample_weight"`` to divide by the sum of the weights, or ``"none"`` for one number for each
        example.

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
            allowed = ", ".join(map(repr, _REDUCTIONS))
            raise InvalidArgumentError(
                f"{type(self).__name__}: reduction must be one of {allowed}, got {reduction!r:.60}"
            ).here()
        self.reduction: str = _REDUCTIONS[reduction]
        self.name = type(self).__name__.lower() if name is None else name

    def call(self, y_true: Any, y_pred: Any) -> Any:
        """Computes one number for each example; subclasses override it."""
        kind = type(self).__name__
        raise UnimplementedError(
            f"{kind} is a Loss without a call method; write {kind}.call(self, y_true, y_pred)"
        ).here()

    def __call__(self, y_true: ArrayLike, y_pred: ArrayLike, sample_weight: ArrayLike | None = None) -> Tensor:
        """Computes the loss.

        Args:
          y_true: the labels.
          y_pred: the predictions. Where one of the two has an axis of size 1 more, at the end, it is left out.
          sample_weight: a weight for each example; 1 when None.

        Raises:
          InvalidArgumentError: the shapes do not fit.
        """
        # In half precision the largest probability below 1 that is kept would be 1, and its logarithm infinite.
        try:
            labels, predictions = self._arguments(as_numbers(y_true), as_wide(as_numbers(y_pred)))
            return reduced(self.name, self.call(labels, predictions), sample_weight, self.reduction)
        except Exception as error:
            shorten(error)
            raise

    def _arguments(self, labels: Tensor, predictions: Tensor) -> tuple[Tensor, Tensor]:
        return _alike(labels, predictions)


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
      label_smoothing: how much of each label is spread over all classes, from 0 to 1.
      reduction: as for :class:`Loss`.
      name: for people.

    Example:
      >>> import graphc as gx
      >>> loss = gx.losses.CategoricalCrossentropy(from_logits=True)([[0.0, 1.0]], [[0.0, 0.0]])
      >>> f"{loss.item():.4f}"
      '0.6931'
    """

    def __init__(
        self,
        from_logits: bool = False,
        label_smoothing: float = 0.0,
        *,
        reduction: str | None = "sum_over_batch_size",
        name: str | None = None,
    ) -> None:
        super().__init__(from_logits, reduction=reduction, name=name)
        self.label_smoothing = label_smoothing

    def call(self, y_true: Any, y_pred: Any) -> Any:
        """Returns the cross-entropy of each example."""
        options: Any = {"label_smoothing": self.label_smoothing, "reduction": "none"}
        return softmax_cross_entropy(y_true, self._logits(y_pred), **options)


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

    def _arguments(self, labels: Tensor, predictions: Tensor) -> tuple[Tensor, Tensor]:
        if labels.ndim == predictions.ndim and labels.shape[-1:] == (1,):
            labels = squeeze(labels, -1)
        return labels, predictions

    def call(self, y_true: Any, y_pred: Any) -> Any:
        """Returns the cross-entropy of each example.

        Args:
          y_true: integers from 0, of the shape of ``y_pred`` without its last axis, or with 1 there.
          y_pred: logits or probabilities, with the classes along the last axis.
        """
        return sparse_softmax_cross_entropy(y_true, self._logits(y_pred), reduction="none")


class BinaryCrossentropy(Loss):
    """The cross-entropy of probabilities that are independent; see :func:`graphc.losses.sigmoid_cross_entropy`.

    Args:
      from_logits: whether predictions are unnormalised log-odds, or else probabilities.
      label_smoothing: how far labels are drawn towards one half, from 0 to 1.
      reduction: as for :class:`Loss`.
      name: for people.

    Example:
      >>> import graphc as gx
      >>> f"{gx.losses.BinaryCrossentropy()([1, 0], [0.5, 0.5]).item():.4f}"
      '0.6931'
    """

    def __init__(
        self,
        from_logits: bool = False,
        label_smoothing: float = 0.0,
        *,
        reduction: str | None = "sum_over_batch_size",
        name: str | None = None,
    ) -> None:
        super().__init__(name, reduction)
        self.from_logits, self.label_smoothing = from_logits, label_smoothing

    def call(self, y_true: Any, y_pred: Any) -> Any:
        """Returns the mean cross-entropy of each example."""
        if not self.from_logits:
            shares = clip(y_pred, _SMALLEST, 1.0 - _SMALLEST)
            y_pred = log(shares) - log1p(-shares)
        return sigmoid_cross_entropy(y_true, y_pred, label_smoothing=self.label_smoothing, reduction="none")


class MeanAbsoluteError(Loss):
    """The mean of the magnitudes of the differences; see :func:`graphc.losses.mean_absolute_error`.

    Args:
      reduction: as for :class:`Loss`.
      name: for people.

    Example:
      >>> import graphc as gx
      >>> gx.losses.MeanAbsoluteError()([1.0, 2.0], [[1.0], [4.0]]).item()
      1.0
    """

    def __init__(self, reduction: str | None = "sum_over_batch_size", name: str | None = None) -> None:
        super().__init__(name, reduction)

    def call(self, y_true: Any, y_pred: Any) -> Any:
        """Returns the mean magnitude of each example's differences."""
        return mean_absolute_error(y_true, y_pred, reduction="none")


class Huber(Loss):
    """Half the squared difference, and linear beyond ``delta``; see :func:`graphc.losses.huber`.

    Args:
      delta: where the loss becomes linear.
      reduction: as for :class:`Loss`.
      name: for people.

    Example:
      >>> import graphc as gx
      >>> gx.losses.Huber()([1.0, 2.0], [1.5, 5.0]).item()
      1.3125
    """

    def __init__(
        self, delta: float = 1.0, reduction: str | None = "sum_over_batch_size", name: str | None = None
    ) -> None:
        super().__init__(name, reduction)
        self.delta = delta

    def call(self, y_true: Any, y_pred: Any) -> Any:
        """Returns the mean loss of each example."""
        return huber(y_true, y_pred, self.delta, reduction="none")


class Hinge(Loss):
    """The hinge loss, by which a prediction's sign misses its label; see :func:`graphc.losses.hinge`.

    Args:
      reduction: as for :class:`Loss`.
      name: for people.

    Example:
      >>> import graphc as gx
      >>> gx.losses.Hinge()([1.0, -1.0], [0.5, 0.5]).item()
      1.0
    """

    def __init__(self, reduction: str | None = "sum_over_batch_size", name: str | None = None) -> None:
        super().__init__(name, reduction)

    def call(self, y_true: Any, y_pred: Any) -> Any:
        """Returns the mean loss of each example; labels 0 count as -1."""
        # Keras's conversion: labels that are 0 and 1 throughout.
        binary = all_of((y_true == 0) | (y_true == 1))
        return hinge(where(binary, 2 * y_true - 1, y_true), y_pred, reduction="none")


def _alike(labels: Tensor, predictions: Tensor) -> tuple[Tensor, Tensor]:
    """Both without an axis of size 1 that only one of them has at its end."""
    if predictions.ndim == labels.ndim + 1 and predictions.shape[-1] == 1:
        return labels, squeeze(predictions, -1)
    if labels.ndim == predictions.ndim + 1 and labels.shape[-1] == 1:
        return squeeze(labels, -1), predictions
    return labels, predictions
