"""Examples of the rows of ``graphc.ops.polynomials``, which the tests run."""

__all__ = ["EXAMPLES"]

EXAMPLES = {
    "poly": """\
>>> gx.poly([1.0, 2.0, 3.0])
Tensor([ 1., -6., 11., -6.], shape=(4,), dtype=float32)
""",
    "polyadd": """\
>>> gx.polyadd([1.0, -6.0, 11.0], [1.0, 2.0])
Tensor([ 1., -5., 13.], shape=(3,), dtype=float32)
""",
    "polyder": """\
>>> gx.polyder([1.0, -6.0, 11.0], 2)
Tensor([2.], shape=(1,), dtype=float32)
""",
    "polydiv": """\
>>> print(*gx.polydiv([1.0, -5.0, 6.0], [1.0, -2.0]))
[ 1. -3.] [0. 0. 0.]
""",
    "polyfit": """\
>>> gx.polyfit([-2.5, -1.0, 0.5], [1.5, -2.0, 4.0], 1).numpy().round(3)
array([0.833, 2.   ], dtype=float32)
""",
    "polyint": """\
>>> gx.polyint([1.0, -6.0, 11.0]).numpy().round(3)
array([ 0.333, -3.   , 11.   ,  0.   ], dtype=float32)
""",
    "polymul": """\
>>> gx.polymul([1.0, -6.0, 11.0], [1.0, 2.0])
Tensor([ 1., -4., -1., 22.], shape=(4,), dtype=float32)
""",
    "polysub": """\
>>> gx.polysub([1.0, -6.0, 11.0], [1.0, 2.0])
Tensor([ 1., -7.,  9.], shape=(3,), dtype=float32)
""",
    "polyval": """\
>>> gx.polyval([1.0, -6.0, 11.0], [-2.5, 0.5, 3.0])
Tensor([32.25,  8.25,  2.  ], shape=(3,), dtype=float32)
""",
    "roots": """\
>>> gx.roots([1.0, -3.0, 2.0])
Tensor([2.+0.j, 1.+0.j], shape=(2,), dtype=complex64)
""",
    "vander": """\
>>> gx.vander([-2.5, 0.5, 3.0])
Tensor([[ 6.25, -2.5 ,  1.  ],
 [ 0.25,  0.5 ,  1.  ],
 [ 9.  ,  3.  ,  1.  ]], shape=(3, 3), dtype=float32)
""",
}
