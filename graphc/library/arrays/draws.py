"""Random numbers of a shape for each parameter, and of a seed alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.core import ArrayLike, Tensor, as_dtype, is_symbolic
from graphc.compiler.ops import functions as gx
from graphc.compiler.ops import random

__all__ = ["binomial", "categorical", "gamma", "poisson", "stateless", "truncated_normal", "uniform"]


def _shape(shape: Any) -> Any:
    """Returns a shape as a tuple; in a graph that is built by hand sizes may be tensors, or all of it one."""
    if is_symbolic(shape):
        return shape
    sizes = cast("Sequence[Any]", shape) if isinstance(shape, list | tuple) else ()
    if any(map(is_symbolic, sizes)):
        return tuple(sizes)
    shape = cast("Any", shape)
    found = shape.numpy() if hasattr(shape, "numpy") else shape
    return (int(found),) if np.ndim(found) == 0 else tuple(int(size) for size in found)


def stateless(seed: Any) -> random.Generator:
    """Returns a generator that begins anew: the same seed draws the same numbers.

    Args:
      seed: a pair of ints.

    Example:
      >>> import graphc as gx
      >>> first, second = (gx.arrays.stateless([1, 2]).uniform(()).item() for _ in range(2))
      >>> first == second
      True
    """
    first, second = (int(part) for part in (seed.numpy() if hasattr(seed, "numpy") else seed))
    return random.Generator((first * 1_000_003 + second) % 2**31)


def truncated_normal(
    shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = "float32", source: Any = random
) -> Tensor:
    """Returns draws from the normal distribution, cut at two standard deviations.

    Args:
      shape: the shape of the result.
      mean: the mean of the untruncated distribution.
      stddev: likewise.
      dtype: the dtype.
      source: a generator; ``gx.random`` itself by default.

    Example:
      >>> import graphc as gx
      >>> bool(gx.max(gx.abs(gx.arrays.truncated_normal([100]))) <= 2.0)
      True
    """
    return gx.add(mean, gx.multiply(stddev, source.truncated_normal(-2.0, 2.0, _shape(shape), dtype)))


def uniform(shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = "float32", source: Any = random) -> Tensor:
    """Returns draws from the uniform distribution; of integers, for a dtype of them.

    Args:
      shape: the shape of the result.
      minval: the least number.
      maxval: the greatest, left out; 1 when None, of floats.
      dtype: the dtype.
      source: a generator; ``gx.random`` itself by default.

    Raises:
      InvalidArgumentError: integers without ``maxval``.

    Example:
      >>> import graphc as gx
      >>> {*gx.arrays.uniform([100], maxval=2, dtype="int32").tolist()} == {0, 1}
      True
    """
    if as_dtype(dtype).kind in "iu":
        if maxval is None:
            raise at(InvalidArgumentError("uniform: integers need maxval"), user_location())
        return source.randint(_shape(shape), minval, maxval, dtype)
    return source.uniform(_shape(shape), dtype, minval, 1.0 if maxval is None else maxval)


def gamma(
    shape: Any, alpha: ArrayLike, beta: Any = None, dtype: Any = "float32", source: Any = random, *, each: bool = True
) -> Tensor:
    """Returns draws from the gamma distribution: so many of a shape for each parameter.

    Args:
      shape: the leading part of the result's shape, before the parameters' shape; all of it without ``each``.
      alpha: the distributions' shapes.
      beta: their rates; 1 when None.
      dtype: the dtype.
      source: a generator; ``gx.random`` itself by default.
      each: whether so many are drawn for each parameter, or so many in all.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.gamma([3], [0.5, 1.5]).shape
      (3, 2)
    """
    shapes = gx.asarray(alpha, dtype=dtype)
    rate = gx.asarray(1.0 if beta is None else beta, dtype=dtype)
    of_each = gx.shape(gx.add(shapes, rate))
    sizes = (*_shape(shape), *of_each) if each else _shape(shape)
    return source.gamma(shapes, sizes, dtype) / rate


def poisson(shape: Any, lam: ArrayLike, dtype: Any = "float32", source: Any = random, *, each: bool = True) -> Tensor:
    """Returns draws from the Poisson distribution: so many of a shape for each mean; as :func:`gamma` otherwise."""
    means = gx.asarray(lam)
    sizes = (*_shape(shape), *gx.shape(means)) if each else _shape(shape)
    return gx.astype(source.poisson(means, sizes), dtype)


def binomial(shape: Any, counts: ArrayLike, probs: ArrayLike, dtype: Any = "int32", source: Any = random) -> Tensor:
    """Returns draws from the binomial distribution.

    Args:
      shape: the shape of the result.
      counts: the number of trials.
      probs: the probability of success in each.
      dtype: the dtype.
      source: a generator; ``gx.random`` itself by default.
    """
    return gx.astype(source.binomial(gx.astype(counts, "float32"), probs, _shape(shape)), dtype)


def categorical(logits: ArrayLike, num_samples: int, dtype: Any = None, source: Any = random) -> Tensor:
    """Returns draws of classes by their log-probabilities, so many for each row.

    Args:
      logits: ``[rows, classes]``.
      num_samples: the number of samples.
      dtype: the dtype; int64 when None.
      source: a generator; ``gx.random`` itself by default.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.categorical([[0.0, -1e9]], 3).tolist()
      [[0, 0, 0]]
    """
    scores = gx.asarray(logits)
    drawn = source.categorical(scores, -1, (num_samples, *gx.shape(scores)[:-1]))
    return gx.astype(gx.moveaxis(drawn, 0, -1), "int64" if dtype is None else dtype)
