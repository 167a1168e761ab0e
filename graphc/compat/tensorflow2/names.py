"""The namespaces that the tables make, parts that are imported when they are used, and names that are in none."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from functools import partial
from types import SimpleNamespace
from typing import Any

from graphc.compat.spaces import Library, imported
from graphc.compat.tensorflow2.tables import CLASSES, CONSTANTS, DTYPES, ELSEWHERE, ERRORS, ROWS
from graphc.compiler.autograph import check_numerics, cond, do_not_convert, loop_options, to_source
from graphc.compiler.base import config
from graphc.compiler.core import StringTensor, Tensor, Variable, device
from graphc.compiler.devices import list_devices, set_visible_devices
from graphc.compiler.function import function, functions_run_eagerly, run_functions_eagerly, vectorized_map
from graphc.compiler.gradients import custom_gradient
from graphc.compiler.ops import (
    control_dependencies,
    fft,
    functions,
    group,
    linalg,
    nn,
    no_op,
    random,
    special,
    strings,
    tuple,
)
from graphc.compiler.tracing import is_tracing
from graphc.library import arrays, checks, flow, nest
from graphc.library.composites import IndexedSlices, RaggedTensor, SparseTensor
from graphc.training import layers

__all__ = ["LATER", "NAMES", "NAMESPACE", "missing", "top_level", "use_instead"]

_QUEUES = ("FIFOQueue", "PaddingFIFOQueue", "QueueBase", "RandomShuffleQueue")

_DATA = {
    "AUTOTUNE": "AUTOTUNE", "Dataset": "Dataset", "DatasetSpec": "DatasetSpec",
    "FixedLengthRecordDataset": "fixed_length_records", "INFINITE_CARDINALITY": "INFINITE_CARDINALITY",
    "TFRecordDataset": "tf_records", "TextLineDataset": "text_lines", "UNKNOWN_CARDINALITY": "UNKNOWN_CARDINALITY",
    "experimental.AUTOTUNE": "AUTOTUNE", "experimental.INFINITE_CARDINALITY": "INFINITE_CARDINALITY",
    "experimental.UNKNOWN_CARDINALITY": "UNKNOWN_CARDINALITY", "experimental.make_csv_dataset": "make_csv_dataset",
}  # fmt: skip

_FILES = ("FixedLenFeature", "TFRecordOptions", "TFRecordWriter",
          "VarLenFeature", "parse_example", "parse_single_example")  # fmt: skip

_EXPERIMENTAL = ("Counter", "CsvDataset", "RandomDataset", "bucket_by_sequence_length", "cardinality",
                 "choose_from_datasets", "enumerate_dataset", "get_single_element", "get_structure", "group_by_window",
                 "ignore_errors", "map_and_batch", "parallel_interleave", "prefetch_to_device", "rejection_resample",
                 "sample_from_datasets", "scan", "shuffle_and_repeat", "take_while", "unbatch", "unique")  # fmt: skip


def _experimental(name: str) -> Any:
    from graphc.compat.tensorflow2.datasets import EXPERIMENTAL

    return EXPERIMENTAL[name]


_SAVING = {
    "saved_model": ("contains_saved_model", "load", "save"),
    "train": ("Checkpoint", "CheckpointManager", "latest_checkpoint"),
}


LATER: dict[str, Callable[[], Any]] = {
    **{f"data.{name}": partial(imported, "graphc.training.data", of) for name, of in _DATA.items()},
    **{f"data.experimental.{name}": partial(_experimental, name) for name in _EXPERIMENTAL},
    **{f"io.{name}": partial(imported, "graphc.graphs.queues", name) for name in _FILES},
    **{f"queue.{name}": partial(imported, "graphc.graphs.queues", name) for name in _QUEUES},
    **{
        f"{space}.{name}": partial(imported, "graphc.compat.tensorflow2.saving", name)
        for space, names in _SAVING.items()
        for name in names
    },
    "test.TestCase": partial(imported, "graphc.compat.testing", "TestCase"),
    "test.main": partial(imported, "unittest", "main"),
}


LIBRARY = "tf"
_MODULE = "graphc.compat.v2"

_GX = SimpleNamespace(
    **{name: getattr(functions, name) for name in functions.__all__},
    StringTensor=StringTensor, Tensor=Tensor, IndexedSlices=IndexedSlices, RaggedTensor=RaggedTensor,
    SparseTensor=SparseTensor, Variable=Variable, arrays=arrays, check_numerics=check_numerics, checks=checks,
    cond=cond, config=config, control_dependencies=control_dependencies, custom_gradient=custom_gradient,
    device=device, do_not_convert=do_not_convert, fft=fft, flow=flow, function=function,
    functions_run_eagerly=functions_run_eagerly, group=group, is_tracing=is_tracing, layers=layers, linalg=linalg,
    list_devices=list_devices, loop_options=loop_options, nest=nest, nn=nn, no_op=no_op, random=random,
    run_functions_eagerly=run_functions_eagerly, set_visible_devices=set_visible_devices, special=special,
    strings=strings, to_source=to_source, tuple=tuple, vectorized_map=vectorized_map,
)  # fmt: skip


NAMESPACE: Mapping[str, Any] = {
    # In the defaults of a signature "bool" is the dtype, in the calls it is Python's own.
    **{name: DTYPES[name] for name in DTYPES if "." not in name and name != "bool"},
    "contextlib": contextlib,
    "gx": _GX,
    "hann_window": arrays.hann_window,
}
"""The namespace for the signatures and calls of rows."""


def _objects() -> dict[str, Any]:
    objects: dict[str, Any] = {**CLASSES, **CONSTANTS, **DTYPES, **ERRORS}
    for row in ROWS:
        stand_in = row.function(LIBRARY, _MODULE, NAMESPACE)
        objects.update(dict.fromkeys(row.names, stand_in))
    return dict(sorted(objects.items()))


NAMES: Mapping[str, Any] = _objects()
"""The object behind each name of the tables, by its dotted name below ``tf``."""


_LIBRARY = Library(LIBRARY, _MODULE, NAMES, ELSEWHERE, LATER)

top_level = _LIBRARY.top_level
missing = _LIBRARY.missing


def use_instead(name: str) -> str | None:
    """Returns what graphc's own user writes for a name of TensorFlow's; None if it is none.

    Args:
      name: a name below ``tf``, with the namespace or without.

    Example:
      >>> use_instead("reduce_sum")
      'use gx.sum'
    """
    for row in ROWS:
        if name in row.names or name in {one.rpartition(".")[2] for one in row.names}:
            where, path = row.target or ("", "")
            return f"use gx.{path}" if where == "gx" else f"use {LIBRARY}.{row.names[0]} of {_MODULE}"
    return ELSEWHERE.get(name)
