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

    Example:
      >>> import graphc as gx
      >>> gx.special.bernoulli(4).numpy().round(3)
      array([ 1.   , -0.5  ,  0.167,  0.   , -0.033], dtype=float32)
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

    Example:
      >>> import graphc as gx
      >>> gx.special.bessel_jn([7.0, 9.0], v=2).numpy().round(3)
      array([[ 0.3  , -0.09 ],
             [-0.005,  0.245],
             [-0.301,  0.145]], dtype=float32)
    """

def beta(a: ArrayLike, b: ArrayLike) -> Tensor:
    """The beta function gamma(a) * gamma(b) / gamma(a + b).

    Args:
      a: a tensor, or what becomes one.
      b: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.beta``.

    Example:
      >>> import graphc as gx
      >>> gx.special.beta([0.25, 2.0, 7.0], [1.0, 4.0, 5.0]).numpy().round(3)
      array([4.  , 0.05, 0.  ], dtype=float32)
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

    Example:
      >>> import graphc as gx
      >>> gx.special.betainc([0.25, 2.0, 7.0], [1.0, 4.0, 5.0], [0.1, 0.9, 0.99]).numpy().round(3)
      array([0.562, 1.   , 1.   ], dtype=float32)
    """

def betaln(a: ArrayLike, b: ArrayLike) -> Tensor:
    """The logarithm of the beta function.

    Args:
      a: a tensor, or what becomes one.
      b: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.betaln``.

    Example:
      >>> import graphc as gx
      >>> gx.special.betaln([0.25, 2.0, 7.0], [1.0, 4.0, 5.0]).numpy().round(3)
      array([ 1.386, -2.996, -7.745], dtype=float32)
    """

def boxcox(x: ArrayLike, lmbda: ArrayLike) -> Tensor:
    """(x ** lmbda - 1) / lmbda, and log(x) for lmbda = 0.

    Args:
      x: a tensor, or what becomes one.
      lmbda: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.boxcox``.

    Example:
      >>> import graphc as gx
      >>> gx.special.boxcox([0.25, 2.0, 7.0], [0.1, 0.9, 0.99]).numpy().round(3)
      array([-1.294,  0.962,  5.924], dtype=float32)
    """

def boxcox1p(x: ArrayLike, lmbda: ArrayLike) -> Tensor:
    """boxcox(1 + x, lmbda), precise near zero.

    Args:
      x: a tensor, or what becomes one.
      lmbda: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.boxcox1p``.

    Example:
      >>> import graphc as gx
      >>> gx.special.boxcox1p([0.25, 2.0, 7.0], [0.1, 0.9, 0.99]).numpy().round(3)
      array([0.226, 1.875, 6.904], dtype=float32)
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

    Example:
      >>> import graphc as gx
      >>> gx.special.comb([1.0, 4.0, 5.0], [0.0, 2.0, 3.0]).numpy().round(3)
      array([ 1.,  6., 10.], dtype=float32)
    """

def dawsn(x: ArrayLike) -> Tensor:
    """Dawson's integral.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.dawsn``.

    Example:
      >>> import graphc as gx
      >>> gx.special.dawsn([-2.5, 0.5, 3.0]).numpy().round(3)
      array([-0.223,  0.424,  0.178], dtype=float32)
    """

def digamma(x: ArrayLike) -> Tensor:
    """The derivative of gammaln.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.digamma``.

    Example:
      >>> import graphc as gx
      >>> gx.special.digamma([0.25, 2.0, 7.0]).numpy().round(3)
      array([-4.227,  0.423,  1.873], dtype=float32)
    """

psi = digamma

def entr(x: ArrayLike) -> Tensor:
    """-x * log(x), and 0 at zero.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.entr``.

    Example:
      >>> import graphc as gx
      >>> gx.special.entr([0.25, 2.0, 7.0]).numpy().round(3)
      array([  0.347,  -1.386, -13.621], dtype=float32)
    """

def erf(x: ArrayLike) -> Tensor:
    """The error function.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.erf``.

    Example:
      >>> import graphc as gx
      >>> gx.special.erf([-2.5, 0.5, 3.0]).numpy().round(3)
      array([-1.  ,  0.52,  1.  ], dtype=float32)
    """

def erfc(x: ArrayLike) -> Tensor:
    """1 - erf(x), precise where erf is near 1.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.erfc``.

    Example:
      >>> import graphc as gx
      >>> gx.special.erfc([-2.5, 0.5, 3.0]).numpy().round(3)
      array([2.  , 0.48, 0.  ], dtype=float32)
    """

def erfcx(x: ArrayLike) -> Tensor:
    """exp(x ** 2) * erfc(x).

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.erfcx``.

    Example:
      >>> import graphc as gx
      >>> gx.special.erfcx([-2.5, 0.5, 3.0]).numpy().round(3)
      array([1.035815e+03, 6.160000e-01, 1.790000e-01], dtype=float32)
    """

def erfinv(x: ArrayLike) -> Tensor:
    """The number whose error function is x.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.erfinv``.

    Example:
      >>> import graphc as gx
      >>> gx.special.erfinv([-0.9, 0.3, 0.8]).numpy().round(3)
      array([-1.163,  0.272,  0.906], dtype=float32)
    """

def exp1(x: ArrayLike) -> Tensor:
    """The exponential integral E1.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.exp1``.

    Example:
      >>> import graphc as gx
      >>> gx.special.exp1([0.25, 2.0, 7.0]).numpy().round(3)
      array([1.044, 0.049, 0.   ], dtype=float32)
    """

def expi(x: ArrayLike) -> Tensor:
    """The exponential integral Ei.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.expi``.

    Example:
      >>> import graphc as gx
      >>> gx.special.expi([0.25, 2.0, 7.0]).numpy().round(3)
      array([ -0.543,   4.954, 191.505], dtype=float32)
    """

def expit(x: ArrayLike) -> Tensor:
    """1 / (1 + exp(-x)).

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.expit``.

    Example:
      >>> import graphc as gx
      >>> gx.special.expit([-2.5, 0.5, 3.0]).numpy().round(3)
      array([0.076, 0.622, 0.953], dtype=float32)
    """

def expn(n: ArrayLike, x: ArrayLike) -> Tensor:
    """The exponential integral En.

    Args:
      n: a tensor, or what becomes one.
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.expn``.

    Example:
      >>> import graphc as gx
      >>> gx.special.expn([0, 3, 2], [0.25, 2.0, 7.0]).numpy().round(3)
      array([3.115, 0.03 , 0.   ], dtype=float32)
    """

def factorial(n: ArrayLike) -> Tensor:
    """The factorial n!.

    Args:
      n: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.factorial``.

    Example:
      >>> import graphc as gx
      >>> gx.special.factorial([1.0, 4.0, 5.0]).numpy().round(3)
      array([  1.,  24., 120.], dtype=float32)
    """

def fresnel(x: ArrayLike) -> tuple[Tensor, Tensor]:
    """Fresnel's integrals S and C.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.fresnel``.

    Example:
      >>> import graphc as gx
      >>> print(*[part.numpy().round(3) for part in gx.special.fresnel([-2.5, 0.5, 3.0])])
      [-0.619  0.065  0.496] [-0.457  0.492  0.606]
    """

def gamma(x: ArrayLike) -> Tensor:
    """The gamma function.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.gamma``.

    Example:
      >>> import graphc as gx
      >>> gx.special.gamma([0.25, 2.0, 7.0]).numpy().round(3)
      array([  3.626,   1.   , 720.001], dtype=float32)
    """

def gammainc(a: ArrayLike, x: ArrayLike) -> Tensor:
    """The lower incomplete gamma function, as a share of gamma(a).

    Args:
      a: a tensor, or what becomes one.
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.gammainc``.

    Example:
      >>> import graphc as gx
      >>> gx.special.gammainc([0.25, 2.0, 7.0], [1.0, 4.0, 5.0]).numpy().round(3)
      array([0.932, 0.908, 0.238], dtype=float32)
    """

def gammaincc(a: ArrayLike, x: ArrayLike) -> Tensor:
    """The upper incomplete gamma function, as a share of gamma(a).

    Args:
      a: a tensor, or what becomes one.
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.gammaincc``.

    Example:
      >>> import graphc as gx
      >>> gx.special.gammaincc([0.25, 2.0, 7.0], [1.0, 4.0, 5.0]).numpy().round(3)
      array([0.068, 0.092, 0.762], dtype=float32)
    """

def gammaln(x: ArrayLike) -> Tensor:
    """The logarithm of the gamma function's magnitude.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.gammaln``.

    Example:
      >>> import graphc as gx
      >>> gx.special.gammaln([0.25, 2.0, 7.0]).numpy().round(3)
      array([1.288, 0.   , 6.579], dtype=float32)
    """

def gammasgn(x: ArrayLike) -> Tensor:
    """The sign of the gamma function.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.gammasgn``.

    Example:
      >>> import graphc as gx
      >>> gx.special.gammasgn([0.25, 2.0, 7.0])
      Tensor([1., 1., 1.], shape=(3,), dtype=float32)
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

    Example:
      >>> import graphc as gx
      >>> gx.special.hyp1f1([0.5], [1.5], [0.7]).numpy().round(3)
      array([1.292], dtype=float32)
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

    Example:
      >>> import graphc as gx
      >>> gx.special.hyp2f1([0.5], [1.0], [1.5], [0.3]).numpy().round(3)
      array([1.123], dtype=float32)
    """

def i0(x: ArrayLike) -> Tensor:
    """The modified Bessel function of the first kind, of order 0.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.i0``.

    Example:
      >>> import graphc as gx
      >>> gx.special.i0([-2.5, 0.5, 3.0]).numpy().round(3)
      array([3.29 , 1.063, 4.881], dtype=float32)
    """

def i0e(x: ArrayLike) -> Tensor:
    """exp(-|x|) * i0(x).

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.i0e``.

    Example:
      >>> import graphc as gx
      >>> gx.special.i0e([-2.5, 0.5, 3.0]).numpy().round(3)
      array([0.27 , 0.645, 0.243], dtype=float32)
    """

def i1(x: ArrayLike) -> Tensor:
    """The modified Bessel function of the first kind, of order 1.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.i1``.

    Example:
      >>> import graphc as gx
      >>> gx.special.i1([-2.5, 0.5, 3.0]).numpy().round(3)
      array([-2.517,  0.258,  3.953], dtype=float32)
    """

def i1e(x: ArrayLike) -> Tensor:
    """exp(-|x|) * i1(x).

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.i1e``.

    Example:
      >>> import graphc as gx
      >>> gx.special.i1e([-2.5, 0.5, 3.0]).numpy().round(3)
      array([-0.207,  0.156,  0.197], dtype=float32)
    """

def kl_div(p: ArrayLike, q: ArrayLike) -> Tensor:
    """The divergence p * log(p / q) - p + q.

    Args:
      p: a tensor, or what becomes one.
      q: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.kl_div``.

    Example:
      >>> import graphc as gx
      >>> gx.special.kl_div([0.25, 2.0, 7.0], [1.0, 4.0, 5.0]).numpy().round(3)
      array([0.403, 0.614, 0.355], dtype=float32)
    """

def log_ndtr(x: ArrayLike, series_order: int = 3) -> Tensor:
    """log(ndtr(x)), precise far below zero.

    Args:
      x: a tensor, or what becomes one.
      series_order: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.log_ndtr``.

    Example:
      >>> import graphc as gx
      >>> gx.special.log_ndtr([-2.5, 0.5, 3.0]).numpy().round(3)
      array([-5.082e+00, -3.690e-01, -1.000e-03], dtype=float32)
    """

def log_softmax(x: ArrayLike, axis: Axis = None) -> Tensor:
    """log(softmax(x)), without overflow.

    Args:
      x: a tensor, or what becomes one.
      axis: one or several; negative ones are counted from the end; None for all. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.log_softmax``.

    Example:
      >>> import graphc as gx
      >>> gx.special.log_softmax(gx.arange(8.0).reshape(2, 2, 2)).shape
      (2, 2, 2)
    """

def loggamma(x: ArrayLike) -> Tensor:
    """The logarithm of the gamma function; NaN where that is negative.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.loggamma``.

    Example:
      >>> import graphc as gx
      >>> gx.special.loggamma([0.25, 2.0, 7.0]).numpy().round(3)
      array([1.288, 0.   , 6.579], dtype=float32)
    """

def logit(x: ArrayLike) -> Tensor:
    """log(x / (1 - x)).

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.logit``.

    Example:
      >>> import graphc as gx
      >>> gx.special.logit([0.1, 0.9, 0.99]).numpy().round(3)
      array([-2.197,  2.197,  4.595], dtype=float32)
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

    Example:
      >>> import graphc as gx
      >>> gx.special.logsumexp(gx.arange(8.0).reshape(2, 2, 2), axis=1).numpy().round(3)
      array([[2.127, 3.127],
             [6.127, 7.127]], dtype=float32)
    """

def multigammaln(a: ArrayLike, d: int) -> Tensor:
    """The logarithm of the gamma function in d dimensions.

    Args:
      a: a tensor, or what becomes one.
      d: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.multigammaln``.

    Example:
      >>> import graphc as gx
      >>> gx.special.multigammaln([3.0, 4.5], 2).numpy().round(3)
      array([1.55 , 4.818], dtype=float32)
    """

def ndtr(x: ArrayLike) -> Tensor:
    """The distribution function of the normal distribution.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.ndtr``.

    Example:
      >>> import graphc as gx
      >>> gx.special.ndtr([-2.5, 0.5, 3.0]).numpy().round(3)
      array([0.006, 0.691, 0.999], dtype=float32)
    """

def ndtri(p: ArrayLike) -> Tensor:
    """The quantile of the normal distribution.

    Args:
      p: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.ndtri``.

    Example:
      >>> import graphc as gx
      >>> gx.special.ndtri([0.1, 0.9, 0.99]).numpy().round(3)
      array([-1.282,  1.282,  2.326], dtype=float32)
    """

def owens_t(h: ArrayLike, a: ArrayLike) -> Tensor:
    """Owen's T function.

    Args:
      h: a tensor, or what becomes one.
      a: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.owens_t``.

    Example:
      >>> import graphc as gx
      >>> gx.special.owens_t([0.25, 2.0, 7.0], [0.1, 0.9, 0.99]).numpy().round(3)
      array([0.015, 0.011, 0.   ], dtype=float32)
    """

def poch(z: ArrayLike, m: ArrayLike) -> Tensor:
    """Pochhammer's symbol gamma(z + m) / gamma(z).

    Args:
      z: a tensor, or what becomes one.
      m: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.poch``.

    Example:
      >>> import graphc as gx
      >>> gx.special.poch([0.25, 2.0, 7.0], [1.0, 4.0, 5.0]).numpy().round(3)
      array([2.5000000e-01, 1.2000000e+02, 5.5440027e+04], dtype=float32)
    """

def polygamma(n: ArrayLike, x: ArrayLike) -> Tensor:
    """Derivative n of digamma.

    Args:
      n: a tensor, or what becomes one.
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.polygamma``.

    Example:
      >>> import graphc as gx
      >>> gx.special.polygamma([1, 3, 1], [1.0, 4.0, 5.0]).numpy().round(3)
      array([1.645, 0.045, 0.221], dtype=float32)
    """

def rel_entr(p: ArrayLike, q: ArrayLike) -> Tensor:
    """The relative entropy p * log(p / q).

    Args:
      p: a tensor, or what becomes one.
      q: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.rel_entr``.

    Example:
      >>> import graphc as gx
      >>> gx.special.rel_entr([0.25, 2.0, 7.0], [1.0, 4.0, 5.0]).numpy().round(3)
      array([-0.347, -1.386,  2.355], dtype=float32)
    """

def sici(x: ArrayLike) -> tuple[Tensor, Tensor]:
    """The sine and cosine integrals.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.sici``.

    Example:
      >>> import graphc as gx
      >>> print(*[part.numpy().round(3) for part in gx.special.sici([0.25, 2.0, 7.0])])
      [0.249 1.605 1.455] [-0.825  0.423  0.077]
    """

def softmax(x: ArrayLike, axis: Axis = None) -> Tensor:
    """The exponentials, scaled to sum 1 over axis.

    Args:
      x: a tensor, or what becomes one.
      axis: one or several; negative ones are counted from the end; None for all. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.softmax``.

    Example:
      >>> import graphc as gx
      >>> gx.special.softmax(gx.arange(8.0).reshape(2, 2, 2), axis=1).shape
      (2, 2, 2)
    """

def spence(x: ArrayLike) -> Tensor:
    """Spence's function, the dilogarithm of 1 - x.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.spence``.

    Example:
      >>> import graphc as gx
      >>> gx.special.spence([0.25, 2.0, 7.0]).numpy().round(3)
      array([ 0.978, -0.822, -3.09 ], dtype=float32)
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

    Example:
      >>> import graphc as gx
      >>> gx.special.sph_harm_y([1, 2], [0, 1], [0.3, 0.7], [0.1, 0.2], n_max=2).numpy().round(3)
      array([ 0.467+0.j   , -0.373-0.076j], dtype=complex64)
    """

def wofz(z: ArrayLike) -> Tensor:
    """The Faddeeva function exp(-z ** 2) * erfc(-i z).

    Args:
      z: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.wofz``.

    Example:
      >>> import graphc as gx
      >>> gx.special.wofz([1 + 2j, 0 - 1j, 3]).numpy().round(3)
      array([0.218+0.093j, 5.009+0.j   , 0.   +0.201j], dtype=complex64)
    """

def xlog1py(x: ArrayLike, y: ArrayLike) -> Tensor:
    """The product x * log(1 + y), and 0 where x is zero.

    Args:
      x: a tensor, or what becomes one.
      y: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.xlog1py``.

    Example:
      >>> import graphc as gx
      >>> gx.special.xlog1py([0.25, 2.0, 7.0], [1.0, 4.0, 5.0]).numpy().round(3)
      array([ 0.173,  3.219, 12.542], dtype=float32)
    """

def xlogy(x: ArrayLike, y: ArrayLike) -> Tensor:
    """The product x * log(y), and 0 where x is zero.

    Args:
      x: a tensor, or what becomes one.
      y: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.xlogy``.

    Example:
      >>> import graphc as gx
      >>> gx.special.xlogy([0.25, 2.0, 7.0], [1.0, 4.0, 5.0]).numpy().round(3)
      array([ 0.   ,  2.773, 11.266], dtype=float32)
    """

def zeta(x: ArrayLike, q: ArrayLike) -> Tensor:
    """Hurwitz' zeta function; Riemann's is that of q = 1.

    Args:
      x: a tensor, or what becomes one.
      q: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.scipy.special.zeta``.

    Example:
      >>> import graphc as gx
      >>> gx.special.zeta([2.0, 3.0], [1.0, 2.0]).numpy().round(3)
      array([1.645, 0.202], dtype=float32)
    """
