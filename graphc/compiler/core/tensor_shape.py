"""TensorShape: a shape whose sizes, or number of axes, may be unknown."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NoReturn, SupportsIndex, cast

from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError
from graphc.compiler.ir import OPEN, TensorType

# Dimension: a size in a shape, which may be unknown.


def shape_error(message: str) -> InvalidArgumentError:
    """Returns the error for an invalid shape, with the user's line."""
    return InvalidArgumentError(message).here()


def as_size(value: Any) -> int | None:
    """Returns a size as an int; None if it is unknown."""
    if value is None or isinstance(value, Dimension):
        return None if value is None else value.value
    try:
        size = operator.index(value)
    except TypeError:
        raise InvalidTypeError(
            f"a size of a shape must be an int or None, got {type(value).__name__} {value!r:.60}"
        ).here() from None
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
        raise InvalidTypeError("a Dimension cannot be divided by /, which may not give a whole number; use //").here()

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


Sizes = tuple[int | None, ...]


class TensorShape(tuple[int | None, ...]):
    """A shape whose sizes, or even number of axes, may be unknown (TensorFlow's TensorShape).

    It is a tuple of its sizes, with None for an unknown one, and equal to such a tuple or list.

    Its argument is a sequence of ints, Dimensions and None; a single size; or None if even the number of axes is
    unknown.

    Raises:
      InvalidTypeError: a size is not a whole number.
      InvalidArgumentError: a size is negative.

    Example:
      >>> shape = TensorShape([None, 3])
      >>> shape.merge_with([2, None]), shape.is_compatible_with((2, 4)), shape.as_list()
      (TensorShape([2, 3]), False, [None, 3])
      >>> TensorShape(None).rank is None
      True
    """

    _ranked: bool

    def __new__(cls, dims: Any = ()) -> TensorShape:
        """Makes a shape; see the class."""
        if isinstance(dims, TensorShape):
            return dims
        shape = tuple.__new__(cls, () if dims is None else _sizes(dims))
        shape._ranked = dims is not None
        return shape

    @classmethod
    def of(cls, type: TensorType) -> TensorShape:
        """Returns the shape of a tensor's type, with open sizes unknown."""
        if not type.ranked:
            return cls(None)
        return cls([None if size == OPEN else size for size in type.shape])

    @property
    def rank(self) -> int | None:
        """The number of axes; None if it is unknown."""
        return tuple.__len__(self) if self._ranked else None

    @property
    def ndims(self) -> int | None:
        """The number of axes; None if it is unknown."""
        return self.rank

    @property
    def dims(self) -> list[Dimension] | None:
        """The sizes as Dimensions; None if their number is unknown."""
        return [Dimension(size) for size in self] if self._ranked else None

    def as_list(self) -> list[int | None]:
        """Returns the sizes as a list, with None for an unknown one.

        Raises:
          InvalidArgumentError: the number of axes is unknown.
        """
        if not self._ranked:
            raise shape_error("as_list() is not defined on an unknown TensorShape")
        return list(self)

    def num_elements(self) -> int | None:
        """Returns the number of elements; None if it is unknown."""
        if not self.is_fully_defined():
            return None
        return math.prod(cast("Iterable[int]", self))

    def is_fully_defined(self) -> bool:
        """Returns True if all sizes are known."""
        return self._ranked and None not in tuple(self)

    def is_compatible_with(self, other: Any) -> bool:
        """Returns True if a tensor may have both shapes."""
        shape = TensorShape(other)
        if not (self._ranked and shape._ranked):
            return True
        return self.rank == shape.rank and all(
            first is None or second is None or first == second for first, second in zip(self, shape, strict=True)
        )

    def is_subtype_of(self, other: Any) -> bool:
        """Returns True if every tensor of this shape also has the other one."""
        shape = TensorShape(other)
        if not (self._ranked and shape._ranked):
            return not shape._ranked
        return self.rank == shape.rank and all(
            second is None or first == second for first, second in zip(self, shape, strict=True)
        )

    def merge_with(self, other: Any) -> TensorShape:
        """Returns the shape of a tensor that has both shapes.

        Raises:
          InvalidArgumentError: no tensor has both shapes.
        """
        shape = TensorShape(other)
        if not self._ranked or not shape._ranked:
            return shape if not self._ranked else self
        if not self.is_compatible_with(shape):
            raise shape_error(f"Shapes {self} and {shape} are not compatible")
        return TensorShape([second if first is None else first for first, second in zip(self, shape, strict=True)])

    def most_specific_compatible_shape(self, other: Any) -> TensorShape:
        """Returns the most specific shape that is compatible with both."""
        shape = TensorShape(other)
        if self.rank is None or self.rank != shape.rank:
            return TensorShape(None)
        return TensorShape([first if first == second else None for first, second in zip(self, shape, strict=True)])

    def concatenate(self, other: Any) -> TensorShape:
        """Returns this shape with another's axes appended."""
        shape = TensorShape(other)
        if not (self._ranked and shape._ranked):
            return TensorShape(None)
        return TensorShape((*self, *shape))

    def with_rank(self, rank: int) -> TensorShape:
        """Returns the shape with its number of axes set to ``rank``.

        Raises:
          InvalidArgumentError: the shape has another number of axes.
        """
        if not self._ranked:
            return TensorShape([None] * rank)
        return self._with(self.rank == rank, f"rank {rank}")

    def with_rank_at_least(self, rank: int) -> TensorShape:
        """Returns the shape, after checking its number of axes.

        Raises:
          InvalidArgumentError: the shape has fewer axes.
        """
        return self._with(not self._ranked or tuple.__len__(self) >= rank, f"rank at least {rank}")

    def with_rank_at_most(self, rank: int) -> TensorShape:
        """Returns the shape, after checking its number of axes.

        Raises:
          InvalidArgumentError: the shape has more axes.
        """
        return self._with(not self._ranked or tuple.__len__(self) <= rank, f"rank at most {rank}")

    def _with(self, holds: bool, what: str) -> TensorShape:
        if not holds:
            raise shape_error(f"Shape {self} must have {what}")
        return self

    def assert_has_rank(self, rank: int) -> None:
        """Raises unless the shape may have ``rank`` axes."""
        self.with_rank(rank)

    def assert_same_rank(self, other: Any) -> None:
        """Raises unless both shapes may have the same number of axes."""
        shape = TensorShape(other)
        if self._ranked and shape._ranked and self.rank != shape.rank:
            raise shape_error(f"Shapes {self} and {shape} must have the same rank")

    def assert_is_compatible_with(self, other: Any) -> None:
        """Raises unless a tensor may have both shapes."""
        if not self.is_compatible_with(other):
            raise shape_error(f"Shapes {self} and {TensorShape(other)} are incompatible")

    def assert_is_fully_defined(self) -> None:
        """Raises unless all sizes are known."""
        if not self.is_fully_defined():
            raise shape_error(f"Shape {self} is not fully defined")

    def __len__(self) -> int:
        if not self._ranked:
            raise shape_error("the number of axes of this shape is unknown, so it has no length")
        return tuple.__len__(self)

    def __bool__(self) -> bool:
        return self._ranked

    def __iter__(self) -> Iterator[int | None]:
        if not self._ranked:
            raise shape_error("the number of axes of this shape is unknown, so it cannot be iterated over")
        return iter(self._sizes())

    def __getitem__(self, index: SupportsIndex | slice) -> Any:
        if self._ranked:
            sizes = self._sizes()
            return TensorShape(sizes[index]) if isinstance(index, slice) else sizes[index]
        if not isinstance(index, slice):
            return None
        start, stop = index.start or 0, index.stop
        if stop is None or start < 0 or stop < 0 or index.step not in (None, 1):
            return TensorShape(None)
        return TensorShape([None] * max(int(stop) - int(start), 0))

    def _sizes(self) -> Sizes:
        return tuple(cast("Iterator[int | None]", tuple.__iter__(self)))

    def __add__(self, other: Any) -> TensorShape:  # pyright: ignore[reportIncompatibleMethodOverride]
        return self.concatenate(other)

    def __radd__(self, other: Any) -> TensorShape:
        return TensorShape(other).concatenate(self)

    def __eq__(self, other: object) -> bool:
        try:
            shape = TensorShape(other)
        except (TypeError, ValueError):
            return NotImplemented
        return self._ranked == shape._ranked and tuple.__eq__(self, shape)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return tuple.__hash__(self) if self._ranked else hash(TensorShape)

    def __reduce__(self) -> Any:
        return TensorShape, (self.as_list() if self._ranked else None,)

    def __str__(self) -> str:
        if not self._ranked:
            return "<unknown>"
        return f"({', '.join(map(str, self))}{',' if self.rank == 1 else ''})"

    def __repr__(self) -> str:
        return f"TensorShape({self.as_list() if self._ranked else None})"


def _sizes(dims: Any) -> Iterable[int | None]:
    if isinstance(dims, str):
        raise InvalidTypeError(f"a shape is a list of sizes, or one size; got {dims!r:.60}").here()
    if isinstance(dims, Sequence) or (hasattr(dims, "__iter__") and not isinstance(dims, Dimension)):
        return map(as_size, cast("Sequence[Any]", dims))
    return (as_size(dims),)
