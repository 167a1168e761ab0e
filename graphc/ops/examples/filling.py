"""Examples of the rows of ``graphc.ops.filling``, which the tests run."""

__all__ = ["EXAMPLES"]

EXAMPLES = {
    "arange": """\
>>> gx.arange(5)
Tensor([0, 1, 2, 3, 4], shape=(5,), dtype=int32)
""",
    "eye": """\
>>> gx.eye(3)
Tensor([[1., 0., 0.],
 [0., 1., 0.],
 [0., 0., 1.]], shape=(3, 3), dtype=float32)
""",
    "full": """\
>>> gx.full((2, 2), 7.5)
Tensor([[7.5, 7.5],
 [7.5, 7.5]], shape=(2, 2), dtype=float32)
""",
    "full_like": """\
>>> gx.full_like([[-5.0, -4.0], [-1.0, 0.0]], 3.0)
Tensor([[3., 3.],
 [3., 3.]], shape=(2, 2), dtype=float32)
""",
    "geomspace": """\
>>> gx.geomspace(1.0, 16.0, 5).numpy().round(3)
array([ 1.,  2.,  4.,  8., 16.], dtype=float32)
""",
    "linspace": """\
>>> gx.linspace(0.0, 1.0, 5)
Tensor([0.  , 0.25, 0.5 , 0.75, 1.  ], shape=(5,), dtype=float32)
""",
    "logspace": """\
>>> gx.logspace(0.0, 2.0, 3)
Tensor([  1.,  10., 100.], shape=(3,), dtype=float32)
""",
    "ones": """\
>>> gx.ones((2, 3))
Tensor([[1., 1., 1.],
 [1., 1., 1.]], shape=(2, 3), dtype=float32)
""",
    "ones_like": """\
>>> gx.ones_like([-7, 5, 12])
Tensor([1, 1, 1], shape=(3,), dtype=int32)
""",
    "tri": """\
>>> gx.tri(3)
Tensor([[1., 0., 0.],
 [1., 1., 0.],
 [1., 1., 1.]], shape=(3, 3), dtype=float32)
""",
    "zeros": """\
>>> gx.zeros((2, 3))
Tensor([[0., 0., 0.],
 [0., 0., 0.]], shape=(2, 3), dtype=float32)
""",
    "zeros_like": """\
>>> gx.zeros_like([-7, 5, 12])
Tensor([0, 0, 0], shape=(3,), dtype=int32)
""",
}
