"""Tensors made of numbers, cut into parts, and what is known of their shapes."""

from __future__ import annotations

import builtins
import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from graphc.compiler.base import nest
from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.core import ArrayLike, SymbolicTensor, Tensor, TensorShape, as_dtype, converted, is_symbolic
from graphc.compiler.ops import functions as gx
from graphc.compiler.tracing import graph_by_hand, is_tracing

__all__ = ["as_tensor", "constant", "ensure_shape", "eye", "range", "shape", "split"]


def constant(value: ArrayLike, dtype: Any = None, shape: Any = None) -> Tensor:
    """Returns a tensor of a value; one number is repeated to a shape.

    Args:
      value: a number, an array or a nested list. Python's complex numbers are complex128, as in TensorFlow.
      dtype: the dtype; that of the value when None.
      shape: the shape; that of the value when None.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.constant(7, shape=[2]).tolist(), gx.arrays.constant([1, 2], shape=[2, 1]).tolist()
      ([7, 7], [[1], [2]])
    """
    tensor = gx.asarray(value, dtype=_of_complex(value) if dtype is None else dtype)
    if shape is None:
        return tensor
    sizes = tuple(shape)
    return gx.broadcast_to(tensor, sizes) if tensor.ndim == 0 else gx.reshape(tensor, sizes)


def _of_complex(value: Any) -> Any:
    """The dtype of Python's complex numbers, which have 64-bit parts although floats have 32 bits; None for others."""
    numbers = nest.flatten(value)[0] if isinstance(value, list | tuple | complex) else []
    plain = all(isinstance(number, int | float | complex) for number in numbers)
    return "complex128" if plain and any(isinstance(number, complex) for number in numbers) else None


def as_tensor(value: Any, dtype: Any = None) -> Any:
    """Returns what is known of a tensor, such as its shape, as a tensor.

    A compiled function, which knows it, gets NumPy's number or array, whose items may stand wherever a size is asked
    for; in a graph that is built by hand what only a run knows is a tensor already.

    Args:
      value: ints.
      dtype: the dtype; int32 when None.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.as_tensor(gx.shape([[1.0, 2.0]])).tolist()
      [1, 2]
    """
    if isinstance(value, SymbolicTensor):  # of a graph that is built by hand: only a run knows it
        return value if dtype is None else gx.astype(value, dtype)
    array = np.asarray(value, as_dtype("int32" if dtype is None else dtype))
    if is_tracing():
        return array if array.ndim else array[()]
    return gx.asarray(array)


def shape(x: ArrayLike, dtype: Any = None) -> Any:
    """Returns the shape as a tensor; see :func:`as_tensor`.

    Args:
      x: a tensor.
      dtype: the dtype; int32 when None.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.shape([[1.0, 2.0]]).tolist()
      [1, 2]
    """
    is_open = isinstance(x, SymbolicTensor) and x.type.is_open
    return as_tensor(gx.shape_tensor(x) if is_open else gx.shape(x), dtype)


def range(start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None) -> Any:
    """Returns the numbers from one to another, left out, in steps; one number alone is the limit.

    Where the limits are tensors of a compiled function there is no tensor of so many elements, and this is what a
    ``for`` loop runs over.

    Args:
      start: the first number, or the limit.
      limit: the exclusive upper bound.
      delta: the step.
      dtype: the dtype; that of the limits when None, with 32 bits for Python's numbers.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.range(3).tolist(), gx.arrays.range(1, 2, 0.5).tolist()
      ([0, 1, 2], [1.0, 1.5])
    """
    start, limit = (0, start) if limit is None else (start, limit)
    bounds = [start, limit, delta]
    if any(is_symbolic(bound) for bound in bounds):
        if graph_by_hand() is not None:
            return gx.arange(*bounds, dtype=dtype)
        return converted(_range)(*bounds)
    numbers = [bound.numpy() if hasattr(bound, "numpy") else bound for bound in bounds]
    kinds = [bound.dtype for bound in numbers if hasattr(bound, "dtype")]
    if dtype is None and kinds:
        dtype = np.result_type(*kinds)
    if dtype is None:
        dtype = "float32" if any(isinstance(bound, float) for bound in numbers) else "int32"
    return gx.arange(*[bound.item() if hasattr(bound, "item") else bound for bound in numbers], dtype=dtype)


_range = builtins.range


def eye(num_rows: int, num_columns: int | None = None, batch_shape: Any = None, dtype: Any = "float32") -> Tensor:
    """Returns ones on the diagonal of a matrix, or of a batch of matrices.

    Args:
      num_rows: the number of rows.
      num_columns: the number of columns; None for that of the rows.
      batch_shape: the shape of the batch; None for one matrix.
      dtype: the dtype.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.eye(2, batch_shape=[1]).tolist()
      [[[1.0, 0.0], [0.0, 1.0]]]
    """
    matrix = gx.eye(num_rows, num_columns, dtype=dtype)
    return matrix if batch_shape is None else gx.broadcast_to(matrix, (*batch_shape, *matrix.shape))


def split(value: ArrayLike, num_or_size_splits: Any, axis: int = 0) -> list[Tensor]:
    """Returns a tensor cut along an axis into so many equal parts, or into parts of some sizes.

    Args:
      value: a tensor.
      num_or_size_splits: the number of parts, or the size of each, of which one may be -1.
      axis: the axis.

    Raises:
      InvalidArgumentError: the sizes do not make the whole.

    Example:
      >>> import graphc as gx
      >>> [part.tolist() for part in gx.arrays.split([1, 2, 3], [1, -1])]
      [[1], [2, 3]]
    """
    tensor = gx.asarray(value)
    sections = num_or_size_splits.tolist() if hasattr(num_or_size_splits, "tolist") else num_or_size_splits
    if isinstance(sections, int):
        return list(gx.split(tensor, sections, axis))
    total = tensor.shape[axis]
    sizes = [total - sum(size for size in sections if size >= 0) if size < 0 else size for size in sections]
    if sum(sizes) != total:
        raise InvalidArgumentError(
            f"split: parts of sizes {list(sections)} do not make the {total} of axis {axis}"
        ).here()
    return list(gx.split(tensor, [*itertools.accumulate(sizes[:-1])], axis)) if sizes[1:] else [tensor]


def ensure_shape(x: ArrayLike, shape: Sequence[int | None] | None) -> Tensor:
    """Returns a tensor, whose shape is checked.

    Args:
      x: a tensor.
      shape: the sizes, with None for any; None for any shape.

    Raises:
      InvalidArgumentError: the shape is another.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.ensure_shape([[1.0, 2.0]], [None, 2]).shape
      (1, 2)
    """
    tensor = gx.asarray(x)
    if not TensorShape(shape).is_compatible_with(tensor.get_shape()):
        raise InvalidArgumentError(f"ensure_shape: the shape is {tensor.shape}, expected {TensorShape(shape)}").here()
    return tensor
