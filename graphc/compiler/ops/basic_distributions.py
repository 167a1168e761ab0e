"""The most common random distributions, as methods of generators."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.core import ArrayLike, Tensor, as_dtype
from graphc.compiler.ops.distributions import Distributions, floating, key_of, keyed
from graphc.compiler.ops.signature import Shape
from graphc.compiler.ops.table import row

__all__ = ["ROWS", "BasicDistributions"]


def _uniform(key: Any, minval: Any, maxval: Any, shape: Any, dtype: Any) -> jax.Array:
    return jax.random.uniform(key_of(key), shape, dtype, minval, maxval)


def _randint(key: Any, minval: Any, maxval: Any, shape: Any, dtype: Any) -> jax.Array:
    return jax.random.randint(key_of(key), shape, minval, maxval, dtype)


def _truncated_normal(key: Any, lower: Any, upper: Any, shape: Any, dtype: Any) -> jax.Array:
    return jax.random.truncated_normal(key_of(key), lower, upper, shape, dtype)


def _choice(key: Any, x: Any, *p: Any, shape: Any, replace: bool, axis: int) -> jax.Array:
    return jax.random.choice(key_of(key), x, shape, replace, *p, axis=axis)


ROWS = (
    row(
        "random.normal",
        keyed(jax.random.normal),
        "key, shape: Shape, dtype: DType",
        "Random numbers from the standard normal distribution.",
    ),
    row(
        "random.uniform",
        _uniform,
        "key, minval, maxval, shape: Shape, dtype: DType",
        "Random numbers from a uniform distribution.",
    ),
    row(
        "random.truncated_normal",
        _truncated_normal,
        "key, lower, upper, shape: Shape, dtype: DType",
        "Normal draws.",
    ),
    row(
        "random.exponential",
        keyed(jax.random.exponential),
        "key, shape: Shape, dtype: DType",
        "Exponential draws.",
    ),
    row(
        "random.gumbel",
        keyed(jax.random.gumbel),
        "key, shape: Shape, dtype: DType",
        "Random numbers from the Gumbel distribution.",
    ),
    row(
        "random.gamma",
        keyed(jax.random.gamma),
        "key, a, shape: Shape, dtype: DType",
        "Random numbers from the gamma distribution.",
    ),
    row("random.permutation", keyed(jax.random.permutation), "key, x, axis: int", "A random permutation along axis."),
    row(
        "random.choice",
        _choice,
        "key, x, *p, shape: Shape, replace: bool, axis: int",
        "Random choices from given values.",
    ),
    row(
        "random.randint",
        _randint,
        "key, minval, maxval, shape: Shape, dtype: DType",
        "Random integers.",
        differentiable=False,
    ),
    row(
        "random.bernoulli",
        keyed(jax.random.bernoulli),
        "key, p, shape: Shape",
        "Random booleans.",
        differentiable=False,
    ),
    row(
        "random.categorical",
        keyed(jax.random.categorical),
        "key, logits, axis: int, shape: Shape",
        "Random classes.",
        differentiable=False,
    ),
    row(
        "random.poisson",
        keyed(jax.random.poisson),
        "key, lam, shape: Shape, dtype: DType",
        "Poisson draws.",
        differentiable=False,
    ),
)
"""The rows of these distributions' ops."""


class BasicDistributions(Distributions):
    """A generator of random numbers from the common distributions and all others."""

    def normal(self, shape: Shape = (), dtype: Any = None, *, loc: ArrayLike = 0.0, scale: ArrayLike = 1.0) -> Tensor:
        """Draws from the normal distribution.

        Args:
          shape: the shape of the result. Static.
          dtype: a floating dtype; None for the default.
          loc: the mean, broadcast against ``shape``; gradients flow to it.
          scale: the standard deviation, broadcast against ``shape``; gradients flow to it.

        Example:
          >>> import graphc as gx
          >>> gx.random.normal((2, 3)).shape
          (2, 3)
        """
        drawn: Any = self._draw("normal", (), shape=shape, dtype=floating(dtype))
        if not _is_number(scale, 1):
            drawn = drawn * scale
        return drawn if _is_number(loc, 0) else drawn + loc

    def uniform(self, shape: Shape = (), dtype: Any = None, minval: ArrayLike = 0.0, maxval: ArrayLike = 1.0) -> Tensor:
        """Draws from the uniform distribution over ``[minval, maxval)``.

        Args:
          shape: the shape of the result. Static.
          dtype: a floating dtype; None for the default.
          minval: the smallest value, broadcast against ``shape``.
          maxval: the exclusive upper bound, broadcast against ``shape``.

        Example:
          >>> import graphc as gx
          >>> gx.random.uniform((2, 3), minval=-1.0).shape
          (2, 3)
        """
        return self._draw("uniform", (minval, maxval), shape=shape, dtype=floating(dtype))

    def truncated_normal(
        self, lower: ArrayLike = -2.0, upper: ArrayLike = 2.0, shape: Shape = (), dtype: Any = None
    ) -> Tensor:
        """Draws from the normal distribution of mean 0 and variance 1, cut to ``[lower, upper]``.

        Args:
          lower: the lower limit, broadcast against ``shape``.
          upper: the upper limit, broadcast against ``shape``.
          shape: the shape of the result. Static.
          dtype: a floating dtype; None for the default.

        Example:
          >>> import graphc as gx
          >>> gx.random.truncated_normal(-1.0, 1.0, (4,)).shape
          (4,)
        """
        return self._draw("truncated_normal", (lower, upper), shape=shape, dtype=floating(dtype))

    def exponential(self, shape: Shape = (), dtype: Any = None) -> Tensor:
        """Draws from the exponential distribution of mean 1.

        Args:
          shape: the shape of the result. Static.
          dtype: a floating dtype; None for the default.

        Example:
          >>> import graphc as gx
          >>> gx.random.exponential((2, 3)).shape
          (2, 3)
        """
        return self._draw("exponential", (), shape=shape, dtype=floating(dtype))

    def gumbel(self, shape: Shape = (), dtype: Any = None) -> Tensor:
        """Draws from Gumbel's distribution.

        Args:
          shape: the shape of the result. Static.
          dtype: a floating dtype; None for the default.

        Example:
          >>> import graphc as gx
          >>> gx.random.gumbel((2, 3)).shape
          (2, 3)
        """
        return self._draw("gumbel", (), shape=shape, dtype=floating(dtype))

    def gamma(self, a: ArrayLike, shape: Shape | None = None, dtype: Any = None) -> Tensor:
        """Draws from the gamma distribution of scale 1.

        Args:
          a: the shape parameter, positive; gradients flow to it.
          shape: the shape of the result; None for that of ``a``. Static.
          dtype: a floating dtype; None for the default.

        Example:
          >>> import graphc as gx
          >>> gx.random.gamma([1.0, 2.0, 3.0]).shape
          (3,)
        """
        return self._draw("gamma", (a,), shape=shape, dtype=floating(dtype))

    def poisson(self, lam: ArrayLike, shape: Shape | None = None, dtype: Any = "int32") -> Tensor:
        """Draws from the Poisson distribution.

        Args:
          lam: the mean, nonnegative.
          shape: the shape of the result; None for that of ``lam``. Static.
          dtype: an integer dtype.

        Example:
          >>> import graphc as gx
          >>> gx.random.poisson([1.0, 10.0]).shape
          (2,)
        """
        return self._draw("poisson", (lam,), shape=shape, dtype=as_dtype(dtype))

    def randint(self, shape: Shape, minval: ArrayLike, maxval: ArrayLike, dtype: Any = "int32") -> Tensor:
        """Draws integers ``minval <= n < maxval``, uniformly.

        Args:
          shape: the shape of the result. Static.
          minval: the smallest value, broadcast against ``shape``.
          maxval: the exclusive upper bound, broadcast against ``shape``.
          dtype: an integer dtype.

        Example:
          >>> import graphc as gx
          >>> gx.random.randint((4,), 0, 10).shape
          (4,)
        """
        return self._draw("randint", (minval, maxval), shape=shape, dtype=as_dtype(dtype))

    def integers(
        self, low: ArrayLike, high: ArrayLike | None = None, shape: Shape = (), dtype: Any = "int32"
    ) -> Tensor:
        """Draws integers ``low <= n < high``, uniformly, like :meth:`randint` with NumPy's arguments.

        Args:
          low: the smallest value, broadcast against ``shape``; if ``high`` is None, the exclusive upper bound, from 0.
          high: the exclusive upper bound, broadcast against ``shape``.
          shape: the shape of the result. Static.
          dtype: an integer dtype.

        Raises:
          InvalidArgumentError: ``low`` and ``high`` are Python ints that leave no value.

        Example:
          >>> import graphc as gx
          >>> {*gx.random.integers(1, 7, 100).tolist()} <= {1, 2, 3, 4, 5, 6}
          True
        """
        first, last = (0, low) if high is None else (low, high)
        if isinstance(first, int) and isinstance(last, int) and first >= last:
            error = InvalidArgumentError(f"integers: the range from {first} to below {last} is empty")
            raise at(error, user_location())
        return self.randint(shape, first, last, dtype)

    def bernoulli(self, p: ArrayLike = 0.5, shape: Shape | None = None) -> Tensor:
        """Draws booleans that are True with probability ``p``.

        Args:
          p: the probability, between 0 and 1.
          shape: the shape of the result; None for that of ``p``. Static.

        Example:
          >>> import graphc as gx
          >>> gx.random.bernoulli(0.5, (4,)).shape
          (4,)
        """
        return self._draw("bernoulli", (p,), shape=shape)

    def categorical(self, logits: ArrayLike, axis: int = -1, shape: Shape | None = None) -> Tensor:
        """Draws classes 0, 1, ... by their unnormalized log-probabilities.

        Args:
          logits: the log-probabilities, up to a constant.
          axis: the axis of ``logits`` with the classes.
          shape: the shape of the result; None for that of ``logits`` without ``axis``. Static.

        Example:
          >>> import graphc as gx
          >>> gx.random.categorical([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]).shape
          (2,)
        """
        return self._draw("categorical", (logits,), axis=axis, shape=shape)

    def permutation(self, x: ArrayLike, axis: int = 0) -> Tensor:
        """Shuffles a tensor along an axis.

        Args:
          x: a tensor, or a Python int n for 0, 1, ..., n - 1.
          axis: the axis along which slices are permuted.

        Example:
          >>> import graphc as gx
          >>> gx.random.permutation(5).shape
          (5,)
        """
        return self._draw("permutation", (_values(x),), axis=axis)

    def choice(
        self, x: ArrayLike, shape: Shape = (), replace: bool = True, p: ArrayLike | None = None, axis: int = 0
    ) -> Tensor:
        """Draws from given values.

        Args:
          x: a tensor, or a Python int n for 0, 1, ..., n - 1.
          shape: the shape of the draws. Static.
          replace: whether a value may be drawn repeatedly.
          p: the probability of each slice of ``x`` along ``axis``; None for equal ones.
          axis: the axis of ``x`` to choose from.

        Example:
          >>> import graphc as gx
          >>> gx.random.choice([1.0, 2.0, 3.0], (4,)).shape
          (4,)
        """
        weights = () if p is None else (p,)
        return self._draw("choice", (_values(x), *weights), shape=shape, replace=replace, axis=axis)


def _is_number(value: Any, number: int) -> bool:
    return isinstance(value, int | float) and value == number


def _values(x: Any) -> Any:
    return np.arange(x, dtype=np.int32) if isinstance(x, int) else x
