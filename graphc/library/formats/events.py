"""Summaries as TensorBoard messages; TensorBoard is imported when the first summary is made."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, Final

import numpy as np

from graphc.compiler.base.errors import InvalidArgumentError, NotFoundError
from graphc.compiler.ir import OPEN, TensorType

_PLACES: Final = {
    "AttrValue": "attr_value_pb2",
    "Event": "event_pb2",
    "GraphDef": "graph_pb2",
    "HistogramProto": "histogram_pb2",
    "LogMessage": "event_pb2",
    "NodeDef": "node_def_pb2",
    "SessionLog": "event_pb2",
    "Summary": "summary_pb2",
    "SummaryMetadata": "summary_pb2",
    "TensorProto": "tensor_pb2",
    "TensorShapeProto": "tensor_shape_pb2",
    "TaggedRunMetadata": "event_pb2",
}


def tensorboard(module: str) -> Any:
    """Returns a module of TensorBoard."""
    try:
        return import_module(f"tensorboard.{module}")
    except ImportError as error:
        raise NotFoundError(
            f"summaries need TensorBoard, which is not installed ({error}): pip install 'graphc[viz]'"
        ).here() from error


def message(name: str) -> Any:
    """Returns a message class of TensorBoard, such as ``Summary``.

    Raises:
      NotFoundError: TensorBoard is not installed.
    """
    return getattr(tensorboard(f"compat.proto.{_PLACES[name]}"), name)


def shape_message(type: TensorType) -> Any:
    """Returns the shape of a type, with -1 for a size that is left open."""
    kind = message("TensorShapeProto")
    if not type.ranked:
        return kind(unknown_rank=True)
    return kind(dim=[kind.Dim(size=-1 if size == OPEN else size) for size in type.shape])


def scalar_message(value: np.ndarray[Any, Any], *, tag: str) -> bytes:
    """Returns the summary of a number."""
    if value.size != 1:
        raise InvalidArgumentError(f"summary.scalar {tag!r}: expected one number, got the shape {value.shape}").here()
    summary = message("Summary")
    return summary(value=[summary.Value(tag=tag, simple_value=float(value.reshape(())))]).SerializeToString()


def _edges() -> np.ndarray[Any, Any]:
    """Returns the upper limits of TensorFlow's buckets: from 1e-12 on, each is a tenth larger than the last."""
    positive = [1e-12]
    while positive[-1] < 1e20:
        positive.append(positive[-1] * 1.1)
    largest = float(np.finfo(np.float64).max)
    return np.array([-largest, *[-edge for edge in reversed(positive)], 0.0, *positive, largest])


def histogram_message(values: np.ndarray[Any, Any], *, tag: str) -> bytes:
    """Returns the summary of a distribution; of adjacent empty buckets, only the last is kept."""
    flat = values.astype(np.float64).ravel()
    if not np.isfinite(flat).all():
        raise InvalidArgumentError(f"summary.histogram {tag!r}: a value is NaN or infinite").here()
    edges = _edges()
    counts = np.bincount(np.searchsorted(edges, flat, side="right"), minlength=len(edges))[: len(edges)]
    used = np.flatnonzero(counts)
    shown = np.unique(np.concatenate([np.maximum(used - 1, 0), used, [len(edges) - 1]]))
    histogram = message("HistogramProto")(
        min=flat.min() if flat.size else 0.0,
        max=flat.max() if flat.size else 0.0,
        num=flat.size,
        sum=flat.sum(),
        sum_squares=(flat * flat).sum(),
        bucket_limit=edges[shown].tolist(),
        bucket=counts[shown].astype(float).tolist(),
    )
    summary = message("Summary")
    return summary(value=[summary.Value(tag=tag, histo=histogram)]).SerializeToString()


def merged(*summaries: np.ndarray[Any, Any]) -> bytes:
    """Merges several summaries into one."""
    summary = message("Summary")()
    for one in summaries:
        for serialized in np.ravel(one):
            summary.MergeFromString(serialized)
    tags: Sequence[str] = [value.tag for value in summary.value]
    twice = sorted({tag for tag in tags if tags.count(tag) > 1})
    if twice:
        raise InvalidArgumentError(
            f"summary.merge: {', '.join(map(repr, twice))} is there twice; give it another name"
        ).here()
    return summary.SerializeToString()
