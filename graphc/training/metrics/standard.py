"""The metrics that most programs want, with Keras's names, arguments and figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.core import ArrayLike, Tensor, apply
from graphc.compiler.ir import Attrs
from graphc.compiler.ops import log, nn, sum, where
from graphc.training.metrics.metric import (
    ABOVE,
    CONFUSION,
    MATCHES,
    RATIO,
    TOTAL_RATIO,
    WEIGHTED,
    Metric,
    OpSums,
    by_op,
)


class Mean(Metric):
    """The weighted mean of values.

    Args:
      name: for people.

    Example:
      >>> import graphc as gx
      >>> mean = gx.metrics.Mean()
      >>> mean.update([1.0, 2.0, 3.0])
      >>> mean.update([10.0])
      >>> mean.result().item()
      4.0
    """

    def __init__(self, name: str | None = None) -> None:
        super().__init__(name, shapes={"total": (), "weight": ()})

    @by_op
    def sums(self, values: ArrayLike, sample_weight: ArrayLike | None = None) -> OpSums:
        """Returns the weighted sum and the sum of the weights.

        Args:
          values: numbers of any shape.
          sample_weight: a weight for each element of the first axes; 1 when None.
        """
        return OpSums(WEIGHTED, (values, sample_weight))

    def result(self) -> Tensor:
        """Returns the mean; 0 without any weight."""
        return _total_ratio(self, "total", "weight")


class Accuracy(Mean):
    """The share of predictions that equal their labels.

    Args:
      name: for people.

    Example:
      >>> import graphc as gx
      >>> accuracy = gx.metrics.Accuracy()
      >>> accuracy.update([1, 2, 3, 4], [0, 2, 3, 4])
      >>> accuracy.result().item()
      0.75
    """

    _attrs = Attrs(kind="equal", threshold=0.5)

    @by_op
    def sums(self, y_true: ArrayLike, y_pred: ArrayLike, sample_weight: ArrayLike | None = None) -> OpSums:
        """Returns the weight of the right predictions and the sum of the weights.

        Args:
          y_true: the labels.
          y_pred: the predictions.
          sample_weight: a weight for each example; 1 when None.
        """
        return OpSums(MATCHES, (y_true, y_pred, sample_weight), self._attrs)


class BinaryAccuracy(Accuracy):
    """The share of predictions on their label's side of a threshold.

    Args:
      name: for people.
      threshold: predictions above it stand for the label 1; 0 for logits.

    Example:
      >>> import graphc as gx
      >>> accuracy = gx.metrics.BinaryAccuracy()
      >>> accuracy.update([1, 1, 0, 0], [0.98, 1.0, 0.0, 0.6])
      >>> accuracy.result().item()
      0.75
    """

    def __init__(self, name: str | None = None, threshold: float = 0.5) -> None:
        super().__init__(name)
        self._attrs = Attrs(kind="binary", threshold=_number(self.name, "threshold", threshold))


class CategoricalAccuracy(Accuracy):
    """The share of examples whose highest score is at the 1 of a one-hot label.

    Args:
      name: for people.

    Example:
      >>> import graphc as gx
      >>> accuracy = gx.metrics.CategoricalAccuracy()
      >>> accuracy.update([[0, 0, 1], [0, 1, 0]], [[0.1, 0.9, 0.8], [0.05, 0.95, 0.0]])
      >>> accuracy.result().item()
      0.5
    """

    _attrs = Attrs(kind="categorical", threshold=0.5)


class SparseCategoricalAccuracy(Accuracy):
    """The share of examples whose highest score is at the class that the label names.

    Args:
      name: for people.

    Example:
      >>> import graphc as gx
      >>> accuracy = gx.metrics.SparseCategoricalAccuracy()
      >>> accuracy.update([2, 1], [[0.1, 0.6, 0.3], [0.05, 0.95, 0.0]])
      >>> accuracy.result().item()
      0.5
    """

    _attrs = Attrs(kind="sparse", threshold=0.5)


class _Thresholds(Metric):
    """The weights of positives above each of some thresholds."""

    def __init__(self, name: str | None, thresholds: Sequence[float]) -> None:
        count = (len(thresholds),)
        super().__init__(name, shapes={"true": count, "false": count, "positives": (), "negatives": ()})
        numbers = tuple(_number(self.name, "a threshold", threshold) for threshold in thresholds)
        self._attrs = Attrs(thresholds=numbers)

    @by_op
    def sums(self, y_true: ArrayLike, y_pred: ArrayLike, sample_weight: ArrayLike | None = None) -> OpSums:
        """Returns by threshold the weights of true and of false positives, and those of all positives and negatives.

        Args:
          y_true: labels 0 and 1.
          y_pred: scores, of the shape of the labels.
          sample_weight: a weight for each example; 1 when None.
        """
        return OpSums(ABOVE, (y_true, y_pred, sample_weight), self._attrs)


class _AtThresholds(_Thresholds):
    """One number for each threshold."""

    def __init__(self, thresholds: float | Sequence[float] | None = None, name: str | None = None) -> None:
        self._single = not isinstance(thresholds, Sequence)
        super().__init__(
            name, thresholds if isinstance(thresholds, Sequence) else [0.5 if thresholds is None else thresholds]
        )

    def _shaped(self, numbers: Tensor) -> Tensor:
        return numbers[0] if self._single else numbers


class Precision(_AtThresholds):
    """The share of positives among what is predicted positive.

    Args:
      thresholds: scores above it are predicted positive; 0.5 when None, 0 for logits. Several give a number each.
      name: for people.

    Example:
      >>> import graphc as gx
      >>> precision = gx.metrics.Precision()
      >>> precision.update([0, 1, 1, 1], [1.0, 0.0, 1.0, 1.0])
      >>> round(precision.result().item(), 4)
      0.6667
    """

    def result(self) -> Tensor:
        """Returns the precision; 0 where nothing is predicted positive."""
        true = self.total("true")
        return self._shaped(_ratio(true, true + self.total("false")))


class Recall(_AtThresholds):
    """The share of what is predicted positive among the positives.

    Args:
      thresholds: scores above it are predicted positive; 0.5 when None, 0 for logits. Several give a number each.
      name: for people.

    Example:
      >>> import graphc as gx
      >>> recall = gx.metrics.Recall()
      >>> recall.update([0, 1, 1, 1], [1.0, 0.0, 1.0, 1.0])
      >>> round(recall.result().item(), 4)
      0.6667
    """

    def result(self) -> Tensor:
        """Returns the recall; 0 where there are no positives."""
        return self._shaped(_total_ratio(self, "true", "positives"))


class AUC(_Thresholds):
    """The area under a curve of scores, by the counts at evenly spaced thresholds between 0 and 1.

    Scores that lie between the same two thresholds count as equal; more thresholds tell more of them apart.

    Args:
      num_thresholds: how many there are, at least 2.
      curve: ``"ROC"``, or ``"PR"`` for precision over recall, interpolated after Davis and Goadrich, 2006.
      name: for people.
      from_logits: whether scores are logits, of which the sigmoid is taken.

    Raises:
      InvalidArgumentError: there is no such curve, or too few thresholds.

    Example:
      >>> import graphc as gx
      >>> area = gx.metrics.AUC(num_thresholds=3)
      >>> area.update([0, 0, 1, 1], [0.0, 0.5, 0.3, 0.9])
      >>> area.result().item()
      0.75
    """

    def __init__(
        self,
        num_thresholds: int = 200,
        curve: Literal["ROC", "PR"] = "ROC",
        name: str | None = None,
        *,
        from_logits: bool = False,
    ) -> None:
        if curve not in ("ROC", "PR"):
            raise InvalidArgumentError(f"AUC: curve must be 'ROC' or 'PR', got {curve!r:.60}").here()
        steps = _count("AUC: num_thresholds", num_thresholds, 2) - 1
        # Below 0 all is positive, above 1 nothing.
        super().__init__(name, [-1e-7, *(step / steps for step in range(1, steps)), 1.0 + 1e-7])
        self._curve, self._from_logits = curve, from_logits

    @by_op
    def sums(self, y_true: ArrayLike, y_pred: ArrayLike, sample_weight: ArrayLike | None = None) -> OpSums:
        """Returns the weights of positives above each threshold.

        Args:
          y_true: labels 0 and 1.
          y_pred: scores from 0 to 1, or logits.
          sample_weight: a weight for each example; 1 when None.
        """
        scores = nn.sigmoid(y_pred) if self._from_logits else y_pred
        return OpSums(ABOVE, (y_true, scores, sample_weight), self._attrs)

    def result(self) -> Tensor:
        """Returns the area; 0 while positives or negatives are missing."""
        true, false = self.total("true"), self.total("false")
        positives, negatives = self.total("positives"), self.total("negatives")
        if self._curve == "ROC":
            x, y = _ratio(false, negatives), _ratio(true, positives)
            return sum((x[:-1] - x[1:]) * (y[:-1] + y[1:])) / 2
        above = true + false
        gained, wider = true[:-1] - true[1:], above[:-1] - above[1:]
        slope = _ratio(gained, wider)
        start = true[1:] - slope * above[1:]
        grown = where((above[:-1] > 0) & (above[1:] > 0), _ratio(above[:-1], above[1:]), 1)
        return sum(_ratio(slope * (gained + start * log(grown)), positives))


class ConfusionMatrix(Metric):
    """The confusion matrix: counts of predicted classes, with labels along the rows and predictions along the columns.

    Args:
      num_classes: how many classes there are.
      name: for people.

    Raises:
      InvalidArgumentError: ``num_classes`` is no number of classes.

    Example:
      >>> import graphc as gx
      >>> matrix = gx.metrics.ConfusionMatrix(2)
      >>> matrix.update([0, 1, 1], [0, 0, 1])
      >>> matrix.result().tolist()
      [[1.0, 0.0], [1.0, 1.0]]
    """

    def __init__(self, num_classes: int, name: str | None = None) -> None:
        self._attrs = Attrs(num_classes=_count("ConfusionMatrix: num_classes", num_classes, 1))
        super().__init__(name, shapes={"counts": (num_classes, num_classes)})

    @by_op
    def sums(self, y_true: ArrayLike, y_pred: ArrayLike, sample_weight: ArrayLike | None = None) -> OpSums:
        """Returns the weight of each pair of label and prediction; NaN if one is the number of no class.

        Args:
          y_true: class numbers.
          y_pred: class numbers, or scores with the classes along one axis more.
          sample_weight: a weight for each example; 1 when None.
        """
        return OpSums(CONFUSION, (y_true, y_pred, sample_weight), self._attrs)

    def result(self) -> Tensor:
        """Returns the matrix of weights, or of counts without weights."""
        return self.total("counts")


def _ratio(above: Tensor, below: Tensor) -> Tensor:
    return apply(RATIO, (above, below))


def _total_ratio(metric: Metric, above: str, below: str) -> Tensor:
    totals = metric.named_variables()
    return apply(TOTAL_RATIO, (totals[above].value(), totals[below].value()))


def _number(metric: str, what: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidArgumentError(f"{metric}: {what} must be a number, got {value!r:.60}").here()
    return float(value)


def _count(what: str, value: Any, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InvalidArgumentError(f"{what} must be an int of at least {least}, got {value!r:.60}").here()
    return value
