"""Examples of the rows of ``graphc.ops.lax.slicing``, which the tests run."""

__all__ = ["EXAMPLES"]

EXAMPLES = {
    "lax.dynamic_index_in_dim": """\
>>> operand = [[-5.0, -4.0], [-1.0, 0.0]]
>>> gx.lax.dynamic_index_in_dim(operand, 1, keepdims=False)
Tensor([-1.,  0.], shape=(2,), dtype=float32)
""",
    "lax.dynamic_slice": """\
>>> gx.lax.dynamic_slice([[-5.0, -4.0], [-1.0, 0.0]], [1, -2], (2, 2))
Tensor([[-5., -4.],
 [-1.,  0.]], shape=(2, 2), dtype=float32)
""",
    "lax.dynamic_slice_in_dim": """\
>>> gx.lax.dynamic_slice_in_dim([-2.5, 0.5, 3.0], 1, 2)
Tensor([0.5, 3. ], shape=(2,), dtype=float32)
""",
    "lax.dynamic_update_index_in_dim": """\
>>> gx.lax.dynamic_update_index_in_dim([-2.5, 0.5, 3.0], 9.0, 1, 0)
Tensor([-2.5,  9. ,  3. ], shape=(3,), dtype=float32)
""",
    "lax.dynamic_update_slice": """\
>>> operand = [[-5.0, -4.0], [-1.0, 0.0]]
>>> update = [[-5.0, -4.0], [-1.0, 0.0]]
>>> gx.lax.dynamic_update_slice(operand, update, [1, 1])
Tensor([[-5., -4.],
 [-1.,  0.]], shape=(2, 2), dtype=float32)
""",
    "lax.dynamic_update_slice_in_dim": """\
>>> gx.lax.dynamic_update_slice_in_dim([-2.5, 0.5, 3.0], [8.0, 9.0], 1, 0)
Tensor([-2.5,  8. ,  9. ], shape=(3,), dtype=float32)
""",
    "lax.gather": """\
>>> operand = [[-5.0, -4.0, -3.0], [-1.0, 0.0, 1.0], [3.0, 4.0, 5.0]]
>>> dimension_numbers = gx.lax.GatherDimensionNumbers((1,), (0,), (0,))
>>> gx.lax.gather(operand, [[2], [0]], dimension_numbers, (1, 3))
Tensor([[ 3.,  4.,  5.],
 [-5., -4., -3.]], shape=(2, 3), dtype=float32)
""",
    "lax.index_in_dim": """\
>>> gx.lax.index_in_dim([[-5.0, -4.0], [-1.0, 0.0]], 1, keepdims=False)
Tensor([-1.,  0.], shape=(2,), dtype=float32)
""",
    "lax.scatter": """\
>>> operand = [[-5.0, -4.0], [-1.0, 0.0]]
>>> updates = [[0.0, 0.84], [-0.76, -0.96]]
>>> dimension_numbers = gx.lax.ScatterDimensionNumbers((1,), (0,), (0,))
>>> gx.lax.scatter(operand, [[2], [0]], updates, dimension_numbers, unique_indices=True)
Tensor([[-0.76, -0.96],
 [-1.  ,  0.  ]], shape=(2, 2), dtype=float32)
""",
    "lax.scatter_add": """\
>>> operand = [[-5.0, -4.0], [-1.0, 0.0]]
>>> updates = [[0.0, 0.84], [-0.76, -0.96]]
>>> dimension_numbers = gx.lax.ScatterDimensionNumbers((1,), (0,), (0,))
>>> gx.lax.scatter_add(operand, [[2], [0]], updates, dimension_numbers, unique_indices=True)
Tensor([[-5.76, -4.96],
 [-1.  ,  0.  ]], shape=(2, 2), dtype=float32)
""",
    "lax.scatter_max": """\
>>> operand = [[-5.0, -4.0], [-1.0, 0.0]]
>>> updates = [[0.0, 0.84], [-0.76, -0.96]]
>>> dimension_numbers = gx.lax.ScatterDimensionNumbers((1,), (0,), (0,))
>>> gx.lax.scatter_max(operand, [[2], [0]], updates, dimension_numbers, unique_indices=True)
Tensor([[-0.76, -0.96],
 [-1.  ,  0.  ]], shape=(2, 2), dtype=float32)
""",
    "lax.scatter_min": """\
>>> operand = [[-5.0, -4.0], [-1.0, 0.0]]
>>> updates = [[0.0, 0.84], [-0.76, -0.96]]
>>> dimension_numbers = gx.lax.ScatterDimensionNumbers((1,), (0,), (0,))
>>> gx.lax.scatter_min(operand, [[2], [0]], updates, dimension_numbers, unique_indices=True)
Tensor([[-5., -4.],
 [-1.,  0.]], shape=(2, 2), dtype=float32)
""",
    "lax.scatter_mul": """\
>>> operand = [[-5.0, -4.0], [-1.0, 0.0]]
>>> updates = [[0.0, 0.84], [-0.76, -0.96]]
>>> dimension_numbers = gx.lax.ScatterDimensionNumbers((1,), (0,), (0,))
>>> gx.lax.scatter_mul(operand, [[2], [0]], updates, dimension_numbers, unique_indices=True)
Tensor([[ 3.8 ,  3.84],
 [-1.  ,  0.  ]], shape=(2, 2), dtype=float32)
""",
    "lax.scatter_sub": """\
>>> operand = [[-5.0, -4.0], [-1.0, 0.0]]
>>> updates = [[0.0, 0.84], [-0.76, -0.96]]
>>> dimension_numbers = gx.lax.ScatterDimensionNumbers((1,), (0,), (0,))
>>> gx.lax.scatter_sub(operand, [[2], [0]], updates, dimension_numbers, unique_indices=True)
Tensor([[-4.24, -3.04],
 [-1.  ,  0.  ]], shape=(2, 2), dtype=float32)
""",
    "lax.slice": """\
>>> gx.lax.slice(gx.arange(12.0).reshape(3, 4), (0, 1), (3, 4), (2, 1))
Tensor([[ 1.,  2.,  3.],
 [ 9., 10., 11.]], shape=(2, 3), dtype=float32)
""",
    "lax.slice_in_dim": """\
>>> gx.lax.slice_in_dim([-2.5, 0.5, 3.0], 1, None, 2)
Tensor([0.5], shape=(1,), dtype=float32)
""",
}
