"""Rows of ``lax``: making, converting and rearranging tensors.

Written by ``python -m graphc.ops.stubs`` from the rows.
"""

from graphc.core import ArrayLike, Tensor
from graphc.ops.annotations import DType, Ints, PaddingConfig, Shape, Tensors

__all__ = [
    "bitcast_convert_type",
    "broadcast",
    "broadcast_in_dim",
    "broadcast_to_rank",
    "broadcasted_iota",
    "collapse",
    "concatenate",
    "convert_element_type",
    "expand_dims",
    "full",
    "full_like",
    "iota",
    "pad",
    "reshape",
    "rev",
    "split",
    "squeeze",
    "tile",
    "transpose",
]

def bitcast_convert_type(operand: ArrayLike, new_dtype: DType) -> Tensor:
    """The same bits as another dtype; one of another size takes or gives a last axis.

    Args:
      operand: a tensor, or what becomes one.
      new_dtype: a dtype or the name of one; None for the natural one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.bitcast_convert_type``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.bitcast_convert_type([-2.5, 0.5, 3.0], "int32")
      Tensor([-1071644672,  1056964608,  1077936128], shape=(3,), dtype=int32)
    """

def broadcast(operand: ArrayLike, sizes: Ints) -> Tensor:
    """Repeated along new axes of these sizes, in front.

    Args:
      operand: a tensor, or what becomes one.
      sizes: ints. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.broadcast``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.broadcast([-0.9, 0.3, 0.8], (2,))
      Tensor([[-0.9,  0.3,  0.8],
       [-0.9,  0.3,  0.8]], shape=(2, 3), dtype=float32)
    """

def broadcast_in_dim(operand: ArrayLike, shape: Ints, broadcast_dimensions: Ints) -> Tensor:
    """Repeated to a shape, in which broadcast_dimensions says where each axis goes.

    Args:
      operand: a tensor, or what becomes one.
      shape: ints. Static.
      broadcast_dimensions: ints. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.broadcast_in_dim``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.broadcast_in_dim([1.0, 2.0], (2, 3), (0,))
      Tensor([[1., 1., 1.],
       [2., 2., 2.]], shape=(2, 3), dtype=float32)
    """

def broadcast_to_rank(x: ArrayLike, rank: int) -> Tensor:
    """Axes of size 1 put in front, up to so many.

    Args:
      x: a tensor, or what becomes one.
      rank: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.broadcast_to_rank``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.broadcast_to_rank([1.0, 2.0], 2)
      Tensor([[1., 2.]], shape=(1, 2), dtype=float32)
    """

def broadcasted_iota(dtype: DType, shape: Ints, dimension: int) -> Tensor:
    """The whole numbers from zero on along a dimension, the same along the others.

    Args:
      dtype: a dtype or the name of one; None for the natural one.
      shape: ints. Static.
      dimension: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.broadcasted_iota``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.broadcasted_iota("int32", (2, 3), 1)
      Tensor([[0, 1, 2],
       [0, 1, 2]], shape=(2, 3), dtype=int32)
    """

def collapse(operand: ArrayLike, start_dimension: int, stop_dimension: int | None = None) -> Tensor:
    """The axes from start_dimension to before stop_dimension made one.

    Args:
      operand: a tensor, or what becomes one.
      start_dimension: an int. Static.
      stop_dimension: an int, or None. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.collapse``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.collapse(gx.arange(8.0).reshape(2, 2, 2), 1)
      Tensor([[0., 1., 2., 3.],
       [4., 5., 6., 7.]], shape=(2, 4), dtype=float32)
    """

def concatenate(operands: Tensors, dimension: int) -> Tensor:
    """Joined along an axis that they have.

    Args:
      operands: a sequence of tensors, or a tensor for its slices along axis 0.
      dimension: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> gx.lax.concatenate([[-2.5, 0.5, 3.0], [1.5, 0.25, 3.0]], 0)
      Tensor([-2.5 ,  0.5 ,  3.  ,  1.5 ,  0.25,  3.  ], shape=(6,), dtype=float32)
    """

def convert_element_type(operand: ArrayLike, new_dtype: DType) -> Tensor:
    """The tensor converted to a dtype.

    Args:
      operand: a tensor, or what becomes one.
      new_dtype: a dtype or the name of one; None for the natural one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.convert_element_type``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.convert_element_type([12, 0, 255], "float32")
      Tensor([ 12.,   0., 255.], shape=(3,), dtype=float32)
    """

def expand_dims(array: ArrayLike, dimensions: Ints) -> Tensor:
    """Axes of size 1 added at these places.

    Args:
      array: a tensor, or what becomes one.
      dimensions: ints. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.expand_dims``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.expand_dims([1.0, 2.0], (0, -1))
      Tensor([[[1.],
        [2.]]], shape=(1, 2, 1), dtype=float32)
    """

def full(shape: Shape, fill_value: ArrayLike, dtype: DType = None) -> Tensor:
    """One number in every place of a shape.

    Args:
      shape: an int or several. Static.
      fill_value: a tensor, or what becomes one.
      dtype: a dtype or the name of one; None for the natural one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> gx.lax.full((2, 3), 2.5)
      Tensor([[2.5, 2.5, 2.5],
       [2.5, 2.5, 2.5]], shape=(2, 3), dtype=float32)
    """

def full_like(x: ArrayLike, fill_value: ArrayLike, dtype: DType = None, shape: Ints | None = None) -> Tensor:
    """One number in every place; shape and dtype are those of x unless given.

    Args:
      x: a tensor, or what becomes one.
      fill_value: a tensor, or what becomes one.
      dtype: a dtype or the name of one; None for the natural one.
      shape: ints, or None. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.full_like``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.full_like([-2.5, 0.5, 3.0], 2.0)
      Tensor([2., 2., 2.], shape=(3,), dtype=float32)
    """

def iota(dtype: DType, size: int) -> Tensor:
    """The whole numbers from zero on, so many.

    Args:
      dtype: a dtype or the name of one; None for the natural one.
      size: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.iota``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.iota("float32", 3)
      Tensor([0., 1., 2.], shape=(3,), dtype=float32)
    """

def pad(operand: ArrayLike, padding_value: ArrayLike, padding_config: PaddingConfig) -> Tensor:
    """Enlarged by padding_value before, after and between the elements; less than none cuts.

    Args:
      operand: a tensor, or what becomes one.
      padding_value: a tensor, or what becomes one.
      padding_config: for each axis how many before, after and between the elements. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.pad``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.pad([1.0, 2.0, 3.0], 9.0, ((1, -1, 1),))
      Tensor([9., 1., 9., 2., 9.], shape=(5,), dtype=float32)
    """

def reshape(operand: ArrayLike, new_sizes: Ints, dimensions: Ints | None = None) -> Tensor:
    """The same elements in another shape, read in the order of dimensions.

    Args:
      operand: a tensor, or what becomes one.
      new_sizes: ints. Static.
      dimensions: ints, or None. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.reshape``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.reshape(gx.arange(12.0).reshape(3, 4), (2, 6))
      Tensor([[ 0.,  1.,  2.,  3.,  4.,  5.],
       [ 6.,  7.,  8.,  9., 10., 11.]], shape=(2, 6), dtype=float32)
    """

def rev(operand: ArrayLike, dimensions: Ints) -> Tensor:
    """Reversed along these axes.

    Args:
      operand: a tensor, or what becomes one.
      dimensions: ints. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.rev``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.rev([[-5.0, -4.0], [-1.0, 0.0]], (1,))
      Tensor([[-4., -5.],
       [ 0., -1.]], shape=(2, 2), dtype=float32)
    """

def split(operand: ArrayLike, sizes: Ints, axis: int = 0) -> tuple[Tensor, ...]:
    """Cut along axis into parts of these sizes.

    Args:
      operand: a tensor, or what becomes one.
      sizes: ints. Static.
      axis: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.split``.

    Example:
      >>> import graphc as gx
      >>> print(*gx.lax.split([-2.5, -1.0, -0.0, 0.5, 3.0], (2, 3)))
      [-2.5 -1. ] [-0.   0.5  3. ]
    """

def squeeze(array: ArrayLike, dimensions: Ints) -> Tensor:
    """These axes of size 1 removed.

    Args:
      array: a tensor, or what becomes one.
      dimensions: ints. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.squeeze``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.squeeze(gx.arange(2.0).reshape(1, 2, 1), (0, 2))
      Tensor([0., 1.], shape=(2,), dtype=float32)
    """

def tile(operand: ArrayLike, reps: Ints) -> Tensor:
    """Repeated so many times along each axis.

    Args:
      operand: a tensor, or what becomes one.
      reps: ints. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.tile``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.tile([1.0, 2.0], (2,))
      Tensor([1., 2., 1., 2.], shape=(4,), dtype=float32)
    """

def transpose(operand: ArrayLike, permutation: Ints) -> Tensor:
    """The axes in another order.

    Args:
      operand: a tensor, or what becomes one.
      permutation: ints. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.transpose``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.transpose([[-5.0, -4.0], [-1.0, 0.0]], (1, 0))
      Tensor([[-5., -1.],
       [-4.,  0.]], shape=(2, 2), dtype=float32)
    """
