"""Rows of an array of a trace that become nodes of the graph when something uses them."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from graphc.compiler.base import Location, user_location
from graphc.compiler.core import REASONS, SymbolicTensor, Tensor, busy
from graphc.compiler.ir import OPS, Attrs, TensorType, Value
from graphc.compiler.tracing.mode import context
from graphc.compiler.tracing.trace import Trace


class LateRow(SymbolicTensor):
    """A row of an array, whose node is appended when something asks for its value."""

    # A loop leaves a list of thousands of rows, and code mostly uses the list as a whole: a node for each row took
    # three quarters of the first call.

    __slots__ = ("_at", "_location", "_made", "_type", "place", "source")

    def __init__(self, source: Value, index: int, type: TensorType, location: Location | None, trace: Trace) -> None:
        self.source: Value | None = source
        self.place = index
        self.trace: Trace = trace  # pyright: ignore[reportIncompatibleVariableOverride]
        self._type = type
        self._location = location
        self._made: Value | None = None
        self._at = -1

    @property
    def is_used(self) -> bool:
        """True if the row has a node."""
        return self._made is not None

    @property
    def raw(self) -> Value:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The value in the graph."""
        value, nodes = self._made, self.trace.builder.nodes
        if value is not None and (self.source is None or (self._at < len(nodes) and nodes[self._at] is value.node)):
            return value
        assert self.source is not None  # not appended yet, or the trace was rolled back to before the node
        self._at, attrs = len(nodes), Attrs(index=(self.place,))
        append = self.trace.builder.append
        node = append(OPS["get_item"], (self.source,), attrs, types=(self._type,), location=self._location)
        self._made = node.outputs[0]
        return self._made

    @raw.setter
    def raw(self, value: Value) -> None:  # pyright: ignore[reportIncompatibleVariableOverride]
        self._made, self.source = value, None

    @property
    def type(self) -> TensorType:
        """Shape and dtype together."""
        return self._type

    @property
    def shape(self) -> tuple[int, ...]:
        """The size of each axis."""
        return self._type.shape

    @property
    def dtype(self) -> Any:
        """The dtype of the elements."""
        return self._type.dtype


def late_rows(array: Tensor, start: int, stop: int) -> list[Any]:
    """Returns the rows of an array from ``start`` to ``stop``, as tensors of the open trace."""
    # Rows are taken at once if an open tape, a device scope or the like observes each op.
    trace = context.trace
    own = isinstance(array, SymbolicTensor) and not array.type.is_open and array.trace is trace
    if trace is None and (not busy or context.eager) and not isinstance(array, SymbolicTensor):
        return [Tensor(row) for row in _rows(array.raw, start, stop)]
    if trace is None or not own or _is_observed(trace):
        return [array[index] for index in range(start, stop)]
    source, location = array.raw, user_location()
    type = TensorType(source.type.shape[1:], source.type.dtype, source.type.weak)
    return [LateRow(source, index, type, location, trace) for index in range(start, stop)]


def _rows(array: jax.Array, start: int, stop: int) -> list[jax.Array]:
    """Returns rows of an array, some at once: a program for each row takes ten times as long."""
    length, wanted = array.shape[0], stop - start
    count = _AT_ONCE if wanted > _AT_ONCE // 2 else 1 << (wanted - 1).bit_length()  # few kinds, for the compiler
    count = max(1, min(count, length, _AT_ONCE_BYTES * length // max(array.nbytes, 1)))
    rows: list[jax.Array] = []
    while start < stop:
        first = min(start, length - count)
        taken: list[jax.Array] = _taken(array, np.int32(first), count)
        rows += taken[start - first : stop - first]
        start = first + count
    return rows


_AT_ONCE, _AT_ONCE_BYTES = 32, 2**20


def _sliced(array: Any, first: Any, count: int) -> list[Any]:
    rows: Any = jax.lax.dynamic_slice_in_dim(array, first, count)
    return [rows[index] for index in range(count)]


_taken: Any = jax.jit(_sliced, static_argnums=2)


def _is_observed(trace: Trace) -> bool:
    """Returns True if something depends on when, or in which scope, a node is appended."""
    scopes = bool(context.tapes or context.device or trace.controls is not None)
    return scopes or trace.is_graph or not busy.isdisjoint(REASONS)
