"""Examples of the rows of ``graphc.ops.lax.products``, which the tests run."""

__all__ = ["EXAMPLES"]

EXAMPLES = {
    "lax.batch_matmul": """\
>>> lhs = gx.arange(8.0).reshape(2, 2, 2)
>>> rhs = gx.arange(8.0).reshape(2, 2, 2)
>>> gx.lax.batch_matmul(lhs, rhs).shape
(2, 2, 2)
""",
    "lax.conv": """\
>>> gx.lax.conv(gx.ones((1, 2, 2, 2)), gx.ones((2, 2, 2, 2)), (1, 1), "SAME").shape
(1, 2, 2, 2)
""",
    "lax.conv_general_dilated": """\
>>> lhs = gx.ones((1, 2, 2, 2))
>>> rhs = gx.ones((2, 2, 2, 2))
>>> gx.lax.conv_general_dilated(lhs, rhs, (2, 1), "VALID").shape
(1, 2, 1, 1)
""",
    "lax.conv_transpose": """\
>>> lhs = gx.ones((1, 2, 2, 2))
>>> rhs = gx.ones((2, 2, 2, 2))
>>> gx.lax.conv_transpose(lhs, rhs, (2, 2), "SAME").shape
(1, 4, 4, 2)
""",
    "lax.conv_with_general_padding": """\
>>> lhs = gx.ones((1, 2, 2, 2))
>>> rhs = gx.ones((2, 2, 2, 2))
>>> gx.lax.conv_with_general_padding(lhs, rhs, (1, 1), ((1, 0), (0, 1)), (1, 2), None).shape
(1, 2, 2, 3)
""",
    "lax.dot": """\
>>> lhs = [[-5.0, -4.0], [-1.0, 0.0]]
>>> rhs = [[-5.0, -1.0], [-4.0, 0.0]]
>>> gx.lax.dot(lhs, rhs, precision="highest")
Tensor([[41.,  5.],
 [ 5.,  1.]], shape=(2, 2), dtype=float32)
""",
    "lax.dot_general": """\
>>> lhs = gx.arange(8.0).reshape(2, 2, 2)
>>> rhs = gx.arange(8.0).reshape(2, 2, 2)
>>> dimension_numbers = (((2,), (2,)), ((0,), (0,)))
>>> gx.lax.dot_general(lhs, rhs, dimension_numbers, precision=gx.lax.Precision.HIGHEST).shape
(2, 2, 2)
""",
}
