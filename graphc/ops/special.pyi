"""Rows of the namespace ``special``: the special functions of ``jax.scipy.special``.

Written by ``python -m graphc.ops.stubs`` from the rows.
"""

from graphc.core import ArrayLike, Tensor
from graphc.ops.annotations import Axis

__all__ = [
    "bernoulli",
    "bessel_jn",
    "beta",
    "betainc",
    "betaln",
    "boxcox",
    "boxcox1p",
    "comb",
    "dawsn",
    "digamma",
    "entr",
    "erf",
    "erfc",
    "erfcx",
    "erfinv",
    "exp1",
    "expi",
    "expit",
    "expn",
    "factorial",
    "fresnel",
    "gamma",
    "gammainc",
    "gammaincc",
    "gammaln",
    "gammasgn",
    "hyp1f1",
    "hyp2f1",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "kl_div",
    "log_ndtr",
    "log_softmax",
    "loggamma",
    "logit",
    "logsumexp",
    "multigammaln",
    "ndtr",
    "ndtri",
    "owens_t",
    "poch",
    "polygamma",
    "psi",
    "rel_entr",
    "sici",
    "softmax",
    "spence",
    "sph_harm_y",
    "wofz",
    "xlog1py",
    "xlogy",
    "zeta",
]

def bernoulli(n: int) -> Tensor:
    """The first n + 1 Bernoulli numbers.

    Args:
      n: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.bernoulli``.
    """

def bessel_jn(z: ArrayLike, v: int, n_iter: int = 50) -> Tensor:
    """The Bessel functions of the first kind of orders 0 to v, on a new first axis; n_iter more than z is large.

    Args:
      z: a tensor, or what becomes one.
      v: an int. Static.
      n_iter: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.bessel_jn``.
    """

def beta(a: ArrayLike, b: ArrayLike) -> Tensor:
    """The beta function gamma(a) * gamma(b) / gamma(a + b).

    Args:
      a: a tensor, or what becomes one.
      b: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.beta``.
    """

def betainc(a: ArrayLike, b: ArrayLike, x: ArrayLike) -> Tensor:
    """The incomplete beta function, as a share of beta(a, b).

    Args:
      a: a tensor, or what becomes one.
      b: a tensor, or what becomes one.
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.betainc``.
    """

def betaln(a: ArrayLike, b: ArrayLike) -> Tensor:
    """The logarithm of the beta function.

    Args:
      a: a tensor, or what becomes one.
      b: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.betaln``.
    """

def boxcox(x: ArrayLike, lmbda: ArrayLike) -> Tensor:
    """(x ** lmbda - 1) / lmbda, and log(x) for lmbda = 0.

    Args:
      x: a tensor, or what becomes one.
      lmbda: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.boxcox``.
    """

def boxcox1p(x: ArrayLike, lmbda: ArrayLike) -> Tensor:
    """boxcox(1 + x, lmbda), precise near zero.

    Args:
      x: a tensor, or what becomes one.
      lmbda: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.boxcox1p``.
    """

def comb(N: ArrayLike, k: ArrayLike, repetition: bool = False) -> Tensor:
    """How many ways there are to take k of N.

    Args:
      N: a tensor, or what becomes one.
      k: a tensor, or what becomes one.
      repetition: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.comb``.
    """

def dawsn(x: ArrayLike) -> Tensor:
    """Dawson's integral.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.dawsn``.
    """

def digamma(x: ArrayLike) -> Tensor:
    """The derivative of gammaln.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.digamma``.
    """

psi = digamma

def entr(x: ArrayLike) -> Tensor:
    """-x * log(x), and 0 at zero.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.entr``.
    """

def erf(x: ArrayLike) -> Tensor:
    """The error function.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.erf``.
    """

def erfc(x: ArrayLike) -> Tensor:
    """1 - erf(x), precise where erf is near 1.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.erfc``.
    """

def erfcx(x: ArrayLike) -> Tensor:
    """exp(x ** 2) * erfc(x).

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.erfcx``.
    """

def erfinv(x: ArrayLike) -> Tensor:
    """The number whose error function is x.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.erfinv``.
    """

def exp1(x: ArrayLike) -> Tensor:
    """The exponential integral E1.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.exp1``.
    """

def expi(x: ArrayLike) -> Tensor:
    """The exponential integral Ei.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.expi``.
    """

def expit(x: ArrayLike) -> Tensor:
    """1 / (1 + exp(-x)).

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.expit``.
    """

def expn(n: ArrayLike, x: ArrayLike) -> Tensor:
    """The exponential integral En.

    Args:
      n: a tensor, or what becomes one.
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.expn``.
    """

def factorial(n: ArrayLike) -> Tensor:
    """The factorial n!.

    Args:
      n: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.factorial``.
    """

def fresnel(x: ArrayLike) -> tuple[Tensor, Tensor]:
    """Fresnel's integrals S and C.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.fresnel``.
    """

def gamma(x: ArrayLike) -> Tensor:
    """The gamma function.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.gamma``.
    """

def gammainc(a: ArrayLike, x: ArrayLike) -> Tensor:
    """The lower incomplete gamma function, as a share of gamma(a).

    Args:
      a: a tensor, or what becomes one.
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.gammainc``.
    """

def gammaincc(a: ArrayLike, x: ArrayLike) -> Tensor:
    """The upper incomplete gamma function, as a share of gamma(a).

    Args:
      a: a tensor, or what becomes one.
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.gammaincc``.
    """

def gammaln(x: ArrayLike) -> Tensor:
    """The logarithm of the gamma function's magnitude.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.gammaln``.
    """

def gammasgn(x: ArrayLike) -> Tensor:
    """The sign of the gamma function.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.gammasgn``.
    """

def hyp1f1(a: ArrayLike, b: ArrayLike, x: ArrayLike) -> Tensor:
    """Kummer's hypergeometric function 1F1.

    Args:
      a: a tensor, or what becomes one.
      b: a tensor, or what becomes one.
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.hyp1f1``.
    """

def hyp2f1(a: ArrayLike, b: ArrayLike, c: ArrayLike, x: ArrayLike) -> Tensor:
    """Gauss' hypergeometric function 2F1.

    Args:
      a: a tensor, or what becomes one.
      b: a tensor, or what becomes one.
      c: a tensor, or what becomes one.
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.hyp2f1``.
    """

def i0(x: ArrayLike) -> Tensor:
    """The modified Bessel function of the first kind, of order 0.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.i0``.
    """

def i0e(x: ArrayLike) -> Tensor:
    """exp(-|x|) * i0(x).

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.i0e``.
    """

def i1(x: ArrayLike) -> Tensor:
    """The modified Bessel function of the first kind, of order 1.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.i1``.
    """

def i1e(x: ArrayLike) -> Tensor:
    """exp(-|x|) * i1(x).

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.i1e``.
    """

def kl_div(p: ArrayLike, q: ArrayLike) -> Tensor:
    """The divergence p * log(p / q) - p + q.

    Args:
      p: a tensor, or what becomes one.
      q: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.kl_div``.
    """

def log_ndtr(x: ArrayLike, series_order: int = 3) -> Tensor:
    """log(ndtr(x)), precise far below zero.

    Args:
      x: a tensor, or what becomes one.
      series_order: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.log_ndtr``.
    """

def log_softmax(x: ArrayLike, axis: Axis = None) -> Tensor:
    """log(softmax(x)), without overflow.

    Args:
      x: a tensor, or what becomes one.
      axis: one or several; negative ones are counted from the end; None for all. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.log_softmax``.
    """

def loggamma(x: ArrayLike) -> Tensor:
    """The logarithm of the gamma function; NaN where that is negative.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.loggamma``.
    """

def logit(x: ArrayLike) -> Tensor:
    """log(x / (1 - x)).

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.logit``.
    """

def logsumexp(x: ArrayLike, axis: Axis = None, keepdims: bool = False, b: ArrayLike | None = None) -> Tensor:
    """log(sum(b * exp(x))) over axis, without overflow on the way.

    Args:
      x: a tensor, or what becomes one.
      axis: one or several; negative ones are counted from the end; None for all. Static.
      keepdims: True or False. Static.
      b: a tensor, or what becomes one; None for none.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.
    """

def multigammaln(a: ArrayLike, d: int) -> Tensor:
    """The logarithm of the gamma function in d dimensions.

    Args:
      a: a tensor, or what becomes one.
      d: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.multigammaln``.
    """

def ndtr(x: ArrayLike) -> Tensor:
    """The distribution function of the normal distribution.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.ndtr``.
    """

def ndtri(p: ArrayLike) -> Tensor:
    """The quantile of the normal distribution.

    Args:
      p: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.ndtri``.
    """

def owens_t(h: ArrayLike, a: ArrayLike) -> Tensor:
    """Owen's T function.

    Args:
      h: a tensor, or what becomes one.
      a: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.owens_t``.
    """

def poch(z: ArrayLike, m: ArrayLike) -> Tensor:
    """Pochhammer's symbol gamma(z + m) / gamma(z).

    Args:
      z: a tensor, or what becomes one.
      m: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.poch``.
    """

def polygamma(n: ArrayLike, x: ArrayLike) -> Tensor:
    """Derivative n of digamma.

    Args:
      n: a tensor, or what becomes one.
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.polygamma``.
    """

def rel_entr(p: ArrayLike, q: ArrayLike) -> Tensor:
    """The relative entropy p * log(p / q).

    Args:
      p: a tensor, or what becomes one.
      q: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.rel_entr``.
    """

def sici(x: ArrayLike) -> tuple[Tensor, Tensor]:
    """The sine and cosine integrals.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.sici``.
    """

def softmax(x: ArrayLike, axis: Axis = None) -> Tensor:
    """The exponentials, scaled to sum 1 over axis.

    Args:
      x: a tensor, or what becomes one.
      axis: one or several; negative ones are counted from the end; None for all. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.softmax``.
    """

def spence(x: ArrayLike) -> Tensor:
    """Spence's function, the dilogarithm of 1 - x.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.spence``.
    """

def sph_harm_y(n: ArrayLike, m: ArrayLike, theta: ArrayLike, phi: ArrayLike, n_max: int) -> Tensor:
    """The spherical harmonic of degree n and order m, 1-d tensors; n_max is the largest of n.

    Args:
      n: a tensor, or what becomes one.
      m: a tensor, or what becomes one.
      theta: a tensor, or what becomes one.
      phi: a tensor, or what becomes one.
      n_max: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.
    """

def wofz(z: ArrayLike) -> Tensor:
    """The Faddeeva function exp(-z ** 2) * erfc(-i z).

    Args:
      z: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.wofz``.
    """

def xlog1py(x: ArrayLike, y: ArrayLike) -> Tensor:
    """The product x * log(1 + y), and 0 where x is zero.

    Args:
      x: a tensor, or what becomes one.
      y: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.xlog1py``.
    """

def xlogy(x: ArrayLike, y: ArrayLike) -> Tensor:
    """The product x * log(y), and 0 where x is zero.

    Args:
      x: a tensor, or what becomes one.
      y: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.xlogy``.
    """

def zeta(x: ArrayLike, q: ArrayLike) -> Tensor:
    """Hurwitz' zeta function; Riemann's is that of q = 1.

    Args:
      x: a tensor, or what becomes one.
      q: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.zeta``.
    """
