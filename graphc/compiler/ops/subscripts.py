"""Index notation: the index expression, split into a static attribute and tensors.

The attribute is a tuple with one item for each part of the index: an int, a slice as ``(start, stop, step)``, ``None``
for a new axis, ``"..."``, ``"tensor"`` for the next input, ``("window", size)`` for a slice of this size that starts at
the next input, and ``("mask", axes)`` for the next input, a mask over this many axes.

A mask is an ordinary tensor if the shape of the result does not depend on its values, as in an update with values that
fit any number of elements. Otherwise it is replaced by the indices that it selects, so its values must be known.

In eager mode ints and slices become inputs, so that a loop over positions compiles one program, not one for each
position. In a graph they are static, so that XLA sees them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, SupportsIndex, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax as _lax

from graphc.compiler.base import has_mark
from graphc.compiler.base.errors import GraphcError, InvalidArgumentError, InvalidTypeError, OutOfRangeError
from graphc.compiler.core import (
    FUNCTIONS,
    LateValue,
    Tensor,
    is_by_hand,
    is_symbolic,
    late_value,
    operand,
    tell_of_method,
)
from graphc.compiler.ir import OPEN, TensorType
from graphc.compiler.tracing import current_trace, is_tracing, type_of_any


class IndexLike(Protocol):
    """The index of a rolled loop, with a known range; such an object has an attribute ``__graphc_index__``."""

    __graphc_index__: Any
    tensor: Tensor
    low: int
    high: int

    def give_up(self, reason: str) -> Any:
        """Gives up rolling the loop, since the index must be a Python int; does not return."""
        ...


def checked_position(position: int, axis: int, size: int) -> int:
    """Returns a position as counted from the start."""
    if size == OPEN:
        return position
    if not -size <= position < size:
        raise OutOfRangeError(f"index {position} is out of range for axis {axis} of size {size}").here()
    return position + size if position < 0 else position


class IndexEncoder:
    """An index being encoded as an attribute and inputs."""

    def __init__(self, shape: tuple[int, ...], index: Any, *, values: tuple[int, ...] | None = None) -> None:
        self.shape = shape  # the shape of the indexed tensor
        self.index = index
        self._is_eager = not is_tracing()
        self.values = values  # the shape of an update's values; None for a read
        self.items: list[Any] = []
        self.tensors: list[Any] = []

    def encode(self) -> tuple[tuple[Any, ...], list[Any]]:
        """Returns the attribute and the inputs."""
        items = cast("tuple[Any, ...]", self.index) if isinstance(self.index, tuple) else (self.index,)
        parts = [self._part(part) for part in items]
        used = sum(_axes_of(part) for part in parts)
        if used > len(self.shape):
            raise self._out_of_range(f"{used} indices for {len(self.shape)} axes")
        if sum(part is Ellipsis for part in parts) > 1:
            raise self._invalid("'...' may occur only once")
        axis = 0
        for position, part in enumerate(parts):
            if part is Ellipsis:
                axis += len(self.shape) - used
            if _is_mask(part):
                self._mask(part, axis, self._axes_behind(parts, position, len(self.shape) - used))
            else:
                self._encode(part, axis)
            axis += _axes_of(part)
        return tuple(self.items), self.tensors

    def flag(self) -> bool | None:
        """Returns the 0-d mask that is the whole index, else None: it adds an axis, of size 1 if it is true, else 0."""
        mask = self.index
        if isinstance(mask, tuple | slice | int) or not _is_mask(mask) or mask.shape:
            return None
        if is_symbolic(mask):
            raise self._refuse(self._unknown_mask(type_of_any(mask)))
        return bool(mask)

    def _axes_behind(self, parts: list[Any], position: int, implied: int) -> int | None:
        """Returns the number of axes after a mask's, if the values fit any number of selected elements; else None."""
        others = [*parts[:position], *parts[position + 1 :]]
        arrays = [part for part in others if _axes_of(part) and not isinstance(part, slice)]
        if self.values is None or any(len(getattr(part, "shape", ())) for part in arrays):
            return None
        count = sum(part is None or isinstance(part, slice) for part in parts[position + 1 :])
        count += 0 if any(part is Ellipsis for part in parts[:position]) else implied
        if not self.values:
            return count
        fits = len(self.values) <= count or self.values[-1 - count] == 1
        return count if fits and not arrays else None

    def _part(self, part: Any) -> Any:
        """Returns one part of the index as None, Ellipsis, an int, a slice of ints, a LoopIndex or an array."""
        if part is None or part is Ellipsis or has_mark(part, "__graphc_index__"):
            return part
        if isinstance(part, slice):
            bounds = cast("slice[Any, Any, Any]", part)
            return slice(*map(self._bound, (bounds.start, bounds.stop, bounds.step)))
        if isinstance(part, bool | np.bool_):
            raise self._invalid(
                f"{part} is not an index; use None for a new axis, and gx.where to choose", InvalidTypeError
            )
        if isinstance(part, int | np.integer):
            return int(cast("int", part))
        if isinstance(part, list | tuple) and not part:
            return np.zeros(0, np.int32)
        try:
            value = operand(part)
        except GraphcError as error:
            if isinstance(part, SupportsIndex):
                tell_of_method(part, "__index__")
                return part.__index__()
            raise self._invalid(f"{part!r:.60} is not an index: {error.args[0]}", InvalidTypeError) from None
        type = type_of_any(value)
        if type.dtype.kind not in "iub":
            raise self._invalid(f"an index must have integers or bools, got {type}", InvalidTypeError)
        return value

    def _bound(self, bound: Any) -> int | None:
        if bound is None:
            return None
        if hasattr(bound, "window"):
            return bound  # it determines the width once the size of the axis is known
        if is_symbolic(bound):
            if (late := late_value(bound)) is not None:
                return late
            raise self._refuse(
                f"a slice bound is a tensor without a value ({type_of_any(bound)}), so the result would have no static "
                "shape; use gx.dynamic_slice(x, starts, sizes), or gx.take with positions"
            )
        if not hasattr(bound, "__index__"):
            raise self._invalid(f"a slice bound must be an int or None, got {bound!r:.60}", InvalidTypeError)
        tell_of_method(bound, "__index__")
        return bound.__index__()

    def _encode(self, part: Any, axis: int) -> None:
        if part is None:
            self.items.append(None)
        elif part is Ellipsis:
            self.items.append("...")
        elif isinstance(part, slice):
            self._slice(cast("slice[Any, Any, Any]", part), self.shape[axis])
        elif isinstance(part, int):
            position = checked_position(part, axis, self.shape[axis])
            if self._is_eager:
                self._tensor(position)
            else:
                self.items.append(position)
        elif has_mark(part, "__graphc_index__"):
            self._tensor(self._loop_index(part, axis))
        else:
            if isinstance(part, np.ndarray) and part.size:
                for extreme in (int(part.min()), int(part.max())):
                    checked_position(extreme, axis, self.shape[axis])
            self._tensor(part)

    def _tensor(self, tensor: Any) -> None:
        self.items.append("tensor")
        self.tensors.append(tensor)

    def _slice(self, part: slice[Any, Any, Any], size: int) -> None:
        bounds = (part.start, part.stop, part.step)
        if size == OPEN or any(isinstance(bound, LateValue) for bound in bounds):
            self.items.append((part.start, part.stop, part.step))
            return
        moving = next((bound for bound in bounds if hasattr(bound, "window")), None)
        if moving is not None:
            start, width = moving.window(part, size)
            self.items.append(("window", width))
            self.tensors.append(start)
            return
        start, stop, step = part.indices(size)
        if self._is_eager and step == 1 and 0 < stop - start < size:
            self.items.append(("window", stop - start))
            self.tensors.append(start)
        else:
            self.items.append((part.start, part.stop, part.step))

    def _mask(self, mask: Any, axis: int, behind: int | None) -> None:
        axes = len(mask.shape)
        covered = self.shape[axis : axis + axes]
        empty = 0 in mask.shape
        sides = type_of_any(mask).shape
        fits = len(covered) == axes and all(
            size in (side, 0) or OPEN in (size, side) for size, side in zip(sides, covered, strict=True)
        )
        if not fits or (not axes and behind is None):
            raise self._out_of_range(f"a mask of shape {tuple(mask.shape)} on axes of shape {covered}")
        if empty:  # it selects nothing, whatever its values; NumPy accepts it even if the axes are not empty
            for _ in covered:
                self._tensor(np.zeros(0, np.int32))
            return
        if behind is not None:
            self.items.append(("mask", axes, behind))
            self.tensors.append(mask)
            return
        if is_symbolic(mask) and is_by_hand():
            for positions in FUNCTIONS["nonzero"](mask):  # as many as the run finds
                self._tensor(positions)
            return
        if is_symbolic(mask):
            raise self._refuse(self._unknown_mask(type_of_any(mask)))
        for positions in np.nonzero(np.asarray(mask)):
            self._tensor(positions.astype(np.int32))

    def _unknown_mask(self, type: TensorType) -> str:
        if self.values is None:
            return (
                f"a mask ({type}) whose values are not known while the function is traced: the result would have no "
                "static shape; for a sum use gx.sum(gx.where(mask, x, 0)), for a mean divide that by gx.sum(mask)"
            )
        return (
            f"a mask ({type}) whose values are not known while the function is traced, and values of shape "
            f"{self.values} that would have to match the number of selected elements; use gx.where(mask, values, x) "
            "with values for all elements"
        )

    def _loop_index(self, index: IndexLike, axis: int) -> Tensor:
        size = self.shape[axis]
        if size == OPEN:
            return index.tensor
        if index.low < -size or index.high >= size:
            index.give_up(f"the loop's index runs from {index.low} to {index.high}, outside axis {axis} of size {size}")
        return index.tensor

    def _invalid(self, message: str, kind: type[InvalidArgumentError] = InvalidArgumentError) -> InvalidArgumentError:
        return kind(self._message(message)).here()

    def _refuse(self, message: str) -> GraphcError:
        return current_trace().refuse(InvalidArgumentError(self._message(message)))

    def _message(self, message: str) -> str:
        shape = str(tuple("?" if size == OPEN else size for size in self.shape)).replace("'", "")
        return f"index of a tensor of shape {shape}: {message}"

    def _out_of_range(self, message: str) -> InvalidArgumentError:
        return self._invalid(message, OutOfRangeError)


def _is_mask(part: Any) -> bool:
    """Returns True if a part of the index is an array or tensor of booleans."""
    return not isinstance(part, slice) and getattr(getattr(part, "dtype", None), "kind", "") == "b"


def _axes_of(part: Any) -> int:
    """Returns the number of axes that a part of the index covers."""
    if part is None or part is Ellipsis:
        return 0
    return len(part.shape) if _is_mask(part) else 1


# Places that lie a step apart, read and written without a gather or a scatter.

lax: Any = _lax  # its functions are only partly annotated
COMBINE: dict[str, Any] = {"add": jnp.add, "multiply": jnp.multiply, "min": jnp.minimum, "max": jnp.maximum}


class StridedColumn(NamedTuple):
    """Every k-th place of an axis, all along it: a column of the array in which k places in a row are an axis."""

    # XLA reads and writes it as part of what surrounds it, where a slice with a step is a loop of its own: a loop that
    # averages even and odd places in turn took 1.4 times as long.

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


def column_of(x: Any, index: tuple[Any, ...]) -> StridedColumn | None:
    """Returns the column that an index names; None where it names something else."""
    axis, columns = 0, list[StridedColumn]()
    for position, item in enumerate(index):
        if item == "...":
            axis = x.ndim - (len(index) - position - 1)
            continue
        if not isinstance(item, tuple) or isinstance(item[0], str):
            return None
        positions = range(x.shape[axis])[slice(*cast("tuple[Any, ...]", item))]
        if positions != range(x.shape[axis]):
            step = positions.step
            if not 1 < step <= _MOST_COLUMNS or positions.start >= step or len(positions) * step != x.shape[axis]:
                return None
            columns.append(StridedColumn(axis, positions.start, step))
        axis += 1
    return columns[0] if len(columns) == 1 else None


def put_column(x: Any, values: Any, column: StridedColumn, how: str) -> jax.Array:
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
    """Returns the positions on each axis that slices with steps name, if these are many; None otherwise."""
    # XLA writes separate positions one by one, which takes longer than rewriting everything (every other one of 10**6
    # floats: 1.6 ms versus 0.9), up to every eighth.
    if not all(isinstance(item, tuple) and not isinstance(item[0], str) for item in index if item != "..."):
        return None
    slices: list[slice[Any, Any, Any]] = [slice(None)] * x.ndim
    front = index.index("...") if "..." in index else len(index)
    slices[:front] = [slice(*item) for item in index[:front]]
    behind = [slice(*item) for item in index[front + 1 :]]
    slices[len(slices) - len(behind) :] = behind
    spans: list[range] = [range(size)[part] for size, part in zip(x.shape, slices, strict=True)]
    steps = [span.step for span in spans if len(span) > 1]
    count = math.prod(map(len, spans))
    return spans if count and max(steps, default=1) > 1 and min(steps) > 0 and 8 * count >= x.size else None


def put_grid(x: Any, values: Any, spans: Sequence[range], how: str) -> jax.Array:
    """Returns an array with the elements at some positions of each axis changed."""
    counts = tuple(map(len, spans))
    try:
        values = jnp.broadcast_to(without_leading_ones(values, x.ndim), counts)
    except ValueError:
        raise misfit(values.shape, counts) from None
    sides = [
        (span[0], size - 1 - span[-1], span.step - 1 if len(span) > 1 else 0)
        for size, span in zip(x.shape, spans, strict=True)
    ]
    values = lax.pad(values, jnp.zeros((), values.dtype), sides)
    chosen: Any = None
    for axis, (span, size) in enumerate(zip(spans, x.shape, strict=True)):
        if len(span) == size:
            continue
        at_axis = lax.broadcasted_iota(np.int32, x.shape, axis)
        inside = (at_axis >= span[0]) & (at_axis <= span[-1])
        inside &= (at_axis - span[0]) % span.step == 0
        chosen = inside if chosen is None else chosen & inside
    return jnp.where(chosen, values if how == "set" else COMBINE[how](x, values), x)


def misfit(actual: tuple[int, ...], wanted: tuple[int, ...]) -> ValueError:
    """Returns the error for values of another shape than the places have."""
    return ValueError(f"values of shape {actual} do not fit elements of shape {wanted}")


def without_leading_ones(values: Any, ndim: int) -> Any:
    """Removes leading axes of size 1, which NumPy allows values to have beyond those of the elements."""
    extra = values.ndim - ndim
    fits = extra > 0 and all(size == 1 for size in values.shape[:extra])
    return values.reshape(values.shape[extra:]) if fits else values
