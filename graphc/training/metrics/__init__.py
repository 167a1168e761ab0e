"""Metrics, which add up over batches what a model does on all rows."""

from graphc.compiler.base import hint_missing
from graphc.training.metrics.metric import Metric
from graphc.training.metrics.standard import (
    AUC,
    Accuracy,
    BinaryAccuracy,
    CategoricalAccuracy,
    ConfusionMatrix,
    Mean,
    Precision,
    Recall,
    SparseCategoricalAccuracy,
)

__all__ = [
    "AUC", "Accuracy", "BinaryAccuracy", "CategoricalAccuracy", "ConfusionMatrix", "Mean", "Metric", "Precision",
    "Recall", "SparseCategoricalAccuracy",
]  # fmt: skip

hint_missing(globals(), "gx.metrics")
