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

    Example:
      >>> import graphc as gx
      >>> gx.astype([-2.5, 0.5, 3.0], "int32")
      Tensor([-2,  0,  3], shape=(3,), dtype=int32)
    """

def broadcast_arrays(*arrays: ArrayLike) -> tuple[Tensor, ...]:
    """Each repeated to the shape that they have together.

    Args:
      arrays: tensors, or what becomes tensors.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.broadcast_arrays``.

    Example:
      >>> import graphc as gx
      >>> print(*gx.broadcast_arrays([[-5.0, -4.0], [-1.0, 0.0]], [[-5.0], [-1.0]], 1.0))
      [[-5. -4.]
       [-1.  0.]] [[-5. -5.]
       [-1. -1.]] [[1. 1.]
       [1. 1.]]
    """

def broadcast_to(x: ArrayLike, shape: Shape) -> Tensor:
    """Repeated to the shape, by NumPy's rules.

    Args:
      x: a tensor, or what becomes one.
      shape: an int or several. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.broadcast_to``.

    Example:
      >>> import graphc as gx
      >>> gx.broadcast_to([-2.5, -1.0, -0.0, 0.5, 3.0], (2, 5))
      Tensor([[-2.5, -1. , -0. ,  0.5,  3. ],
       [-2.5, -1. , -0. ,  0.5,  3. ]], shape=(2, 5), dtype=float32)
    """

def concat(arrays: Tensors, axis: int | None = 0) -> Tensor:
    """Joined along an axis that they have; flattened for None.

    Args:
      arrays: a sequence of tensors, or a tensor for its slices along axis 0.
      axis: an int, or None. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> gx.concat([[[-5.0, -4.0], [-1.0, 0.0]], [[-5.0, -4.0], [-1.0, 0.0]]])
      Tensor([[-5., -4.],
       [-1.,  0.],
       [-5., -4.],
       [-1.,  0.]], shape=(4, 2), dtype=float32)
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

    Example:
      >>> import graphc as gx
      >>> gx.diag([[4.0, 1.0], [1.0, 3.0]])
      Tensor([4., 3.], shape=(2,), dtype=float32)
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

    Example:
      >>> import graphc as gx
      >>> gx.diagonal([[4.0, 1.0], [1.0, 3.0]])
      Tensor([4., 3.], shape=(2,), dtype=float32)
    """

def dynamic_slice(x: ArrayLike, starts: ArrayLike, sizes: Shape) -> Tensor:
    """The block of these sizes at starts, one per axis; moved back into the tensor where it would reach out.

    Args:
      x: a tensor, or what becomes one.
      starts: a tensor, or what becomes one.
      sizes: an int or several. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> x = [[-5.0, -4.0, -3.0], [-1.0, 0.0, 1.0], [3.0, 4.0, 5.0]]
      >>> gx.dynamic_slice(x, [1, 0], (2, 3))
      Tensor([[-1.,  0.,  1.],
       [ 3.,  4.,  5.]], shape=(2, 3), dtype=float32)
    """

def dynamic_update_slice(x: ArrayLike, update: ArrayLike, starts: ArrayLike) -> Tensor:
    """A copy with update put at starts, one per axis; moved back into the tensor where it would reach out.

    Args:
      x: a tensor, or what becomes one.
      update: a tensor, or what becomes one.
      starts: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> x = [[-5.0, -4.0], [-1.0, 0.0]]
      >>> update = [[1.0, 2.0], [3.0, 4.0]]
      >>> gx.dynamic_update_slice(x, update, [0, 1])
      Tensor([[1., 2.],
       [3., 4.]], shape=(2, 2), dtype=float32)
    """

def expand_dims(x: ArrayLike, axis: Axes) -> Tensor:
    """Axes of size 1 added at these places.

    Args:
      x: a tensor, or what becomes one.
      axis: one or several; negative ones are counted from the end. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.expand_dims``.

    Example:
      >>> import graphc as gx
      >>> gx.expand_dims([[-5.0, -4.0], [-1.0, 0.0]], 1).shape
      (2, 1, 2)
    """

def flip(x: ArrayLike, axis: Axis = None) -> Tensor:
    """Reversed along axis.

    Args:
      x: a tensor, or what becomes one.
      axis: one or several; negative ones are counted from the end; None for all. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.flip``.

    Example:
      >>> import graphc as gx
      >>> gx.flip([[-5.0, -4.0], [-1.0, 0.0]])
      Tensor([[ 0., -1.],
       [-4., -5.]], shape=(2, 2), dtype=float32)
    """

def hstack(arrays: Tensors) -> Tensor:
    """Joined along axis 1; along axis 0 when 1-d.

    Args:
      arrays: a sequence of tensors, or a tensor for its slices along axis 0.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> gx.hstack([[-2.5, 0.5, 3.0], [1.5, 0.25, 3.0]])
      Tensor([-2.5 ,  0.5 ,  3.  ,  1.5 ,  0.25,  3.  ], shape=(6,), dtype=float32)
    """

def matrix_transpose(x: ArrayLike) -> Tensor:
    """The last two axes exchanged.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.matrix_transpose``.

    Example:
      >>> import graphc as gx
      >>> gx.matrix_transpose(gx.arange(8.0).reshape(2, 2, 2)).shape
      (2, 2, 2)
    """

def meshgrid(*arrays: ArrayLike, indexing: str = "xy") -> tuple[Tensor, ...]:
    """The coordinates of a grid, from 1-d coordinates; indexing is 'xy' or 'ij'.

    Args:
      arrays: tensors, or what becomes tensors.
      indexing: a string. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.meshgrid``.

    Example:
      >>> import graphc as gx
      >>> print(*gx.meshgrid([-2.5, 0.5, 3.0], [0.25, 2.0, 7.0]))
      [[-2.5  0.5  3. ]
       [-2.5  0.5  3. ]
       [-2.5  0.5  3. ]] [[0.25 0.25 0.25]
       [2.   2.   2.  ]
       [7.   7.   7.  ]]
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

    Example:
      >>> import graphc as gx
      >>> gx.moveaxis(gx.arange(8.0).reshape(2, 2, 2), 0, -1).shape
      (2, 2, 2)
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

    Example:
      >>> import graphc as gx
      >>> gx.pad([[-5.0, -4.0], [-1.0, 0.0]], 1)
      Tensor([[ 0.,  0.,  0.,  0.],
       [ 0., -5., -4.,  0.],
       [ 0., -1.,  0.,  0.],
       [ 0.,  0.,  0.,  0.]], shape=(4, 4), dtype=float32)
    """

def permute_dims(x: ArrayLike, axes: Axis = None) -> Tensor:
    """The axes in another order; reversed for None.

    Args:
      x: a tensor, or what becomes one.
      axes: one or several; negative ones are counted from the end; None for all. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.transpose``.

    Example:
      >>> import graphc as gx
      >>> gx.permute_dims(gx.arange(8.0).reshape(2, 2, 2)).shape
      (2, 2, 2)
    """

transpose = permute_dims

def ravel(x: ArrayLike) -> Tensor:
    """The elements in one axis.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.ravel``.

    Example:
      >>> import graphc as gx
      >>> gx.ravel([[-5.0, -4.0], [-1.0, 0.0]])
      Tensor([-5., -4., -1.,  0.], shape=(4,), dtype=float32)
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

    Example:
      >>> import graphc as gx
      >>> gx.repeat([[-5.0, -4.0], [-1.0, 0.0]], 2, axis=1)
      Tensor([[-5., -5., -4., -4.],
       [-1., -1.,  0.,  0.]], shape=(2, 4), dtype=float32)
    """

def reshape(x: ArrayLike, shape: Shape, copy: bool | None = None) -> Tensor:
    """The same elements in another shape; one size may be -1. It is a new tensor, whatever copy says.

    Args:
      x: a tensor, or what becomes one.
      shape: an int or several. Static.
      copy: True, False or None. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> gx.reshape([[-5.0, -4.0], [-1.0, 0.0]], (2, -1))
      Tensor([[-5., -4.],
       [-1.,  0.]], shape=(2, 2), dtype=float32)
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

    Example:
      >>> import graphc as gx
      >>> gx.roll([[-5.0, -4.0], [-1.0, 0.0]], 1, axis=0)
      Tensor([[-1.,  0.],
       [-5., -4.]], shape=(2, 2), dtype=float32)
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

    Example:
      >>> import graphc as gx
      >>> gx.rot90([[-5.0, -4.0], [-1.0, 0.0]])
      Tensor([[-4.,  0.],
       [-5., -1.]], shape=(2, 2), dtype=float32)
    """

def split(x: ArrayLike, indices_or_sections: Axes, axis: int = 0) -> tuple[Tensor, ...]:
    """Cut along axis into so many equal parts, or before these positions.

    Args:
      x: a tensor, or what becomes one.
      indices_or_sections: one or several; negative ones are counted from the end. Static.
      axis: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> print(*gx.split([[-5.0, -4.0, -3.0], [-1.0, 0.0, 1.0], [3.0, 4.0, 5.0]], 3))
      [[-5. -4. -3.]] [[-1.  0.  1.]] [[3. 4. 5.]]
    """

def squeeze(x: ArrayLike, axis: Axis = None) -> Tensor:
    """Axes of size 1 removed.

    Args:
      x: a tensor, or what becomes one.
      axis: one or several; negative ones are counted from the end; None for all. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.squeeze``.

    Example:
      >>> import graphc as gx
      >>> gx.squeeze(gx.arange(4.0).reshape(2, 1, 2))
      Tensor([[0., 1.],
       [2., 3.]], shape=(2, 2), dtype=float32)
    """

def stack(arrays: Tensors, axis: int = 0) -> Tensor:
    """Joined along a new axis.

    Args:
      arrays: a sequence of tensors, or a tensor for its slices along axis 0.
      axis: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> gx.stack([[-2.5, 0.5, 3.0], [1.5, 0.25, 3.0]])
      Tensor([[-2.5 ,  0.5 ,  3.  ],
       [ 1.5 ,  0.25,  3.  ]], shape=(2, 3), dtype=float32)
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

    Example:
      >>> import graphc as gx
      >>> gx.swapaxes(gx.arange(8.0).reshape(2, 2, 2), 0, 2).shape
      (2, 2, 2)
    """

def tile(x: ArrayLike, repetitions: Shape) -> Tensor:
    """Repeated so many times along each axis.

    Args:
      x: a tensor, or what becomes one.
      repetitions: an int or several. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> gx.tile([[-5.0, -4.0], [-1.0, 0.0]], (2, 1))
      Tensor([[-5., -4.],
       [-1.,  0.],
       [-5., -4.],
       [-1.,  0.]], shape=(4, 2), dtype=float32)
    """

def tril(x: ArrayLike, k: int = 0) -> Tensor:
    """Zero above diagonal k.

    Args:
      x: a tensor, or what becomes one.
      k: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.tril``.

    Example:
      >>> import graphc as gx
      >>> gx.tril([[4.0, 1.0], [1.0, 3.0]])
      Tensor([[4., 0.],
       [1., 3.]], shape=(2, 2), dtype=float32)
    """

def triu(x: ArrayLike, k: int = 0) -> Tensor:
    """Zero below diagonal k.

    Args:
      x: a tensor, or what becomes one.
      k: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.triu``.

    Example:
      >>> import graphc as gx
      >>> gx.triu([[4.0, 1.0], [1.0, 3.0]])
      Tensor([[4., 1.],
       [0., 3.]], shape=(2, 2), dtype=float32)
    """

def unstack(x: ArrayLike, axis: int = 0) -> tuple[Tensor, ...]:
    """The slices along axis.

    Args:
      x: a tensor, or what becomes one.
      axis: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.unstack``.

    Example:
      >>> import graphc as gx
      >>> print(*gx.unstack([[-5.0, -4.0], [-1.0, 0.0]]))
      [-5. -4.] [-1.  0.]
    """

def vstack(arrays: Tensors) -> Tensor:
    """Joined along axis 0, as rows.

    Args:
      arrays: a sequence of tensors, or a tensor for its slices along axis 0.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> gx.vstack([[-2.5, 0.5, 3.0], [1.5, 0.25, 3.0]])
      Tensor([[-2.5 ,  0.5 ,  3.  ],
       [ 1.5 ,  0.25,  3.  ]], shape=(2, 3), dtype=float32)
    """
