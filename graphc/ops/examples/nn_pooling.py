"""Examples of the rows of ``graphc.ops.nn.pooling``, which the tests run."""

__all__ = ["EXAMPLES"]

EXAMPLES = {
    "nn.avg_pool": """\
>>> gx.nn.avg_pool(gx.ones((1, 4, 4, 3)), 2).shape
(1, 2, 2, 3)
""",
    "nn.max_pool": """\
>>> gx.nn.max_pool(gx.ones((1, 4, 4, 3)), 2).shape
(1, 2, 2, 3)
""",
}
