"""Dimension: a size in a shape, which may be unknown."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NoReturn

from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError

__all__ = ["Dimension", "as_size", "shape_error"]


def shape_error(message: str) -> InvalidArgumentError:
    """Returns the error for an invalid shape, with the user's line."""
    return at(InvalidArgumentError(message), user_location())


def as_size(value: Any) -> int | None:
    """Returns a size as an int; None if it is unknown.

    Raises:
      InvalidTypeError: the size is not a whole number.
      InvalidArgumentError: the size is negative.
    """
    if value is None or isinstance(value, Dimension):
        return None if value is None else value.value
    try:
        size = operator.index(value)
    except TypeError:
        error = InvalidTypeError(f"a size of a shape must be an int or None, got {type(value).__name__} {value!r:.60}")
        raise at(error, user_location()) from None
    if size < 0:
        raise shape_error(f"a size of a shape must be at least 0, or None if unknown; got {size}")
    return size


def _quotient(first: int, second: int) -> int:
    return first // second


def _modulo(first: int, second: int) -> int:
    return first % second


class Dimension:
    """A size in a shape, which may be unknown (TensorFlow 1's Dimension).

    Arithmetic with an unknown size returns an unknown Dimension, and comparisons with one return None.

    Args:
      value: an int of at least 0, another Dimension, or None.

    Attributes:
      value: the size; None if it is unknown.

    Raises:
      InvalidTypeError: ``value`` is not a whole number.
      InvalidArgumentError: ``value`` is negative.

    Example:
      >>> Dimension(3) + 2, Dimension(None) + 2, Dimension(3) == 3
      (Dimension(5), Dimension(None), True)
    """

    __slots__ = ("value",)

    value: int | None

    def __init__(self, value: Any) -> None:
        self.value = as_size(value)

    def is_compatible_with(self, other: Any) -> bool:
        """Returns True if both may be the same size."""
        size = as_size(other)
        return self.value is None or size is None or self.value == size

    def assert_is_compatible_with(self, other: Any) -> None:
        """Raises an error unless both may be the same size.

        Raises:
          InvalidArgumentError: both are known and differ.
        """
        if not self.is_compatible_with(other):
            raise shape_error(f"Dimensions {self} and {Dimension(other)} are not compatible")

    def merge_with(self, other: Any) -> Dimension:
        """Returns the size that satisfies both dimensions.

        Raises:
          InvalidArgumentError: both are known and differ.
        """
        self.assert_is_compatible_with(other)
        return Dimension(other if self.value is None else self.value)

    def _binary(self, operation: Callable[[int, int], int], other: Any, reflected: bool = False) -> Any:
        try:
            size = as_size(other)
        except InvalidTypeError:
            return NotImplemented
        if self.value is None or size is None:
            return Dimension(None)
        return Dimension(operation(size, self.value) if reflected else operation(self.value, size))

    def __add__(self, other: Any) -> Any:
        return self._binary(operator.add, other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self._binary(operator.sub, other)

    def __rsub__(self, other: Any) -> Any:
        return self._binary(operator.sub, other, reflected=True)

    def __mul__(self, other: Any) -> Any:
        return self._binary(operator.mul, other)

    __rmul__ = __mul__

    def __floordiv__(self, other: Any) -> Any:
        return self._binary(_quotient, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return self._binary(_quotient, other, reflected=True)

    def __mod__(self, other: Any) -> Any:
        return self._binary(_modulo, other)

    def __rmod__(self, other: Any) -> Any:
        return self._binary(_modulo, other, reflected=True)

    def __truediv__(self, other: Any) -> NoReturn:
        error = InvalidTypeError("a Dimension cannot be divided by /, which may not give a whole number; use //")
        raise at(error, user_location())

    __rtruediv__ = __truediv__

    def _compared(self, operation: Callable[[int, int], bool], other: Any) -> Any:
        try:
            size = as_size(other)
        except InvalidTypeError:
            return NotImplemented
        return None if self.value is None or size is None else operation(self.value, size)

    def __eq__(self, other: object) -> Any:
        return self._compared(operator.eq, other)

    def __ne__(self, other: object) -> Any:
        return self._compared(operator.ne, other)

    def __lt__(self, other: Any) -> Any:
        return self._compared(operator.lt, other)

    def __le__(self, other: Any) -> Any:
        return self._compared(operator.le, other)

    def __gt__(self, other: Any) -> Any:
        return self._compared(operator.gt, other)

    def __ge__(self, other: Any) -> Any:
        return self._compared(operator.ge, other)

    # == may return None, so dimensions cannot be keys.
    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __index__(self) -> int:
        if self.value is None:
            raise shape_error("the size of this Dimension is not known")
        return self.value

    __int__ = __index__

    def __str__(self) -> str:
        return "?" if self.value is None else str(self.value)

    def __repr__(self) -> str:
        return f"Dimension({self.value})"

    def __reduce__(self) -> Any:
        return Dimension, (self.value,)
