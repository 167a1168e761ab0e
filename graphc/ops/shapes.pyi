"""Rows: functions that rearrange elements, join and cut tensors, or change their dtype.

Written by ``python -m graphc.ops.stubs`` from the rows.
"""

from graphc.core import ArrayLike, Tensor
from graphc.ops.annotations import Axes, Axis, Device, DType, PadWidth, Shape, Tensors

__all__ = [
    "astype",
    "broadcast_arrays",
    "broadcast_to",
    "concat",
    "concatenate",
    "diag",
    "diagonal",
    "dynamic_slice",
    "dynamic_update_slice",
    "expand_dims",
    "flatten",
    "flip",
    "hstack",
    "matrix_transpose",
    "meshgrid",
    "moveaxis",
    "pad",
    "permute_dims",
    "ravel",
    "repeat",
    "reshape",
    "roll",
    "rot90",
    "split",
    "squeeze",
    "stack",
    "swapaxes",
    "tile",
    "transpose",
    "tril",
    "triu",
    "unstack",
    "vstack",
]

def astype(x: ArrayLike, dtype: DType, copy: bool = True, device: Device = None) -> Tensor:
    """The tensor converted to dtype; always a new one, whatever copy says.

    Args:
      x: a tensor, or what becomes one.
      dtype: a dtype or the name of one; None for the natural one.
      copy: True or False. Static.
      device: where the result is to be, such as 'gpu:0'; None for where all else is.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.
    """

def broadcast_arrays(*arrays: ArrayLike) -> tuple[Tensor, ...]:
    """Each repeated to the shape that they have together.

    Args:
      arrays: tensors, or what becomes tensors.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.broadcast_arrays``.
    """

def broadcast_to(x: ArrayLike, shape: Shape) -> Tensor:
    """Repeated to the shape, by NumPy's rules.

    Args:
      x: a tensor, or what becomes one.
      shape: an int or several. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.broadcast_to``.
    """

def concat(arrays: Tensors, axis: int | None = 0) -> Tensor:
    """Joined along an axis that they have; flattened for None.

    Args:
      arrays: a sequence of tensors, or a tensor for its slices along axis 0.
      axis: an int, or None. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.
    """

concatenate = concat

def diag(x: ArrayLike, k: int = 0) -> Tensor:
    """Diagonal k of a matrix, or the matrix with this diagonal.

    Args:
      x: a tensor, or what becomes one.
      k: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.diag``.
    """

def diagonal(x: ArrayLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """The diagonal of two axes, as the last axis.

    Args:
      x: a tensor, or what becomes one.
      offset: an int. Static.
      axis1: an int. Static.
      axis2: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.diagonal``.
    """

def dynamic_slice(x: ArrayLike, starts: ArrayLike, sizes: Shape) -> Tensor:
    """The block of these sizes at starts, one per axis; moved back into the tensor where it would reach out.

    Args:
      x: a tensor, or what becomes one.
      starts: a tensor, or what becomes one.
      sizes: an int or several. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.
    """

def dynamic_update_slice(x: ArrayLike, update: ArrayLike, starts: ArrayLike) -> Tensor:
    """A copy with update put at starts, one per axis; moved back into the tensor where it would reach out.

    Args:
      x: a tensor, or what becomes one.
      update: a tensor, or what becomes one.
      starts: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.
    """

def expand_dims(x: ArrayLike, axis: Axes) -> Tensor:
    """Axes of size 1 added at these places.

    Args:
      x: a tensor, or what becomes one.
      axis: one or several; negative ones are counted from the end. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.expand_dims``.
    """

def flip(x: ArrayLike, axis: Axis = None) -> Tensor:
    """Reversed along axis.

    Args:
      x: a tensor, or what becomes one.
      axis: one or several; negative ones are counted from the end; None for all. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.flip``.
    """

def hstack(arrays: Tensors) -> Tensor:
    """Joined along axis 1; along axis 0 when 1-d.

    Args:
      arrays: a sequence of tensors, or a tensor for its slices along axis 0.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.
    """

def matrix_transpose(x: ArrayLike) -> Tensor:
    """The last two axes exchanged.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.matrix_transpose``.
    """

def meshgrid(*arrays: ArrayLike, indexing: str = "xy") -> tuple[Tensor, ...]:
    """The coordinates of a grid, from 1-d coordinates; indexing is 'xy' or 'ij'.

    Args:
      arrays: tensors, or what becomes tensors.
      indexing: a string. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.meshgrid``.
    """

def moveaxis(x: ArrayLike, source: Axes, destination: Axes) -> Tensor:
    """Axes moved to other places.

    Args:
      x: a tensor, or what becomes one.
      source: one or several; negative ones are counted from the end. Static.
      destination: one or several; negative ones are counted from the end. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.moveaxis``.
    """

def pad(x: ArrayLike, pad_width: PadWidth, mode: str = "constant", constant_values: float = 0) -> Tensor:
    """Enlarged by so many elements before and after each axis; pad_width is an int or a pair for each axis.

    Args:
      x: a tensor, or what becomes one.
      pad_width: an int for all, or a pair (before, after) for each axis. Static.
      mode: a string. Static.
      constant_values: a number. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.
    """

def permute_dims(x: ArrayLike, axes: Axis = None) -> Tensor:
    """The axes in another order; reversed for None.

    Args:
      x: a tensor, or what becomes one.
      axes: one or several; negative ones are counted from the end; None for all. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.transpose``.
    """

transpose = permute_dims

def ravel(x: ArrayLike) -> Tensor:
    """The elements in one axis.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.ravel``.
    """

flatten = ravel

def repeat(x: ArrayLike, repeats: Shape, axis: int | None = None) -> Tensor:
    """Each element repeated along axis, so many times for all or for each.

    Args:
      x: a tensor, or what becomes one.
      repeats: an int or several. Static.
      axis: an int, or None. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.
    """

def reshape(x: ArrayLike, shape: Shape, copy: bool | None = None) -> Tensor:
    """The same elements in another shape; one size may be -1. It is a new tensor, whatever copy says.

    Args:
      x: a tensor, or what becomes one.
      shape: an int or several. Static.
      copy: True, False or None. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.
    """

def roll(x: ArrayLike, shift: Axes, axis: Axis = None) -> Tensor:
    """Shifted along axis; what leaves at the end enters at the start.

    Args:
      x: a tensor, or what becomes one.
      shift: one or several; negative ones are counted from the end. Static.
      axis: one or several; negative ones are counted from the end; None for all. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.roll``.
    """

def rot90(x: ArrayLike, k: int = 1, axes: Axes = (0, 1)) -> Tensor:
    """Turned k times by a right angle, in the plane of two axes.

    Args:
      x: a tensor, or what becomes one.
      k: an int. Static.
      axes: one or several; negative ones are counted from the end. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.rot90``.
    """

def split(x: ArrayLike, indices_or_sections: Axes, axis: int = 0) -> tuple[Tensor, ...]:
    """Cut along axis into so many equal parts, or before these positions.

    Args:
      x: a tensor, or what becomes one.
      indices_or_sections: one or several; negative ones are counted from the end. Static.
      axis: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.
    """

def squeeze(x: ArrayLike, axis: Axis = None) -> Tensor:
    """Axes of size 1 removed.

    Args:
      x: a tensor, or what becomes one.
      axis: one or several; negative ones are counted from the end; None for all. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.squeeze``.
    """

def stack(arrays: Tensors, axis: int = 0) -> Tensor:
    """Joined along a new axis.

    Args:
      arrays: a sequence of tensors, or a tensor for its slices along axis 0.
      axis: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.
    """

def swapaxes(x: ArrayLike, axis1: int, axis2: int) -> Tensor:
    """Two axes exchanged.

    Args:
      x: a tensor, or what becomes one.
      axis1: an int. Static.
      axis2: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.swapaxes``.
    """

def tile(x: ArrayLike, repetitions: Shape) -> Tensor:
    """Repeated so many times along each axis.

    Args:
      x: a tensor, or what becomes one.
      repetitions: an int or several. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.
    """

def tril(x: ArrayLike, k: int = 0) -> Tensor:
    """Zero above diagonal k.

    Args:
      x: a tensor, or what becomes one.
      k: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.tril``.
    """

def triu(x: ArrayLike, k: int = 0) -> Tensor:
    """Zero below diagonal k.

    Args:
      x: a tensor, or what becomes one.
      k: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.triu``.
    """

def unstack(x: ArrayLike, axis: int = 0) -> tuple[Tensor, ...]:
    """The slices along axis.

    Args:
      x: a tensor, or what becomes one.
      axis: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.unstack``.
    """

def vstack(arrays: Tensors) -> Tensor:
    """Joined along axis 0, as rows.

    Args:
      arrays: a sequence of tensors, or a tensor for its slices along axis 0.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.
    """
