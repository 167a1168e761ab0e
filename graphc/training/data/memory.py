"""Sources in memory: slices of arrays."""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp
import numpy as np

from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.core import Tensor
from graphc.compiler.function import TensorSpec
from graphc.training.data.elements import Block, described, spec_of, take_apart, unflatten
from graphc.training.data.sources import Cardinality, SourceIterator

__all__ = ["Slices"]

_ALIGNED = 64  # bytes; JAX uses memory that starts at a multiple of it as it is, and copies other memory
_LARGE = 2**14


class Slices:
    """The slices of arrays along their first axis, as a source.

    Args:
      tensors: a nested structure of arrays, all of one length; they are copied.
      use: the name of the calling function, for messages.

    Raises:
      InvalidArgumentError: an array has no axes, or the lengths differ.
    """

    def __init__(self, tensors: Any, use: str = "from_tensor_slices") -> None:
        row, self._structure = take_apart(tensors)
        self.columns = [np.asarray(leaf) for leaf in row]
        self._use = use
        self._tensors: list[Any] | None = None
        lengths = {column.shape[:1] for column in self.columns}
        if not self.columns or () in lengths or len(lengths) > 1:
            shown = described(unflatten(self._structure, [spec_of(leaf) for leaf in self.columns]))
            error = InvalidArgumentError(f"{use}: expected arrays of one length, which are sliced, got {shown}")
            raise at(error, user_location())
        for column in self.columns:
            column.flags.writeable = False

    @property
    def spec(self) -> Any:
        """The types of a slice."""
        leaves = [spec_of(column) for column in self.columns]
        return unflatten(self._structure, [TensorSpec(leaf.shape[1:], leaf.dtype) for leaf in leaves])

    def on_device(self) -> list[Any]:
        """Returns the arrays as tensors, for programs that read rows of them."""
        if self._tensors is None:
            self._tensors = [Tensor(jnp.asarray(column)) for column in self.columns]
        return self._tensors

    @property
    def cardinality(self) -> Cardinality:
        """The number of slices."""
        return len(self)

    def __len__(self) -> int:
        return len(self.columns[0])

    def __str__(self) -> str:
        return f"{self._use}({described(self.spec)})"

    def take_rows(self, indices: Any) -> Any:
        """Returns slices as one batch: a view of the arrays if they are contiguous."""
        return unflatten(self._structure, self.take_columns(indices))

    def take_columns(self, indices: Any) -> Block:
        """Returns the leaves of :meth:`take_rows`."""
        count = len(indices)
        if count and indices[-1] - indices[0] == count - 1 and (count < 3 or (np.diff(indices) == 1).all()):
            chosen: Any = slice(int(indices[0]), int(indices[-1]) + 1)
            return tuple([column[chosen] for column in self.columns])
        return tuple([_taken(column, indices) for column in self.columns])

    def open(self) -> SourceIterator:
        """Raises an error: a plan reads the slices by row number."""
        raise NotImplementedError


def _taken(column: Any, indices: Any) -> Any:
    """Returns rows of an array, in memory that JAX need not copy if they are large: 28x28 floats are a fifth faster."""
    shape = (len(indices), *column.shape[1:])
    size = math.prod(shape) * column.dtype.itemsize
    if size < _LARGE or column.dtype.kind == "O":
        return column.take(indices, 0)
    memory = np.empty(size + _ALIGNED, np.uint8)
    start = -memory.ctypes.data % _ALIGNED
    rows = memory[start : start + size].view(column.dtype).reshape(shape)
    return np.take(column, indices, 0, out=rows, mode="clip")
