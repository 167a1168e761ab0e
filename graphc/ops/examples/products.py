"""Examples of the rows of ``graphc.ops.products``, which the tests run."""

__all__ = ["EXAMPLES"]

EXAMPLES = {
    "cross": """\
>>> gx.cross([-2.5, -1.0, -0.0], [1.5, -2.0, 4.0])
Tensor([-4. , 10. ,  6.5], shape=(3,), dtype=float32)
""",
    "dot": """\
>>> gx.dot([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0])
Tensor(5.375, shape=(), dtype=float32)
""",
    "einsum": """\
>>> operands = gx.arange(8.0).reshape(2, 2, 2)
>>> gx.einsum("bij,kj->bik", operands, [[-5.0, -4.0], [-1.0, 0.0]]).shape
(2, 2, 2)
""",
    "inner": """\
>>> gx.inner([[-5.0, -4.0], [-1.0, 0.0]], [[-5.0, -4.0], [-1.0, 0.0]])
Tensor([[41.,  5.],
 [ 5.,  1.]], shape=(2, 2), dtype=float32)
""",
    "kron": """\
>>> gx.kron([[1.0, 2.0], [3.0, 4.0]], [[4.0, 1.0], [1.0, 3.0]])
Tensor([[ 4.,  1.,  8.,  2.],
 [ 1.,  3.,  2.,  6.],
 [12.,  3., 16.,  4.],
 [ 3.,  9.,  4., 12.]], shape=(4, 4), dtype=float32)
""",
    "matmul": """\
>>> gx.matmul([[-5.0, -4.0], [-1.0, 0.0]], [[-5.0, -1.0], [-4.0, 0.0]])
Tensor([[41.,  5.],
 [ 5.,  1.]], shape=(2, 2), dtype=float32)
""",
    "matvec": """\
>>> x1 = [[-5.0, -4.0, -3.0], [-1.0, 0.0, 1.0], [3.0, 4.0, 5.0]]
>>> x2 = [-2.5, -1.0, -0.0]
>>> gx.matvec(x1, x2)
Tensor([ 16.5,   2.5, -11.5], shape=(3,), dtype=float32)
""",
    "outer": """\
>>> gx.outer([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0])
Tensor([[-3.75 , -0.625, -7.5  ],
 [ 0.75 ,  0.125,  1.5  ],
 [ 4.5  ,  0.75 ,  9.   ]], shape=(3, 3), dtype=float32)
""",
    "tensordot": """\
>>> x1 = gx.arange(8.0).reshape(2, 2, 2)
>>> x2 = gx.arange(8.0).reshape(2, 2, 2)
>>> gx.tensordot(x1, x2, axes=((0, 2), (0, 2)))
Tensor([[42., 62.],
 [62., 98.]], shape=(2, 2), dtype=float32)
""",
    "vdot": """\
>>> gx.vdot([1 + 2j, 0 - 1j, 3], [1 + 2j, 0 - 1j, 3])
Tensor(15.+0.j, shape=(), dtype=complex64)
""",
    "vecdot": """\
>>> x1 = gx.arange(8.0).reshape(2, 2, 2)
>>> x2 = gx.arange(8.0).reshape(2, 2, 2)
>>> gx.vecdot(x1, x2)
Tensor([[ 1., 13.],
 [41., 85.]], shape=(2, 2), dtype=float32)
""",
    "vecmat": """\
>>> x1 = [-2.5, -1.0, -0.0]
>>> x2 = [[-5.0, -4.0, -3.0], [-1.0, 0.0, 1.0], [3.0, 4.0, 5.0]]
>>> gx.vecmat(x1, x2)
Tensor([13.5, 10. ,  6.5], shape=(3,), dtype=float32)
""",
}
