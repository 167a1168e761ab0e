"""Index notation: what stands between the brackets, split into a static attribute and tensors.

The attribute is a tuple with one item per part of the index: an int, a slice as ``(start, stop, step)``, ``None`` for
a new axis, ``"..."``, ``"tensor"`` for the next input, and ``("window", size)`` for a slice of this size that starts at
the next input.

In eager mode ints and slices are given as inputs, so that a loop over positions compiles one program, not one for
each position. In a graph they are static, so that XLA sees them.
"""

from __future__ import annotations

from typing import Any, Protocol, cast

import numpy as np

from graphc.base import at, user_location
from graphc.base.errors import GraphcError, InvalidArgumentError, InvalidTypeError, OutOfRangeError
from graphc.core import Tensor, context, current_trace, is_symbolic, operand, type_of_any

__all__ = ["IndexEncoder", "LoopIndex", "checked_position"]


class LoopIndex(Protocol):
    """The index of a rolled loop, whose range is known; such an object has an attribute ``__graphc_index__``.

    Attributes:
      tensor: the symbolic 0-d tensor.
      low: its smallest value.
      high: its largest value.
    """

    __graphc_index__: Any
    tensor: Tensor
    low: int
    high: int

    def give_up(self, reason: str) -> Any:
        """Gives the rolled loop up, since the index must be a Python int; does not return."""
        ...


def checked_position(position: int, axis: int, size: int) -> int:
    """The position counted from the start.

    Raises:
      OutOfRangeError: it lies outside the axis.
    """
    if not -size <= position < size:
        error = OutOfRangeError(f"index {position} is out of range for axis {axis} of size {size}")
        raise at(error, user_location())
    return position + size if position < 0 else position


class IndexEncoder:
    """One index on its way to an attribute and inputs.

    Args:
      shape: of the tensor that is indexed.
      index: what the user wrote between the brackets.
      windows: whether slices may become windows.
    """

    def __init__(self, shape: tuple[int, ...], index: Any, *, windows: bool) -> None:
        self.shape = shape
        self.index = index
        self.windows = windows
        self.items: list[Any] = []
        self.tensors: list[Any] = []

    def encode(self) -> tuple[tuple[Any, ...], list[Any]]:
        """The attribute and the inputs."""
        given = cast("tuple[Any, ...]", self.index) if isinstance(self.index, tuple) else (self.index,)
        parts = [self._part(part) for part in given]
        used = sum(_axes_of(part) for part in parts)
        if used > len(self.shape):
            raise self._out_of_range(f"{used} indices for {len(self.shape)} axes")
        if sum(part is Ellipsis for part in parts) > 1:
            raise self._invalid("'...' may stand only once")
        axis = 0
        for part in parts:
            if part is Ellipsis:
                axis += len(self.shape) - used
            self._encode(part, axis)
            axis += _axes_of(part)
        return tuple(self.items), self.tensors

    def _part(self, part: Any) -> Any:
        """One part of the index as None, Ellipsis, an int, a slice of ints, a LoopIndex or an array."""
        if part is None or part is Ellipsis or hasattr(part, "__graphc_index__"):
            return part
        if isinstance(part, slice):
            bounds = cast("slice[Any, Any, Any]", part)
            return slice(*map(self._bound, (bounds.start, bounds.stop, bounds.step)))
        if isinstance(part, bool | np.bool_):
            raise self._invalid(
                f"{part} is no index; use None for a new axis, and gx.where to choose", InvalidTypeError
            )
        if isinstance(part, int | np.integer):
            return int(cast("int", part))
        if isinstance(part, list | tuple) and not part:
            return np.zeros(0, np.int32)
        try:
            value = operand(part)
        except GraphcError as error:
            raise self._invalid(f"{part!r:.60} is no index: {error.args[0]}", InvalidTypeError) from None
        type = type_of_any(value)
        if type.dtype.kind == "b" and is_symbolic(value):
            raise self._refuse(
                f"a mask ({type}) whose values are not known while the function is traced: the result would have no "
                "static shape; use gx.where(mask, x, 0), or multiply by the mask"
            )
        if type.dtype.kind not in "iub":
            raise self._invalid(f"an index must be of integers or bools, got {type}", InvalidTypeError)
        return np.asarray(value) if type.dtype.kind == "b" else value

    def _bound(self, bound: Any) -> int | None:
        if bound is None:
            return None
        if hasattr(bound, "__graphc_index__"):
            bound.give_up("a slice bound must be a Python int")
        if is_symbolic(bound):
            raise self._refuse(
                f"a slice bound is a tensor without a value ({type_of_any(bound)}), so the result would have no static "
                "shape; use gx.dynamic_slice(x, starts, sizes), or gx.take with positions"
            )
        if not hasattr(bound, "__index__"):
            raise self._invalid(f"a slice bound must be an int or None, got {bound!r:.60}", InvalidTypeError)
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
            if context.trace is None:
                self._tensor(position)
            else:
                self.items.append(position)
        elif hasattr(part, "__graphc_index__"):
            self._tensor(self._loop_index(part, axis))
        elif isinstance(part, np.ndarray) and part.dtype.kind == "b":
            self._mask(cast("np.ndarray[Any, Any]", part), axis)
        else:
            if isinstance(part, np.ndarray) and part.size:
                for extreme in (int(part.min()), int(part.max())):
                    checked_position(extreme, axis, self.shape[axis])
            self._tensor(part)

    def _tensor(self, tensor: Any) -> None:
        self.items.append("tensor")
        self.tensors.append(tensor)

    def _slice(self, part: slice[Any, Any, Any], size: int) -> None:
        start, stop, step = part.indices(size)
        if self.windows and step == 1 and 0 < stop - start < size:
            self.items.append(("window", stop - start))
            self.tensors.append(start)
        else:
            self.items.append((part.start, part.stop, part.step))

    def _mask(self, mask: np.ndarray[Any, Any], axis: int) -> None:
        covered = self.shape[axis : axis + mask.ndim]
        if mask.shape != covered or not mask.ndim:
            raise self._out_of_range(f"a mask of shape {mask.shape} on axes of shape {covered}")
        for positions in np.nonzero(mask):
            self._tensor(positions.astype(np.int32))

    def _loop_index(self, index: LoopIndex, axis: int) -> Tensor:
        size = self.shape[axis]
        if index.low < -size or index.high >= size:
            index.give_up(f"the loop's index runs from {index.low} to {index.high}, outside axis {axis} of size {size}")
        return index.tensor

    def _invalid(self, message: str, kind: type[InvalidArgumentError] = InvalidArgumentError) -> InvalidArgumentError:
        return at(kind(self._message(message)), user_location())

    def _refuse(self, message: str) -> GraphcError:
        return current_trace().refuse(InvalidArgumentError(self._message(message)))

    def _message(self, message: str) -> str:
        return f"index of a tensor of shape {self.shape}: {message}"

    def _out_of_range(self, message: str) -> InvalidArgumentError:
        return self._invalid(message, OutOfRangeError)


def _axes_of(part: Any) -> int:
    """How many axes a part of the index stands for."""
    if part is None or part is Ellipsis:
        return 0
    return part.ndim if isinstance(part, np.ndarray) and part.dtype.kind == "b" else 1
