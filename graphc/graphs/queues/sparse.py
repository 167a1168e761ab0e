"""SparseValue: the parts of a sparse tensor, whose sizes only a run knows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError
from graphc.compiler.core import STRING, apply, bytes_array, host_array, host_type, host_value, in_graph
from graphc.compiler.ir import OPEN, OPS, Attrs, Graph, OpDef, TensorType
from graphc.compiler.tracing import is_tracing
from graphc.graphs.queues.spec import refusal

__all__ = ["SparseValue"]


class SparseValue(NamedTuple):
    """The parts of a sparse tensor, like TensorFlow's ``SparseTensorValue``.

    Attributes:
      indices: the indices of the stored elements, one row each, ascending.
      values: the stored elements.
      dense_shape: the size of each axis.
    """

    indices: Any
    values: Any
    dense_shape: Any

    def to_dense(self, default_value: Any = None) -> Any:
        """Returns all elements as one tensor.

        Args:
          default_value: the value where there is no element; zero, or an empty string, if None.

        Raises:
          InvalidArgumentError: an index lies outside of the shape.
          InvalidTypeError: the default is of another dtype.

        Example:
          >>> import graphc as gx
          >>> gx.queues.SparseValue([[0, 1], [1, 0]], [5.0, 7.0], [2, 2]).to_dense(-1.0).tolist()
          [[-1.0, 5.0], [7.0, -1.0]]
        """
        dtype = host_type(self.values).dtype
        default = default_value
        if default is None:
            default = np.array(b"", object) if dtype == STRING else np.zeros((), dtype)
        elif not in_graph(default) and (host_type(default).dtype == STRING) != (dtype == STRING):
            problem = f"default_value must be of the values' dtype, got {default!r:.40}"
            raise refusal("SparseValue.to_dense", problem, InvalidTypeError)
        if not is_tracing() or in_graph(*self, default):
            return apply(TO_DENSE, (*self, default))
        return host_value(_to_dense(*map(host_array, (*self, default))))


def _to_dense(indices: Any, values: Any, dense_shape: Any, default: Any) -> np.ndarray[Any, Any]:
    shape = tuple(int(size) for size in dense_shape)
    places = np.asarray(indices, np.int64).reshape(-1, len(shape))
    outside = np.flatnonzero(((places < 0) | (places >= np.array(shape, np.int64))).any(axis=1))
    if outside.size:
        place = places[outside[0]].tolist()
        raise InvalidArgumentError(f"SparseValue.to_dense: the index {place} is outside of the shape {shape}")
    found = np.empty(shape, values.dtype)
    found[...] = default
    found[tuple(places.T)] = values
    return bytes_array(found) if values.dtype == STRING else found


def _dense_type(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    _, values, sizes, _ = types
    if not sizes.ranked or sizes.shape[:1] in ((), (OPEN,)):
        return (TensorType((), values.dtype, ranked=False),)
    return (TensorType((OPEN,) * sizes.shape[0], values.dtype),)


TO_DENSE = OPS.add(
    "sparse_to_dense",
    OpDef(
        "sparse_to_dense", impl=_to_dense, infer=_dense_type,
        params=("indices", "values", "dense_shape", "default_value"), differentiable=False, host=True,
        doc="The elements of a sparse tensor as one tensor.",
    ),
)  # fmt: skip
