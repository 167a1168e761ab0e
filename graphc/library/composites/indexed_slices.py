"""IndexedSlices: some rows of a large tensor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.core import ArrayLike, Tensor, TensorShape, operand
from graphc.compiler.ops import asarray, negative, zeros
from graphc.library.arrays import known_sizes

__all__ = ["IndexedSlices"]


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
            error = InvalidArgumentError(
                "these IndexedSlices do not say how many rows the tensor has; give them a dense_shape"
            )
            raise at(error, user_location())
        return zeros(self.sizes, dtype=self.values.dtype).at[self.indices].add(self.values)

    def __neg__(self) -> IndexedSlices:
        return IndexedSlices(negative(self.values), self.indices, self.sizes)

    def __repr__(self) -> str:
        shape = "" if self.sizes is None else f", dense_shape={self.sizes}"
        return f"IndexedSlices(indices={self.indices!r}, values={self.values!r}{shape})"


@operand.register(IndexedSlices)
def _dense(value: IndexedSlices) -> Tensor:
    return value.to_dense()
