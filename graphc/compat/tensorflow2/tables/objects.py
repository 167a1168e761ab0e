"""Names of classes, dtypes, numbers and errors, which stand for graphc's own objects."""

from typing import Any

from graphc.compat.statuses import ERRORS
from graphc.compiler.core import Tensor, TensorShape, Variable, name_scope, string
from graphc.compiler.function import TensorSpec
from graphc.compiler.gradients import ForwardAccumulator, GradientTape
from graphc.compiler.ir import DeviceSpec
from graphc.compiler.ops import functions as dtypes
from graphc.library.composites import IndexedSlices, RaggedTensor, SparseTensor, TensorArray
from graphc.training import layers, losses, metrics, optim

__all__ = ["CLASSES", "CONSTANTS", "DTYPES", "ERRORS"]

_LAYERS = [
    "Activation",
    "AveragePooling1D",
    "AveragePooling2D",
    "BatchNormalization",
    "Bidirectional",
    "Conv1D",
    "Conv2D",
    "Dense",
    "Dropout",
    "Embedding",
    "Flatten",
    "GRU",
    "GlobalAveragePooling1D",
    "GlobalAveragePooling2D",
    "GlobalMaxPooling1D",
    "GlobalMaxPooling2D",
    "LSTM",
    "Layer",
    "LayerNormalization",
    "MaxPooling1D",
    "MaxPooling2D",
    "MultiHeadAttention",
    "Reshape",
]
_LOSSES = [
    "BinaryCrossentropy",
    "CategoricalCrossentropy",
    "Hinge",
    "Huber",
    "Loss",
    "MeanAbsoluteError",
    "MeanSquaredError",
    "SparseCategoricalCrossentropy",
]
_METRICS = [
    "AUC",
    "Accuracy",
    "BinaryAccuracy",
    "CategoricalAccuracy",
    "Mean",
    "Metric",
    "Precision",
    "Recall",
    "SparseCategoricalAccuracy",
]
_OPTIMIZERS = ["Adam", "AdamW", "RMSprop", "SGD"]

CLASSES: dict[str, Any] = {
    "DeviceSpec": DeviceSpec,
    "GradientTape": GradientTape,
    "DType": dtypes.DTypeName,
    "IndexedSlices": IndexedSlices,
    "Module": layers.Module,
    "RaggedTensor": RaggedTensor,
    "SparseTensor": SparseTensor,
    "Tensor": Tensor,
    "TensorArray": TensorArray,
    "TensorShape": TensorShape,
    "TensorSpec": TensorSpec,
    "Variable": Variable,
    "autodiff.ForwardAccumulator": ForwardAccumulator,
    "autodiff.GradientTape": GradientTape,
    "dtypes.DType": dtypes.DTypeName,
    "keras.Model": layers.Layer,
    "keras.Sequential": layers.Sequential,
    **{f"keras.layers.{name}": getattr(layers, name) for name in _LAYERS},
    **{f"keras.losses.{name}": getattr(losses, name) for name in _LOSSES},
    **{f"keras.metrics.{name}": getattr(metrics, name) for name in _METRICS},
    **{f"keras.optimizers.{name}": getattr(optim, name) for name in _OPTIMIZERS},
    "name_scope": name_scope,
    "recompute_grad": layers.remat,
    "sparse.SparseTensor": SparseTensor,
}
"""Objects by name, each with graphc's own signature."""

_DTYPES: dict[str, Any] = {
    "bfloat16": dtypes.bfloat16,
    "bool": dtypes.bool_,
    "complex64": dtypes.complex64,
    "complex128": dtypes.complex128,
    "double": dtypes.float64,
    "float16": dtypes.float16,
    "float32": dtypes.float32,
    "float64": dtypes.float64,
    "half": dtypes.float16,
    "string": string,
    "int8": dtypes.int8,
    "int16": dtypes.int16,
    "int32": dtypes.int32,
    "int64": dtypes.int64,
    "uint8": dtypes.uint8,
    "uint16": dtypes.uint16,
    "uint32": dtypes.uint32,
    "uint64": dtypes.uint64,
}
DTYPES: dict[str, Any] = {
    **_DTYPES,
    **{f"dtypes.{name}": dtype for name, dtype in _DTYPES.items()},
}
"""The dtypes by name, at the top and in ``dtypes``."""

CONSTANTS: dict[str, Any] = {"newaxis": None}
"""Values by name."""


"""Objects that are imported when they are first used."""
