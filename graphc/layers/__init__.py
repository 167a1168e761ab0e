"""Layer 10: layers, which hold the Variables of a model and make them at the first call."""

from graphc.base import hint_missing
from graphc.layers.attention import MultiHeadAttention
from graphc.layers.containers import Sequential
from graphc.layers.convolution import Conv1D, Conv2D
from graphc.layers.dense import Dense
from graphc.layers.dropout import Dropout
from graphc.layers.foreign import from_equinox, from_flax
from graphc.layers.layer import Layer
from graphc.layers.module import Module
from graphc.layers.normalization import BatchNormalization, LayerNormalization
from graphc.layers.policy import mixed_precision
from graphc.layers.pooling import (
    AveragePooling1D,
    AveragePooling2D,
    GlobalAveragePooling1D,
    GlobalAveragePooling2D,
    GlobalMaxPooling1D,
    GlobalMaxPooling2D,
    MaxPooling1D,
    MaxPooling2D,
)
from graphc.layers.quantize import QuantizationReport, QuantizedWeight, WeightReport, quantize
from graphc.layers.recurrent import GRU, LSTM, Bidirectional
from graphc.layers.rematerialise import remat
from graphc.layers.shaping import Activation, Embedding, Flatten, Reshape
from graphc.layers.string_lookup import StringLookup

__all__ = [
    "GRU",
    "LSTM",
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
    "GlobalAveragePooling1D",
    "GlobalAveragePooling2D",
    "GlobalMaxPooling1D",
    "GlobalMaxPooling2D",
    "Layer",
    "LayerNormalization",
    "MaxPooling1D",
    "MaxPooling2D",
    "Module",
    "MultiHeadAttention",
    "QuantizationReport",
    "QuantizedWeight",
    "Reshape",
    "Sequential",
    "StringLookup",
    "WeightReport",
    "from_equinox",
    "from_flax",
    "mixed_precision",
    "quantize",
    "remat",
]

hint_missing(globals(), "gx.layers")
