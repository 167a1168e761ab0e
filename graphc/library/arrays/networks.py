"""Parts of networks: activations, statistics, dropout and losses without a reduction."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.core import ArrayLike, Tensor, as_dtype, is_symbolic
from graphc.compiler.ops import functions as gx
from graphc.compiler.ops import nn, random
from graphc.library.arrays.numbers import as_axes, clip_by_norm

__all__ = [
    "binomial", "categorical", "crelu", "dropout", "embedding_lookup", "gamma", "log_poisson_loss", "poisson",
    "sigmoid_cross_entropy", "silu", "softmax_cross_entropy", "sparse_softmax_cross_entropy", "stateless",
    "sufficient_statistics", "truncated_normal", "uniform", "weighted_moments",
]  # fmt: skip

# Random numbers of a shape for each parameter, and of a seed alone.


def _shape(shape: Any) -> Any:
    """Returns a shape as a tuple; in a graph that is built by hand sizes may be tensors, or all of it one."""
    if is_symbolic(shape):
        return shape
    sizes = cast("Sequence[Any]", shape) if isinstance(shape, list | tuple) else ()
    if any(map(is_symbolic, sizes)):
        return tuple(sizes)
    shape = cast("Any", shape)
    dimensions = shape.numpy() if hasattr(shape, "numpy") else shape
    return (int(dimensions),) if np.ndim(dimensions) == 0 else tuple(int(size) for size in dimensions)


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
            raise InvalidArgumentError("uniform: integers need maxval").here()
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


def silu(features: ArrayLike, beta: Any = 1.0) -> Tensor:
    """Returns each number times the sigmoid of ``beta`` times it.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.silu([0.0], beta=2.0).tolist()
      [0.0]
    """
    if isinstance(beta, float) and beta == 1.0:
        return nn.silu(features)
    return gx.multiply(features, nn.sigmoid(gx.multiply(beta, features)))


def crelu(features: ArrayLike, axis: int = -1) -> Tensor:
    """Returns the parts above zero of a tensor and of its negative, joined along an axis.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.crelu([1.0, -2.0]).tolist()
      [1.0, 0.0, 0.0, 2.0]
    """
    return nn.relu(gx.concat([features, gx.negative(features)], axis))


def weighted_moments(x: ArrayLike, axes: Any, weights: ArrayLike, keepdims: bool = False) -> tuple[Tensor, Tensor]:
    """Returns the mean and the variance over axes, in which elements have weights.

    Args:
      x: a tensor.
      axes: an axis or several.
      weights: the weights of the elements; broadcast.
      keepdims: whether the axes stay, with size 1.

    Example:
      >>> import graphc as gx
      >>> mean, variance = gx.arrays.weighted_moments([1.0, 4.0], 0, [2.0, 1.0])
      >>> mean.item(), variance.item()
      (2.0, 2.0)
    """
    tensor = gx.asarray(x)
    axes = as_axes(axes)
    weights = gx.broadcast_to(gx.astype(weights, tensor.dtype), tensor.shape)
    total = gx.sum(weights, axes, keepdims=True)
    mean = gx.sum(tensor * weights, axes, keepdims=True) / total
    variance = gx.sum(weights * gx.square(tensor - mean), axes, keepdims=True) / total
    return (mean, variance) if keepdims else (gx.squeeze(mean, axes), gx.squeeze(variance, axes))


def sufficient_statistics(
    x: ArrayLike, axes: Sequence[int], shift: Any = None, keepdims: bool = False
) -> tuple[Tensor, Tensor, Tensor, Any]:
    """Returns the count, the sum and the sum of squares of elements over axes, less a shift, and the shift.

    Args:
      x: a tensor.
      axes: the axes.
      shift: the value to subtract first; None for none.
      keepdims: whether the axes stay, with size 1.

    Example:
      >>> import graphc as gx
      >>> count, total, squares, _ = gx.arrays.sufficient_statistics([1.0, 2.0], [0])
      >>> count.item(), total.item(), squares.item()
      (2.0, 3.0, 5.0)
    """
    tensor = gx.asarray(x)
    count = np.prod([tensor.shape[axis] for axis in axes])
    moved = tensor if shift is None else tensor - shift
    sums = [gx.sum(part, tuple(axes), keepdims=keepdims) for part in (moved, gx.square(moved))]
    return gx.asarray(count, dtype=tensor.dtype), sums[0], sums[1], shift


def dropout(x: ArrayLike, rate: Any, noise_shape: Sequence[int | None] | None = None) -> Tensor:
    """Returns a tensor in which elements are 0 at random, and the others enlarged so that the mean stays.

    Args:
      x: a tensor.
      rate: the probability of 0.
      noise_shape: the shape of what is drawn, with None for the tensor's size; where it is 1 elements fall together.

    Example:
      >>> import graphc as gx
      >>> {*gx.arrays.dropout(gx.ones(100), 0.5).tolist()} == {0.0, 2.0}
      True
    """
    tensor = gx.asarray(x)
    sizes: Any = gx.shape(tensor)
    if noise_shape is not None:
        sizes = [have if size is None else size for size, have in zip(noise_shape, sizes, strict=True)]
    mask = gx.greater_equal(uniform(sizes, 0.0, 1.0), rate)
    return gx.where(mask, tensor / gx.astype(gx.subtract(1.0, rate), tensor.dtype), gx.zeros_like(tensor))


def embedding_lookup(params: ArrayLike, ids: ArrayLike, max_norm: Any = None) -> Tensor:
    """Returns the rows of a table, scaled down to a norm on demand.

    Args:
      params: the table.
      ids: the row indices.
      max_norm: the norm; None for rows as they are.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.embedding_lookup([[3.0, 4.0], [30.0, 40.0]], [1], max_norm=5.0).tolist()
      [[3.0, 4.0]]
    """
    rows = nn.embedding_lookup(params, ids)
    if max_norm is None:
        return rows
    return clip_by_norm(rows, max_norm, tuple(range(gx.ndim(ids), rows.ndim)))


def sigmoid_cross_entropy(labels: ArrayLike, logits: ArrayLike, pos_weight: Any = None) -> Tensor:
    """Returns the cross-entropy of ``sigmoid(logits)``, computed without overflow, for each element.

    Args:
      labels: numbers between 0 and 1.
      logits: numbers of the same shape.
      pos_weight: the factor of the positive labels' part; None for 1.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.sigmoid_cross_entropy([1.0, 0.0], [100.0, -100.0]).tolist()
      [0.0, 0.0]
    """
    cost = nn.softplus(gx.negative(logits))
    if pos_weight is not None:
        cost = gx.multiply(gx.add(1, gx.multiply(gx.subtract(pos_weight, 1), labels)), cost)
    return gx.add(gx.multiply(gx.subtract(1, labels), logits), cost)


def softmax_cross_entropy(labels: ArrayLike, logits: ArrayLike, axis: int = -1) -> Tensor:
    """Returns the cross-entropy of ``softmax(logits)`` for labels that are probabilities, along an axis.

    ``gx.losses.softmax_cross_entropy`` checks more, is one kernel and takes the mean.

    Args:
      labels: the probability of each class.
      logits: the logits, of the same shape.
      axis: the axis of the classes.

    Example:
      >>> import graphc as gx
      >>> round(gx.arrays.softmax_cross_entropy([0.0, 1.0], [0.0, 0.0]).item(), 4)
      0.6931
    """
    return gx.negative(gx.sum(gx.multiply(labels, nn.log_softmax(logits, axis)), axis))


def sparse_softmax_cross_entropy(labels: ArrayLike, logits: ArrayLike) -> Tensor:
    """Returns the cross-entropy of ``softmax(logits)`` for labels that are numbers of classes.

    ``gx.losses.sparse_softmax_cross_entropy`` checks more, is one kernel and takes the mean.

    Args:
      labels: the number of each row's class.
      logits: ``[*labels.shape, classes]``.

    Example:
      >>> import graphc as gx
      >>> round(gx.arrays.sparse_softmax_cross_entropy([1], [[0.0, 0.0]]).item(), 4)
      0.6931
    """
    chosen = gx.take_along_axis(nn.log_softmax(logits), gx.expand_dims(labels, -1), -1)
    return gx.negative(gx.squeeze(chosen, -1))


def log_poisson_loss(targets: ArrayLike, log_input: ArrayLike, compute_full_loss: bool = False) -> Tensor:
    """Returns the negative log-likelihood of Poisson's distribution, for each element.

    Args:
      targets: the observed counts.
      log_input: the logarithms of the means.
      compute_full_loss: whether Stirling's term, which does not depend on the means, is added.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.log_poisson_loss([2.0], [0.0]).tolist()
      [1.0]
    """
    wanted = gx.asarray(targets)
    loss = gx.subtract(gx.exp(log_input), gx.multiply(log_input, wanted))
    if not compute_full_loss:
        return loss
    large = wanted > 1
    safe = gx.where(large, wanted, 1)
    stirling = safe * gx.log(safe) - safe + 0.5 * gx.log(2.0 * math.pi * safe)
    return loss + gx.where(large, stirling, 0)
