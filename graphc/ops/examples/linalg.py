"""Examples of the rows of ``graphc.ops.linalg``, which the tests run."""

__all__ = ["EXAMPLES"]

EXAMPLES = {
    "linalg.cholesky": """\
>>> gx.linalg.cholesky([[4.0, 1.0], [1.0, 3.0]]).numpy().round(3)
array([[2.   , 0.   ],
       [0.5  , 1.658]], dtype=float32)
""",
    "linalg.cond": """\
>>> print(f"{gx.linalg.cond([[4.0, 1.0], [1.0, 3.0]]).item():.3f}")
1.939
""",
    "linalg.cross": """\
>>> gx.linalg.cross([-2.5, -1.0, -0.0], [1.5, -2.0, 4.0])
Tensor([-4. , 10. ,  6.5], shape=(3,), dtype=float32)
""",
    "linalg.det": """\
>>> gx.linalg.det([[4.0, 1.0], [1.0, 3.0]])
Tensor(11., shape=(), dtype=float32)
""",
    "linalg.diagonal": """\
>>> gx.linalg.diagonal(gx.arange(8.0).reshape(2, 2, 2), offset=1)
Tensor([[1.],
 [5.]], shape=(2, 1), dtype=float32)
""",
    "linalg.eig": """\
>>> gx.linalg.eig([[2.0, 0.0], [0.0, 1.0]]).eigenvalues
Tensor([2.+0.j, 1.+0.j], shape=(2,), dtype=complex64)
""",
    "linalg.eigh": """\
>>> gx.linalg.eigh([[2.0, 0.0], [0.0, 1.0]]).eigenvalues
Tensor([1., 2.], shape=(2,), dtype=float32)
""",
    "linalg.eigvals": """\
>>> gx.linalg.eigvals([[4.0, 1.0], [0.0, 3.0]])
Tensor([4.+0.j, 3.+0.j], shape=(2,), dtype=complex64)
""",
    "linalg.eigvalsh": """\
>>> gx.linalg.eigvalsh([[4.0, 1.0], [1.0, 3.0]]).numpy().round(3)
array([2.382, 4.618], dtype=float32)
""",
    "linalg.inv": """\
>>> gx.linalg.inv([[4.0, 1.0], [1.0, 3.0]]).numpy().round(3)
array([[ 0.273, -0.091],
       [-0.091,  0.364]], dtype=float32)
""",
    "linalg.lstsq": """\
>>> [part.shape for part in gx.linalg.lstsq([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [1.0, 2.0, 4.0])]
[(2,), (1,), (), (2,)]
""",
    "linalg.matmul": """\
>>> x1 = [[-5.0, -4.0], [-1.0, 0.0]]
>>> x2 = [[-5.0, -1.0], [-4.0, 0.0]]
>>> gx.linalg.matmul(x1, x2)
Tensor([[41.,  5.],
 [ 5.,  1.]], shape=(2, 2), dtype=float32)
""",
    "linalg.matrix_norm": """\
>>> gx.linalg.matrix_norm(gx.arange(8.0).reshape(2, 2, 2)).numpy().round(3)
array([ 3.742, 11.225], dtype=float32)
""",
    "linalg.matrix_power": """\
>>> gx.linalg.matrix_power([[4.0, 1.0], [1.0, 3.0]], 3)
Tensor([[75., 38.],
 [38., 37.]], shape=(2, 2), dtype=float32)
""",
    "linalg.matrix_rank": """\
>>> gx.linalg.matrix_rank([[-5.0, -4.0], [-1.0, 0.0]])
Tensor(2, shape=(), dtype=int32)
""",
    "linalg.matrix_transpose": """\
>>> gx.linalg.matrix_transpose(gx.arange(8.0).reshape(2, 2, 2)).shape
(2, 2, 2)
""",
    "linalg.multi_dot": """\
>>> arrays = [[[-5.0, -4.0], [-1.0, 0.0]], [[-5.0, -1.0], [-4.0, 0.0]], [[4.0, 1.0], [1.0, 3.0]]]
>>> gx.linalg.multi_dot(arrays)
Tensor([[169.,  56.],
 [ 21.,   8.]], shape=(2, 2), dtype=float32)
""",
    "linalg.norm": """\
>>> print(f"{gx.linalg.norm([-2.5, 0.5, 3.0]).item():.3f}")
3.937
""",
    "linalg.outer": """\
>>> gx.linalg.outer([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0])
Tensor([[-3.75 , -0.625, -7.5  ],
 [ 0.75 ,  0.125,  1.5  ],
 [ 4.5  ,  0.75 ,  9.   ]], shape=(3, 3), dtype=float32)
""",
    "linalg.pinv": """\
>>> gx.linalg.pinv([[1.0, 2.0], [3.0, 4.0]]).numpy().round(3)
array([[-2. ,  1. ],
       [ 1.5, -0.5]], dtype=float32)
""",
    "linalg.qr": """\
>>> result = gx.linalg.qr([[1.0, 2.0], [3.0, 4.0]])
>>> (result.Q @ result.R).numpy().round(3)
array([[1., 2.],
       [3., 4.]], dtype=float32)
""",
    "linalg.slogdet": """\
>>> print(*[part.numpy().round(3) for part in gx.linalg.slogdet([[4.0, 1.0], [1.0, 3.0]])])
1.0 2.398
""",
    "linalg.solve": """\
>>> gx.linalg.solve([[4.0, 1.0], [1.0, 3.0]], [[1.0, 2.0], [3.0, 4.0]]).numpy().round(3)
array([[0.   , 0.182],
       [1.   , 1.273]], dtype=float32)
""",
    "linalg.solve_triangular": """\
>>> x1 = [[4.0, 0.0], [1.0, 3.0]]
>>> x2 = [[1.0, 2.0], [3.0, 4.0]]
>>> gx.linalg.solve_triangular(x1, x2).numpy().round(3)
array([[0.25 , 0.5  ],
       [0.917, 1.167]], dtype=float32)
""",
    "linalg.svd": """\
>>> gx.linalg.svd([[3.0, 0.0], [0.0, 4.0]]).S
Tensor([4., 3.], shape=(2,), dtype=float32)
""",
    "linalg.svdvals": """\
>>> gx.linalg.svdvals([[4.0, 1.0], [1.0, 3.0]]).numpy().round(3)
array([4.618, 2.382], dtype=float32)
""",
    "linalg.tensordot": """\
>>> x1 = gx.arange(8.0).reshape(2, 2, 2)
>>> x2 = gx.arange(8.0).reshape(2, 2, 2)
>>> gx.linalg.tensordot(x1, x2, axes=((0, 2), (0, 2)))
Tensor([[42., 62.],
 [62., 98.]], shape=(2, 2), dtype=float32)
""",
    "linalg.tensorinv": """\
>>> gx.linalg.tensorinv(gx.arange(4.0).reshape(2, 2, 1), 1).shape
(2, 1, 2)
""",
    "linalg.tensorsolve": """\
>>> x1 = [[4.0, 1.0, 0.5], [1.0, 3.0, -1.0], [0.5, -1.0, 5.0]]
>>> gx.linalg.tensorsolve(x1, [1.0, 2.0, 3.0]).numpy().round(3)
array([-0.091,  0.964,  0.802], dtype=float32)
""",
    "linalg.trace": """\
>>> gx.linalg.trace(gx.arange(8.0).reshape(2, 2, 2))
Tensor([ 3., 11.], shape=(2,), dtype=float32)
""",
    "linalg.vecdot": """\
>>> x1 = gx.arange(8.0).reshape(2, 2, 2)
>>> x2 = gx.arange(8.0).reshape(2, 2, 2)
>>> gx.linalg.vecdot(x1, x2)
Tensor([[ 1., 13.],
 [41., 85.]], shape=(2, 2), dtype=float32)
""",
    "linalg.vector_norm": """\
>>> gx.linalg.vector_norm(gx.arange(8.0).reshape(2, 2, 2), axis=1).numpy().round(3)
array([[2.   , 3.162],
       [7.211, 8.602]], dtype=float32)
""",
}
