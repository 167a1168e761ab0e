"""Layers, which hold the Variables of a model and make them at the first call."""

from graphc.compiler.base import hint_missing
from graphc.training.layers.convolution import (
    AveragePooling1D,
    AveragePooling2D,
    Conv1D,
    Conv2D,
    GlobalAveragePooling1D,
    GlobalAveragePooling2D,
    GlobalMaxPooling1D,
    GlobalMaxPooling2D,
    MaxPooling1D,
    MaxPooling2D,
)
from graphc.training.layers.core import (
    Activation,
    Dense,
    Dropout,
    Embedding,
    Flatten,
    Reshape,
    Sequential,
    StringLookup,
)
from graphc.training.layers.foreign import from_equinox, from_flax
from graphc.training.layers.layer import Layer, mixed_precision
from graphc.training.layers.module import Module
from graphc.training.layers.normalization import BatchNormalization, LayerNormalization
from graphc.training.layers.quantize import QuantizationReport, QuantizedWeight, WeightReport, quantize
from graphc.training.layers.rematerialise import remat
from graphc.training.layers.sequences import GRU, LSTM, Bidirectional, MultiHeadAttention

__all__ = [
    "GRU", "LSTM", "Activation", "AveragePooling1D", "AveragePooling2D", "BatchNormalization", "Bidirectional",
    "Conv1D", "Conv2D", "Dense", "Dropout", "Embedding", "Flatten", "GlobalAveragePooling1D", "GlobalAveragePooling2D",
    "GlobalMaxPooling1D", "GlobalMaxPooling2D", "Layer", "LayerNormalization", "MaxPooling1D", "MaxPooling2D", "Module",
    "MultiHeadAttention", "QuantizationReport", "QuantizedWeight", "Reshape", "Sequential", "StringLookup",
    "WeightReport", "from_equinox", "from_flax", "mixed_precision", "quantize", "remat",
]  # fmt: skip

hint_missing(globals(), "gx.layers")
