"""Values of a tensor at some indices: sparse tensors, and slices along the first axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from graphc.compiler.base import config
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError
from graphc.compiler.core import ArrayLike, Tensor, TensorShape, converted, operand
from graphc.compiler.ops import (
    argsort,
    asarray,
    expand_dims,
    full,
    matmul,
    matrix_transpose,
    multiply,
    negative,
    take,
    unstack,
    zeros,
)
from graphc.library.arrays import known_sizes, known_values


@dataclass(frozen=True, init=False, eq=False, repr=False)
class IndexedSlices:
    """Rows of a tensor that is zero elsewhere, and which rows they are (TensorFlow's IndexedSlices).

    Functions of tensors take it as the tensor that it stands for, in which rows of one index are added.

    Args:
      values: the rows: ``[n, ...]``.
      indices: the indices of the rows: ``[n]``, integers from 0.
      dense_shape: the shape of the tensor; None where nobody says.

    Example:
      >>> import graphc as gx
      >>> rows = gx.IndexedSlices([[1.0, 2.0], [10.0, 20.0]], [2, 2], dense_shape=(3, 2))
      >>> rows.to_dense().tolist()
      [[0.0, 0.0], [0.0, 0.0], [11.0, 22.0]]
    """

    __graphc_composite__ = True

    values: Tensor
    indices: Tensor
    sizes: tuple[int, ...] | None

    def __init__(self, values: ArrayLike, indices: ArrayLike, dense_shape: Any = None) -> None:
        object.__setattr__(self, "values", asarray(values))
        object.__setattr__(self, "indices", asarray(indices))
        sizes = None if dense_shape is None else known_sizes("IndexedSlices: dense_shape", dense_shape)
        object.__setattr__(self, "sizes", sizes)

    @property
    def dense_shape(self) -> Tensor | None:
        """The shape of the tensor, as a tensor; None where nobody says."""
        return None if self.sizes is None else asarray(self.sizes)

    @property
    def shape(self) -> TensorShape:
        """The shape of the tensor, of which the first size may not be known."""
        return TensorShape((None, *self.values.shape[1:]) if self.sizes is None else self.sizes)

    @property
    def dtype(self) -> Any:
        """The dtype of the rows."""
        return self.values.dtype

    def to_dense(self) -> Tensor:
        """Returns the tensor.

        Raises:
          InvalidArgumentError: it is not known how many rows it has.
        """
        if self.sizes is None:
            raise InvalidArgumentError(
                "these IndexedSlices do not say how many rows the tensor has; give them a dense_shape"
            ).here()
        return zeros(self.sizes, dtype=self.values.dtype).at[self.indices].add(self.values)

    def __neg__(self) -> IndexedSlices:
        return IndexedSlices(negative(self.values), self.indices, self.sizes)

    def __repr__(self) -> str:
        shape = "" if self.sizes is None else f", dense_shape={self.sizes}"
        return f"IndexedSlices(indices={self.indices!r}, values={self.values!r}{shape})"


@operand.register(IndexedSlices)
def _dense(value: IndexedSlices) -> Tensor:
    return value.to_dense()


@dataclass(frozen=True, init=False, eq=False, repr=False)
class SparseTensor:
    """Some elements of a tensor, and their positions; all others are zero (TensorFlow's SparseTensor).

    The number of elements is part of its type: compiled functions are traced for it.

    Args:
      indices: the positions: ``[n, rank]``, integers.
      values: the elements: ``[n]``.
      dense_shape: the shape of the tensor.

    Raises:
      InvalidArgumentError: the sizes do not fit each other.

    Example:
      >>> import graphc as gx
      >>> sparse = gx.SparseTensor([[0, 1], [1, 2]], [5.0, 7.0], (2, 3))
      >>> sparse.to_dense().tolist()
      [[0.0, 5.0, 0.0], [0.0, 0.0, 7.0]]
      >>> gx.function(lambda s: s.map_values(gx.negative))(sparse).values.tolist()
      [-5.0, -7.0]
    """

    __graphc_composite__ = True

    indices: Tensor
    values: Tensor
    sizes: tuple[int, ...]

    def __init__(self, indices: ArrayLike, values: ArrayLike, dense_shape: Any) -> None:
        positions, elements = asarray(indices, dtype="int64"), asarray(values)
        sizes = known_sizes("SparseTensor: dense_shape", dense_shape)
        if positions.shape != (*elements.shape, len(sizes)) or elements.ndim != 1:
            raise InvalidArgumentError(
                f"SparseTensor: indices of shape {positions.shape}, values of shape {elements.shape} and a dense_shape "
                f"of {len(sizes)} sizes do not fit; expected [n, {len(sizes)}] and [n]"
            ).here()
        object.__setattr__(self, "indices", positions)
        object.__setattr__(self, "values", elements)
        object.__setattr__(self, "sizes", sizes)

    @classmethod
    def from_dense(cls, tensor: ArrayLike) -> SparseTensor:
        """Returns the elements of a tensor that are not zero.

        Args:
          tensor: its values must be known, as they decide how many there are.

        Raises:
          ConcretizationError: it has no values while the function is traced.

        Example:
          >>> import graphc as gx
          >>> gx.SparseTensor.from_dense([[0, 3], [0, 0]]).indices.tolist()
          [[0, 1]]
        """
        array = known_values("SparseTensor.from_dense", tensor, "make the SparseTensor of indices and values")
        positions = np.argwhere(array)
        values = array[tuple(positions.T)]
        # The numbers of a list have the dtype that they have elsewhere.
        elements = asarray(values, dtype=array.dtype) if hasattr(tensor, "dtype") else asarray(values.tolist())
        return cls(positions, elements, array.shape)

    @property
    def dense_shape(self) -> Tensor:
        """The shape of the tensor, as a tensor."""
        return asarray(np.asarray(self.sizes, np.int64))

    @property
    def shape(self) -> TensorShape:
        """The shape of the tensor."""
        return TensorShape(self.sizes)

    def get_shape(self) -> TensorShape:
        """Returns the shape of the tensor."""
        return self.shape

    @property
    def dtype(self) -> Any:
        """The dtype of the elements."""
        return self.values.dtype

    def _positions(self) -> tuple[Any, ...]:
        return tuple(unstack(self.indices, -1))

    def to_dense(self, default_value: Any = None) -> Tensor:
        """Returns the tensor.

        Args:
          default_value: the value of the other elements; None for 0.
        """
        start = zeros(self.sizes, dtype=self.dtype)
        if default_value is not None:
            start = full(self.sizes, default_value, dtype=self.dtype)
        return start.at[self._positions()].set(self.values)

    def with_values(self, new_values: ArrayLike) -> SparseTensor:
        """Returns other elements at the same positions."""
        return SparseTensor(self.indices, new_values, self.sizes)

    def map_values(self, op: Callable[..., Any], *args: Any, **kwargs: Any) -> SparseTensor:
        """Returns what a function gives for the elements, at the same positions.

        Args:
          op: a function of a tensor.
          *args: further arguments; SparseTensors among them are replaced by their elements.
          **kwargs: the same by name.
        """
        others = [arg.values if isinstance(arg, SparseTensor) else arg for arg in args]
        return self.with_values(converted(op)(self.values, *others, **kwargs))

    def reorder(self) -> SparseTensor:
        """Returns the elements in the order of their positions, row by row."""
        strides = np.cumprod([1, *self.sizes[:0:-1]])[::-1]
        order = argsort(matmul(self.indices, asarray(strides.copy(), dtype=self.indices.dtype)))
        return SparseTensor(take(self.indices, order, axis=0), take(self.values, order), self.sizes)

    def transpose(self, perm: Sequence[int] | None = None) -> SparseTensor:
        """Returns the tensor with its axes in another order; reversed when None."""
        order = list(range(len(self.sizes)))[::-1] if perm is None else [int(axis) for axis in perm]
        indices = take(self.indices, asarray(order), axis=1)
        return SparseTensor(indices, self.values, tuple(self.sizes[axis] for axis in order)).reorder()

    def matmul(self, b: ArrayLike, adjoint_a: bool = False, adjoint_b: bool = False) -> Tensor:
        """Returns the product of this matrix and a dense one.

        Args:
          b: a matrix.
          adjoint_a: whether this one is transposed and conjugated first.
          adjoint_b: whether the other one is.

        Raises:
          InvalidArgumentError: this is no matrix, or the sizes do not fit.
        """
        other = asarray(b)
        other = matrix_transpose(other).conj() if adjoint_b else other
        if len(self.sizes) != 2 or other.ndim != 2 or self.sizes[0 if adjoint_a else 1] != other.shape[0]:
            raise InvalidArgumentError(
                f"matmul: a SparseTensor of shape {self.sizes} and a tensor of {other.shape}"
            ).here()
        rows, columns = self._positions()
        values = self.values.conj() if adjoint_a else self.values
        rows, columns, size = (columns, rows, self.sizes[1]) if adjoint_a else (rows, columns, self.sizes[0])
        products = multiply(expand_dims(values, -1), take(other, columns, axis=0))
        return zeros((size, other.shape[1]), dtype=products.dtype).at[rows].add(products)

    def sum(self, axis: Any = None, keepdims: bool = False) -> Tensor:
        """Returns the sum over axes, as a dense tensor; over all when None."""
        axes = range(len(self.sizes)) if axis is None else [axis] if isinstance(axis, int) else axis
        gone = {one % len(self.sizes) for one in axes}
        remaining = [dimension for dimension in range(len(self.sizes)) if dimension not in gone]
        positions = self._positions()
        start = zeros(tuple(self.sizes[dimension] for dimension in remaining), dtype=self.dtype)
        total = (
            start.at[tuple(positions[dimension] for dimension in remaining)].add(self.values)
            if remaining
            else self.values.sum()
        )
        return expand_dims(total, tuple(sorted(gone))) if keepdims else total

    def __repr__(self) -> str:
        parts = [_text(part) for part in (self.indices, self.values)]
        sizes = f"[{' '.join(map(str, self.sizes))}]" if config.tensor_text == "numpy" else _text(self.dense_shape)
        return f"SparseTensor(indices={parts[0]}, values={parts[1]}, dense_shape={sizes})"


def _text(tensor: Tensor) -> str:
    return str(tensor) if type(tensor) is Tensor else repr(tensor)


@operand.register(SparseTensor)
def _refused(value: SparseTensor) -> NoReturn:
    del value
    raise InvalidTypeError(
        "a SparseTensor is no tensor here; x.to_dense() is one, and x.map_values(function) works on its elements"
    ).here()
