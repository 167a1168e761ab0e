"""Files to batches: lines that are decoded, records, rows of CSV files; against TensorFlow's tf.data.

``GRAPHC_BENCH_TENSORFLOW`` names the Python of an environment that has TensorFlow, which is then measured too, in a
process of its own that takes turns with this one. Without it, the times are against what was measured of TensorFlow
2.21 on the machine of two cores where its eager addition of two scalars took 11.7 microseconds.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

import graphc as gx
from benchmarks.harness import Reading, Row

__all__ = ["ROWS"]

_FILES, _BATCH = 4, 128

# Each prints how many elements an epoch has and the seconds that the fastest of three took.
_TENSORFLOW = """
import sys, time
import tensorflow as tf
kind, paths = sys.argv[1], sys.argv[2:]
types = [tf.constant([], type) for type in (tf.int32, tf.float32, tf.float32, tf.float32, tf.string)]
def lines():
    return tf.data.Dataset.from_tensor_slices(paths).interleave(tf.data.TextLineDataset, cycle_length=4)
def decoded():
    return lines().batch(128).map(lambda batch: tf.io.decode_csv(batch, types))
def each():
    return lines().map(lambda line: tf.io.decode_csv(line, types)).batch(128)
def texts():
    return lines().batch(128)
def records():
    return tf.data.TFRecordDataset(paths).batch(128)
def rows():
    return tf.data.experimental.make_csv_dataset(
        paths, 128, column_names=list("abcde"), header=False, num_epochs=1, shuffle=False)
dataset = {"lines": decoded, "each": each, "texts": texts, "records": records, "rows": rows}[kind]()
best, count = 1e9, 0
for _ in range(3):
    start = time.perf_counter()
    count = sum(1 for _ in dataset) * 128
    best = min(best, time.perf_counter() - start)
print(count, best)
"""
_MEASURED = {"lines": 411_000.0, "each": 28_600.0, "texts": 871_000.0, "records": 818_000.0, "rows": 211_000.0}
"""Elements a second of tf.data."""


@cache
def _lines(count: int) -> tuple[str, ...]:
    folder, random = tempfile.mkdtemp(prefix="graphc-bench-"), np.random.default_rng(0)
    names = tuple(os.path.join(folder, f"{file}.csv") for file in range(_FILES))
    for name in names:
        numbers = random.random((count // _FILES, 3))
        with open(name, "w") as file:
            file.writelines(f"{k},{x:.6f},{y:.6f},{z:.6f},w{k % 100}\n" for k, (x, y, z) in enumerate(numbers))
    return names


@cache
def _records(count: int) -> tuple[str, ...]:
    name = os.path.join(tempfile.mkdtemp(prefix="graphc-bench-"), "records")
    random = np.random.default_rng(0)
    with gx.queues.TFRecordWriter(name) as writer:
        for _ in range(count):
            writer.write(random.bytes(100))
    return (name,)


_TYPES = [gx.int32, gx.float32, gx.float32, gx.float32, gx.string]


def _interleaved(names: tuple[str, ...]) -> Any:
    return gx.data.Dataset.from_tensor_slices(list(names)).interleave(gx.data.text_lines, cycle_length=_FILES)


def _decoded(names: tuple[str, ...]) -> Any:
    return _interleaved(names).batch(_BATCH).map(lambda batch: tuple(gx.strings.decode_csv(batch, _TYPES)))


def _each_decoded(names: tuple[str, ...]) -> Any:
    return _interleaved(names).map(lambda line: tuple(gx.strings.decode_csv(line, _TYPES))).batch(_BATCH)


def _tensorflows(kind: str, names: tuple[str, ...]) -> float:
    """Elements a second of tf.data, measured where there is TensorFlow."""
    python = os.environ.get("GRAPHC_BENCH_TENSORFLOW")
    if python is None:
        return _MEASURED[kind]
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    told = subprocess.run(
        [python, "-c", _TENSORFLOW, kind, *names], capture_output=True, text=True, check=True, env=environment
    )
    count, seconds = told.stdout.split()
    return float(count) / float(seconds)


def _reading(
    kind: str, files: Callable[[int], tuple[str, ...]], make: Callable[[tuple[str, ...]], Any]
) -> Callable[[bool], Reading]:
    def reading(quick: bool) -> Reading:
        count = 2_000 if quick else 200_000

        def read() -> tuple[float, float, str]:
            names = files(count)
            dataset, ours, theirs = make(names), list[float](), list[float]()
            for _ in range(1 if quick else 3):
                for _ in range(1 if quick else 3):
                    start = time.perf_counter()
                    batches = sum(1 for _ in dataset)
                    ours.append((time.perf_counter() - start) / count)
                    assert batches == -(-count // _BATCH)
                theirs.append(1 / (_MEASURED[kind] if quick else _tensorflows(kind, names)))
            return min(ours) * 1e6, min(theirs) * 1e6, f"{1 / min(ours):,.0f} elements a second"

        return Reading(("graphc", "tf.data"), "µs", read)

    return reading


ROWS = (
    Row(
        "files-lines",
        "a line of 4 files, interleaved, in a batch, decoded",
        1 / 1.5,
        _reading("lines", _lines, _decoded),
        rounds=1,
    ),
    Row(
        "files-lines-each",
        "the same, each line decoded before the batch",
        1 / 1.5,
        _reading("each", _lines, _each_decoded),
        rounds=1,
    ),
    Row(
        "files-texts",
        "a line of 4 files, interleaved, in a batch of strings",
        1.0,
        _reading("texts", _lines, lambda names: _interleaved(names).batch(_BATCH)),
        rounds=1,
    ),
    Row(
        "files-records",
        "a record of 100 bytes of a TFRecord file, in a batch",
        1.0,
        _reading("records", _records, lambda names: gx.data.tf_records(names).batch(_BATCH)),
        rounds=1,
    ),
    Row(
        "files-csv",
        "a row of CSV files, in a batch",
        1 / 1.5,
        _reading(
            "rows", _lines, lambda names: gx.data.csv(names, header=False, column_names=list("abcde")).batch(_BATCH)
        ),
        rounds=1,
    ),
)
