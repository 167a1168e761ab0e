"""Histograms: counts or weights of elements between edges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp

from graphc.compiler.core import FUNCTIONS, ArrayLike, Tensor, apply
from graphc.compiler.ir import OPS, Attrs
from graphc.compiler.ops.table import define_ops, row

__all__ = ["histogram", "histogram2d", "histogram_bin_edges", "histogramdd"]

Bins: TypeAlias = int | ArrayLike
Range: TypeAlias = tuple[float, float] | None


def _edges(x: Any, bins: int, range: Any) -> jax.Array:
    return jnp.histogram_bin_edges(x, bins, range)


def _counts(x: Any, *rest: Any, density: bool, weighted: bool) -> jax.Array:
    edges, weights = (rest[:-1], rest[-1]) if weighted else (rest, None)
    return jnp.histogramdd(x, list(edges), weights=weights, density=density)[0]


define_ops(
    (
        row("histogram_bin_edges", _edges, "x, bins: int, range: Axis", "Evenly spaced edges.", differentiable=False),
        row("histogram", _counts, "x, *edges, density: bool, weighted: bool", "The counts or weights between edges."),
    )
)


def histogram_bin_edges(x: ArrayLike, bins: Bins = 10, range: Range = None) -> Tensor:
    """Returns the edges of the bins of :func:`histogram`.

    Args:
      x: a tensor.
      bins: the number of bins of equal width; or the edges themselves, ascending.
      range: the lower and upper limit; None for the smallest and the largest element.

    Example:
      >>> import graphc as gx
      >>> gx.histogram_bin_edges([0.0, 4.0], bins=2).tolist()
      [0.0, 2.0, 4.0]
    """
    if not isinstance(bins, int):
        return FUNCTIONS["asarray"](bins)
    bounds = None if range is None else tuple(map(float, range))
    return apply(OPS["histogram_bin_edges"], (x,), Attrs(bins=bins, range=bounds))


def histogram(
    x: ArrayLike, bins: Bins = 10, range: Range = None, density: bool = False, weights: ArrayLike | None = None
) -> tuple[Tensor, Tensor]:
    """Counts the elements in each bin.

    Args:
      x: a tensor.
      bins: the number of bins of equal width; or their edges, ascending.
      range: the lower and upper limit; None for the smallest and the largest element.
      density: whether the results are scaled to an integral of 1.
      weights: the weight of each element; gradients flow to it.

    Returns:
      The counts, and the edges, which are one more.

    Example:
      >>> import graphc as gx
      >>> counts, edges = gx.histogram([0.0, 1.0, 1.5, 4.0], bins=2)
      >>> counts.tolist(), edges.tolist()
      ([3, 1], [0.0, 2.0, 4.0])
    """
    edges = histogram_bin_edges(x, bins, range)
    points = FUNCTIONS["reshape"](x, (-1, 1))
    weights = None if weights is None else FUNCTIONS["ravel"](weights)
    return _histogram(points, [edges], weights, density), edges


def histogram2d(
    x: ArrayLike,
    y: ArrayLike,
    bins: Bins | Sequence[Bins] = 10,
    range: Sequence[Range] | None = None,
    density: bool = False,
    weights: ArrayLike | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Counts the points (x, y) in each bin of a grid.

    Args:
      x: a 1-d tensor.
      y: a 1-d tensor of the same size.
      bins: an int for both axes, or for each axis an int or edges.
      range: the lower and upper limit for each axis.
      density: whether the results are scaled to an integral of 1.
      weights: the weight of each point.

    Returns:
      The counts, and the edges on each axis.
    """
    counts, (first, second) = histogramdd(FUNCTIONS["stack"]([x, y], axis=1), bins, range, density, weights)
    return counts, first, second


def histogramdd(
    x: ArrayLike,
    bins: Bins | Sequence[Bins] = 10,
    range: Sequence[Range] | None = None,
    density: bool = False,
    weights: ArrayLike | None = None,
) -> tuple[Tensor, list[Tensor]]:
    """Counts the points in each bin of a grid.

    Args:
      x: the points, as rows.
      bins: an int for all axes, or for each axis an int or edges.
      range: the lower and upper limit for each axis.
      density: whether the results are scaled to an integral of 1.
      weights: the weight of each point.

    Returns:
      The counts, and a list of the edges on each axis.
    """
    columns = FUNCTIONS["unstack"](x, axis=1)
    each: Any = [bins] * len(columns) if isinstance(bins, int) else bins
    ranges = [None] * len(columns) if range is None else range
    edges = [histogram_bin_edges(*arguments) for arguments in zip(columns, each, ranges, strict=True)]
    return _histogram(x, edges, weights, density), edges


def _histogram(points: Any, edges: Sequence[Any], weights: Any, density: bool) -> Tensor:
    values = (points, *edges) if weights is None else (points, *edges, weights)
    return apply(OPS["histogram"], values, Attrs(density=density, weighted=weights is not None))


for _name in __all__:
    FUNCTIONS.add(_name, globals()[_name])
