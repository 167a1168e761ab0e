"""Compositions: random numbers with TensorFlow's arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from graphc.core import as_dtype, is_symbolic
from graphc.ops import functions as gx
from graphc.ops import random

__all__ = [
    "binomial",
    "categorical",
    "gamma",
    "normal",
    "poisson",
    "shuffle",
    "stateless",
    "truncated_normal",
    "uniform",
]


def _shape(shape: Any) -> Any:
    """A shape as a tuple; in a graph that is built by hand sizes may be tensors, or all of it one."""
    if is_symbolic(shape):
        return shape
    sizes = cast("Sequence[Any]", shape) if isinstance(shape, list | tuple) else ()
    if any(map(is_symbolic, sizes)):
        return tuple(sizes)
    shape = cast("Any", shape)
    found = shape.numpy() if hasattr(shape, "numpy") else shape
    return (int(found),) if np.ndim(found) == 0 else tuple(int(size) for size in found)


def stateless(seed: Any) -> random.Generator:
    """A generator that begins anew: the same seed, a pair of ints, draws the same numbers."""
    first, second = (int(part) for part in (seed.numpy() if hasattr(seed, "numpy") else seed))
    return random.Generator((first * 1_000_003 + second) % 2**31)


def normal(shape: Any, mean: Any, stddev: Any, dtype: Any, source: Any = random) -> Any:
    """Draws from the normal distribution."""
    return source.normal(_shape(shape), dtype, loc=mean, scale=stddev)


def truncated_normal(shape: Any, mean: Any, stddev: Any, dtype: Any, source: Any = random) -> Any:
    """Draws from the normal distribution, cut at two standard deviations."""
    return gx.add(mean, gx.multiply(stddev, source.truncated_normal(-2.0, 2.0, _shape(shape), dtype)))


def uniform(shape: Any, minval: Any, maxval: Any, dtype: Any, source: Any = random) -> Any:
    """Draws from the uniform distribution; of integers, for a dtype of them."""
    if as_dtype(dtype).kind in "iu":
        if maxval is None:
            raise ValueError("tf.random.uniform: integers need maxval")
        return source.randint(_shape(shape), minval, maxval, dtype)
    return source.uniform(_shape(shape), dtype, minval, 1.0 if maxval is None else maxval)


def gamma(shape: Any, alpha: Any, beta: Any, dtype: Any, source: Any = random, *, each: bool = True) -> Any:
    """Draws from the gamma distribution: so many of a shape for each alpha, or a shape for all of them."""
    alpha = gx.asarray(alpha, dtype=dtype)
    rate = gx.asarray(1.0 if beta is None else beta, dtype=dtype)
    of_each = gx.shape(gx.add(alpha, rate))
    sizes = (*_shape(shape), *of_each) if each else _shape(shape)
    return source.gamma(alpha, sizes, dtype) / rate


def poisson(shape: Any, lam: Any, dtype: Any, source: Any = random, *, each: bool = True) -> Any:
    """Draws from the Poisson distribution: so many of a shape for each mean, or a shape for all of them."""
    lam = gx.asarray(lam)
    sizes = (*_shape(shape), *gx.shape(lam)) if each else _shape(shape)
    return gx.astype(source.poisson(lam, sizes), dtype)


def binomial(shape: Any, counts: Any, probs: Any, dtype: Any, source: Any = random) -> Any:
    """Draws from the binomial distribution."""
    return gx.astype(source.binomial(gx.astype(counts, "float32"), probs, _shape(shape)), dtype)


def categorical(logits: Any, num_samples: int, dtype: Any, source: Any = random) -> Any:
    """Draws of classes by their log-probabilities, num_samples for each row."""
    logits = gx.asarray(logits)
    drawn = source.categorical(logits, -1, (num_samples, *gx.shape(logits)[:-1]))
    return gx.astype(gx.moveaxis(drawn, 0, -1), "int64" if dtype is None else dtype)


def shuffle(value: Any, source: Any = random) -> Any:
    """The rows in another order."""
    return source.permutation(gx.asarray(value))
