"""Rows: NumPy's other ways to join, cut, insert and turn over.

Written by ``python -m graphc.ops.stubs`` from the rows.
"""

from graphc.core import ArrayLike, Tensor
from graphc.ops.annotations import Axes, Shape, Tensors

__all__ = [
    "append",
    "array_split",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "column_stack",
    "delete",
    "diagflat",
    "dsplit",
    "dstack",
    "fill_diagonal",
    "fliplr",
    "flipud",
    "hsplit",
    "insert",
    "resize",
    "rollaxis",
    "vsplit",
]

def append(x: ArrayLike, values: ArrayLike, axis: int | None = None) -> Tensor:
    """Values put behind x along axis; flattened for None.

    Args:
      x: a tensor, or what becomes one.
      values: a tensor, or what becomes one.
      axis: an int, or None. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> gx.append([[-5.0, -4.0], [-1.0, 0.0]], [[1.0, 2.0], [3.0, 4.0]])
      Tensor([-5., -4., -1.,  0.,  1.,  2.,  3.,  4.], shape=(8,), dtype=float32)
    """

def array_split(x: ArrayLike, indices_or_sections: Axes, axis: int = 0) -> tuple[Tensor, ...]:
    """Cut into parts that may differ by one.

    Args:
      x: a tensor, or what becomes one.
      indices_or_sections: one or several; negative ones are counted from the end. Static.
      axis: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> print(*gx.array_split([-2.5, 0.5, 3.0], 2))
      [-2.5  0.5] [3.]
    """

def atleast_1d(*arrays: ArrayLike) -> Tensor | tuple[Tensor, ...]:
    """With one axis at least.

    Args:
      arrays: tensors, or what becomes tensors.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> gx.atleast_1d(2.0)
      Tensor([2.], shape=(1,), dtype=float32)
    """

def atleast_2d(*arrays: ArrayLike) -> Tensor | tuple[Tensor, ...]:
    """With two axes at least.

    Args:
      arrays: tensors, or what becomes tensors.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> gx.atleast_2d([-2.5, 0.5, 3.0])
      Tensor([[-2.5,  0.5,  3. ]], shape=(1, 3), dtype=float32)
    """

def atleast_3d(*arrays: ArrayLike) -> Tensor | tuple[Tensor, ...]:
    """With three axes at least.

    Args:
      arrays: tensors, or what becomes tensors.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> gx.atleast_3d([[-5.0, -4.0], [-1.0, 0.0]]).shape
      (2, 2, 1)
    """

def column_stack(arrays: Tensors) -> Tensor:
    """Joined as columns of a matrix.

    Args:
      arrays: a sequence of tensors, or a tensor for its slices along axis 0.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> gx.column_stack([[-2.5, 0.5, 3.0], [1.5, 0.25, 3.0]])
      Tensor([[-2.5 ,  1.5 ],
       [ 0.5 ,  0.25],
       [ 3.  ,  3.  ]], shape=(3, 2), dtype=float32)
    """

def delete(x: ArrayLike, obj: Axes, axis: int | None = None) -> Tensor:
    """The tensor without these positions along axis.

    Args:
      x: a tensor, or what becomes one.
      obj: one or several; negative ones are counted from the end. Static.
      axis: an int, or None. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> gx.delete([-2.5, 0.5, 3.0], 1)
      Tensor([-2.5,  3. ], shape=(2,), dtype=float32)
    """

def diagflat(x: ArrayLike, k: int = 0) -> Tensor:
    """The matrix whose diagonal k is the flattened tensor.

    Args:
      x: a tensor, or what becomes one.
      k: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.diagflat``.

    Example:
      >>> import graphc as gx
      >>> gx.diagflat([[1.0, 2.0], [3.0, 4.0]], 1).shape
      (5, 5)
    """

def dsplit(x: ArrayLike, indices_or_sections: Axes) -> tuple[Tensor, ...]:
    """Cut along axis 2.

    Args:
      x: a tensor, or what becomes one.
      indices_or_sections: one or several; negative ones are counted from the end. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> [part.shape for part in gx.dsplit(gx.arange(8.0).reshape(2, 2, 2), 2)]
      [(2, 2, 1), (2, 2, 1)]
    """

def dstack(arrays: Tensors) -> Tensor:
    """Joined along the third axis.

    Args:
      arrays: a sequence of tensors, or a tensor for its slices along axis 0.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> gx.dstack([[-2.5, 0.5, 3.0], [1.5, 0.25, 3.0]])
      Tensor([[[-2.5 ,  1.5 ],
        [ 0.5 ,  0.25],
        [ 3.  ,  3.  ]]], shape=(1, 3, 2), dtype=float32)
    """

def fill_diagonal(x: ArrayLike, value: ArrayLike, wrap: bool = False) -> Tensor:
    """A copy with value on the diagonal; wrap begins again after a tall matrix's end.

    Args:
      x: a tensor, or what becomes one.
      value: a tensor, or what becomes one.
      wrap: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> gx.fill_diagonal([[4.0, 1.0], [1.0, 3.0]], 7.0)
      Tensor([[7., 1.],
       [1., 7.]], shape=(2, 2), dtype=float32)
    """

def fliplr(x: ArrayLike) -> Tensor:
    """Reversed along axis 1.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.fliplr``.

    Example:
      >>> import graphc as gx
      >>> gx.fliplr([[-5.0, -4.0], [-1.0, 0.0]])
      Tensor([[-4., -5.],
       [ 0., -1.]], shape=(2, 2), dtype=float32)
    """

def flipud(x: ArrayLike) -> Tensor:
    """Reversed along axis 0.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.flipud``.

    Example:
      >>> import graphc as gx
      >>> gx.flipud([[-5.0, -4.0], [-1.0, 0.0]])
      Tensor([[-1.,  0.],
       [-5., -4.]], shape=(2, 2), dtype=float32)
    """

def hsplit(x: ArrayLike, indices_or_sections: Axes) -> tuple[Tensor, ...]:
    """Cut along axis 1; along axis 0 when 1-d.

    Args:
      x: a tensor, or what becomes one.
      indices_or_sections: one or several; negative ones are counted from the end. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> print(*gx.hsplit([[-5.0, -4.0], [-1.0, 0.0]], 2))
      [[-5.]
       [-1.]] [[-4.]
       [ 0.]]
    """

def insert(x: ArrayLike, obj: Axes, values: ArrayLike, axis: int | None = None) -> Tensor:
    """Values put before positions along axis.

    Args:
      x: a tensor, or what becomes one.
      obj: one or several; negative ones are counted from the end. Static.
      values: a tensor, or what becomes one.
      axis: an int, or None. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> gx.insert([-2.5, 0.5, 3.0], 1, 9.0)
      Tensor([-2.5,  9. ,  0.5,  3. ], shape=(4,), dtype=float32)
    """

def resize(x: ArrayLike, new_shape: Shape) -> Tensor:
    """The elements in another shape, repeated to fill it.

    Args:
      x: a tensor, or what becomes one.
      new_shape: an int or several. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.resize``.

    Example:
      >>> import graphc as gx
      >>> gx.resize([[1.0, 2.0], [3.0, 4.0]], (2, 5))
      Tensor([[1., 2., 3., 4., 1.],
       [2., 3., 4., 1., 2.]], shape=(2, 5), dtype=float32)
    """

def rollaxis(x: ArrayLike, axis: int, start: int = 0) -> Tensor:
    """An axis moved to before start.

    Args:
      x: a tensor, or what becomes one.
      axis: an int. Static.
      start: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.rollaxis``.

    Example:
      >>> import graphc as gx
      >>> gx.rollaxis(gx.arange(8.0).reshape(2, 2, 2), 2).shape
      (2, 2, 2)
    """

def vsplit(x: ArrayLike, indices_or_sections: Axes) -> tuple[Tensor, ...]:
    """Cut along axis 0.

    Args:
      x: a tensor, or what becomes one.
      indices_or_sections: one or several; negative ones are counted from the end. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> x = [[-5.0, -4.0, -3.0], [-1.0, 0.0, 1.0], [3.0, 4.0, 5.0]]
      >>> print(*gx.vsplit(x, (1, 2)))
      [[-5. -4. -3.]] [[-1.  0.  1.]] [[3. 4. 5.]]
    """
