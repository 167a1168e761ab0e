"""Compositions: elements taken together by the number of their segment, and elements counted."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphc.compat.tensorflow2.own.indices import known
from graphc.core import context, is_symbolic
from graphc.ops import functions as gx

__all__ = [
    "confusion_matrix",
    "histogram_fixed_width",
    "histogram_fixed_width_bins",
    "in_top_k",
    "segment",
    "sufficient_statistics",
    "unsorted_segment",
]

_HOW = {"sum": "add", "mean": "add", "sqrt_n": "add", "prod": "multiply", "max": "max", "min": "min"}


def segment(how: str, data: Any, segment_ids: Any) -> Any:
    """The elements of each segment taken together, as many segments as the ids, which ascend, say."""
    trace = context.trace
    if is_symbolic(segment_ids) and trace is not None and trace.root.is_graph and how in ("sum", "mean"):
        return unsorted_segment(how, data, segment_ids, gx.asarray(segment_ids)[-1] + 1)
    remedy = f"use tf.math.unsorted_segment_{how} with num_segments, which a graph must know"
    ids = known(f"tf.math.segment_{how}", "segment_ids", segment_ids, remedy)
    found = unsorted_segment(how, data, segment_ids, int(ids[-1]) + 1 if ids.size else 0)
    if how in ("max", "min", "prod"):  # TensorFlow has 0, not the number that changes nothing, for what is left out
        used = np.bincount(ids.ravel(), minlength=found.shape[0]) > 0
        if how != "prod" and not used.all():
            found = gx.where(used.reshape(-1, *[1] * (found.ndim - 1)), found, 0)
    return found


def unsorted_segment(how: str, data: Any, segment_ids: Any, num_segments: Any) -> Any:
    """The elements of each of num_segments segments taken together; those of negative segments are left out."""
    data, ids = gx.asarray(data), gx.asarray(segment_ids)
    ids = gx.where(ids < 0, num_segments, ids)  # beyond the end, where nothing is written
    count = num_segments if is_symbolic(num_segments) else int(num_segments)
    shape = (count, *gx.shape(data)[ids.ndim :])
    if how in ("max", "min"):
        limits: Any = gx.iinfo(data.dtype) if data.dtype.kind in "iu" else gx.finfo(data.dtype)
        start = limits.min if how == "max" else limits.max
    else:
        start = 1 if how == "prod" else 0
    start = int(start) if data.dtype.kind in "iu" else float(start)
    found = getattr(gx.full(shape, start, dtype=data.dtype).at[ids], _HOW[how])(data)
    if how not in ("mean", "sqrt_n"):
        return found
    counts = gx.zeros((count,), dtype=data.dtype).at[ids].add(1)
    counts = gx.maximum(gx.reshape(counts, (-1, *[1] * (len(shape) - 1))), 1)
    return gx.divide(found, counts if how == "mean" else gx.sqrt(counts))


def confusion_matrix(labels: Any, predictions: Any, num_classes: Any, weights: Any, dtype: Any) -> Any:
    """How often, or with which weight, each label (row) goes with each prediction (column)."""
    labels, predictions = gx.asarray(labels), gx.asarray(predictions)
    if num_classes is None:
        remedy = "pass num_classes"
        largest = [known("tf.math.confusion_matrix", "labels", one, remedy).max() for one in (labels, predictions)]
        num_classes = int(max(largest)) + 1
    counts = gx.zeros((num_classes, num_classes), dtype=dtype)
    return counts.at[labels, predictions].add(gx.astype(1 if weights is None else weights, dtype))


def histogram_fixed_width_bins(values: Any, value_range: Any, nbins: int, dtype: Any) -> Any:
    """Which of nbins bins of one width each value lies in; the outer ones take what is beyond the range."""
    values, limits = gx.asarray(values), gx.asarray(value_range)
    share = (values - limits[0]) / (limits[1] - limits[0])
    return gx.astype(gx.clip(gx.floor(share * nbins), 0, nbins - 1), dtype)


def histogram_fixed_width(values: Any, value_range: Any, nbins: int, dtype: Any) -> Any:
    """How many values lie in each of nbins bins of one width; the outer ones take what is beyond the range."""
    bins = gx.ravel(histogram_fixed_width_bins(values, value_range, nbins, "int32"))
    return gx.zeros((nbins,), dtype=dtype).at[bins].add(1)


def in_top_k(targets: Any, predictions: Any, k: int) -> Any:
    """Whether each target is among the k largest predictions of its row; ties at the edge count."""
    predictions = gx.asarray(predictions)
    of_target = gx.take_along_axis(predictions, gx.expand_dims(targets, -1), -1)
    larger = gx.sum(gx.astype(predictions > of_target, "int32"), -1)
    return gx.logical_and(larger < k, gx.isfinite(gx.squeeze(of_target, -1)))


def sufficient_statistics(x: Any, axes: Any, shift: Any, keepdims: bool) -> tuple[Any, Any, Any, Any]:
    """The count, the sum and the sum of squares of elements over axes, less a shift, and the shift."""
    x = gx.asarray(x)
    count = np.prod([x.shape[axis] for axis in axes])
    moved = x if shift is None else x - shift
    sums = [gx.sum(part, tuple(axes), keepdims=keepdims) for part in (moved, gx.square(moved))]
    return gx.asarray(count, dtype=x.dtype), sums[0], sums[1], shift
