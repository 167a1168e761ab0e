"""Examples of the rows of ``graphc.ops.arranging``, which the tests run."""

__all__ = ["EXAMPLES"]

EXAMPLES = {
    "append": """\
>>> gx.append([[-5.0, -4.0], [-1.0, 0.0]], [[1.0, 2.0], [3.0, 4.0]])
Tensor([-5., -4., -1.,  0.,  1.,  2.,  3.,  4.], shape=(8,), dtype=float32)
""",
    "array_split": """\
>>> print(*gx.array_split([-2.5, 0.5, 3.0], 2))
[-2.5  0.5] [3.]
""",
    "atleast_1d": """\
>>> gx.atleast_1d(2.0)
Tensor([2.], shape=(1,), dtype=float32)
""",
    "atleast_2d": """\
>>> gx.atleast_2d([-2.5, 0.5, 3.0])
Tensor([[-2.5,  0.5,  3. ]], shape=(1, 3), dtype=float32)
""",
    "atleast_3d": """\
>>> gx.atleast_3d([[-5.0, -4.0], [-1.0, 0.0]]).shape
(2, 2, 1)
""",
    "column_stack": """\
>>> gx.column_stack([[-2.5, 0.5, 3.0], [1.5, 0.25, 3.0]])
Tensor([[-2.5 ,  1.5 ],
 [ 0.5 ,  0.25],
 [ 3.  ,  3.  ]], shape=(3, 2), dtype=float32)
""",
    "delete": """\
>>> gx.delete([-2.5, 0.5, 3.0], 1)
Tensor([-2.5,  3. ], shape=(2,), dtype=float32)
""",
    "diagflat": """\
>>> gx.diagflat([[1.0, 2.0], [3.0, 4.0]], 1).shape
(5, 5)
""",
    "dsplit": """\
>>> [part.shape for part in gx.dsplit(gx.arange(8.0).reshape(2, 2, 2), 2)]
[(2, 2, 1), (2, 2, 1)]
""",
    "dstack": """\
>>> gx.dstack([[-2.5, 0.5, 3.0], [1.5, 0.25, 3.0]])
Tensor([[[-2.5 ,  1.5 ],
  [ 0.5 ,  0.25],
  [ 3.  ,  3.  ]]], shape=(1, 3, 2), dtype=float32)
""",
    "fill_diagonal": """\
>>> gx.fill_diagonal([[4.0, 1.0], [1.0, 3.0]], 7.0)
Tensor([[7., 1.],
 [1., 7.]], shape=(2, 2), dtype=float32)
""",
    "fliplr": """\
>>> gx.fliplr([[-5.0, -4.0], [-1.0, 0.0]])
Tensor([[-4., -5.],
 [ 0., -1.]], shape=(2, 2), dtype=float32)
""",
    "flipud": """\
>>> gx.flipud([[-5.0, -4.0], [-1.0, 0.0]])
Tensor([[-1.,  0.],
 [-5., -4.]], shape=(2, 2), dtype=float32)
""",
    "hsplit": """\
>>> print(*gx.hsplit([[-5.0, -4.0], [-1.0, 0.0]], 2))
[[-5.]
 [-1.]] [[-4.]
 [ 0.]]
""",
    "insert": """\
>>> gx.insert([-2.5, 0.5, 3.0], 1, 9.0)
Tensor([-2.5,  9. ,  0.5,  3. ], shape=(4,), dtype=float32)
""",
    "resize": """\
>>> gx.resize([[1.0, 2.0], [3.0, 4.0]], (2, 5))
Tensor([[1., 2., 3., 4., 1.],
 [2., 3., 4., 1., 2.]], shape=(2, 5), dtype=float32)
""",
    "rollaxis": """\
>>> gx.rollaxis(gx.arange(8.0).reshape(2, 2, 2), 2).shape
(2, 2, 2)
""",
    "vsplit": """\
>>> x = [[-5.0, -4.0, -3.0], [-1.0, 0.0, 1.0], [3.0, 4.0, 5.0]]
>>> print(*gx.vsplit(x, (1, 2)))
[[-5. -4. -3.]] [[-1.  0.  1.]] [[3. 4. 5.]]
""",
}
