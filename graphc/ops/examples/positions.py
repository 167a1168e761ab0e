"""Examples of the rows of ``graphc.ops.positions``, which the tests run."""

__all__ = ["EXAMPLES"]

EXAMPLES = {
    "diag_indices": """\
>>> print(*gx.diag_indices(3))
[0 1 2] [0 1 2]
""",
    "diag_indices_from": """\
>>> print(*gx.diag_indices_from([[4.0, 1.0], [1.0, 3.0]]))
[0 1] [0 1]
""",
    "indices": """\
>>> gx.indices((2, 3)).shape
(2, 2, 3)
""",
    "ix_": """\
>>> print(*gx.ix_([0, 1], [2, 3, 1]))
[[0]
 [1]] [[2 3 1]]
""",
    "ravel_multi_index": """\
>>> gx.ravel_multi_index([[0, 1], [2, 3]], (3, 4))
Tensor([2, 7], shape=(2,), dtype=int32)
""",
    "tril_indices": """\
>>> print(*gx.tril_indices(3, -1))
[1 2 2] [0 0 1]
""",
    "tril_indices_from": """\
>>> print(*gx.tril_indices_from([[-5.0, -4.0], [-1.0, 0.0]], 1))
[0 0 1 1] [0 1 0 1]
""",
    "triu_indices": """\
>>> print(*gx.triu_indices(3, 0, 4))
[0 0 0 0 1 1 1 2 2] [0 1 2 3 1 2 3 2 3]
""",
    "triu_indices_from": """\
>>> print(*gx.triu_indices_from([[-5.0, -4.0], [-1.0, 0.0]]))
[0 0 1] [0 1 1]
""",
    "unravel_index": """\
>>> print(*gx.unravel_index([5, 7], (3, 4)))
[1 1] [1 3]
""",
}
