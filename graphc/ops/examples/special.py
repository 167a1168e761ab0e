"""Examples of the rows of ``graphc.ops.special``, which the tests run."""

__all__ = ["EXAMPLES"]

EXAMPLES = {
    "special.bernoulli": """\
>>> gx.special.bernoulli(4).numpy().round(3)
array([ 1.   , -0.5  ,  0.167,  0.   , -0.033], dtype=float32)
""",
    "special.bessel_jn": """\
>>> gx.special.bessel_jn([7.0, 9.0], v=2).numpy().round(3)
array([[ 0.3  , -0.09 ],
       [-0.005,  0.245],
       [-0.301,  0.145]], dtype=float32)
""",
    "special.beta": """\
>>> gx.special.beta([0.25, 2.0, 7.0], [1.0, 4.0, 5.0]).numpy().round(3)
array([4.  , 0.05, 0.  ], dtype=float32)
""",
    "special.betainc": """\
>>> gx.special.betainc([0.25, 2.0, 7.0], [1.0, 4.0, 5.0], [0.1, 0.9, 0.99]).numpy().round(3)
array([0.562, 1.   , 1.   ], dtype=float32)
""",
    "special.betaln": """\
>>> gx.special.betaln([0.25, 2.0, 7.0], [1.0, 4.0, 5.0]).numpy().round(3)
array([ 1.386, -2.996, -7.745], dtype=float32)
""",
    "special.boxcox": """\
>>> gx.special.boxcox([0.25, 2.0, 7.0], [0.1, 0.9, 0.99]).numpy().round(3)
array([-1.294,  0.962,  5.924], dtype=float32)
""",
    "special.boxcox1p": """\
>>> gx.special.boxcox1p([0.25, 2.0, 7.0], [0.1, 0.9, 0.99]).numpy().round(3)
array([0.226, 1.875, 6.904], dtype=float32)
""",
    "special.comb": """\
>>> gx.special.comb([1.0, 4.0, 5.0], [0.0, 2.0, 3.0]).numpy().round(3)
array([ 1.,  6., 10.], dtype=float32)
""",
    "special.dawsn": """\
>>> gx.special.dawsn([-2.5, 0.5, 3.0]).numpy().round(3)
array([-0.223,  0.424,  0.178], dtype=float32)
""",
    "special.digamma": """\
>>> gx.special.digamma([0.25, 2.0, 7.0]).numpy().round(3)
array([-4.227,  0.423,  1.873], dtype=float32)
""",
    "special.entr": """\
>>> gx.special.entr([0.25, 2.0, 7.0]).numpy().round(3)
array([  0.347,  -1.386, -13.621], dtype=float32)
""",
    "special.erf": """\
>>> gx.special.erf([-2.5, 0.5, 3.0]).numpy().round(3)
array([-1.  ,  0.52,  1.  ], dtype=float32)
""",
    "special.erfc": """\
>>> gx.special.erfc([-2.5, 0.5, 3.0]).numpy().round(3)
array([2.  , 0.48, 0.  ], dtype=float32)
""",
    "special.erfcx": """\
>>> gx.special.erfcx([-2.5, 0.5, 3.0]).numpy().round(3)
array([1.035815e+03, 6.160000e-01, 1.790000e-01], dtype=float32)
""",
    "special.erfinv": """\
>>> gx.special.erfinv([-0.9, 0.3, 0.8]).numpy().round(3)
array([-1.163,  0.272,  0.906], dtype=float32)
""",
    "special.exp1": """\
>>> gx.special.exp1([0.25, 2.0, 7.0]).numpy().round(3)
array([1.044, 0.049, 0.   ], dtype=float32)
""",
    "special.expi": """\
>>> gx.special.expi([0.25, 2.0, 7.0]).numpy().round(3)
array([ -0.543,   4.954, 191.505], dtype=float32)
""",
    "special.expit": """\
>>> gx.special.expit([-2.5, 0.5, 3.0]).numpy().round(3)
array([0.076, 0.622, 0.953], dtype=float32)
""",
    "special.expn": """\
>>> gx.special.expn([0, 3, 2], [0.25, 2.0, 7.0]).numpy().round(3)
array([3.115, 0.03 , 0.   ], dtype=float32)
""",
    "special.factorial": """\
>>> gx.special.factorial([1.0, 4.0, 5.0]).numpy().round(3)
array([  1.,  24., 120.], dtype=float32)
""",
    "special.fresnel": """\
>>> print(*[part.numpy().round(3) for part in gx.special.fresnel([-2.5, 0.5, 3.0])])
[-0.619  0.065  0.496] [-0.457  0.492  0.606]
""",
    "special.gamma": """\
>>> gx.special.gamma([0.25, 2.0, 7.0]).numpy().round(3)
array([  3.626,   1.   , 720.001], dtype=float32)
""",
    "special.gammainc": """\
>>> gx.special.gammainc([0.25, 2.0, 7.0], [1.0, 4.0, 5.0]).numpy().round(3)
array([0.932, 0.908, 0.238], dtype=float32)
""",
    "special.gammaincc": """\
>>> gx.special.gammaincc([0.25, 2.0, 7.0], [1.0, 4.0, 5.0]).numpy().round(3)
array([0.068, 0.092, 0.762], dtype=float32)
""",
    "special.gammaln": """\
>>> gx.special.gammaln([0.25, 2.0, 7.0]).numpy().round(3)
array([1.288, 0.   , 6.579], dtype=float32)
""",
    "special.gammasgn": """\
>>> gx.special.gammasgn([0.25, 2.0, 7.0])
Tensor([1., 1., 1.], shape=(3,), dtype=float32)
""",
    "special.hyp1f1": """\
>>> gx.special.hyp1f1([0.5], [1.5], [0.7]).numpy().round(3)
array([1.292], dtype=float32)
""",
    "special.hyp2f1": """\
>>> gx.special.hyp2f1([0.5], [1.0], [1.5], [0.3]).numpy().round(3)
array([1.123], dtype=float32)
""",
    "special.i0": """\
>>> gx.special.i0([-2.5, 0.5, 3.0]).numpy().round(3)
array([3.29 , 1.063, 4.881], dtype=float32)
""",
    "special.i0e": """\
>>> gx.special.i0e([-2.5, 0.5, 3.0]).numpy().round(3)
array([0.27 , 0.645, 0.243], dtype=float32)
""",
    "special.i1": """\
>>> gx.special.i1([-2.5, 0.5, 3.0]).numpy().round(3)
array([-2.517,  0.258,  3.953], dtype=float32)
""",
    "special.i1e": """\
>>> gx.special.i1e([-2.5, 0.5, 3.0]).numpy().round(3)
array([-0.207,  0.156,  0.197], dtype=float32)
""",
    "special.kl_div": """\
>>> gx.special.kl_div([0.25, 2.0, 7.0], [1.0, 4.0, 5.0]).numpy().round(3)
array([0.403, 0.614, 0.355], dtype=float32)
""",
    "special.log_ndtr": """\
>>> gx.special.log_ndtr([-2.5, 0.5, 3.0]).numpy().round(3)
array([-5.082e+00, -3.690e-01, -1.000e-03], dtype=float32)
""",
    "special.log_softmax": """\
>>> gx.special.log_softmax(gx.arange(8.0).reshape(2, 2, 2)).shape
(2, 2, 2)
""",
    "special.loggamma": """\
>>> gx.special.loggamma([0.25, 2.0, 7.0]).numpy().round(3)
array([1.288, 0.   , 6.579], dtype=float32)
""",
    "special.logit": """\
>>> gx.special.logit([0.1, 0.9, 0.99]).numpy().round(3)
array([-2.197,  2.197,  4.595], dtype=float32)
""",
    "special.logsumexp": """\
>>> gx.special.logsumexp(gx.arange(8.0).reshape(2, 2, 2), axis=1).numpy().round(3)
array([[2.127, 3.127],
       [6.127, 7.127]], dtype=float32)
""",
    "special.multigammaln": """\
>>> gx.special.multigammaln([3.0, 4.5], 2).numpy().round(3)
array([1.55 , 4.818], dtype=float32)
""",
    "special.ndtr": """\
>>> gx.special.ndtr([-2.5, 0.5, 3.0]).numpy().round(3)
array([0.006, 0.691, 0.999], dtype=float32)
""",
    "special.ndtri": """\
>>> gx.special.ndtri([0.1, 0.9, 0.99]).numpy().round(3)
array([-1.282,  1.282,  2.326], dtype=float32)
""",
    "special.owens_t": """\
>>> gx.special.owens_t([0.25, 2.0, 7.0], [0.1, 0.9, 0.99]).numpy().round(3)
array([0.015, 0.011, 0.   ], dtype=float32)
""",
    "special.poch": """\
>>> gx.special.poch([0.25, 2.0, 7.0], [1.0, 4.0, 5.0]).numpy().round(3)
array([2.5000000e-01, 1.2000000e+02, 5.5440027e+04], dtype=float32)
""",
    "special.polygamma": """\
>>> gx.special.polygamma([1, 3, 1], [1.0, 4.0, 5.0]).numpy().round(3)
array([1.645, 0.045, 0.221], dtype=float32)
""",
    "special.rel_entr": """\
>>> gx.special.rel_entr([0.25, 2.0, 7.0], [1.0, 4.0, 5.0]).numpy().round(3)
array([-0.347, -1.386,  2.355], dtype=float32)
""",
    "special.sici": """\
>>> print(*[part.numpy().round(3) for part in gx.special.sici([0.25, 2.0, 7.0])])
[0.249 1.605 1.455] [-0.825  0.423  0.077]
""",
    "special.softmax": """\
>>> gx.special.softmax(gx.arange(8.0).reshape(2, 2, 2), axis=1).shape
(2, 2, 2)
""",
    "special.spence": """\
>>> gx.special.spence([0.25, 2.0, 7.0]).numpy().round(3)
array([ 0.978, -0.822, -3.09 ], dtype=float32)
""",
    "special.sph_harm_y": """\
>>> gx.special.sph_harm_y([1, 2], [0, 1], [0.3, 0.7], [0.1, 0.2], n_max=2).numpy().round(3)
array([ 0.467+0.j   , -0.373-0.076j], dtype=complex64)
""",
    "special.wofz": """\
>>> gx.special.wofz([1 + 2j, 0 - 1j, 3]).numpy().round(3)
array([0.218+0.093j, 5.009+0.j   , 0.   +0.201j], dtype=complex64)
""",
    "special.xlog1py": """\
>>> gx.special.xlog1py([0.25, 2.0, 7.0], [1.0, 4.0, 5.0]).numpy().round(3)
array([ 0.173,  3.219, 12.542], dtype=float32)
""",
    "special.xlogy": """\
>>> gx.special.xlogy([0.25, 2.0, 7.0], [1.0, 4.0, 5.0]).numpy().round(3)
array([ 0.   ,  2.773, 11.266], dtype=float32)
""",
    "special.zeta": """\
>>> gx.special.zeta([2.0, 3.0], [1.0, 2.0]).numpy().round(3)
array([1.645, 0.202], dtype=float32)
""",
}
