"""What models are trained to make small. Each loss is one op, so one kernel in eager mode."""

from graphc.compiler.base import hint_missing
from graphc.training.losses.objects import (
    BinaryCrossentropy,
    CategoricalCrossentropy,
    Hinge,
    Huber,
    Loss,
    MeanAbsoluteError,
    MeanSquaredError,
    SparseCategoricalCrossentropy,
)
from graphc.training.losses.standard import (
    hinge,
    huber,
    mean_absolute_error,
    mean_squared_error,
    sigmoid_cross_entropy,
    softmax_cross_entropy,
    sparse_softmax_cross_entropy,
)

__all__ = [
    "BinaryCrossentropy", "CategoricalCrossentropy", "Hinge", "Huber", "Loss", "MeanAbsoluteError", "MeanSquaredError",
    "SparseCategoricalCrossentropy", "hinge", "huber", "mean_absolute_error", "mean_squared_error",
    "sigmoid_cross_entropy", "softmax_cross_entropy", "sparse_softmax_cross_entropy",
]  # fmt: skip

hint_missing(globals(), "gx.losses")
