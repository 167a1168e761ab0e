"""Examples of the rows of ``graphc.ops.nn.attention``, which the tests run."""

__all__ = ["EXAMPLES"]

EXAMPLES = {
    "nn.dot_product_attention": """\
>>> query = key = value = gx.ones((8, 16, 4, 32))
>>> gx.nn.dot_product_attention(query, key, value).shape
(8, 16, 4, 32)
""",
    "nn.embedding_lookup": """\
>>> gx.nn.embedding_lookup([[0.0, 0.1], [1.0, 1.1], [2.0, 2.1]], [2, 0])
Tensor([[2. , 2.1],
 [0. , 0.1]], shape=(2, 2), dtype=float32)
""",
}
