"""The distributions that most programs draw from, as methods of what draws."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from graphc.base import at, user_location
from graphc.base.errors import InvalidArgumentError
from graphc.core import ArrayLike, Tensor, as_dtype
from graphc.ops.annotations import Shape
from graphc.ops.distributions import Distributions, floating, key_of, keyed
from graphc.ops.table import row

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
    row("random.normal", keyed(jax.random.normal), "key, shape: Shape, dtype: DType", "Normal draws."),
    row("random.uniform", _uniform, "key, minval, maxval, shape: Shape, dtype: DType", "Uniform draws."),
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
    row("random.gumbel", keyed(jax.random.gumbel), "key, shape: Shape, dtype: DType", "Gumbel draws."),
    row("random.gamma", keyed(jax.random.gamma), "key, a, shape: Shape, dtype: DType", "Gamma draws."),
    row("random.permutation", keyed(jax.random.permutation), "key, x, axis: int", "Shuffled along axis."),
    row("random.choice", _choice, "key, x, *p, shape: Shape, replace: bool, axis: int", "Draws from given values."),
    row(
        "random.randint",
        _randint,
        "key, minval, maxval, shape: Shape, dtype: DType",
        "Draws of integers.",
        differentiable=False,
    ),
    row(
        "random.bernoulli",
        keyed(jax.random.bernoulli),
        "key, p, shape: Shape",
        "Draws of truth values.",
        differentiable=False,
    ),
    row(
        "random.categorical",
        keyed(jax.random.categorical),
        "key, logits, axis: int, shape: Shape",
        "Draws of classes.",
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
"""The rows of their ops."""


class BasicDistributions(Distributions):
    """What draws from distributions, the common ones and all others."""

    def normal(self, shape: Shape = (), dtype: Any = None, *, loc: ArrayLike = 0.0, scale: ArrayLike = 1.0) -> Tensor:
        """Draws from the normal distribution.

        Args:
          shape: of the result, static.
          dtype: a floating dtype; the default one for None.
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
          shape: of the result, static.
          dtype: a floating dtype; the default one for None.
          minval: the smallest value, broadcast against ``shape``.
          maxval: the value above all drawn, broadcast against ``shape``.

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
          shape: of the result, static.
          dtype: a floating dtype; the default one for None.

        Example:
          >>> import graphc as gx
          >>> gx.random.truncated_normal(-1.0, 1.0, (4,)).shape
          (4,)
        """
        return self._draw("truncated_normal", (lower, upper), shape=shape, dtype=floating(dtype))

    def exponential(self, shape: Shape = (), dtype: Any = None) -> Tensor:
        """Draws from the exponential distribution of mean 1.

        Args:
          shape: of the result, static.
          dtype: a floating dtype; the default one for None.

        Example:
          >>> import graphc as gx
          >>> gx.random.exponential((2, 3)).shape
          (2, 3)
        """
        return self._draw("exponential", (), shape=shape, dtype=floating(dtype))

    def gumbel(self, shape: Shape = (), dtype: Any = None) -> Tensor:
        """Draws from Gumbel's distribution.

        Args:
          shape: of the result, static.
          dtype: a floating dtype; the default one for None.

        Example:
          >>> import graphc as gx
          >>> gx.random.gumbel((2, 3)).shape
          (2, 3)
        """
        return self._draw("gumbel", (), shape=shape, dtype=floating(dtype))

    def gamma(self, a: ArrayLike, shape: Shape | None = None, dtype: Any = None) -> Tensor:
        """Draws from the gamma distribution of scale 1.

        Args:
          a: the shape parameter, above zero; gradients flow to it.
          shape: of the result, static; that of ``a`` for None.
          dtype: a floating dtype; the default one for None.

        Example:
          >>> import graphc as gx
          >>> gx.random.gamma([1.0, 2.0, 3.0]).shape
          (3,)
        """
        return self._draw("gamma", (a,), shape=shape, dtype=floating(dtype))

    def poisson(self, lam: ArrayLike, shape: Shape | None = None, dtype: Any = "int32") -> Tensor:
        """Draws from the Poisson distribution.

        Args:
          lam: the mean, at least zero.
          shape: of the result, static; that of ``lam`` for None.
          dtype: an integer dtype.

        Example:
          >>> import graphc as gx
          >>> gx.random.poisson([1.0, 10.0]).shape
          (2,)
        """
        return self._draw("poisson", (lam,), shape=shape, dtype=as_dtype(dtype))

    def randint(self, shape: Shape, minval: ArrayLike, maxval: ArrayLike, dtype: Any = "int32") -> Tensor:
        """Draws of integers ``minval <= n < maxval``, each equally likely.

        Args:
          shape: of the result, static.
          minval: the smallest, broadcast against ``shape``.
          maxval: the one after the largest, broadcast against ``shape``.
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
        """Draws of integers ``low <= n < high``, each equally likely: :meth:`randint` with the arguments of NumPy.

        Args:
          low: the smallest, broadcast against ``shape``; if ``high`` is None, the one after the largest, from 0.
          high: the one after the largest, broadcast against ``shape``.
          shape: of the result, static.
          dtype: an integer dtype.

        Raises:
          InvalidArgumentError: Python ints between which there is none.

        Example:
          >>> import graphc as gx
          >>> {*gx.random.integers(1, 7, 100).tolist()} <= {1, 2, 3, 4, 5, 6}
          True
        """
        first, last = (0, low) if high is None else (low, high)
        if isinstance(first, int) and isinstance(last, int) and first >= last:
            error = InvalidArgumentError(f"integers: there is no integer from {first} to below {last}")
            raise at(error, user_location())
        return self.randint(shape, first, last, dtype)

    def bernoulli(self, p: ArrayLike = 0.5, shape: Shape | None = None) -> Tensor:
        """Draws that are True with probability ``p``.

        Args:
          p: between 0 and 1.
          shape: of the result, static; that of ``p`` for None.

        Example:
          >>> import graphc as gx
          >>> gx.random.bernoulli(0.5, (4,)).shape
          (4,)
        """
        return self._draw("bernoulli", (p,), shape=shape)

    def categorical(self, logits: ArrayLike, axis: int = -1, shape: Shape | None = None) -> Tensor:
        """Draws of classes 0, 1, ... by their unnormalised log-probabilities.

        Args:
          logits: log-probabilities up to a constant.
          axis: the axis of ``logits`` along which the classes lie.
          shape: of the result, static; that of ``logits`` without ``axis`` for None.

        Example:
          >>> import graphc as gx
          >>> gx.random.categorical([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]).shape
          (2,)
        """
        return self._draw("categorical", (logits,), axis=axis, shape=shape)

    def permutation(self, x: ArrayLike, axis: int = 0) -> Tensor:
        """Shuffles along an axis.

        Args:
          x: a tensor, or a Python int n for 0, 1, ..., n - 1.
          axis: the axis whose slices change places.

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
          shape: of the draws, static.
          replace: whether a value may be drawn again.
          p: the probability of each slice of ``x`` along ``axis``; equal ones for None.
          axis: the axis of ``x`` along which the choices lie.

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
