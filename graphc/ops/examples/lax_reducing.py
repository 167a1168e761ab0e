"""Examples of the rows of ``graphc.ops.lax.reducing``, which the tests run."""

__all__ = ["EXAMPLES"]

EXAMPLES = {
    "lax.approx_max_k": """\
>>> print(*gx.lax.approx_max_k([1.5, 0.25, 3.0], 2))
[3.  1.5] [2 0]
""",
    "lax.approx_min_k": """\
>>> print(*gx.lax.approx_min_k([1.5, 0.25, 3.0], 2))
[0.25 1.5 ] [1 0]
""",
    "lax.argmax": """\
>>> gx.lax.argmax([[-5.0, -4.0], [-1.0, 0.0]], 1, "int32")
Tensor([1, 1], shape=(2,), dtype=int32)
""",
    "lax.argmin": """\
>>> gx.lax.argmin([[-5.0, -4.0], [-1.0, 0.0]], 1, "int32")
Tensor([0, 0], shape=(2,), dtype=int32)
""",
    "lax.cumlogsumexp": """\
>>> gx.lax.cumlogsumexp([1.5, 0.25, 3.0]).numpy().round(3)
array([1.5  , 1.752, 3.252], dtype=float32)
""",
    "lax.cummax": """\
>>> gx.lax.cummax([1.5, 0.25, 3.0])
Tensor([1.5, 1.5, 3. ], shape=(3,), dtype=float32)
""",
    "lax.cummin": """\
>>> gx.lax.cummin([1.5, 0.25, 3.0])
Tensor([1.5 , 0.25, 0.25], shape=(3,), dtype=float32)
""",
    "lax.cumprod": """\
>>> gx.lax.cumprod([1.5, 0.25, 3.0])
Tensor([1.5  , 0.375, 1.125], shape=(3,), dtype=float32)
""",
    "lax.cumsum": """\
>>> gx.lax.cumsum([1.5, 0.25, 3.0])
Tensor([1.5 , 1.75, 4.75], shape=(3,), dtype=float32)
""",
    "lax.reduce_and": """\
>>> gx.lax.reduce_and([12, 0, 255], (0,))
Tensor(0, shape=(), dtype=int32)
""",
    "lax.reduce_max": """\
>>> gx.lax.reduce_max([[-5.0, -4.0], [-1.0, 0.0]], (1,))
Tensor([-4.,  0.], shape=(2,), dtype=float32)
""",
    "lax.reduce_min": """\
>>> gx.lax.reduce_min([[-5.0, -4.0], [-1.0, 0.0]], (1,))
Tensor([-5., -1.], shape=(2,), dtype=float32)
""",
    "lax.reduce_or": """\
>>> gx.lax.reduce_or([12, 0, 255], (0,))
Tensor(255, shape=(), dtype=int32)
""",
    "lax.reduce_prod": """\
>>> gx.lax.reduce_prod([[-5.0, -4.0], [-1.0, 0.0]], (1,))
Tensor([20., -0.], shape=(2,), dtype=float32)
""",
    "lax.reduce_sum": """\
>>> gx.lax.reduce_sum([[-5.0, -4.0], [-1.0, 0.0]], (1,))
Tensor([-9., -1.], shape=(2,), dtype=float32)
""",
    "lax.reduce_xor": """\
>>> gx.lax.reduce_xor([12, 0, 255], (0,))
Tensor(243, shape=(), dtype=int32)
""",
    "lax.sort_key_val": """\
>>> print(*gx.lax.sort_key_val([1.5, 0.25, 3.0], [-2.5, 0.5, 3.0]))
[0.25 1.5  3.  ] [ 0.5 -2.5  3. ]
""",
    "lax.top_k": """\
>>> print(*gx.lax.top_k([1.5, 0.25, 3.0], 2))
[3.  1.5] [2 0]
""",
}
