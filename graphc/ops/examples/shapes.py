"""Examples of the rows of ``graphc.ops.shapes``, which the tests run."""

__all__ = ["EXAMPLES"]

EXAMPLES = {
    "astype": """\
>>> gx.astype([-2.5, 0.5, 3.0], "int32")
Tensor([-2,  0,  3], shape=(3,), dtype=int32)
""",
    "broadcast_arrays": """\
>>> print(*gx.broadcast_arrays([[-5.0, -4.0], [-1.0, 0.0]], [[-5.0], [-1.0]], 1.0))
[[-5. -4.]
 [-1.  0.]] [[-5. -5.]
 [-1. -1.]] [[1. 1.]
 [1. 1.]]
""",
    "broadcast_to": """\
>>> gx.broadcast_to([-2.5, -1.0, -0.0, 0.5, 3.0], (2, 5))
Tensor([[-2.5, -1. , -0. ,  0.5,  3. ],
 [-2.5, -1. , -0. ,  0.5,  3. ]], shape=(2, 5), dtype=float32)
""",
    "concat": """\
>>> gx.concat([[[-5.0, -4.0], [-1.0, 0.0]], [[-5.0, -4.0], [-1.0, 0.0]]])
Tensor([[-5., -4.],
 [-1.,  0.],
 [-5., -4.],
 [-1.,  0.]], shape=(4, 2), dtype=float32)
""",
    "diag": """\
>>> gx.diag([[4.0, 1.0], [1.0, 3.0]])
Tensor([4., 3.], shape=(2,), dtype=float32)
""",
    "diagonal": """\
>>> gx.diagonal([[4.0, 1.0], [1.0, 3.0]])
Tensor([4., 3.], shape=(2,), dtype=float32)
""",
    "dynamic_slice": """\
>>> x = [[-5.0, -4.0, -3.0], [-1.0, 0.0, 1.0], [3.0, 4.0, 5.0]]
>>> gx.dynamic_slice(x, [1, 0], (2, 3))
Tensor([[-1.,  0.,  1.],
 [ 3.,  4.,  5.]], shape=(2, 3), dtype=float32)
""",
    "dynamic_update_slice": """\
>>> x = [[-5.0, -4.0], [-1.0, 0.0]]
>>> update = [[1.0, 2.0], [3.0, 4.0]]
>>> gx.dynamic_update_slice(x, update, [0, 1])
Tensor([[1., 2.],
 [3., 4.]], shape=(2, 2), dtype=float32)
""",
    "expand_dims": """\
>>> gx.expand_dims([[-5.0, -4.0], [-1.0, 0.0]], 1).shape
(2, 1, 2)
""",
    "flip": """\
>>> gx.flip([[-5.0, -4.0], [-1.0, 0.0]])
Tensor([[ 0., -1.],
 [-4., -5.]], shape=(2, 2), dtype=float32)
""",
    "hstack": """\
>>> gx.hstack([[-2.5, 0.5, 3.0], [1.5, 0.25, 3.0]])
Tensor([-2.5 ,  0.5 ,  3.  ,  1.5 ,  0.25,  3.  ], shape=(6,), dtype=float32)
""",
    "matrix_transpose": """\
>>> gx.matrix_transpose(gx.arange(8.0).reshape(2, 2, 2)).shape
(2, 2, 2)
""",
    "meshgrid": """\
>>> print(*gx.meshgrid([-2.5, 0.5, 3.0], [0.25, 2.0, 7.0]))
[[-2.5  0.5  3. ]
 [-2.5  0.5  3. ]
 [-2.5  0.5  3. ]] [[0.25 0.25 0.25]
 [2.   2.   2.  ]
 [7.   7.   7.  ]]
""",
    "moveaxis": """\
>>> gx.moveaxis(gx.arange(8.0).reshape(2, 2, 2), 0, -1).shape
(2, 2, 2)
""",
    "pad": """\
>>> gx.pad([[-5.0, -4.0], [-1.0, 0.0]], 1)
Tensor([[ 0.,  0.,  0.,  0.],
 [ 0., -5., -4.,  0.],
 [ 0., -1.,  0.,  0.],
 [ 0.,  0.,  0.,  0.]], shape=(4, 4), dtype=float32)
""",
    "permute_dims": """\
>>> gx.permute_dims(gx.arange(8.0).reshape(2, 2, 2)).shape
(2, 2, 2)
""",
    "ravel": """\
>>> gx.ravel([[-5.0, -4.0], [-1.0, 0.0]])
Tensor([-5., -4., -1.,  0.], shape=(4,), dtype=float32)
""",
    "repeat": """\
>>> gx.repeat([[-5.0, -4.0], [-1.0, 0.0]], 2, axis=1)
Tensor([[-5., -5., -4., -4.],
 [-1., -1.,  0.,  0.]], shape=(2, 4), dtype=float32)
""",
    "reshape": """\
>>> gx.reshape([[-5.0, -4.0], [-1.0, 0.0]], (2, -1))
Tensor([[-5., -4.],
 [-1.,  0.]], shape=(2, 2), dtype=float32)
""",
    "roll": """\
>>> gx.roll([[-5.0, -4.0], [-1.0, 0.0]], 1, axis=0)
Tensor([[-1.,  0.],
 [-5., -4.]], shape=(2, 2), dtype=float32)
""",
    "rot90": """\
>>> gx.rot90([[-5.0, -4.0], [-1.0, 0.0]])
Tensor([[-4.,  0.],
 [-5., -1.]], shape=(2, 2), dtype=float32)
""",
    "split": """\
>>> print(*gx.split([[-5.0, -4.0, -3.0], [-1.0, 0.0, 1.0], [3.0, 4.0, 5.0]], 3))
[[-5. -4. -3.]] [[-1.  0.  1.]] [[3. 4. 5.]]
""",
    "squeeze": """\
>>> gx.squeeze(gx.arange(4.0).reshape(2, 1, 2))
Tensor([[0., 1.],
 [2., 3.]], shape=(2, 2), dtype=float32)
""",
    "stack": """\
>>> gx.stack([[-2.5, 0.5, 3.0], [1.5, 0.25, 3.0]])
Tensor([[-2.5 ,  0.5 ,  3.  ],
 [ 1.5 ,  0.25,  3.  ]], shape=(2, 3), dtype=float32)
""",
    "swapaxes": """\
>>> gx.swapaxes(gx.arange(8.0).reshape(2, 2, 2), 0, 2).shape
(2, 2, 2)
""",
    "tile": """\
>>> gx.tile([[-5.0, -4.0], [-1.0, 0.0]], (2, 1))
Tensor([[-5., -4.],
 [-1.,  0.],
 [-5., -4.],
 [-1.,  0.]], shape=(4, 2), dtype=float32)
""",
    "tril": """\
>>> gx.tril([[4.0, 1.0], [1.0, 3.0]])
Tensor([[4., 0.],
 [1., 3.]], shape=(2, 2), dtype=float32)
""",
    "triu": """\
>>> gx.triu([[4.0, 1.0], [1.0, 3.0]])
Tensor([[4., 1.],
 [0., 3.]], shape=(2, 2), dtype=float32)
""",
    "unstack": """\
>>> print(*gx.unstack([[-5.0, -4.0], [-1.0, 0.0]]))
[-5. -4.] [-1.  0.]
""",
    "vstack": """\
>>> gx.vstack([[-2.5, 0.5, 3.0], [1.5, 0.25, 3.0]])
Tensor([[-2.5 ,  0.5 ,  3.  ],
 [ 1.5 ,  0.25,  3.  ]], shape=(2, 3), dtype=float32)
""",
}
