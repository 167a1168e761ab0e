"""Rows of ``lax``: parts of tensors, at places that are known or tensors, and what is put there.

Written by ``python -m graphc.ops.stubs`` from the rows.
"""

from graphc.core import ArrayLike, Tensor
from graphc.ops.annotations import DimensionNumbers, Flags, Ints, ScatterMode, Tensors

__all__ = [
    "dynamic_index_in_dim",
    "dynamic_slice",
    "dynamic_slice_in_dim",
    "dynamic_update_index_in_dim",
    "dynamic_update_slice",
    "dynamic_update_slice_in_dim",
    "gather",
    "index_in_dim",
    "scatter",
    "scatter_add",
    "scatter_max",
    "scatter_min",
    "scatter_mul",
    "scatter_sub",
    "slice",
    "slice_in_dim",
]

def dynamic_index_in_dim(
    operand: ArrayLike, index: ArrayLike, axis: int = 0, keepdims: bool = True, allow_negative_indices: bool = True
) -> Tensor:
    """The slice at an index along axis, which is a tensor; the nearest one that is there.

    Args:
      operand: a tensor, or what becomes one.
      index: a tensor, or what becomes one.
      axis: an int. Static.
      keepdims: True or False. Static.
      allow_negative_indices: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.dynamic_index_in_dim``.

    Example:
      >>> import graphc as gx
      >>> operand = [[-5.0, -4.0], [-1.0, 0.0]]
      >>> gx.lax.dynamic_index_in_dim(operand, 1, keepdims=False)
      Tensor([-1.,  0.], shape=(2,), dtype=float32)
    """

def dynamic_slice(
    operand: ArrayLike, start_indices: Tensors, slice_sizes: Ints, allow_negative_indices: Flags = True
) -> Tensor:
    """The block of these sizes at start_indices, one per axis; moved back into the tensor where it would reach out.

    Args:
      operand: a tensor, or what becomes one.
      start_indices: a sequence of tensors, or a tensor for its slices along axis 0.
      slice_sizes: ints. Static.
      allow_negative_indices: True or False, for all or for each. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> gx.lax.dynamic_slice([[-5.0, -4.0], [-1.0, 0.0]], [1, -2], (2, 2))
      Tensor([[-5., -4.],
       [-1.,  0.]], shape=(2, 2), dtype=float32)
    """

def dynamic_slice_in_dim(
    operand: ArrayLike, start_index: ArrayLike, slice_size: int, axis: int = 0, allow_negative_indices: bool = True
) -> Tensor:
    """So many slices along axis, from start_index on; moved back into the tensor where it would reach out.

    Args:
      operand: a tensor, or what becomes one.
      start_index: a tensor, or what becomes one.
      slice_size: an int. Static.
      axis: an int. Static.
      allow_negative_indices: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.dynamic_slice_in_dim``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.dynamic_slice_in_dim([-2.5, 0.5, 3.0], 1, 2)
      Tensor([0.5, 3. ], shape=(2,), dtype=float32)
    """

def dynamic_update_index_in_dim(
    operand: ArrayLike, update: ArrayLike, index: ArrayLike, axis: int, allow_negative_indices: bool = True
) -> Tensor:
    """A copy with update as the slice at an index along axis.

    Args:
      operand: a tensor, or what becomes one.
      update: a tensor, or what becomes one.
      index: a tensor, or what becomes one.
      axis: an int. Static.
      allow_negative_indices: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.dynamic_update_index_in_dim``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.dynamic_update_index_in_dim([-2.5, 0.5, 3.0], 9.0, 1, 0)
      Tensor([-2.5,  9. ,  3. ], shape=(3,), dtype=float32)
    """

def dynamic_update_slice(
    operand: ArrayLike, update: ArrayLike, start_indices: Tensors, allow_negative_indices: Flags = True
) -> Tensor:
    """A copy with update put at start_indices, one per axis; moved back into the tensor where it would reach out.

    Args:
      operand: a tensor, or what becomes one.
      update: a tensor, or what becomes one.
      start_indices: a sequence of tensors, or a tensor for its slices along axis 0.
      allow_negative_indices: True or False, for all or for each. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> operand = [[-5.0, -4.0], [-1.0, 0.0]]
      >>> update = [[-5.0, -4.0], [-1.0, 0.0]]
      >>> gx.lax.dynamic_update_slice(operand, update, [1, 1])
      Tensor([[-5., -4.],
       [-1.,  0.]], shape=(2, 2), dtype=float32)
    """

def dynamic_update_slice_in_dim(
    operand: ArrayLike, update: ArrayLike, start_index: ArrayLike, axis: int, allow_negative_indices: bool = True
) -> Tensor:
    """A copy with update put at start_index along axis; moved back into the tensor where it would reach out.

    Args:
      operand: a tensor, or what becomes one.
      update: a tensor, or what becomes one.
      start_index: a tensor, or what becomes one.
      axis: an int. Static.
      allow_negative_indices: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.dynamic_update_slice_in_dim``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.dynamic_update_slice_in_dim([-2.5, 0.5, 3.0], [8.0, 9.0], 1, 0)
      Tensor([-2.5,  8. ,  9. ], shape=(3,), dtype=float32)
    """

def gather(
    operand: ArrayLike,
    start_indices: ArrayLike,
    dimension_numbers: DimensionNumbers,
    slice_sizes: Ints,
    unique_indices: bool = False,
    indices_are_sorted: bool = False,
    mode: ScatterMode = None,
    fill_value: float | None = None,
) -> Tensor:
    """Blocks of slice_sizes at each of start_indices.

    Args:
      operand: a tensor, or what becomes one.
      start_indices: a tensor, or what becomes one.
      dimension_numbers: which axes are what, in the form that jax.lax has for it. Static.
      slice_sizes: ints. Static.
      unique_indices: True or False. Static.
      indices_are_sorted: True or False. Static.
      mode: 'clip', 'fill', 'drop', 'promise_in_bounds', or a GatherScatterMode of jax.lax. Static.
      fill_value: a number, or None. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> operand = [[-5.0, -4.0, -3.0], [-1.0, 0.0, 1.0], [3.0, 4.0, 5.0]]
      >>> dimension_numbers = gx.lax.GatherDimensionNumbers((1,), (0,), (0,))
      >>> gx.lax.gather(operand, [[2], [0]], dimension_numbers, (1, 3))
      Tensor([[ 3.,  4.,  5.],
       [-5., -4., -3.]], shape=(2, 3), dtype=float32)
    """

def index_in_dim(operand: ArrayLike, index: int, axis: int = 0, keepdims: bool = True) -> Tensor:
    """The slice at an index along axis.

    Args:
      operand: a tensor, or what becomes one.
      index: an int. Static.
      axis: an int. Static.
      keepdims: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.index_in_dim``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.index_in_dim([[-5.0, -4.0], [-1.0, 0.0]], 1, keepdims=False)
      Tensor([-1.,  0.], shape=(2,), dtype=float32)
    """

def scatter(
    operand: ArrayLike,
    scatter_indices: ArrayLike,
    updates: ArrayLike,
    dimension_numbers: DimensionNumbers,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: ScatterMode = None,
) -> Tensor:
    """The updates put at the indices; which of several for one place is not said.

    Args:
      operand: a tensor, or what becomes one.
      scatter_indices: a tensor, or what becomes one.
      updates: a tensor, or what becomes one.
      dimension_numbers: which axes are what, in the form that jax.lax has for it. Static.
      indices_are_sorted: True or False. Static.
      unique_indices: True or False. Static.
      mode: 'clip', 'fill', 'drop', 'promise_in_bounds', or a GatherScatterMode of jax.lax. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> operand = [[-5.0, -4.0], [-1.0, 0.0]]
      >>> updates = [[0.0, 0.84], [-0.76, -0.96]]
      >>> dimension_numbers = gx.lax.ScatterDimensionNumbers((1,), (0,), (0,))
      >>> gx.lax.scatter(operand, [[2], [0]], updates, dimension_numbers, unique_indices=True)
      Tensor([[-0.76, -0.96],
       [-1.  ,  0.  ]], shape=(2, 2), dtype=float32)
    """

def scatter_add(
    operand: ArrayLike,
    scatter_indices: ArrayLike,
    updates: ArrayLike,
    dimension_numbers: DimensionNumbers,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: ScatterMode = None,
) -> Tensor:
    """The updates added at the indices.

    Args:
      operand: a tensor, or what becomes one.
      scatter_indices: a tensor, or what becomes one.
      updates: a tensor, or what becomes one.
      dimension_numbers: which axes are what, in the form that jax.lax has for it. Static.
      indices_are_sorted: True or False. Static.
      unique_indices: True or False. Static.
      mode: 'clip', 'fill', 'drop', 'promise_in_bounds', or a GatherScatterMode of jax.lax. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> operand = [[-5.0, -4.0], [-1.0, 0.0]]
      >>> updates = [[0.0, 0.84], [-0.76, -0.96]]
      >>> dimension_numbers = gx.lax.ScatterDimensionNumbers((1,), (0,), (0,))
      >>> gx.lax.scatter_add(operand, [[2], [0]], updates, dimension_numbers, unique_indices=True)
      Tensor([[-5.76, -4.96],
       [-1.  ,  0.  ]], shape=(2, 2), dtype=float32)
    """

def scatter_max(
    operand: ArrayLike,
    scatter_indices: ArrayLike,
    updates: ArrayLike,
    dimension_numbers: DimensionNumbers,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: ScatterMode = None,
) -> Tensor:
    """The larger of the number at an index and the updates.

    Args:
      operand: a tensor, or what becomes one.
      scatter_indices: a tensor, or what becomes one.
      updates: a tensor, or what becomes one.
      dimension_numbers: which axes are what, in the form that jax.lax has for it. Static.
      indices_are_sorted: True or False. Static.
      unique_indices: True or False. Static.
      mode: 'clip', 'fill', 'drop', 'promise_in_bounds', or a GatherScatterMode of jax.lax. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> operand = [[-5.0, -4.0], [-1.0, 0.0]]
      >>> updates = [[0.0, 0.84], [-0.76, -0.96]]
      >>> dimension_numbers = gx.lax.ScatterDimensionNumbers((1,), (0,), (0,))
      >>> gx.lax.scatter_max(operand, [[2], [0]], updates, dimension_numbers, unique_indices=True)
      Tensor([[-0.76, -0.96],
       [-1.  ,  0.  ]], shape=(2, 2), dtype=float32)
    """

def scatter_min(
    operand: ArrayLike,
    scatter_indices: ArrayLike,
    updates: ArrayLike,
    dimension_numbers: DimensionNumbers,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: ScatterMode = None,
) -> Tensor:
    """The smaller of the number at an index and the updates.

    Args:
      operand: a tensor, or what becomes one.
      scatter_indices: a tensor, or what becomes one.
      updates: a tensor, or what becomes one.
      dimension_numbers: which axes are what, in the form that jax.lax has for it. Static.
      indices_are_sorted: True or False. Static.
      unique_indices: True or False. Static.
      mode: 'clip', 'fill', 'drop', 'promise_in_bounds', or a GatherScatterMode of jax.lax. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> operand = [[-5.0, -4.0], [-1.0, 0.0]]
      >>> updates = [[0.0, 0.84], [-0.76, -0.96]]
      >>> dimension_numbers = gx.lax.ScatterDimensionNumbers((1,), (0,), (0,))
      >>> gx.lax.scatter_min(operand, [[2], [0]], updates, dimension_numbers, unique_indices=True)
      Tensor([[-5., -4.],
       [-1.,  0.]], shape=(2, 2), dtype=float32)
    """

def scatter_mul(
    operand: ArrayLike,
    scatter_indices: ArrayLike,
    updates: ArrayLike,
    dimension_numbers: DimensionNumbers,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: ScatterMode = None,
) -> Tensor:
    """The numbers at the indices multiplied by the updates.

    Args:
      operand: a tensor, or what becomes one.
      scatter_indices: a tensor, or what becomes one.
      updates: a tensor, or what becomes one.
      dimension_numbers: which axes are what, in the form that jax.lax has for it. Static.
      indices_are_sorted: True or False. Static.
      unique_indices: True or False. Static.
      mode: 'clip', 'fill', 'drop', 'promise_in_bounds', or a GatherScatterMode of jax.lax. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> operand = [[-5.0, -4.0], [-1.0, 0.0]]
      >>> updates = [[0.0, 0.84], [-0.76, -0.96]]
      >>> dimension_numbers = gx.lax.ScatterDimensionNumbers((1,), (0,), (0,))
      >>> gx.lax.scatter_mul(operand, [[2], [0]], updates, dimension_numbers, unique_indices=True)
      Tensor([[ 3.8 ,  3.84],
       [-1.  ,  0.  ]], shape=(2, 2), dtype=float32)
    """

def scatter_sub(
    operand: ArrayLike,
    scatter_indices: ArrayLike,
    updates: ArrayLike,
    dimension_numbers: DimensionNumbers,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: ScatterMode = None,
) -> Tensor:
    """The updates subtracted at the indices.

    Args:
      operand: a tensor, or what becomes one.
      scatter_indices: a tensor, or what becomes one.
      updates: a tensor, or what becomes one.
      dimension_numbers: which axes are what, in the form that jax.lax has for it. Static.
      indices_are_sorted: True or False. Static.
      unique_indices: True or False. Static.
      mode: 'clip', 'fill', 'drop', 'promise_in_bounds', or a GatherScatterMode of jax.lax. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> operand = [[-5.0, -4.0], [-1.0, 0.0]]
      >>> updates = [[0.0, 0.84], [-0.76, -0.96]]
      >>> dimension_numbers = gx.lax.ScatterDimensionNumbers((1,), (0,), (0,))
      >>> gx.lax.scatter_sub(operand, [[2], [0]], updates, dimension_numbers, unique_indices=True)
      Tensor([[-4.24, -3.04],
       [-1.  ,  0.  ]], shape=(2, 2), dtype=float32)
    """

def slice(operand: ArrayLike, start_indices: Ints, limit_indices: Ints, strides: Ints | None = None) -> Tensor:
    """The block from start_indices to before limit_indices, one of each per axis.

    Args:
      operand: a tensor, or what becomes one.
      start_indices: ints. Static.
      limit_indices: ints. Static.
      strides: ints, or None. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.slice``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.slice(gx.arange(12.0).reshape(3, 4), (0, 1), (3, 4), (2, 1))
      Tensor([[ 1.,  2.,  3.],
       [ 9., 10., 11.]], shape=(2, 3), dtype=float32)
    """

def slice_in_dim(
    operand: ArrayLike, start_index: int | None, limit_index: int | None, stride: int = 1, axis: int = 0
) -> Tensor:
    """What start_index:limit_index:stride is along axis.

    Args:
      operand: a tensor, or what becomes one.
      start_index: an int, or None. Static.
      limit_index: an int, or None. Static.
      stride: an int. Static.
      axis: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.slice_in_dim``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.slice_in_dim([-2.5, 0.5, 3.0], 1, None, 2)
      Tensor([0.5], shape=(1,), dtype=float32)
    """
