"""Places that lie a step apart, read and written without a gather or a scatter."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax as _lax

lax: Any = _lax  # its functions are only partly annotated

__all__ = ["COMBINE", "Column", "column_of", "grid_of", "misfit", "put_column", "put_grid", "without_leading_ones"]

COMBINE: dict[str, Any] = {"add": jnp.add, "multiply": jnp.multiply, "min": jnp.minimum, "max": jnp.maximum}


class Column(NamedTuple):
    """Every k-th place of an axis, all along it: a column of the array in which k places in a row are an axis.

    XLA reads and writes it as part of what surrounds it, where a slice with a step is a loop of its own: a loop that
    averages even and odd places in turn took 1.4 times as long.

    Attributes:
      axis: the axis.
      first: the first place.
      step: to the next one.
    """

    axis: int
    first: int
    step: int

    def apart(self, x: Any) -> Any:
        """Returns the array with an axis more."""
        shape = x.shape
        return x.reshape(*shape[: self.axis], -1, self.step, *shape[self.axis + 1 :])

    def of(self, x: Any) -> jax.Array:
        """Returns the places."""
        return lax.index_in_dim(self.apart(x), self.first, self.axis + 1, keepdims=False)


_MOST_COLUMNS = 8


def column_of(x: Any, index: tuple[Any, ...]) -> Column | None:
    """Returns the column that an index names; None where it names something else."""
    axis, found = 0, list[Column]()
    for position, item in enumerate(index):
        if item == "...":
            axis = x.ndim - (len(index) - position - 1)
            continue
        if not isinstance(item, tuple) or isinstance(item[0], str):
            return None
        places = range(x.shape[axis])[slice(*cast("tuple[Any, ...]", item))]
        if places != range(x.shape[axis]):
            step = places.step
            if not 1 < step <= _MOST_COLUMNS or places.start >= step or len(places) * step != x.shape[axis]:
                return None
            found.append(Column(axis, places.start, step))
        axis += 1
    return found[0] if len(found) == 1 else None


def put_column(x: Any, values: Any, column: Column, how: str) -> jax.Array:
    """Returns an array with a column of it changed."""
    axis, first, step = column
    shape = (*x.shape[:axis], x.shape[axis] // step, *x.shape[axis + 1 :])
    try:
        values = jnp.broadcast_to(without_leading_ones(values, x.ndim), shape)
    except ValueError:
        raise misfit(values.shape, shape) from None
    apart = column.apart(x)
    if how != "set":
        values = COMBINE[how](column.of(x), values)
    before, behind = (lax.slice_in_dim(apart, *ends, axis=axis + 1) for ends in ((0, first), (first + 1, step)))
    return lax.concatenate([before, jnp.expand_dims(values, axis + 1), behind], axis + 1).reshape(x.shape)


def grid_of(x: Any, index: tuple[Any, ...]) -> list[range] | None:
    """Returns the positions on each axis that slices with steps name, if these are many; None otherwise.

    XLA writes separate positions one by one, which takes longer than rewriting everything (every other one of 10**6
    floats: 1.6 ms versus 0.9), up to every eighth.
    """
    if not all(isinstance(item, tuple) and not isinstance(item[0], str) for item in index if item != "..."):
        return None
    slices: list[slice[Any, Any, Any]] = [slice(None)] * x.ndim
    front = index.index("...") if "..." in index else len(index)
    slices[:front] = [slice(*item) for item in index[:front]]
    behind = [slice(*item) for item in index[front + 1 :]]
    slices[len(slices) - len(behind) :] = behind
    places: list[range] = [range(size)[part] for size, part in zip(x.shape, slices, strict=True)]
    steps = [place.step for place in places if len(place) > 1]
    count = math.prod(map(len, places))
    return places if count and max(steps, default=1) > 1 and min(steps) > 0 and 8 * count >= x.size else None


def put_grid(x: Any, values: Any, places: Sequence[range], how: str) -> jax.Array:
    """Returns an array with the elements at some positions of each axis changed."""
    counts = tuple(map(len, places))
    try:
        values = jnp.broadcast_to(without_leading_ones(values, x.ndim), counts)
    except ValueError:
        raise misfit(values.shape, counts) from None
    sides = [
        (place[0], size - 1 - place[-1], place.step - 1 if len(place) > 1 else 0)
        for size, place in zip(x.shape, places, strict=True)
    ]
    values = lax.pad(values, jnp.zeros((), values.dtype), sides)
    chosen: Any = None
    for axis, (place, size) in enumerate(zip(places, x.shape, strict=True)):
        if len(place) == size:
            continue
        at_axis = lax.broadcasted_iota(np.int32, x.shape, axis)
        inside = (at_axis >= place[0]) & (at_axis <= place[-1])
        inside &= (at_axis - place[0]) % place.step == 0
        chosen = inside if chosen is None else chosen & inside
    return jnp.where(chosen, values if how == "set" else COMBINE[how](x, values), x)


def misfit(given: tuple[int, ...], wanted: tuple[int, ...]) -> ValueError:
    """Returns the error for values of another shape than the places have."""
    return ValueError(f"values of shape {given} do not fit elements of shape {wanted}")


def without_leading_ones(values: Any, ndim: int) -> Any:
    """Removes leading axes of size 1, which NumPy allows values to have beyond those of the elements."""
    extra = values.ndim - ndim
    fits = extra > 0 and all(size == 1 for size in values.shape[:extra])
    return values.reshape(values.shape[extra:]) if fits else values
