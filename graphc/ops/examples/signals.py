"""Examples of the rows of ``graphc.ops.signals``, which the tests run."""

__all__ = ["EXAMPLES"]

EXAMPLES = {
    "bartlett": """\
>>> gx.bartlett(5)
Tensor([0. , 0.5, 1. , 0.5, 0. ], shape=(5,), dtype=float32)
""",
    "blackman": """\
>>> gx.blackman(5).numpy().round(3)
array([-0.  ,  0.34,  1.  ,  0.34, -0.  ], dtype=float32)
""",
    "convolve": """\
>>> gx.convolve([-2.5, 0.5, 3.0], [1.5, -2.0, 4.0])
Tensor([-3.75,  5.75, -6.5 , -4.  , 12.  ], shape=(5,), dtype=float32)
""",
    "correlate": """\
>>> gx.correlate([-2.5, 0.5, 3.0], [1.5, -2.0, 4.0])
Tensor([7.25], shape=(1,), dtype=float32)
""",
    "ediff1d": """\
>>> gx.ediff1d([-2.5, 0.5, 3.0])
Tensor([3. , 2.5], shape=(2,), dtype=float32)
""",
    "gradient": """\
>>> gx.gradient([0.25, 2.0, 7.0])
Tensor([1.75 , 3.375, 5.   ], shape=(3,), dtype=float32)
""",
    "hamming": """\
>>> gx.hamming(5).numpy().round(3)
array([0.08, 0.54, 1.  , 0.54, 0.08], dtype=float32)
""",
    "hanning": """\
>>> gx.hanning(5)
Tensor([0. , 0.5, 1. , 0.5, 0. ], shape=(5,), dtype=float32)
""",
    "kaiser": """\
>>> gx.kaiser(5, 8.6).numpy().round(3)
array([0.001, 0.34 , 1.   , 0.34 , 0.001], dtype=float32)
""",
    "trapezoid": """\
>>> gx.trapezoid([[-5.0, -4.0], [-1.0, 0.0]])
Tensor([-4.5, -0.5], shape=(2,), dtype=float32)
""",
    "unwrap": """\
>>> gx.unwrap([0.0, 13.0, 1.0]).numpy().round(3)
array([0.   , 0.434, 1.   ], dtype=float32)
""",
}
