"""Layer 7: what models are trained to make small. Each loss is one op, so one kernel in eager mode."""

from graphc.losses.losses import mean_squared_error, softmax_cross_entropy, sparse_softmax_cross_entropy
from graphc.losses.objects import CategoricalCrossentropy, Loss, MeanSquaredError, SparseCategoricalCrossentropy

__all__ = [
    "CategoricalCrossentropy",
    "Loss",
    "MeanSquaredError",
    "SparseCategoricalCrossentropy",
    "mean_squared_error",
    "softmax_cross_entropy",
    "sparse_softmax_cross_entropy",
]
