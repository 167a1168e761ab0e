"""The distributions of ``jax.random``, as methods of generators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax

from graphc.compiler.core import ArrayLike, Tensor, as_dtype
from graphc.compiler.ops.signature import Shape
from graphc.compiler.ops.table import Row, row

__all__ = ["IMPLEMENTATION", "ROWS", "Distributions", "floating", "key_of", "keyed"]

IMPLEMENTATION = "threefry2x32"
"""The implementation of JAX's keys."""


def key_of(data: Any) -> Any:
    """Returns a JAX key from its raw data."""
    wrap: Callable[..., Any] = jax.random.wrap_key_data
    return wrap(data, impl=IMPLEMENTATION)


def keyed(sample: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a jax.random sampler that takes the raw data of a key."""

    def impl(key: Any, *values: Any, **attrs: Any) -> jax.Array:
        return sample(key_of(key), *values, **attrs)

    return impl


def floating(dtype: Any) -> Any:
    """Returns the dtype of real-valued draws; the default one for None."""
    return as_dtype(float if dtype is None else dtype)


def _row(name: str, tensors: str = "", attributes: str = "", *, differentiable: bool = True) -> Row:
    """Returns the row of a jax.random sampler, which takes the attributes by name."""
    signature = ", ".join(filter(None, ("key", tensors, attributes, "shape: Shape, dtype: DType")))
    doc = f"Random numbers from jax.random.{name}."
    return row(f"random.{name}", keyed(getattr(jax.random, name)), signature, doc, differentiable=differentiable)


ROWS = (
    _row("ball", attributes="d: int, p: float"),
    _row("beta", "a, b"),
    _row("binomial", "n, p", differentiable=False),
    _row("bits", differentiable=False),
    _row("cauchy"),
    _row("chisquare", "df"),
    _row("dirichlet", "alpha"),
    _row("double_sided_maxwell", "loc, scale"),
    _row("f", "dfnum, dfden"),
    _row("generalized_normal", attributes="p: float"),
    _row("geometric", "p", differentiable=False),
    _row("laplace"),
    _row("loggamma", "a"),
    _row("logistic"),
    _row("lognormal", "sigma"),
    _row("maxwell"),
    _row("multinomial", "n, p", differentiable=False),
    _row("multivariate_normal", "mean, cov"),
    _row("orthogonal", attributes="n: int"),
    _row("pareto", "b"),
    _row("rademacher", differentiable=False),
    _row("rayleigh", "scale"),
    _row("t", "df"),
    _row("triangular", "left, mode, right"),
    _row("wald", "mean"),
    _row("weibull_min", "scale, concentration"),
)
"""The rows of these distributions' ops."""


class Distributions:
    """A source of random numbers from distributions; a subclass implements the draw."""

    def _draw(self, name: str, values: tuple[Any, ...], **attrs: Any) -> Tensor:
        raise NotImplementedError

    def ball(self, d: int, p: float = 2, shape: Shape = (), dtype: Any = None) -> Tensor:
        """Draws points uniformly from the unit ball.

        Args:
          d: the number of dimensions.
          p: the norm of the ball; 2 is the Euclidean norm.
          shape: the shape of the batch. Static.
          dtype: a floating dtype; None for the default.

        Example:
          >>> import graphc as gx
          >>> gx.random.ball(3, shape=(2,)).shape
          (2, 3)
        """
        return self._draw("ball", (), d=d, p=p, shape=shape, dtype=floating(dtype))

    def beta(self, a: ArrayLike, b: ArrayLike, shape: Shape | None = None, dtype: Any = None) -> Tensor:
        """Draws from the beta distribution.

        Args:
          a: a positive number.
          b: a positive number.
          shape: the shape of the result; None for that of the parameters. Static.
          dtype: a floating dtype; None for the default.

        Example:
          >>> import graphc as gx
          >>> gx.random.beta(2.0, 3.0, (4,)).shape
          (4,)
        """
        return self._draw("beta", (a, b), shape=shape, dtype=floating(dtype))

    def binomial(self, n: ArrayLike, p: ArrayLike, shape: Shape | None = None, dtype: Any = None) -> Tensor:
        """Draws from the binomial distribution: the number of successes in ``n`` trials.

        Args:
          n: the number of trials, nonnegative.
          p: the probability of success.
          shape: the shape of the result; None for that of the parameters. Static.
          dtype: a floating dtype; None for the default.

        Example:
          >>> import graphc as gx
          >>> gx.random.binomial(10.0, 0.5, (4,)).shape
          (4,)
        """
        return self._draw("binomial", (n, p), shape=shape, dtype=floating(dtype))

    def bits(self, shape: Shape = (), dtype: Any = "uint32") -> Tensor:
        """Draws random bits, as unsigned integers.

        Args:
          shape: the shape of the result. Static.
          dtype: an unsigned dtype.

        Example:
          >>> import graphc as gx
          >>> gx.random.bits((4,)).shape
          (4,)
        """
        return self._draw("bits", (), shape=shape, dtype=as_dtype(dtype))

    def cauchy(self, shape: Shape = (), dtype: Any = None) -> Tensor:
        """Draws from Cauchy's distribution.

        Args:
          shape: the shape of the result. Static.
          dtype: a floating dtype; None for the default.

        Example:
          >>> import graphc as gx
          >>> gx.random.cauchy((2, 3)).shape
          (2, 3)
        """
        return self._draw("cauchy", (), shape=shape, dtype=floating(dtype))

    def chisquare(self, df: ArrayLike, shape: Shape | None = None, dtype: Any = None) -> Tensor:
        """Draws from the chi-square distribution.

        Args:
          df: the degrees of freedom, positive.
          shape: the shape of the result; None for that of the parameters. Static.
          dtype: a floating dtype; None for the default.

        Example:
          >>> import graphc as gx
          >>> gx.random.chisquare(3.0, (4,)).shape
          (4,)
        """
        return self._draw("chisquare", (df,), shape=shape, dtype=floating(dtype))

    def dirichlet(self, alpha: ArrayLike, shape: Shape | None = None, dtype: Any = None) -> Tensor:
        """Draws from Dirichlet's distribution: fractions that sum to 1, on a new last axis.

        Args:
          alpha: the concentrations along the last axis, positive.
          shape: the shape of the batch; None for that of the parameters. Static.
          dtype: a floating dtype; None for the default.

        Example:
          >>> import graphc as gx
          >>> gx.random.dirichlet([1.0, 2.0, 3.0], (4,)).shape
          (4, 3)
        """
        return self._draw("dirichlet", (alpha,), shape=shape, dtype=floating(dtype))

    def double_sided_maxwell(self, loc: ArrayLike, scale: ArrayLike, shape: Shape = (), dtype: Any = None) -> Tensor:
        """Draws from the two-sided Maxwell distribution.

        Args:
          loc: the centre.
          scale: the width, positive.
          shape: the shape of the result. Static.
          dtype: a floating dtype; None for the default.

        Example:
          >>> import graphc as gx
          >>> gx.random.double_sided_maxwell(0.0, 1.0, (4,)).shape
          (4,)
        """
        return self._draw("double_sided_maxwell", (loc, scale), shape=shape, dtype=floating(dtype))

    def f(self, dfnum: ArrayLike, dfden: ArrayLike, shape: Shape | None = None, dtype: Any = None) -> Tensor:
        """Draws from the F distribution.

        Args:
          dfnum: the degrees of freedom of the numerator.
          dfden: the degrees of freedom of the denominator.
          shape: the shape of the result; None for that of the parameters. Static.
          dtype: a floating dtype; None for the default.

        Example:
          >>> import graphc as gx
          >>> gx.random.f(3.0, 5.0, (4,)).shape
          (4,)
        """
        return self._draw("f", (dfnum, dfden), shape=shape, dtype=floating(dtype))

    def generalized_normal(self, p: float, shape: Shape = (), dtype: Any = None) -> Tensor:
        """Draws from the generalised normal distribution.

        Args:
          p: the exponent: 2 for a normal distribution, 1 for Laplace's.
          shape: the shape of the result. Static.
          dtype: a floating dtype; None for the default.

        Example:
          >>> import graphc as gx
          >>> gx.random.generalized_normal(2.0, (4,)).shape
          (4,)
        """
        return self._draw("generalized_normal", (), p=p, shape=shape, dtype=floating(dtype))

    def geometric(self, p: ArrayLike, shape: Shape | None = None, dtype: Any = "int32") -> Tensor:
        """Draws from the geometric distribution: the number of trials up to the first success.

        Args:
          p: the probability of success, positive.
          shape: the shape of the result; None for that of the parameters. Static.
          dtype: an integer dtype.

        Example:
          >>> import graphc as gx
          >>> gx.random.geometric(0.5, (4,)).shape
          (4,)
        """
        return self._draw("geometric", (p,), shape=shape, dtype=as_dtype(dtype))

    def laplace(self, shape: Shape = (), dtype: Any = None) -> Tensor:
        """Draws from Laplace's distribution.

        Args:
          shape: the shape of the result. Static.
          dtype: a floating dtype; None for the default.

        Example:
          >>> import graphc as gx
          >>> gx.random.laplace((2, 3)).shape
          (2, 3)
        """
        return self._draw("laplace", (), shape=shape, dtype=floating(dtype))

    def loggamma(self, a: ArrayLike, shape: Shape | None = None, dtype: Any = None) -> Tensor:
        """Draws logarithms of gamma-distributed numbers, precise for small ``a``.

        Args:
          a: the shape parameter, positive.
          shape: the shape of the result; None for that of the parameters. Static.
          dtype: a floating dtype; None for the default.

        Example:
          >>> import graphc as gx
          >>> gx.random.loggamma(2.0, (4,)).shape
          (4,)
        """
        return self._draw("loggamma", (a,), shape=shape, dtype=floating(dtype))

    def logistic(self, shape: Shape = (), dtype: Any = None) -> Tensor:
        """Draws from the logistic distribution.

        Args:
          shape: the shape of the result. Static.
          dtype: a floating dtype; None for the default.

        Example:
          >>> import graphc as gx
          >>> gx.random.logistic((2, 3)).shape
          (2, 3)
        """
        return self._draw("logistic", (), shape=shape, dtype=floating(dtype))

    def lognormal(self, sigma: ArrayLike = 1.0, shape: Shape | None = None, dtype: Any = None) -> Tensor:
        """Draws from the log-normal distribution.

        Args:
          sigma: the standard deviation of the logarithm.
          shape: the shape of the result; None for that of the parameters. Static.
          dtype: a floating dtype; None for the default.

        Example:
          >>> import graphc as gx
          >>> gx.random.lognormal(0.5, (4,)).shape
          (4,)
        """
        return self._draw("lognormal", (sigma,), shape=shape, dtype=floating(dtype))

    def maxwell(self, shape: Shape = (), dtype: Any = None) -> Tensor:
        """Draws from Maxwell's distribution.

        Args:
          shape: the shape of the result. Static.
          dtype: a floating dtype; None for the default.

        Example:
          >>> import graphc as gx
          >>> gx.random.maxwell((4,)).shape
          (4,)
        """
        return self._draw("maxwell", (), shape=shape, dtype=floating(dtype))

    def multinomial(self, n: ArrayLike, p: ArrayLike, shape: Shape | None = None, dtype: Any = None) -> Tensor:
        """Draws from the multinomial distribution: the count of each outcome, on a new last axis.

        Args:
          n: the number of trials.
          p: the probability of each outcome, along the last axis.
          shape: the shape of the result. Static. None for one draw each.
          dtype: a floating dtype; None for the default.

        Example:
          >>> import graphc as gx
          >>> gx.random.multinomial(10.0, [0.2, 0.3, 0.5]).shape
          (3,)
        """
        return self._draw("multinomial", (n, p), shape=shape, dtype=floating(dtype))

    def multivariate_normal(
        self, mean: ArrayLike, cov: ArrayLike, shape: Shape | None = None, dtype: Any = None
    ) -> Tensor:
        """Draws vectors from the multivariate normal distribution.

        Args:
          mean: the mean vectors, along the last axis.
          cov: the covariance matrices, on the last two axes.
          shape: the shape of the batch; None for that of the parameters. Static.
          dtype: a floating dtype; None for the default.

        Example:
          >>> import graphc as gx
          >>> gx.random.multivariate_normal([0.0, 1.0], [[1.0, 0.5], [0.5, 2.0]], (4,)).shape
          (4, 2)
        """
        return self._draw("multivariate_normal", (mean, cov), shape=shape, dtype=floating(dtype))

    def orthogonal(self, n: int, shape: Shape = (), dtype: Any = None) -> Tensor:
        """Draws uniformly distributed orthogonal matrices.

        Args:
          n: the number of rows and columns.
          shape: the shape of the batch. Static.
          dtype: a floating dtype; None for the default.

        Example:
          >>> import graphc as gx
          >>> gx.random.orthogonal(3).shape
          (3, 3)
        """
        return self._draw("orthogonal", (), n=n, shape=shape, dtype=floating(dtype))

    def pareto(self, b: ArrayLike, shape: Shape | None = None, dtype: Any = None) -> Tensor:
        """Draws from Pareto's distribution.

        Args:
          b: the exponent, positive.
          shape: the shape of the result; None for that of the parameters. Static.
          dtype: a floating dtype; None for the default.

        Example:
          >>> import graphc as gx
          >>> gx.random.pareto(2.0, (4,)).shape
          (4,)
        """
        return self._draw("pareto", (b,), shape=shape, dtype=floating(dtype))

    def rademacher(self, shape: Shape = (), dtype: Any = "int32") -> Tensor:
        """Draws -1 and 1 with equal probability.

        Args:
          shape: the shape of the result. Static.
          dtype: an integer dtype.

        Example:
          >>> import graphc as gx
          >>> gx.random.rademacher((4,)).shape
          (4,)
        """
        return self._draw("rademacher", (), shape=shape, dtype=as_dtype(dtype))

    def rayleigh(self, scale: ArrayLike, shape: Shape | None = None, dtype: Any = None) -> Tensor:
        """Draws from Rayleigh's distribution.

        Args:
          scale: a positive number.
          shape: the shape of the result; None for that of the parameters. Static.
          dtype: a floating dtype; None for the default.

        Example:
          >>> import graphc as gx
          >>> gx.random.rayleigh(2.0, (4,)).shape
          (4,)
        """
        return self._draw("rayleigh", (scale,), shape=shape, dtype=floating(dtype))

    def t(self, df: ArrayLike, shape: Shape | None = None, dtype: Any = None) -> Tensor:
        """Draws from Student's t distribution.

        Args:
          df: the degrees of freedom, positive.
          shape: the shape of the result; None for that of the parameters. Static.
          dtype: a floating dtype; None for the default.

        Example:
          >>> import graphc as gx
          >>> gx.random.t(3.0, (4,)).shape
          (4,)
        """
        return self._draw("t", (df,), shape=shape, dtype=floating(dtype))

    def triangular(
        self, left: ArrayLike, mode: ArrayLike, right: ArrayLike, shape: Shape | None = None, dtype: Any = None
    ) -> Tensor:
        """Draws from the triangular distribution.

        Args:
          left: the smallest value.
          mode: the most likely value.
          right: the largest value.
          shape: the shape of the result; None for that of the parameters. Static.
          dtype: a floating dtype; None for the default.

        Example:
          >>> import graphc as gx
          >>> gx.random.triangular(0.0, 1.0, 3.0, (4,)).shape
          (4,)
        """
        return self._draw("triangular", (left, mode, right), shape=shape, dtype=floating(dtype))

    def wald(self, mean: ArrayLike, shape: Shape | None = None, dtype: Any = None) -> Tensor:
        """Draws from Wald's distribution, the inverse Gaussian one.

        Args:
          mean: a positive number.
          shape: the shape of the result; None for that of the parameters. Static.
          dtype: a floating dtype; None for the default.

        Example:
          >>> import graphc as gx
          >>> gx.random.wald(1.0, (4,)).shape
          (4,)
        """
        return self._draw("wald", (mean,), shape=shape, dtype=floating(dtype))

    def weibull_min(self, scale: ArrayLike, concentration: ArrayLike, shape: Shape = (), dtype: Any = None) -> Tensor:
        """Draws from Weibull's distribution.

        Args:
          scale: a positive number.
          concentration: a positive number.
          shape: the shape of the result. Static.
          dtype: a floating dtype; None for the default.

        Example:
          >>> import graphc as gx
          >>> gx.random.weibull_min(1.0, 2.0, (4,)).shape
          (4,)
        """
        return self._draw("weibull_min", (scale, concentration), shape=shape, dtype=floating(dtype))
