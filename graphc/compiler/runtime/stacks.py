"""Access of driven loops to the rows of arrays, and collection of the rows of their iterations."""

from __future__ import annotations

from functools import partial
from typing import Any, Protocol, cast

import jax
import jax.numpy as jnp
from jax import lax as _lax

from graphc.compiler.ir import TensorType
from graphc.compiler.runtime.steps import DeviceValue

lax: Any = _lax  # its functions are only partly annotated


class ArrayRows(Protocol):
    """The rows of an array."""

    def __getitem__(self, index: int) -> Any:
        """Returns a row."""
        ...


class RowStack(Protocol):
    """An array that is filled row by row."""

    def put(self, row: Any, index: int) -> None:
        """Stores a row."""
        ...

    def array(self) -> Any:
        """Returns the array of all rows."""
        ...


class RowsInPlace:
    """Rows that are sliced on demand."""

    def __init__(self, array: Any) -> None:
        self._array = array

    def __getitem__(self, index: int) -> Any:
        return cast("Any", _row(self._array, index))


class StackInPlace:
    """Rows that are stored into one array, which is updated in place."""

    def __init__(self, type: TensorType) -> None:
        self._type = type
        self._array: Any = None

    def put(self, row: Any, index: int) -> None:
        """Stores a row."""
        if self._array is None:
            self._array = jnp.zeros(self._type.shape, self._type.dtype, device=getattr(row, "sharding", None))
        self._array = _with_row(self._array, row, index)

    def array(self) -> Any:
        """Returns the array, on the device of its rows."""
        return jnp.zeros(self._type.shape, self._type.dtype) if self._array is None else self._array


class FollowedRows:
    """Rows that are sliced all at once, so that their cotangents are stacked once."""

    def __init__(self, array: DeviceValue, count: int) -> None:
        self._rows = (
            [DeviceValue(row, array.device) for row in cast("list[Any]", _unstacked(array.value))] if count else []
        )

    def __getitem__(self, index: int) -> DeviceValue:
        return self._rows[index]


class FollowedStack:
    """Rows that are stacked at the end."""

    def __init__(self, type: TensorType) -> None:
        self._type = type
        self._rows: dict[int, DeviceValue] = {}

    def put(self, row: DeviceValue, index: int) -> None:
        """Stores a row."""
        self._rows[index] = row

    def array(self) -> DeviceValue:
        """Returns the array, on the device of its rows."""
        if not self._rows:
            return DeviceValue(jnp.zeros(self._type.shape, self._type.dtype))
        rows = [self._rows[index] for index in sorted(self._rows)]
        device = rows[0].device
        return DeviceValue(_stacked(self._type.dtype, *[row.to(device).value for row in rows]), device)


@jax.jit
def _row(array: Any, index: Any) -> Any:
    return lax.dynamic_index_in_dim(array, index, keepdims=False)


@partial(jax.jit, donate_argnums=0)
def _with_row(stack: Any, row: Any, index: Any) -> Any:
    return lax.dynamic_update_index_in_dim(stack, row, index, 0)


@jax.jit
def _unstacked(array: Any) -> Any:
    return [lax.squeeze(row, (0,)) for row in lax.split(array, (1,) * len(array))]


@partial(jax.jit, static_argnums=0)
def _stacked(dtype: Any, *rows: Any) -> Any:
    return jnp.stack(rows).astype(dtype)
