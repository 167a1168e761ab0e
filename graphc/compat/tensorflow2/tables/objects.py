"""Names of classes, dtypes, numbers and errors, which stand for graphc's own objects."""

from collections.abc import Callable
from functools import partial
from typing import Any

from graphc import layers, losses, metrics, optim
from graphc.compat.statuses import ERRORS
from graphc.composites import IndexedSlices, RaggedTensor, SparseTensor, TensorArray
from graphc.core import Tensor, TensorShape, Variable, name_scope, string
from graphc.function import TensorSpec
from graphc.gradients import ForwardAccumulator, GradientTape
from graphc.ir import DeviceSpec
from graphc.ops import functions as dtypes

__all__ = ["CLASSES", "CONSTANTS", "DTYPES", "ERRORS", "LATER"]

_LAYERS = [
    "Activation",
    "AveragePooling1D",
    "AveragePooling2D",
    "BatchNormalization",
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

_QUEUES = ("FIFOQueue", "PaddingFIFOQueue", "PriorityQueue", "QueueBase", "RandomShuffleQueue")


_DATA = {
    "AUTOTUNE": "AUTOTUNE",
    "Dataset": "Dataset",
    "DatasetSpec": "DatasetSpec",
    "FixedLengthRecordDataset": "fixed_length_records",
    "INFINITE_CARDINALITY": "INFINITE_CARDINALITY",
    "TFRecordDataset": "tf_records",
    "TextLineDataset": "text_lines",
    "UNKNOWN_CARDINALITY": "UNKNOWN_CARDINALITY",
    "experimental.AUTOTUNE": "AUTOTUNE",
    "experimental.INFINITE_CARDINALITY": "INFINITE_CARDINALITY",
    "experimental.UNKNOWN_CARDINALITY": "UNKNOWN_CARDINALITY",
    "experimental.make_csv_dataset": "make_csv_dataset",
}
_FILES = ("FixedLenFeature", "FixedLenSequenceFeature", "SparseFeature", "TFRecordOptions", "TFRecordWriter",
          "VarLenFeature", "parse_example", "parse_single_example")  # fmt: skip

_EXPERIMENTAL = ("Counter", "CsvDataset", "RandomDataset", "bucket_by_sequence_length", "cardinality",
                 "choose_from_datasets", "enumerate_dataset", "get_single_element", "get_structure", "group_by_window",
                 "ignore_errors", "map_and_batch", "parallel_interleave", "prefetch_to_device", "rejection_resample",
                 "sample_from_datasets", "scan", "shuffle_and_repeat", "take_while", "unbatch", "unique")  # fmt: skip


def _of_data(name: str) -> Any:
    from graphc import data

    return getattr(data, name)


def _experimental(name: str) -> Any:
    from graphc.compat.tensorflow2.datasets import EXPERIMENTAL

    return EXPERIMENTAL[name]


def _of_queues(name: str) -> Any:
    from graphc import queues

    return getattr(queues, name)


def _test_case() -> Any:
    from graphc.testing import TestCase

    return TestCase


def _test_main() -> Any:
    import unittest

    return unittest.main


_SAVING = {
    "saved_model": ("contains_saved_model", "load", "save"),
    "train": ("Checkpoint", "CheckpointManager", "latest_checkpoint"),
}


def _of_saving(name: str) -> Any:
    from graphc.compat.tensorflow2 import saving

    return getattr(saving, name)


LATER: dict[str, Callable[[], Any]] = {
    **{f"data.{name}": partial(_of_data, of) for name, of in _DATA.items()},
    **{f"data.experimental.{name}": partial(_experimental, name) for name in _EXPERIMENTAL},
    **{f"io.{name}": partial(_of_queues, name) for name in _FILES},
    **{f"queue.{name}": partial(_of_queues, name) for name in _QUEUES},
    **{f"{space}.{name}": partial(_of_saving, name) for space, names in _SAVING.items() for name in names},
    "test.TestCase": _test_case,
    "test.main": _test_main,
}
"""Objects that are imported when they are first used."""
