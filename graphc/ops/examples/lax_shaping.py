"""Examples of the rows of ``graphc.ops.lax.shaping``, which the tests run."""

__all__ = ["EXAMPLES"]

EXAMPLES = {
    "lax.bitcast_convert_type": """\
>>> gx.lax.bitcast_convert_type([-2.5, 0.5, 3.0], "int32")
Tensor([-1071644672,  1056964608,  1077936128], shape=(3,), dtype=int32)
""",
    "lax.broadcast": """\
>>> gx.lax.broadcast([-0.9, 0.3, 0.8], (2,))
Tensor([[-0.9,  0.3,  0.8],
 [-0.9,  0.3,  0.8]], shape=(2, 3), dtype=float32)
""",
    "lax.broadcast_in_dim": """\
>>> gx.lax.broadcast_in_dim([1.0, 2.0], (2, 3), (0,))
Tensor([[1., 1., 1.],
 [2., 2., 2.]], shape=(2, 3), dtype=float32)
""",
    "lax.broadcast_to_rank": """\
>>> gx.lax.broadcast_to_rank([1.0, 2.0], 2)
Tensor([[1., 2.]], shape=(1, 2), dtype=float32)
""",
    "lax.broadcasted_iota": """\
>>> gx.lax.broadcasted_iota("int32", (2, 3), 1)
Tensor([[0, 1, 2],
 [0, 1, 2]], shape=(2, 3), dtype=int32)
""",
    "lax.collapse": """\
>>> gx.lax.collapse(gx.arange(8.0).reshape(2, 2, 2), 1)
Tensor([[0., 1., 2., 3.],
 [4., 5., 6., 7.]], shape=(2, 4), dtype=float32)
""",
    "lax.concatenate": """\
>>> gx.lax.concatenate([[-2.5, 0.5, 3.0], [1.5, 0.25, 3.0]], 0)
Tensor([-2.5 ,  0.5 ,  3.  ,  1.5 ,  0.25,  3.  ], shape=(6,), dtype=float32)
""",
    "lax.convert_element_type": """\
>>> gx.lax.convert_element_type([12, 0, 255], "float32")
Tensor([ 12.,   0., 255.], shape=(3,), dtype=float32)
""",
    "lax.expand_dims": """\
>>> gx.lax.expand_dims([1.0, 2.0], (0, -1))
Tensor([[[1.],
  [2.]]], shape=(1, 2, 1), dtype=float32)
""",
    "lax.full": """\
>>> gx.lax.full((2, 3), 2.5)
Tensor([[2.5, 2.5, 2.5],
 [2.5, 2.5, 2.5]], shape=(2, 3), dtype=float32)
""",
    "lax.full_like": """\
>>> gx.lax.full_like([-2.5, 0.5, 3.0], 2.0)
Tensor([2., 2., 2.], shape=(3,), dtype=float32)
""",
    "lax.iota": """\
>>> gx.lax.iota("float32", 3)
Tensor([0., 1., 2.], shape=(3,), dtype=float32)
""",
    "lax.pad": """\
>>> gx.lax.pad([1.0, 2.0, 3.0], 9.0, ((1, -1, 1),))
Tensor([9., 1., 9., 2., 9.], shape=(5,), dtype=float32)
""",
    "lax.reshape": """\
>>> gx.lax.reshape(gx.arange(12.0).reshape(3, 4), (2, 6))
Tensor([[ 0.,  1.,  2.,  3.,  4.,  5.],
 [ 6.,  7.,  8.,  9., 10., 11.]], shape=(2, 6), dtype=float32)
""",
    "lax.rev": """\
>>> gx.lax.rev([[-5.0, -4.0], [-1.0, 0.0]], (1,))
Tensor([[-4., -5.],
 [ 0., -1.]], shape=(2, 2), dtype=float32)
""",
    "lax.split": """\
>>> print(*gx.lax.split([-2.5, -1.0, -0.0, 0.5, 3.0], (2, 3)))
[-2.5 -1. ] [-0.   0.5  3. ]
""",
    "lax.squeeze": """\
>>> gx.lax.squeeze(gx.arange(2.0).reshape(1, 2, 1), (0, 2))
Tensor([0., 1.], shape=(2,), dtype=float32)
""",
    "lax.tile": """\
>>> gx.lax.tile([1.0, 2.0], (2,))
Tensor([1., 2., 1., 2.], shape=(4,), dtype=float32)
""",
    "lax.transpose": """\
>>> gx.lax.transpose([[-5.0, -4.0], [-1.0, 0.0]], (1, 0))
Tensor([[-5., -1.],
 [-4.,  0.]], shape=(2, 2), dtype=float32)
""",
}
