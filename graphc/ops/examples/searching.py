"""Examples of the rows of ``graphc.ops.searching``, which the tests run."""

__all__ = ["EXAMPLES"]

EXAMPLES = {
    "argpartition": """\
>>> gx.argpartition([3.0, 1.0, 2.0], 1)
Tensor([1, 2, 0], shape=(3,), dtype=int32)
""",
    "argsort": """\
>>> gx.argsort(gx.arange(8.0).reshape(2, 2, 2), axis=0).shape
(2, 2, 2)
""",
    "bincount": """\
>>> gx.bincount([1, 2, 1], length=4)
Tensor([0, 2, 1, 0], shape=(4,), dtype=int32)
""",
    "choose": """\
>>> gx.choose([0, 1, 5], [[-2.5, 0.5, 3.0], [1.5, 0.25, 3.0]], mode="clip")
Tensor([-2.5 ,  0.25,  3.  ], shape=(3,), dtype=float32)
""",
    "digitize": """\
>>> gx.digitize([-2.5, 0.5, 3.0], [0.25, 2.0, 7.0])
Tensor([0, 1, 2], shape=(3,), dtype=int32)
""",
    "interp": """\
>>> gx.interp([-2.5, 0.5, 3.0], [0.25, 2.0, 7.0], [1.5, 0.25, 3.0]).numpy().round(3)
array([1.5  , 1.321, 0.8  ], dtype=float32)
""",
    "isin": """\
>>> gx.isin([-7, 5, 12], [0, 5])
Tensor([False,  True, False], shape=(3,), dtype=bool)
""",
    "lexsort": """\
>>> gx.lexsort([[-2.5, 0.5, 3.0], [1, 0, 0]])
Tensor([1, 2, 0], shape=(3,), dtype=int32)
""",
    "partition": """\
>>> gx.partition([3.0, 1.0, 2.0], 1)
Tensor([1., 2., 3.], shape=(3,), dtype=float32)
""",
    "put_along_axis": """\
>>> gx.put_along_axis([[-5.0, -4.0], [-1.0, 0.0]], [[0], [3]], 9.0, 1)
Tensor([[ 9., -4.],
 [-1.,  0.]], shape=(2, 2), dtype=float32)
""",
    "searchsorted": """\
>>> gx.searchsorted([0.25, 2.0, 7.0], [1.5, 0.25, 3.0])
Tensor([1, 0, 2], shape=(3,), dtype=int32)
""",
    "sort": """\
>>> gx.sort(gx.arange(8.0).reshape(2, 2, 2)).shape
(2, 2, 2)
""",
    "sort_complex": """\
>>> gx.sort_complex([1 + 2j, 0 - 1j, 3])
Tensor([0.-1.j, 1.+2.j, 3.+0.j], shape=(3,), dtype=complex64)
""",
    "take": """\
>>> x = [[-5.0, -4.0, -3.0], [-1.0, 0.0, 1.0], [3.0, 4.0, 5.0]]
>>> gx.take(x, [2, 0], axis=0)
Tensor([[ 3.,  4.,  5.],
 [-5., -4., -3.]], shape=(2, 3), dtype=float32)
""",
    "take_along_axis": """\
>>> x = [[3.0, 1.0, 2.0], [4.0, 6.0, 5.0]]
>>> gx.take_along_axis(x, gx.argsort(x), axis=1)
Tensor([[1., 2., 3.],
 [4., 5., 6.]], shape=(2, 3), dtype=float32)
""",
    "top_k": """\
>>> [part.shape for part in gx.top_k(gx.arange(8.0).reshape(2, 2, 2), 2)]
[(2, 2, 2), (2, 2, 2)]
""",
    "where": """\
>>> gx.where([True, False, True], [-2.5, 0.5, 3.0], [1.5, 0.25, 3.0])
Tensor([-2.5 ,  0.25,  3.  ], shape=(3,), dtype=float32)
""",
}
