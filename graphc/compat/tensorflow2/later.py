"""Names of parts that are imported when one of their names is used."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

__all__ = ["LATER"]

_QUEUES = ("FIFOQueue", "PaddingFIFOQueue", "QueueBase", "RandomShuffleQueue")

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

_FILES = ("FixedLenFeature", "TFRecordOptions", "TFRecordWriter",
          "VarLenFeature", "parse_example", "parse_single_example")  # fmt: skip

_EXPERIMENTAL = ("Counter", "CsvDataset", "RandomDataset", "bucket_by_sequence_length", "cardinality",
                 "choose_from_datasets", "enumerate_dataset", "get_single_element", "get_structure", "group_by_window",
                 "ignore_errors", "map_and_batch", "parallel_interleave", "prefetch_to_device", "rejection_resample",
                 "sample_from_datasets", "scan", "shuffle_and_repeat", "take_while", "unbatch", "unique")  # fmt: skip


def _of_data(name: str) -> Any:
    from graphc.training import data

    return getattr(data, name)


def _experimental(name: str) -> Any:
    from graphc.compat.tensorflow2.datasets import EXPERIMENTAL

    return EXPERIMENTAL[name]


def _of_queues(name: str) -> Any:
    from graphc.graphs import queues

    return getattr(queues, name)


def _test_case() -> Any:
    from graphc.compat.testing import TestCase

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
