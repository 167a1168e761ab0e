"""Examples of the rows of ``graphc.ops.reduction``, which the tests run."""

__all__ = ["EXAMPLES"]

EXAMPLES = {
    "all": """\
>>> gx.all([True, False, True])
Tensor(False, shape=(), dtype=bool)
""",
    "any": """\
>>> gx.any([True, False, True])
Tensor(True, shape=(), dtype=bool)
""",
    "argmax": """\
>>> gx.argmax(gx.arange(8.0).reshape(2, 2, 2))
Tensor(7, shape=(), dtype=int32)
""",
    "argmin": """\
>>> gx.argmin(gx.arange(8.0).reshape(2, 2, 2), axis=-1, keepdims=True).shape
(2, 2, 1)
""",
    "average": """\
>>> gx.average([[-5.0, -4.0], [-1.0, 0.0]], axis=1)
Tensor([-4.5, -0.5], shape=(2,), dtype=float32)
""",
    "count_nonzero": """\
>>> gx.count_nonzero([[-5.0, -4.0], [-1.0, 0.0]], axis=1)
Tensor([2, 1], shape=(2,), dtype=int32)
""",
    "cumprod": """\
>>> gx.cumprod([[-5.0, -4.0], [-1.0, 0.0]], axis=0)
Tensor([[-5., -4.],
 [ 5., -0.]], shape=(2, 2), dtype=float32)
""",
    "cumsum": """\
>>> gx.cumsum([[-5.0, -4.0], [-1.0, 0.0]])
Tensor([ -5.,  -9., -10., -10.], shape=(4,), dtype=float32)
""",
    "cumulative_prod": """\
>>> gx.cumulative_prod([1.5, 0.25, 3.0])
Tensor([1.5  , 0.375, 1.125], shape=(3,), dtype=float32)
""",
    "cumulative_sum": """\
>>> gx.cumulative_sum([-2.5, 0.5, 3.0])
Tensor([-2.5, -2. ,  1. ], shape=(3,), dtype=float32)
""",
    "diff": """\
>>> gx.diff([-2.5, 0.5, 3.0])
Tensor([3. , 2.5], shape=(2,), dtype=float32)
""",
    "max": """\
>>> gx.max([[-5.0, -4.0], [-1.0, 0.0]])
Tensor(0., shape=(), dtype=float32)
""",
    "mean": """\
>>> gx.mean([[-5.0, -4.0], [-1.0, 0.0]])
Tensor(-2.5, shape=(), dtype=float32)
""",
    "median": """\
>>> gx.median([[-5.0, -4.0], [-1.0, 0.0]], axis=1)
Tensor([-4.5, -0.5], shape=(2,), dtype=float32)
""",
    "min": """\
>>> gx.min([[-5.0, -4.0], [-1.0, 0.0]])
Tensor(-5., shape=(), dtype=float32)
""",
    "percentile": """\
>>> gx.percentile([[-5.0, -4.0], [-1.0, 0.0]], 30.0)
Tensor(-4.1, shape=(), dtype=float32)
""",
    "prod": """\
>>> gx.prod([1.5, 0.25, 3.0])
Tensor(1.125, shape=(), dtype=float32)
""",
    "ptp": """\
>>> gx.ptp([[-5.0, -4.0], [-1.0, 0.0]], axis=0)
Tensor([4., 4.], shape=(2,), dtype=float32)
""",
    "quantile": """\
>>> gx.quantile([[-5.0, -4.0], [-1.0, 0.0]], [0.25, 0.5], axis=1)
Tensor([[-4.75, -0.75],
 [-4.5 , -0.5 ]], shape=(2, 2), dtype=float32)
""",
    "std": """\
>>> gx.std(gx.arange(8.0).reshape(2, 2, 2), axis=1)
Tensor([[1., 1.],
 [1., 1.]], shape=(2, 2), dtype=float32)
""",
    "sum": """\
>>> gx.sum([[-5.0, -4.0], [-1.0, 0.0]])
Tensor(-10., shape=(), dtype=float32)
""",
    "trace": """\
>>> gx.trace([[4.0, 1.0], [1.0, 3.0]])
Tensor(7., shape=(), dtype=float32)
""",
    "var": """\
>>> gx.var(gx.arange(8.0).reshape(2, 2, 2), axis=1)
Tensor([[1., 1.],
 [1., 1.]], shape=(2, 2), dtype=float32)
""",
}
