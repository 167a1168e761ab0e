"""Examples of the rows of ``graphc.ops.elementwise``, which the tests run."""

__all__ = ["EXAMPLES"]

EXAMPLES = {
    "abs": """\
>>> gx.abs([-2.5, 0.5, 3.0])
Tensor([2.5, 0.5, 3. ], shape=(3,), dtype=float32)
""",
    "acos": """\
>>> gx.acos([-0.9, 0.3, 0.8]).numpy().round(3)
array([2.691, 1.266, 0.644], dtype=float32)
""",
    "acosh": """\
>>> gx.acosh([1.25, 3.0, 8.0]).numpy().round(3)
array([0.693, 1.763, 2.769], dtype=float32)
""",
    "add": """\
>>> gx.add([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0])
Tensor([-1.  ,  0.75,  6.  ], shape=(3,), dtype=float32)
""",
    "angle": """\
>>> gx.angle([1 + 2j, 0 - 1j, 3]).numpy().round(3)
array([ 1.107, -1.571,  0.   ], dtype=float32)
""",
    "asin": """\
>>> gx.asin([-0.9, 0.3, 0.8]).numpy().round(3)
array([-1.12 ,  0.305,  0.927], dtype=float32)
""",
    "asinh": """\
>>> gx.asinh([-2.5, 0.5, 3.0]).numpy().round(3)
array([-1.647,  0.481,  1.818], dtype=float32)
""",
    "atan": """\
>>> gx.atan([-2.5, 0.5, 3.0]).numpy().round(3)
array([-1.19 ,  0.464,  1.249], dtype=float32)
""",
    "atan2": """\
>>> gx.atan2([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0]).numpy().round(3)
array([-1.03 ,  1.107,  0.785], dtype=float32)
""",
    "atanh": """\
>>> gx.atanh([-0.9, 0.3, 0.8]).numpy().round(3)
array([-1.472,  0.31 ,  1.099], dtype=float32)
""",
    "cbrt": """\
>>> gx.cbrt([-2.5, 0.5, 3.0]).numpy().round(3)
array([-1.357,  0.794,  1.442], dtype=float32)
""",
    "ceil": """\
>>> gx.ceil([-2.5, 0.5, 3.0])
Tensor([-2.,  1.,  3.], shape=(3,), dtype=float32)
""",
    "conj": """\
>>> gx.conj([1 + 2j, 0 - 1j, 3])
Tensor([1.-2.j, 0.+1.j, 3.-0.j], shape=(3,), dtype=complex64)
""",
    "copysign": """\
>>> gx.copysign([0.25, 2.0, 7.0], [-2.5, 0.5, 3.0])
Tensor([-0.25,  2.  ,  7.  ], shape=(3,), dtype=float32)
""",
    "cos": """\
>>> gx.cos([-2.5, 0.5, 3.0]).numpy().round(3)
array([-0.801,  0.878, -0.99 ], dtype=float32)
""",
    "cosh": """\
>>> gx.cosh([-2.5, 0.5, 3.0]).numpy().round(3)
array([ 6.132,  1.128, 10.068], dtype=float32)
""",
    "deg2rad": """\
>>> gx.deg2rad([-2.5, 0.5, 3.0]).numpy().round(3)
array([-0.044,  0.009,  0.052], dtype=float32)
""",
    "divide": """\
>>> gx.divide([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0]).numpy().round(3)
array([-1.667,  2.   ,  1.   ], dtype=float32)
""",
    "divmod": """\
>>> print(*gx.divmod([-7, 5, 12], [2, -5, 7]))
[-4 -1  1] [1 0 5]
""",
    "exp": """\
>>> gx.exp([-2.5, 0.5, 3.0]).numpy().round(3)
array([ 0.082,  1.649, 20.086], dtype=float32)
""",
    "exp2": """\
>>> gx.exp2([-2.5, 0.5, 3.0]).numpy().round(3)
array([0.177, 1.414, 8.   ], dtype=float32)
""",
    "expm1": """\
>>> gx.expm1([-2.5, 0.5, 3.0]).numpy().round(3)
array([-0.918,  0.649, 19.086], dtype=float32)
""",
    "fabs": """\
>>> gx.fabs([-2.5, 0.5, 3.0])
Tensor([2.5, 0.5, 3. ], shape=(3,), dtype=float32)
""",
    "fix": """\
>>> gx.fix([-2.5, 0.5, 3.0])
Tensor([-2.,  0.,  3.], shape=(3,), dtype=float32)
""",
    "float_power": """\
>>> gx.float_power([0.25, 2.0, 7.0], [1.5, 0.25, 3.0]).numpy().round(3)
array([1.250e-01, 1.189e+00, 3.430e+02], dtype=float32)
""",
    "floor": """\
>>> gx.floor([-2.5, 0.5, 3.0])
Tensor([-3.,  0.,  3.], shape=(3,), dtype=float32)
""",
    "floor_divide": """\
>>> gx.floor_divide([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0])
Tensor([-2.,  2.,  1.], shape=(3,), dtype=float32)
""",
    "fmax": """\
>>> gx.fmax([gx.nan, gx.inf, 1.0], 0.5)
Tensor([0.5, inf, 1. ], shape=(3,), dtype=float32)
""",
    "fmin": """\
>>> gx.fmin([gx.nan, gx.inf, 1.0], 0.5)
Tensor([0.5, 0.5, 0.5], shape=(3,), dtype=float32)
""",
    "fmod": """\
>>> gx.fmod([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0])
Tensor([-1.,  0.,  0.], shape=(3,), dtype=float32)
""",
    "frexp": """\
>>> print(*gx.frexp([-2.5, 0.5, 3.0]))
[-0.625  0.5    0.75 ] [2 0 2]
""",
    "heaviside": """\
>>> gx.heaviside([-2.5, 0.5, 3.0], 0.5)
Tensor([0., 1., 1.], shape=(3,), dtype=float32)
""",
    "hypot": """\
>>> gx.hypot([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0]).numpy().round(3)
array([2.915, 0.559, 4.243], dtype=float32)
""",
    "i0": """\
>>> gx.i0([-2.5, 0.5, 3.0]).numpy().round(3)
array([3.29 , 1.063, 4.881], dtype=float32)
""",
    "identity": """\
>>> gx.identity([-2.5, 0.5, 3.0])
Tensor([-2.5,  0.5,  3. ], shape=(3,), dtype=float32)
""",
    "imag": """\
>>> gx.imag([1 + 2j, 0 - 1j, 3])
Tensor([ 2., -1.,  0.], shape=(3,), dtype=float32)
""",
    "ldexp": """\
>>> gx.ldexp([-2.5, 0.5, 3.0], [1, -1, 3])
Tensor([-5.  ,  0.25, 24.  ], shape=(3,), dtype=float32)
""",
    "log": """\
>>> gx.log([0.25, 2.0, 7.0]).numpy().round(3)
array([-1.386,  0.693,  1.946], dtype=float32)
""",
    "log10": """\
>>> gx.log10([0.25, 2.0, 7.0]).numpy().round(3)
array([-0.602,  0.301,  0.845], dtype=float32)
""",
    "log1p": """\
>>> gx.log1p([0.25, 2.0, 7.0]).numpy().round(3)
array([0.223, 1.099, 2.079], dtype=float32)
""",
    "log2": """\
>>> gx.log2([0.25, 2.0, 7.0]).numpy().round(3)
array([-2.   ,  1.   ,  2.807], dtype=float32)
""",
    "logaddexp": """\
>>> gx.logaddexp([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0]).numpy().round(3)
array([1.518, 1.076, 3.693], dtype=float32)
""",
    "logaddexp2": """\
>>> gx.logaddexp2([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0]).numpy().round(3)
array([1.587, 1.38 , 4.   ], dtype=float32)
""",
    "maximum": """\
>>> gx.maximum([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0])
Tensor([1.5, 0.5, 3. ], shape=(3,), dtype=float32)
""",
    "minimum": """\
>>> gx.minimum([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0])
Tensor([-2.5 ,  0.25,  3.  ], shape=(3,), dtype=float32)
""",
    "modf": """\
>>> print(*gx.modf([-2.5, 0.5, 3.0]))
[-0.5  0.5  0. ] [-2.  0.  3.]
""",
    "multiply": """\
>>> gx.multiply([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0])
Tensor([-3.75 ,  0.125,  9.   ], shape=(3,), dtype=float32)
""",
    "nan_to_num": """\
>>> gx.nan_to_num([gx.nan, gx.inf, 1.0])
Tensor([0.0000000e+00, 3.4028235e+38, 1.0000000e+00], shape=(3,), dtype=float32)
""",
    "negative": """\
>>> gx.negative([-2.5, 0.5, 3.0])
Tensor([ 2.5, -0.5, -3. ], shape=(3,), dtype=float32)
""",
    "nextafter": """\
>>> gx.nextafter(1.0, 2.0) - 1.0
Tensor(1.1920929e-07, shape=(), dtype=float32)
""",
    "positive": """\
>>> gx.positive([-2.5, 0.5, 3.0])
Tensor([-2.5,  0.5,  3. ], shape=(3,), dtype=float32)
""",
    "pow": """\
>>> gx.pow([0.25, 2.0, 7.0], [1.5, 0.25, 3.0]).numpy().round(3)
array([1.250e-01, 1.189e+00, 3.430e+02], dtype=float32)
""",
    "rad2deg": """\
>>> gx.rad2deg([-2.5, 0.5, 3.0]).numpy().round(3)
array([-143.239,   28.648,  171.887], dtype=float32)
""",
    "real": """\
>>> gx.real([1 + 2j, 0 - 1j, 3])
Tensor([1., 0., 3.], shape=(3,), dtype=float32)
""",
    "reciprocal": """\
>>> gx.reciprocal([0.25, 2.0, 7.0]).numpy().round(3)
array([4.   , 0.5  , 0.143], dtype=float32)
""",
    "remainder": """\
>>> gx.remainder([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0])
Tensor([0.5, 0. , 0. ], shape=(3,), dtype=float32)
""",
    "rint": """\
>>> gx.rint([-2.5, 0.5, 3.0])
Tensor([-2.,  0.,  3.], shape=(3,), dtype=float32)
""",
    "round": """\
>>> gx.round([-2.5, 0.5, 3.0])
Tensor([-2.,  0.,  3.], shape=(3,), dtype=float32)
""",
    "rsqrt": """\
>>> gx.rsqrt([0.25, 2.0, 7.0]).numpy().round(3)
array([2.   , 0.707, 0.378], dtype=float32)
""",
    "sign": """\
>>> gx.sign([-2.5, 0.5, 3.0])
Tensor([-1.,  1.,  1.], shape=(3,), dtype=float32)
""",
    "sin": """\
>>> gx.sin([-2.5, 0.5, 3.0]).numpy().round(3)
array([-0.598,  0.479,  0.141], dtype=float32)
""",
    "sinc": """\
>>> gx.sinc([-2.5, 0.5, 3.0]).numpy().round(3)
array([ 0.127,  0.637, -0.   ], dtype=float32)
""",
    "sinh": """\
>>> gx.sinh([-2.5, 0.5, 3.0]).numpy().round(3)
array([-6.05 ,  0.521, 10.018], dtype=float32)
""",
    "spacing": """\
>>> gx.spacing([1.0, 2.0, 4.0])
Tensor([1.1920929e-07, 2.3841858e-07, 4.7683716e-07], shape=(3,), dtype=float32)
""",
    "sqrt": """\
>>> gx.sqrt([0.25, 2.0, 7.0]).numpy().round(3)
array([0.5  , 1.414, 2.646], dtype=float32)
""",
    "square": """\
>>> gx.square([-2.5, 0.5, 3.0])
Tensor([6.25, 0.25, 9.  ], shape=(3,), dtype=float32)
""",
    "stop_gradient": """\
>>> gx.stop_gradient([-2.5, 0.5, 3.0])
Tensor([-2.5,  0.5,  3. ], shape=(3,), dtype=float32)
""",
    "subtract": """\
>>> gx.subtract([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0])
Tensor([-4.  ,  0.25,  0.  ], shape=(3,), dtype=float32)
""",
    "tan": """\
>>> gx.tan([-0.9, 0.3, 0.8]).numpy().round(3)
array([-1.26 ,  0.309,  1.03 ], dtype=float32)
""",
    "tanh": """\
>>> gx.tanh([-2.5, 0.5, 3.0]).numpy().round(3)
array([-0.987,  0.462,  0.995], dtype=float32)
""",
    "trunc": """\
>>> gx.trunc([-2.5, 0.5, 3.0])
Tensor([-2.,  0.,  3.], shape=(3,), dtype=float32)
""",
}
