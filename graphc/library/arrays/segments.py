"""Elements taken together by the number of their segment, and elements counted."""

from __future__ import annotations

from typing import Any

from graphc.compiler.core import ArrayLike, Tensor, is_symbolic
from graphc.compiler.ops import functions as gx
from graphc.compiler.tracing import graph_by_hand
from graphc.library.arrays.gathering import known_values

__all__ = [
    "confusion_matrix", "histogram_fixed_width", "histogram_fixed_width_bins", "in_top_k", "segment_max",
    "segment_mean", "segment_min", "segment_prod", "segment_sqrt_n", "segment_sum",
]  # fmt: skip

_HOW = {"sum": "add", "prod": "multiply", "max": "max", "min": "min"}


def _segment(how: str, data: Any, segment_ids: Any, num_segments: Any, empty: Any = None) -> Tensor:
    data, ids = gx.asarray(data), gx.asarray(segment_ids)
    count = _count(how, segment_ids, num_segments)
    ids = gx.where(ids < 0, count, ids)  # beyond the end, where nothing is written
    start = _neutral(how, data.dtype)
    reduced = getattr(gx.full((count, *gx.shape(data)[ids.ndim :]), start, dtype=data.dtype).at[ids], _HOW[how])(data)
    if empty is None:
        return reduced
    used = gx.zeros((count,), dtype=bool).at[ids].set(True)
    return gx.where(used.reshape((-1, *[1] * (reduced.ndim - 1))), reduced, gx.asarray(empty, dtype=data.dtype))


def _count(how: str, segment_ids: Any, num_segments: Any) -> Any:
    """Returns how many segments there are; in a graph that is built by hand it may be a tensor."""
    if num_segments is not None:
        return num_segments if is_symbolic(num_segments) else int(num_segments)
    if is_symbolic(segment_ids) and graph_by_hand() is not None:
        return gx.max(gx.asarray(segment_ids)) + 1
    values = known_values(f"segment_{how}", segment_ids, "pass num_segments")
    return int(values.max(initial=-1)) + 1


def _neutral(how: str, dtype: Any) -> Any:
    """Returns what changes nothing where it is taken together with other elements."""
    whole = dtype.kind in "iu"
    if how in ("max", "min"):
        limits: Any = gx.iinfo(dtype) if whole else gx.finfo(dtype)
        start = limits.min if how == "max" else limits.max
    else:
        start = 1 if how == "prod" else 0
    return int(start) if whole else float(start)


def segment_sum(data: ArrayLike, segment_ids: ArrayLike, num_segments: int | None = None) -> Tensor:
    """Returns the sum of the elements of each segment, as ``jax.ops.segment_sum``.

    Args:
      data: ``[*segment_ids.shape, ...]``.
      segment_ids: the number of each element's segment; those of negative ones are left out.
      num_segments: the number of segments; None for one more than the largest index, which must then be known.

    Raises:
      ConcretizationError: the number of segments depends on values that are not known while the function is traced.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.segment_sum([1.0, 2.0, 5.0], [0, 0, 2]).tolist()
      [3.0, 0.0, 5.0]
    """
    return _segment("sum", data, segment_ids, num_segments)


def segment_prod(data: ArrayLike, segment_ids: ArrayLike, num_segments: int | None = None) -> Tensor:
    """Returns the product of the elements of each segment; see :func:`segment_sum`.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.segment_prod([3.0, 2.0, 5.0], [0, 0, 2]).tolist()
      [6.0, 1.0, 5.0]
    """
    return _segment("prod", data, segment_ids, num_segments)


def segment_max(data: ArrayLike, segment_ids: ArrayLike, num_segments: int | None = None, empty: Any = None) -> Tensor:
    """Returns the largest element of each segment; see :func:`segment_sum`.

    Args:
      data: ``[*segment_ids.shape, ...]``.
      segment_ids: the number of each element's segment.
      num_segments: the number of segments.
      empty: the value of a segment without elements; None for the least number of the dtype.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.segment_max([3.0, 2.0, 5.0], [0, 0, 2], empty=0).tolist()
      [3.0, 0.0, 5.0]
    """
    return _segment("max", data, segment_ids, num_segments, empty)


def segment_min(data: ArrayLike, segment_ids: ArrayLike, num_segments: int | None = None, empty: Any = None) -> Tensor:
    """Returns the smallest element of each segment; as :func:`segment_max` otherwise.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.segment_min([3.0, 2.0, 5.0], [0, 0, 2], empty=0).tolist()
      [2.0, 0.0, 5.0]
    """
    return _segment("min", data, segment_ids, num_segments, empty)


def _counts(data: Tensor, segment_ids: Any, count: Any, ndim: int) -> Tensor:
    ids = gx.asarray(segment_ids)
    counts = gx.zeros((count,), dtype=data.dtype).at[gx.where(ids < 0, count, ids)].add(1)
    return gx.maximum(counts.reshape((-1, *[1] * (ndim - 1))), 1)


def segment_mean(data: ArrayLike, segment_ids: ArrayLike, num_segments: int | None = None) -> Tensor:
    """Returns the mean of the elements of each segment, 0 for one without any; see :func:`segment_sum`.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.segment_mean([3.0, 2.0, 5.0], [0, 0, 2]).tolist()
      [2.5, 0.0, 5.0]
    """
    count = _count("mean", segment_ids, num_segments)
    total = _segment("sum", data, segment_ids, count)
    return gx.divide(total, _counts(total, segment_ids, count, total.ndim))


def segment_sqrt_n(data: ArrayLike, segment_ids: ArrayLike, num_segments: int | None = None) -> Tensor:
    """Returns the sum of each segment, divided by the root of how many elements it has; see :func:`segment_sum`.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.segment_sqrt_n([1.0, 1.0, 1.0, 1.0], [0, 0, 0, 0]).tolist()
      [2.0]
    """
    count = _count("sqrt_n", segment_ids, num_segments)
    total = _segment("sum", data, segment_ids, count)
    return gx.divide(total, gx.sqrt(_counts(total, segment_ids, count, total.ndim)))


def confusion_matrix(
    labels: ArrayLike, predictions: ArrayLike, num_classes: int | None = None, weights: ArrayLike | None = None,
    dtype: Any = "int32",
) -> Tensor:  # fmt: skip
    """Returns how often, or with which weight, each label (row) goes with each prediction (column).

    Args:
      labels: numbers of classes.
      predictions: likewise.
      num_classes: the number of classes; None for one more than the largest index.
      weights: the weight of each pair; None for 1.
      dtype: the dtype of the result.

    Raises:
      ConcretizationError: the number of classes depends on values that are not known while the function is traced.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.confusion_matrix([0, 1, 1], [0, 1, 0]).tolist()
      [[1, 0], [1, 1]]
    """
    rows, columns = gx.asarray(labels), gx.asarray(predictions)
    if num_classes is None:
        values = [known_values("confusion_matrix", one, "pass num_classes") for one in (labels, predictions)]
        num_classes = int(max(one.max(initial=-1) for one in values)) + 1
    counts = gx.zeros((num_classes, num_classes), dtype=dtype)
    return counts.at[rows, columns].add(gx.astype(1 if weights is None else weights, dtype))


def histogram_fixed_width_bins(
    values: ArrayLike, value_range: ArrayLike, nbins: int = 100, dtype: Any = "int32"
) -> Tensor:
    """Returns which of ``nbins`` bins of one width each value lies in; the outer ones take what is beyond the range.

    Args:
      values: a tensor.
      value_range: the lower and upper limit.
      nbins: the number of bins.
      dtype: the dtype of the result.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.histogram_fixed_width_bins([-1.0, 0.2, 9.0], [0.0, 1.0], nbins=2).tolist()
      [0, 0, 1]
    """
    tensor, limits = gx.asarray(values), gx.asarray(value_range)
    share = (tensor - limits[0]) / (limits[1] - limits[0])
    return gx.astype(gx.clip(gx.floor(share * nbins), 0, nbins - 1), dtype)


def histogram_fixed_width(values: ArrayLike, value_range: ArrayLike, nbins: int = 100, dtype: Any = "int32") -> Tensor:
    """Returns how many values lie in each bin; see :func:`histogram_fixed_width_bins`.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.histogram_fixed_width([-1.0, 0.2, 9.0], [0.0, 1.0], nbins=2).tolist()
      [2, 1]
    """
    bins = gx.ravel(histogram_fixed_width_bins(values, value_range, nbins))
    return gx.zeros((nbins,), dtype=dtype).at[bins].add(1)


def in_top_k(targets: ArrayLike, predictions: ArrayLike, k: int) -> Tensor:
    """Returns whether each target is among the ``k`` largest predictions of its row; ties at the edge count.

    Args:
      targets: for each row the index of a class.
      predictions: ``[rows, classes]``.
      k: the number of classes to consider.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.in_top_k([1, 0], [[0.1, 0.8], [0.2, 0.3]], 1).tolist()
      [True, False]
    """
    scores = gx.asarray(predictions)
    of_target = gx.take_along_axis(scores, gx.expand_dims(targets, -1), -1)
    larger = gx.sum(gx.astype(scores > of_target, "int32"), -1)
    return gx.logical_and(larger < k, gx.isfinite(gx.squeeze(of_target, -1)))
