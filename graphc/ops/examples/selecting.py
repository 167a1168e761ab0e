"""Examples of the rows of ``graphc.ops.selecting``, which the tests run."""

__all__ = ["EXAMPLES"]

EXAMPLES = {
    "argwhere": """\
>>> gx.argwhere([[-5.0, -4.0], [-1.0, 0.0]])
Tensor([[0, 0],
 [0, 1],
 [1, 0]], shape=(3, 2), dtype=int32)
""",
    "flatnonzero": """\
>>> gx.flatnonzero([[-5.0, -4.0], [-1.0, 0.0]])
Tensor([0, 1, 2], shape=(3,), dtype=int32)
""",
    "intersect1d": """\
>>> gx.intersect1d([3, 0, 1], [1, 2])
Tensor([1], shape=(1,), dtype=int32)
""",
    "nonzero": """\
>>> print(*gx.nonzero([[-5.0, -4.0], [-1.0, 0.0]]))
[0 0 1] [0 1 0]
""",
    "setdiff1d": """\
>>> gx.setdiff1d([3, 0, 1], [1, 2])
Tensor([0, 3], shape=(2,), dtype=int32)
""",
    "setxor1d": """\
>>> gx.setxor1d([3, 0, 1], [1, 2])
Tensor([0, 2, 3], shape=(3,), dtype=int32)
""",
    "union1d": """\
>>> gx.union1d([3, 0, 1], [1, 2])
Tensor([0, 1, 2, 3], shape=(4,), dtype=int32)
""",
    "unique": """\
>>> gx.unique([3, 0, 1])
Tensor([0, 1, 3], shape=(3,), dtype=int32)
""",
    "unique_all": """\
>>> print(*gx.unique_all([3, 0, 1]))
[0 1 3] [1 2 0] [2 0 1] [1 1 1]
""",
    "unique_counts": """\
>>> print(*gx.unique_counts([3, 0, 1]))
[0 1 3] [1 1 1]
""",
    "unique_inverse": """\
>>> print(*gx.unique_inverse([3, 0, 1]))
[0 1 3] [2 0 1]
""",
    "unique_values": """\
>>> gx.unique_values([3, 0, 1])
Tensor([0, 1, 3], shape=(3,), dtype=int32)
""",
}
