"""Means over all rows of a data set, independent of its batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from operator import add
from typing import Any

import numpy as np

from graphc.compiler.base import at, nest, user_location
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError
from graphc.compiler.core import Tensor
from graphc.compiler.tracing import is_array
from graphc.training.distribute.replica import PerReplica, map_results
from graphc.training.metrics import Metric

__all__ = ["evaluate"]


def evaluate(
    run: Callable[..., Any], f: Callable[..., Any], dataset: Iterable[Any], metrics: Mapping[str, Metric]
) -> Any:
    """Returns means and metrics over all rows; see :meth:`DataParallel.evaluate`.

    Args:
      run: a function that runs a function on a batch, over devices.
      f: the function.
      dataset: the batches.
      metrics: the metrics that ``f`` updates.
    """
    for metric in metrics.values():
        metric.reset()
    totals: Any = None
    count = 0
    for batch in dataset:
        arguments = tuple(batch) if type(batch) in (tuple, list) else (batch,)
        rows = next((leaf.shape[0] for leaf in nest.flatten(arguments)[0] if is_array(leaf) and len(leaf.shape)), 0)
        sums = map_results(partial(_sum, rows), run(f, *arguments))
        totals = sums if totals is None else nest.map_structure(add, totals, sums)
        count += rows
    if not count:
        raise at(InvalidArgumentError("evaluate: the data set has no batches with rows"), user_location())
    means: Any = map_results(partial(_mean, count), totals)
    results = {name: metric.result().numpy() for name, metric in metrics.items()}
    if not results:
        return means
    return {**(means if isinstance(means, dict) else {} if means is None else {"mean": means}), **results}


def _mean(count: int, total: Any) -> Any:
    return total / count


def _sum(rows: int, leaf: Any) -> Any:
    """Returns the sum of a function's results over the rows of a batch."""
    if isinstance(leaf, PerReplica):
        array = leaf.numpy()
        values = array.reshape(-1, *array.shape[2:])[: leaf.rows] if array.ndim > 1 else array[0]
    else:
        values = leaf.numpy() if isinstance(leaf, Tensor) else np.asarray(leaf)
    if values.dtype == object or not values.ndim or values.shape[0] != rows:
        error = InvalidTypeError(
            f"evaluate: the function must return a value for each of the {rows} rows, got {leaf!r:.80}; return the "
            "values before their mean, or update a metric"
        )
        raise at(error, user_location())
    return values.sum(axis=0, dtype=np.float64)
