"""Examples of the rows of ``graphc.ops.lax.elementwise``, which the tests run."""

__all__ = ["EXAMPLES"]

EXAMPLES = {
    "lax.abs": """\
>>> gx.lax.abs([-2.5, 0.5, 3.0])
Tensor([2.5, 0.5, 3. ], shape=(3,), dtype=float32)
""",
    "lax.acos": """\
>>> gx.lax.acos([-0.9, 0.3, 0.8]).numpy().round(3)
array([2.691, 1.266, 0.644], dtype=float32)
""",
    "lax.acosh": """\
>>> gx.lax.acosh([1.25, 3.0, 8.0]).numpy().round(3)
array([0.693, 1.763, 2.769], dtype=float32)
""",
    "lax.add": """\
>>> gx.lax.add([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0])
Tensor([-1.  ,  0.75,  6.  ], shape=(3,), dtype=float32)
""",
    "lax.asin": """\
>>> gx.lax.asin([-0.9, 0.3, 0.8]).numpy().round(3)
array([-1.12 ,  0.305,  0.927], dtype=float32)
""",
    "lax.asinh": """\
>>> gx.lax.asinh([-2.5, 0.5, 3.0]).numpy().round(3)
array([-1.647,  0.481,  1.818], dtype=float32)
""",
    "lax.atan": """\
>>> gx.lax.atan([-2.5, 0.5, 3.0]).numpy().round(3)
array([-1.19 ,  0.464,  1.249], dtype=float32)
""",
    "lax.atan2": """\
>>> gx.lax.atan2([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0]).numpy().round(3)
array([-1.03 ,  1.107,  0.785], dtype=float32)
""",
    "lax.atanh": """\
>>> gx.lax.atanh([-0.9, 0.3, 0.8]).numpy().round(3)
array([-1.472,  0.31 ,  1.099], dtype=float32)
""",
    "lax.bessel_i0e": """\
>>> gx.lax.bessel_i0e([1.5, 0.25, 3.0]).numpy().round(3)
array([0.367, 0.791, 0.243], dtype=float32)
""",
    "lax.bessel_i1e": """\
>>> gx.lax.bessel_i1e([1.5, 0.25, 3.0]).numpy().round(3)
array([0.219, 0.098, 0.197], dtype=float32)
""",
    "lax.betainc": """\
>>> gx.lax.betainc([0.5, 2.0], [1.0, 3.0], [0.1, 0.9]).numpy().round(3)
array([0.316, 0.996], dtype=float32)
""",
    "lax.bitwise_and": """\
>>> gx.lax.bitwise_and([12, 0, 255], [1, 2, 4])
Tensor([0, 0, 4], shape=(3,), dtype=int32)
""",
    "lax.bitwise_not": """\
>>> gx.lax.bitwise_not([12, 0, 255])
Tensor([ -13,   -1, -256], shape=(3,), dtype=int32)
""",
    "lax.bitwise_or": """\
>>> gx.lax.bitwise_or([12, 0, 255], [1, 2, 4])
Tensor([ 13,   2, 255], shape=(3,), dtype=int32)
""",
    "lax.bitwise_xor": """\
>>> gx.lax.bitwise_xor([12, 0, 255], [1, 2, 4])
Tensor([ 13,   2, 251], shape=(3,), dtype=int32)
""",
    "lax.cbrt": """\
>>> gx.lax.cbrt([1.5, 0.25, 3.0]).numpy().round(3)
array([1.145, 0.63 , 1.442], dtype=float32)
""",
    "lax.ceil": """\
>>> gx.lax.ceil([-2.5, 0.5, 3.0])
Tensor([-2.,  1.,  3.], shape=(3,), dtype=float32)
""",
    "lax.clamp": """\
>>> gx.lax.clamp([-3.5, -0.5, 2.0], [1.5, 0.25, 3.0], [-1.5, 1.5, 4.0])
Tensor([-1.5 ,  0.25,  3.  ], shape=(3,), dtype=float32)
""",
    "lax.clz": """\
>>> gx.lax.clz([12, 0, 255])
Tensor([28, 32, 24], shape=(3,), dtype=int32)
""",
    "lax.complex": """\
>>> gx.lax.complex([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0])
Tensor([-2.5+1.5j ,  0.5+0.25j,  3. +3.j  ], shape=(3,), dtype=complex64)
""",
    "lax.conj": """\
>>> gx.lax.conj([1 + 2j, -0 - 1j, 3])
Tensor([1.-2.j, 0.+1.j, 3.-0.j], shape=(3,), dtype=complex64)
""",
    "lax.cos": """\
>>> gx.lax.cos([-2.5, 0.5, 3.0]).numpy().round(3)
array([-0.801,  0.878, -0.99 ], dtype=float32)
""",
    "lax.cosh": """\
>>> gx.lax.cosh([-2.5, 0.5, 3.0]).numpy().round(3)
array([ 6.132,  1.128, 10.068], dtype=float32)
""",
    "lax.digamma": """\
>>> gx.lax.digamma([0.25, 2.0, 7.0]).numpy().round(3)
array([-4.227,  0.423,  1.873], dtype=float32)
""",
    "lax.div": """\
>>> gx.lax.div([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0]).numpy().round(3)
array([-1.667,  2.   ,  1.   ], dtype=float32)
""",
    "lax.eq": """\
>>> gx.lax.eq([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0])
Tensor([False, False,  True], shape=(3,), dtype=bool)
""",
    "lax.erf": """\
>>> gx.lax.erf([1.5, 0.25, 3.0]).numpy().round(3)
array([0.966, 0.276, 1.   ], dtype=float32)
""",
    "lax.erf_inv": """\
>>> gx.lax.erf_inv([-0.9, 0.3, 0.8]).numpy().round(3)
array([-1.163,  0.272,  0.906], dtype=float32)
""",
    "lax.erfc": """\
>>> gx.lax.erfc([1.5, 0.25, 3.0]).numpy().round(3)
array([0.034, 0.724, 0.   ], dtype=float32)
""",
    "lax.exp": """\
>>> gx.lax.exp([-2.5, 0.5, 3.0]).numpy().round(3)
array([ 0.082,  1.649, 20.086], dtype=float32)
""",
    "lax.exp2": """\
>>> gx.lax.exp2([-2.5, 0.5, 3.0]).numpy().round(3)
array([0.177, 1.414, 8.   ], dtype=float32)
""",
    "lax.expm1": """\
>>> gx.lax.expm1([-2.5, 0.5, 3.0]).numpy().round(3)
array([-0.918,  0.649, 19.086], dtype=float32)
""",
    "lax.floor": """\
>>> gx.lax.floor([-2.5, 0.5, 3.0])
Tensor([-3.,  0.,  3.], shape=(3,), dtype=float32)
""",
    "lax.ge": """\
>>> gx.lax.ge([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0])
Tensor([False,  True,  True], shape=(3,), dtype=bool)
""",
    "lax.gt": """\
>>> gx.lax.gt([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0])
Tensor([False,  True, False], shape=(3,), dtype=bool)
""",
    "lax.igamma": """\
>>> gx.lax.igamma([0.25, 2.0, 7.0], [1.25, 3.0, 8.0]).numpy().round(3)
array([0.953, 0.801, 0.687], dtype=float32)
""",
    "lax.igamma_grad_a": """\
>>> gx.lax.igamma_grad_a([0.25, 2.0, 7.0], [1.25, 3.0, 8.0]).numpy().round(3)
array([-0.23 , -0.197, -0.134], dtype=float32)
""",
    "lax.igammac": """\
>>> gx.lax.igammac([0.25, 2.0, 7.0], [1.25, 3.0, 8.0]).numpy().round(3)
array([0.047, 0.199, 0.313], dtype=float32)
""",
    "lax.imag": """\
>>> gx.lax.imag([1 + 2j, -0 - 1j, 3])
Tensor([ 2., -1.,  0.], shape=(3,), dtype=float32)
""",
    "lax.integer_pow": """\
>>> gx.lax.integer_pow([1.5, 0.25, 3.0], 3).numpy().round(3)
array([3.375e+00, 1.600e-02, 2.700e+01], dtype=float32)
""",
    "lax.is_finite": """\
>>> gx.lax.is_finite([1.5, 0.25, 3.0])
Tensor([ True,  True,  True], shape=(3,), dtype=bool)
""",
    "lax.le": """\
>>> gx.lax.le([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0])
Tensor([ True, False,  True], shape=(3,), dtype=bool)
""",
    "lax.lgamma": """\
>>> gx.lax.lgamma([0.25, 2.0, 7.0]).numpy().round(3)
array([1.288, 0.   , 6.579], dtype=float32)
""",
    "lax.log": """\
>>> gx.lax.log([0.25, 2.0, 7.0]).numpy().round(3)
array([-1.386,  0.693,  1.946], dtype=float32)
""",
    "lax.log1p": """\
>>> gx.lax.log1p([0.25, 2.0, 7.0]).numpy().round(3)
array([0.223, 1.099, 2.079], dtype=float32)
""",
    "lax.logistic": """\
>>> gx.lax.logistic([-2.5, 0.5, 3.0]).numpy().round(3)
array([0.076, 0.622, 0.953], dtype=float32)
""",
    "lax.lt": """\
>>> gx.lax.lt([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0])
Tensor([ True, False, False], shape=(3,), dtype=bool)
""",
    "lax.max": """\
>>> gx.lax.max([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0])
Tensor([1.5, 0.5, 3. ], shape=(3,), dtype=float32)
""",
    "lax.min": """\
>>> gx.lax.min([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0])
Tensor([-2.5 ,  0.25,  3.  ], shape=(3,), dtype=float32)
""",
    "lax.mul": """\
>>> gx.lax.mul([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0])
Tensor([-3.75 ,  0.125,  9.   ], shape=(3,), dtype=float32)
""",
    "lax.ne": """\
>>> gx.lax.ne([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0])
Tensor([ True,  True, False], shape=(3,), dtype=bool)
""",
    "lax.neg": """\
>>> gx.lax.neg([-2.5, 0.5, 3.0])
Tensor([ 2.5, -0.5, -3. ], shape=(3,), dtype=float32)
""",
    "lax.nextafter": """\
>>> gx.lax.nextafter([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0]).numpy().round(3)
array([-2.5,  0.5,  3. ], dtype=float32)
""",
    "lax.polygamma": """\
>>> gx.lax.polygamma([1.0, 2.0], [2.0, 3.0]).numpy().round(3)
array([ 0.645, -0.154], dtype=float32)
""",
    "lax.population_count": """\
>>> gx.lax.population_count([12, 0, 255])
Tensor([2, 0, 8], shape=(3,), dtype=int32)
""",
    "lax.pow": """\
>>> gx.lax.pow([0.25, 2.0, 7.0], [1.5, 0.25, 3.0]).numpy().round(3)
array([1.250e-01, 1.189e+00, 3.430e+02], dtype=float32)
""",
    "lax.random_gamma_grad": """\
>>> gx.lax.random_gamma_grad([0.25, 2.0, 7.0], [1.25, 3.0, 8.0]).numpy().round(3)
array([3.441, 1.322, 1.094], dtype=float32)
""",
    "lax.real": """\
>>> gx.lax.real([1 + 2j, -0 - 1j, 3])
Tensor([1., 0., 3.], shape=(3,), dtype=float32)
""",
    "lax.reciprocal": """\
>>> gx.lax.reciprocal([1.5, 0.25, 3.0]).numpy().round(3)
array([0.667, 4.   , 0.333], dtype=float32)
""",
    "lax.reduce_precision": """\
>>> gx.lax.reduce_precision([0.1, 3.14], 5, 3).numpy().round(3)
array([0.102, 3.25 ], dtype=float32)
""",
    "lax.rem": """\
>>> gx.lax.rem([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0])
Tensor([-1.,  0.,  0.], shape=(3,), dtype=float32)
""",
    "lax.round": """\
>>> gx.lax.round([-2.5, 0.5, 3.0])
Tensor([-3.,  1.,  3.], shape=(3,), dtype=float32)
""",
    "lax.rsqrt": """\
>>> gx.lax.rsqrt([0.25, 2.0, 7.0]).numpy().round(3)
array([2.   , 0.707, 0.378], dtype=float32)
""",
    "lax.select": """\
>>> gx.lax.select([True, False, True], [-2.5, 0.5, 3.0], [1.5, 0.25, 3.0])
Tensor([-2.5 ,  0.25,  3.  ], shape=(3,), dtype=float32)
""",
    "lax.select_n": """\
>>> gx.lax.select_n([0, 1, 0], [-2.5, 0.5, 3.0], [1.5, 0.25, 3.0], [0.25, 2.0, 7.0])
Tensor([-2.5 ,  0.25,  3.  ], shape=(3,), dtype=float32)
""",
    "lax.shift_left": """\
>>> gx.lax.shift_left([12, 0, 255], [1, 2, 4])
Tensor([  24,    0, 4080], shape=(3,), dtype=int32)
""",
    "lax.shift_right_arithmetic": """\
>>> gx.lax.shift_right_arithmetic([12, 0, 255], [1, 2, 4])
Tensor([ 6,  0, 15], shape=(3,), dtype=int32)
""",
    "lax.shift_right_logical": """\
>>> gx.lax.shift_right_logical([12, 0, 255], [1, 2, 4])
Tensor([ 6,  0, 15], shape=(3,), dtype=int32)
""",
    "lax.sign": """\
>>> gx.lax.sign([-2.5, 0.5, 3.0])
Tensor([-1.,  1.,  1.], shape=(3,), dtype=float32)
""",
    "lax.sin": """\
>>> gx.lax.sin([-2.5, 0.5, 3.0]).numpy().round(3)
array([-0.598,  0.479,  0.141], dtype=float32)
""",
    "lax.sinh": """\
>>> gx.lax.sinh([-2.5, 0.5, 3.0]).numpy().round(3)
array([-6.05 ,  0.521, 10.018], dtype=float32)
""",
    "lax.sqrt": """\
>>> gx.lax.sqrt([0.25, 2.0, 7.0]).numpy().round(3)
array([0.5  , 1.414, 2.646], dtype=float32)
""",
    "lax.square": """\
>>> gx.lax.square([-2.5, 0.5, 3.0])
Tensor([6.25, 0.25, 9.  ], shape=(3,), dtype=float32)
""",
    "lax.stop_gradient": """\
>>> gx.lax.stop_gradient([1.5, 0.25, 3.0])
Tensor([1.5 , 0.25, 3.  ], shape=(3,), dtype=float32)
""",
    "lax.sub": """\
>>> gx.lax.sub([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0])
Tensor([-4.  ,  0.25,  0.  ], shape=(3,), dtype=float32)
""",
    "lax.tan": """\
>>> gx.lax.tan([-2.5, 0.5, 3.0]).numpy().round(3)
array([ 0.747,  0.546, -0.143], dtype=float32)
""",
    "lax.tanh": """\
>>> gx.lax.tanh([-2.5, 0.5, 3.0]).numpy().round(3)
array([-0.987,  0.462,  0.995], dtype=float32)
""",
    "lax.zeta": """\
>>> gx.lax.zeta([2.0, 3.0], [1.0, 2.0]).numpy().round(3)
array([1.645, 0.202], dtype=float32)
""",
}
