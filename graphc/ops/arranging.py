"""Rows: NumPy's other ways to join, cut, insert and turn over."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from graphc.ops.parts import parts
from graphc.ops.table import define, row
from graphc.ops.values import fitted

Array = jax.Array


def _append(x: Any, values: Any, axis: int | None = None) -> Array:
    return jnp.append(x, values, axis)


def _column_stack(*arrays: Any) -> Array:
    return jnp.column_stack(arrays)


def _dstack(*arrays: Any) -> Array:
    return jnp.dstack(arrays)


def _atleast(function: Any) -> Any:
    """Each tensor by itself: one gives one, several give a tuple."""

    def impl(*arrays: Any) -> Any:
        return tuple(function(array) for array in arrays)

    return impl


def _insert(x: Any, values: Any, obj: Any, axis: int | None = None) -> Array:
    _check_positions(obj, x, axis, 1)
    return jnp.insert(x, np.asarray(obj), values, axis)


def _delete(x: Any, obj: Any, axis: int | None = None) -> Array:
    _check_positions(obj, x, axis, 0)
    return jnp.delete(x, np.asarray(obj), axis)


def _check_positions(obj: Any, x: Any, axis: int | None, behind: int) -> None:
    """Refuses positions out of range, which JAX takes for the nearest ones."""
    size = x.size if axis is None else x.shape[axis]
    for position in np.ravel(obj):
        if not -size <= position < size + behind:
            raise IndexError(f"position {position} is out of range for {size} elements")


def _fill_diagonal(x: Any, value: Any, wrap: bool = False) -> Array:
    values: Any = fitted(value, x)
    if wrap and x.ndim == 2:  # which JAX has not
        places = range(0, x.size, x.shape[1] + 1)
        values = jnp.resize(values, (len(places),)) if values.ndim else values
        return jnp.ravel(x).at[np.asarray(places)].set(values).reshape(x.shape)
    return jnp.fill_diagonal(x, values, inplace=False)


def _array_split(x: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    return parts(jnp.array_split, x, indices_or_sections, axis)


def _hsplit(x: Any, indices_or_sections: Any) -> Any:
    if not x.ndim:
        raise ValueError("expected one axis or more")
    return parts(jnp.split, x, indices_or_sections, 0 if x.ndim == 1 else 1)


def _vsplit(x: Any, indices_or_sections: Any) -> Any:
    if x.ndim < 2:
        raise ValueError("expected two axes or more")
    return parts(jnp.split, x, indices_or_sections, 0)


def _dsplit(x: Any, indices_or_sections: Any) -> Any:
    if x.ndim < 3:
        raise ValueError("expected three axes or more")
    return parts(jnp.split, x, indices_or_sections, 2)


_SPLIT = "x, indices_or_sections: Axes"
_PARTS = "tuple[Tensor, ...]"
_AS_GIVEN = "Tensor | tuple[Tensor, ...]"

_ROWS = (
    row("append", _append, "x, values, axis: int | None = None", "Values put behind x along axis; flattened for None."),
    row("insert", _insert, "x, obj: Axes, values, axis: int | None = None", "Values put before positions along axis."),
    row("delete", _delete, "x, obj: Axes, axis: int | None = None", "The tensor without these positions along axis."),
    row("resize", jnp.resize, "x, new_shape: Shape", "The elements in another shape, repeated to fill it."),
    row("column_stack", _column_stack, "arrays: Tensors", "Joined as columns of a matrix."),
    row("dstack", _dstack, "arrays: Tensors", "Joined along the third axis."),
    row(
        "array_split",
        _array_split,
        f"{_SPLIT}, axis: int = 0",
        "Cut into parts that may differ by one.",
        returns=_PARTS,
    ),
    row("hsplit", _hsplit, _SPLIT, "Cut along axis 1; along axis 0 when 1-d.", returns=_PARTS),
    row("vsplit", _vsplit, _SPLIT, "Cut along axis 0.", returns=_PARTS),
    row("dsplit", _dsplit, _SPLIT, "Cut along axis 2.", returns=_PARTS),
    row("atleast_1d", _atleast(jnp.atleast_1d), "*arrays", "With one axis at least.", returns=_AS_GIVEN),
    row("atleast_2d", _atleast(jnp.atleast_2d), "*arrays", "With two axes at least.", returns=_AS_GIVEN),
    row("atleast_3d", _atleast(jnp.atleast_3d), "*arrays", "With three axes at least.", returns=_AS_GIVEN),
    row("fliplr", jnp.fliplr, "x", "Reversed along axis 1."),
    row("flipud", jnp.flipud, "x", "Reversed along axis 0."),
    row("rollaxis", jnp.rollaxis, "x, axis: int, start: int = 0", "An axis moved to before start."),
    row("diagflat", jnp.diagflat, "x, k: int = 0", "The matrix whose diagonal k is the flattened tensor."),
    row(
        "fill_diagonal",
        _fill_diagonal,
        "x, value, wrap: bool = False",
        "A copy with value on the diagonal; wrap begins again after a tall matrix's end.",
    ),
)

define(globals(), _ROWS)
