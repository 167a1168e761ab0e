"""Rows of the namespace ``special``: the special functions of ``jax.scipy.special``."""

from __future__ import annotations

from typing import Any

import jax
from jax.scipy import special

from graphc.compiler.ops.table import define, row


def _sph_harm_y(n: Any, m: Any, theta: Any, phi: Any, n_max: int) -> jax.Array:
    return special.sph_harm_y(n, m, theta, phi, n_max=n_max)


def _logsumexp(x: Any, axis: Any = None, keepdims: bool = False, *, b: Any = None) -> Any:
    return special.logsumexp(x, axis, b, keepdims)


_PAIR = "tuple[Tensor, Tensor]"

_ROWS = (
    # Gamma and what is made of it.
    row("special.gamma", special.gamma, "x", "The gamma function."),
    row("special.gammaln", special.gammaln, "x", "The logarithm of the absolute gamma function."),
    row("special.loggamma", special.loggamma, "x", "The logarithm of the gamma function; NaN where it is negative."),
    row("special.gammasgn", special.gammasgn, "x", "The sign of the gamma function.", differentiable=False),
    row("special.gammainc", special.gammainc, "a, x", "The regularized lower incomplete gamma function."),
    row("special.gammaincc", special.gammaincc, "a, x", "The regularized upper incomplete gamma function."),
    row("special.digamma", special.digamma, "x", "The derivative of gammaln.", aliases=("psi",)),
    row("special.polygamma", special.polygamma, "n, x", "The n-th derivative of digamma."),
    row("special.multigammaln", special.multigammaln, "a, d: int",
        "The logarithm of the d-dimensional gamma function."),
    row("special.poch", special.poch, "z, m", "The Pochhammer symbol gamma(z + m) / gamma(z)."),
    row("special.factorial", special.factorial, "n", "The factorial n!."),
    row("special.comb", special.comb, "N, k, repetition: bool = False", "The number of ways to choose k of N."),
    row("special.beta", special.beta, "a, b", "The beta function gamma(a) * gamma(b) / gamma(a + b)."),
    row("special.betaln", special.betaln, "a, b", "The logarithm of the beta function."),
    row("special.betainc", special.betainc, "a, b, x", "The regularized incomplete beta function."),
    row("special.zeta", special.zeta, "x, q", "The Hurwitz zeta function; with q = 1 the Riemann zeta function."),
    row("special.bernoulli", special.bernoulli, "n: int", "The first n + 1 Bernoulli numbers."),
    # Errors and the normal distribution.
    row("special.erf", special.erf, "x", "The error function."),
    row("special.erfc", special.erfc, "x", "1 - erf(x), precise where erf is near 1."),
    row("special.erfcx", special.erfcx, "x", "exp(x ** 2) * erfc(x)."),
    row("special.erfinv", special.erfinv, "x", "The inverse of the error function."),
    row("special.dawsn", special.dawsn, "x", "Dawson's integral."),
    row("special.wofz", special.wofz, "z", "The Faddeeva function exp(-z ** 2) * erfc(-i z)."),
    row("special.fresnel", special.fresnel, "x", "The Fresnel integrals S and C.", returns=_PAIR),
    row("special.owens_t", special.owens_t, "h, a", "Owen's T function."),
    row("special.ndtr", special.ndtr, "x", "The normal cumulative distribution function."),
    row("special.ndtri", special.ndtri, "p", "The normal quantile function."),
    row("special.log_ndtr", special.log_ndtr, "x, series_order: int = 3",
        "log(ndtr(x)), precise for large negative x."),
    # Exponentials, logarithms, entropies.
    row("special.expit", special.expit, "x", "1 / (1 + exp(-x))."),
    row("special.logit", special.logit, "x", "log(x / (1 - x))."),
    row("special.entr", special.entr, "x", "-x * log(x), and 0 at zero."),
    row("special.rel_entr", special.rel_entr, "p, q", "The relative entropy p * log(p / q)."),
    row("special.kl_div", special.kl_div, "p, q", "The divergence p * log(p / q) - p + q."),
    row("special.xlogy", special.xlogy, "x, y", "The product x * log(y), and 0 where x is zero."),
    row("special.xlog1py", special.xlog1py, "x, y", "The product x * log(1 + y), and 0 where x is zero."),
    row("special.boxcox", special.boxcox, "x, lmbda", "(x ** lmbda - 1) / lmbda, and log(x) for lmbda = 0."),
    row("special.boxcox1p", special.boxcox1p, "x, lmbda", "boxcox(1 + x, lmbda), precise near zero."),
    row("special.logsumexp", _logsumexp, "x, axis: Axis = None, keepdims: bool = False, b=None",
        "log(sum(b * exp(x))) over axis, without overflow on the way."),
    row("special.softmax", special.softmax, "x, axis: Axis = None", "exp(x) / sum(exp(x)) over axis."),
    row("special.log_softmax", special.log_softmax, "x, axis: Axis = None", "log(softmax(x)), without overflow."),
    # Integrals.
    row("special.exp1", special.exp1, "x", "The exponential integral E1."),
    row("special.expi", special.expi, "x", "The exponential integral Ei."),
    row("special.expn", special.expn, "n, x", "The exponential integral En."),
    row("special.sici", special.sici, "x", "The sine and cosine integrals.", returns=_PAIR),
    row("special.spence", special.spence, "x", "Spence's function, the dilogarithm of 1 - x."),
    # Bessel, hypergeometric and spherical functions.
    row("special.i0", special.i0, "x", "The modified Bessel function of the first kind, of order 0."),
    row("special.i0e", special.i0e, "x", "exp(-|x|) * i0(x)."),
    row("special.i1", special.i1, "x", "The modified Bessel function of the first kind, of order 1."),
    row("special.i1e", special.i1e, "x", "exp(-|x|) * i1(x)."),
    row("special.bessel_jn", special.bessel_jn, "z, v: int, n_iter: int = 50",
        "The Bessel functions of the first kind of orders 0 to v, on a new first axis; n_iter must exceed z."),
    row("special.hyp1f1", special.hyp1f1, "a, b, x", "Kummer's hypergeometric function 1F1."),
    row("special.hyp2f1", special.hyp2f1, "a, b, c, x", "Gauss' hypergeometric function 2F1."),
    row("special.sph_harm_y", _sph_harm_y, "n, m, theta, phi, n_max: int",
        "The spherical harmonics of degree n and order m, 1-d tensors; n_max is the maximum of n."),
)  # fmt: skip

define(globals(), _ROWS)
