"""Examples of the rows of ``graphc.ops.statistics``, which the tests run."""

__all__ = ["EXAMPLES"]

EXAMPLES = {
    "corrcoef": """\
>>> gx.corrcoef([[4.0, 1.0], [1.0, 3.0]]).numpy().round(3)
array([[ 1., -1.],
       [-1.,  1.]], dtype=float32)
""",
    "cov": """\
>>> gx.cov([[25.0, 16.0], [1.0, 0.0]])
Tensor([[40.5,  4.5],
 [ 4.5,  0.5]], shape=(2, 2), dtype=float32)
""",
    "nanargmax": """\
>>> gx.nanargmax([[1.0, gx.nan], [4.0, 5.0]], axis=1)
Tensor([0, 1], shape=(2,), dtype=int32)
""",
    "nanargmin": """\
>>> gx.nanargmin([[1.0, gx.nan], [4.0, 5.0]])
Tensor(0, shape=(), dtype=int32)
""",
    "nancumprod": """\
>>> gx.nancumprod([[1.0, gx.nan], [4.0, 5.0]], axis=1)
Tensor([[ 1.,  1.],
 [ 4., 20.]], shape=(2, 2), dtype=float32)
""",
    "nancumsum": """\
>>> gx.nancumsum([[1.0, gx.nan], [4.0, 5.0]])
Tensor([ 1.,  1.,  5., 10.], shape=(4,), dtype=float32)
""",
    "nanmax": """\
>>> gx.nanmax([[1.0, gx.nan], [4.0, 5.0]])
Tensor(5., shape=(), dtype=float32)
""",
    "nanmean": """\
>>> gx.nanmean([[1.0, gx.nan], [4.0, 5.0]], axis=0)
Tensor([2.5, 5. ], shape=(2,), dtype=float32)
""",
    "nanmedian": """\
>>> gx.nanmedian([[1.0, gx.nan], [4.0, 5.0]], axis=1)
Tensor([1. , 4.5], shape=(2,), dtype=float32)
""",
    "nanmin": """\
>>> gx.nanmin([[1.0, gx.nan], [4.0, 5.0]])
Tensor(1., shape=(), dtype=float32)
""",
    "nanpercentile": """\
>>> gx.nanpercentile([[1.0, gx.nan], [4.0, 5.0]], 30.0, axis=1)
Tensor([1. , 4.3], shape=(2,), dtype=float32)
""",
    "nanprod": """\
>>> gx.nanprod([[1.0, gx.nan], [4.0, 5.0]], axis=0)
Tensor([4., 5.], shape=(2,), dtype=float32)
""",
    "nanquantile": """\
>>> print(f"{gx.nanquantile([[1.0, gx.nan], [4.0, 5.0]], 0.3).item():.3f}")
2.800
""",
    "nanstd": """\
>>> gx.nanstd([[1.0, gx.nan], [4.0, 5.0]], axis=1)
Tensor([0. , 0.5], shape=(2,), dtype=float32)
""",
    "nansum": """\
>>> gx.nansum([[1.0, gx.nan], [4.0, 5.0]], axis=0)
Tensor([5., 5.], shape=(2,), dtype=float32)
""",
    "nanvar": """\
>>> print(f"{gx.nanvar([[1.0, gx.nan], [4.0, 5.0]], correction=1).item():.3f}")
4.333
""",
}
