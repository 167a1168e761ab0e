"""LoopIndex: the index of a ``range`` loop while its body is traced once for all iterations.

To the body it is a Python int whose value is not known, only its bounds. Arithmetic that stays an int keeps the
bounds, so that nothing overflows where Python's ints would not. What else Python's numbers can do, Python does for all
iterations (see :mod:`graphc.autograph.values.course`). Whatever needs the number itself (an index into a list, a shape,
a format) gives the attempt up, and the loop is unrolled.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NoReturn, cast

import numpy as np

from graphc.autograph.values.course import Course, Courses, plain_kind
from graphc.autograph.values.exact import compare_exactly
from graphc.autograph.values.number import SymbolicNumber, number
from graphc.autograph.values.protocol import Symbolic, as_tensor, course_in, refuses
from graphc.autograph.values.spans import Span
from graphc.base.errors import InternalError
from graphc.core import ArrayMethods, SymbolicTensor, Tensor, apply, dtype_rules, operand
from graphc.ir import OPS, Attrs
from graphc.ops import AS_NUMBER
from graphc.tracing import Region

__all__ = ["LoopIndex", "as_tensor", "held_as_int", "is_symbolic", "limited", "loop_position", "window"]

_INT32 = np.iinfo(np.int32)
_EXACT_IN_FLOAT32 = 2**24  # float32 holds all ints up to it
_PYTHON: dict[str, Any] = {
    "abs": abs,
    "add": operator.add,
    "floor_divide": operator.floordiv,
    "maximum": max,
    "minimum": min,
    "multiply": operator.mul,
    "pow": operator.pow,
    "remainder": operator.mod,
    "subtract": operator.sub,
}


@dataclass(frozen=True)
class Sum:
    """A sum of multiples of ints that are not known, and an int.

    Attributes:
      terms: how often each of them is in it.
      offset: the int.
    """

    terms: Mapping[Any, int]
    offset: int

    @staticmethod
    def of(op: str, operands: Sequence[Sum]) -> Sum | None:
        """Returns what an op makes of sums; None if that is no sum."""
        if op in ("add", "subtract"):
            return operands[0].plus(operands[1], 1 if op == "add" else -1)
        if op == "multiply" and not all(operand.terms for operand in operands):
            first, second = operands if operands[0].terms else reversed(operands)
            return Sum({}, 0).plus(first, second.offset)
        return None

    def plus(self, other: Sum, times: int) -> Sum:
        """Returns the sum with a multiple of another one."""
        terms = dict(self.terms)
        for part, count in other.terms.items():
            terms[part] = terms.get(part, 0) + times * count
        # i - i leaves no term: a[i : i + 3] has the width 3.
        return Sum({part: count for part, count in terms.items() if count}, self.offset + times * other.offset)


_COMPARISONS: dict[str, Callable[..., Any]] = {
    "less": operator.lt, "less_equal": operator.le, "greater": operator.gt, "greater_equal": operator.ge,
    "equal": operator.eq, "not_equal": operator.ne,
}  # fmt: skip


def _of_bits(symbol: str) -> Callable[[LoopIndex, Any], Any]:
    return lambda self, other: self.unlike_int(symbol, self, other)


def _reflected(symbol: str) -> Callable[[LoopIndex, Any], Any]:
    return lambda self, other: self.unlike_int(symbol, other, self)


@refuses(
    {
        "__array__": "a NumPy function",
        "__array_ufunc__": "a NumPy function",
        "__bool__": "bool()",
        "__complex__": "complex()",
        "__float__": "float()",
        "__format__": "a formatted string",
        "__hash__": "a key of a dict or set",
        "__index__": "an index or a size",
        "__int__": "int()",
        "__str__": "str()",
    }
)
class LoopIndex(Symbolic):
    """An int of which only the bounds are known.

    Args:
      tensor: its value in the graph, a weakly typed scalar of integers.
      low: the smallest value it takes.
      high: the largest value it takes.
      region: the loop body that is being attempted.
      last: its value in the last iteration of that loop; None where that is not known.
      course: its value in each iteration of that loop; None where it depends on other loops too, or they are too many.
      form: the sum that it is, if it is one; see :class:`Sum`.
    """

    __slots__ = ("course", "form", "high", "last", "low", "region", "tensor")

    __graphc_index__ = True

    def __init__(
        self,
        tensor: Tensor,
        low: int,
        high: int,
        region: Region,
        last: int | None,
        course: Course | None = None,
        form: Sum | None = None,
    ) -> None:
        self.tensor = tensor
        self.low = low
        self.high = high
        self.region = region
        self.last = last
        self.course = course
        self.form = Sum({tensor.raw: 1}, 0) if form is None else form

    def give_up(self, use: str) -> NoReturn:
        """Ends the attempt to roll the loop, because ``use`` needs the index as a Python int."""
        self.region.abort(f"{use} needs the loop's index as a Python int")
        raise InternalError("a loop index outside an attempt to roll a loop")

    def python_type(self) -> type[Any]:
        """Returns ``int``."""
        return int

    def bounds(self) -> Span:
        """Returns between which ints it lies."""
        return Span(self.low, self.high)

    def course_in_loop(self) -> Course | None:
        """Returns what it is in each iteration, where that is known."""
        return self.course

    def as_tensor(self) -> Tensor:
        """Returns its value in the graph."""
        return self.tensor

    def converted(self, kind: type[Any]) -> Any:
        """Returns it as an int, or as a number of another kind that the program computes."""
        if kind is int:
            return self
        return number(self.tensor if kind is bool else self.as_float(), kind)

    def maker(self) -> Callable[[SymbolicTensor], SymbolicNumber]:
        """Returns what makes a number like this one of a tensor."""
        return partial(SymbolicNumber, kind=int)

    def snapshot(self) -> LoopIndex:
        """Returns the index itself, which has no items to assign."""
        return self

    def check_given(self, function: Any) -> None:
        """Ends the attempt to roll the loop, unless the function asks by a special method that the index has."""
        if function not in _ASKING_INDICES:
            self.give_up(f"the call of {getattr(function, '__name__', function)}")

    refuse = give_up

    def _by_trip(self, native: Callable[..., Any], *operands: Any) -> Any:
        """Returns what Python computes of numbers in each iteration; NotImplemented if they are not of one loop."""
        parts = [_course(value) for value in operands]
        if self.course is None or any(part is None for part in parts):
            return NotImplemented
        if any(isinstance(part, Course) and part.loop is not self.course.loop for part in parts):
            return NotImplemented
        return self.course.loop.number(native, *parts)

    def _make(self, op: str, other: Any, corners: list[int], swap: bool = False) -> Any:
        low, high = min(corners), max(corners)
        operands: tuple[Any, ...] = (self,) if other is None else (other, self) if swap else (self, other)
        if low < _INT32.min or high > _INT32.max:
            found = self._by_trip(_PYTHON[op], *operands)  # Python's ints hold it in each iteration
            return self.give_up(f"the integer {op} could pass 32 bits, which") if found is NotImplemented else found
        tensors = list(map(as_tensor, operands))
        region = self._inner(other)
        lasts = [_last(value, region) for value in operands]  # after the loop its name holds an int
        last = None if None in lasts else _PYTHON[op](*lasts)
        course, parts = self.course, [_course(value) for value in operands]
        if course is not None:
            mine = all(part is not None and _loop_of(part) in (None, course.loop) for part in parts)
            course = course.loop.course(_PYTHON[op], *parts) if mine else None
        form = Sum.of(op, [value.form if isinstance(value, LoopIndex) else Sum({}, int(value)) for value in operands])
        return LoopIndex(apply(OPS[op], tensors), low, high, region, last, course, form)

    def window(self, bounds: slice[Any, Any, Any], size: int) -> tuple[Any, int]:
        """Returns where a slice with this bound begins, and its width; see :func:`window`."""
        return window(self, bounds, size)

    def _inner(self, other: Any) -> Region:
        """Returns the innermost loop body that a result depends on."""
        inside = isinstance(other, LoopIndex) and other.region.is_inside(self.region)
        return other.region if inside else self.region

    def limited(self, op: str, other: int | LoopIndex) -> LoopIndex:
        """Returns the ``"maximum"`` or ``"minimum"`` of the index and an int."""
        pick, bounds = _PYTHON[op], self._bounds(other)
        assert bounds is not None
        return self._make(op, other, [pick(self.low, bounds[0]), pick(self.high, bounds[1])])

    def as_float(self) -> Tensor:
        """Returns the number as a float of the same value."""
        found = self._by_trip(float, self)
        return self._float(None) + 0.0 if found is NotImplemented else found  # a cast would make a strong type

    def _with_float(self, native: Callable[..., Any], *operands: Any) -> Any:
        """Returns what is computed of the index and a float or complex number; NotImplemented for anything else."""
        other = next((value for value in operands if value is not self), None)
        if not isinstance(other, float | complex):
            return NotImplemented
        found = NotImplemented if isinstance(other, complex) else self._by_trip(native, *operands)
        if found is not NotImplemented:
            return found
        return native(*[self._float(other) if value is self else value for value in operands])

    @staticmethod
    def _bounds(other: Any) -> tuple[int, int] | None:
        if isinstance(other, LoopIndex):
            return other.low, other.high
        return (int(other), int(other)) if isinstance(other, int) else None

    def _float(self, other: Any) -> Tensor:
        del other
        if max(abs(self.low), abs(self.high)) >= _EXACT_IN_FLOAT32:
            self.give_up("a float made from a large index")
        return self.tensor

    def __add__(self, other: Any) -> Any:
        bounds = self._bounds(other)
        if bounds is None:
            return self._with_float(operator.add, self, other)
        return self._make("add", other, [self.low + bounds[0], self.high + bounds[1]])

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        bounds = self._bounds(other)
        if bounds is None:
            return self._with_float(operator.sub, self, other)
        return self._make("subtract", other, [self.low - bounds[1], self.high - bounds[0]])

    def __rsub__(self, other: Any) -> Any:
        bounds = self._bounds(other)
        if bounds is None:
            return self._with_float(operator.sub, other, self)
        return self._make("subtract", other, [bounds[0] - self.high, bounds[1] - self.low], swap=True)

    def __mul__(self, other: Any) -> Any:
        bounds = self._bounds(other)
        if bounds is None:
            return self._with_float(operator.mul, self, other)
        return self._make("multiply", other, [mine * its for mine in (self.low, self.high) for its in bounds])

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        found = self._by_trip(_SYMBOLS["/"], self, other)
        if found is not NotImplemented:
            return found
        if isinstance(other, int | float) and other == 0:  # unrolled, Python raises in the first iteration that divides
            self.give_up("division by zero")
        if isinstance(other, LoopIndex):
            self.give_up("the quotient of two indices")
        return self._float(other) / other if isinstance(other, int | float) else NotImplemented

    def __rtruediv__(self, other: Any) -> Any:
        found = self._by_trip(_SYMBOLS["/"], other, self)
        if found is not NotImplemented:
            return found
        if self.low <= 0 <= self.high:
            self.give_up("division by an index that may be zero")
        return other / self._float(other) if isinstance(other, int | float) else NotImplemented

    def __floordiv__(self, other: Any) -> Any:
        if not isinstance(other, int):
            return self.unlike_int("//", self, other)
        if other == 0:
            self.give_up("division by zero")
        # A quotient by a fixed int only grows or only falls, so that the ends bound it.
        return self._make("floor_divide", other, [self.low // other, self.high // other])

    def __mod__(self, other: Any) -> Any:
        if not isinstance(other, int) or other <= 0:
            return self.unlike_int("%", self, other)
        return self._make("remainder", other, [0, other - 1])

    def __neg__(self) -> Any:
        return self._make("multiply", -1, [-self.low, -self.high])  # unlike `negative`, it leaves the index a Sum

    def __pos__(self) -> LoopIndex:
        return self

    def unlike_int(self, symbol: str, *operands: Any) -> Any:
        """Returns an operation that no op on indices stands for; with a tensor it is the tensor's."""
        found = self._by_trip(_SYMBOLS[symbol], *operands)
        if found is NotImplemented and not any(isinstance(value, ArrayMethods) for value in operands):
            self.give_up(f"the operator {symbol}")
        return found

    __rfloordiv__, __rmod__, __rpow__ = _reflected("//"), _reflected("%"), _reflected("**")
    __and__, __or__, __xor__ = _of_bits("&"), _of_bits("|"), _of_bits("^")
    __rand__, __ror__, __rxor__ = _reflected("&"), _reflected("|"), _reflected("^")
    __lshift__, __rshift__ = _of_bits("<<"), _of_bits(">>")
    __rlshift__, __rrshift__ = _reflected("<<"), _reflected(">>")

    def __divmod__(self, other: Any) -> tuple[Any, Any]:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> tuple[Any, Any]:
        return other // self, other % self

    def __invert__(self) -> Any:
        return -1 - self

    def __abs__(self) -> Any:
        return self._make("abs", None, [abs(self.low), abs(self.high), *([0] if self.low < 0 < self.high else [])])

    def __round__(self, digits: int | None = None) -> LoopIndex:
        if digits is not None and not (type(digits) is int and digits >= 0):  # round(i, -1) rounds to tens
            self.give_up("round()")
        return self

    def __trunc__(self) -> LoopIndex:
        return self

    __floor__ = __ceil__ = __trunc__

    def __pow__(self, other: Any) -> Any:
        # The bounds of a larger power take Python long, and seldom fit.
        if not isinstance(other, int) or not 0 <= other <= 64:
            return self.unlike_int("**", self, other)
        # An even power is smallest at 0.
        corners = [self.low**other, self.high**other, *([0] if self.low < 0 < self.high else [])]
        return self._make("pow", other, corners)

    def _compare(self, op: str, other: Any) -> Any:
        if not isinstance(other, int | float | LoopIndex):
            return NotImplemented
        if isinstance(other, LoopIndex):
            found = apply(OPS[op], (self.tensor, other.tensor))
        else:
            found = compare_exactly(op, self.tensor, other)
        part = _course(other)
        if self.course is None or _loop_of(part) not in (None, self.course.loop) or not isinstance(found, Tensor):
            return found
        return self.course.loop.make(self.course.loop.course(_COMPARISONS[op], self.course, part), found)

    def __lt__(self, other: Any) -> Any:
        return self._compare("less", other)

    def __le__(self, other: Any) -> Any:
        return self._compare("less_equal", other)

    def __gt__(self, other: Any) -> Any:
        return self._compare("greater", other)

    def __ge__(self, other: Any) -> Any:
        return self._compare("greater_equal", other)

    def __eq__(self, other: Any) -> Any:
        return self._compare("equal", other)

    def __ne__(self, other: Any) -> Any:
        return self._compare("not_equal", other)

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("__") and hasattr(int, name):
            self.give_up(f".{name}")  # bit_length, say, which an unrolled index has
        raise AttributeError(f"'int' object has no attribute {name!r}")

    def __repr__(self) -> str:
        return f"<loop index from {self.low} to {self.high}>"


_ASKING_INDICES = frozenset({abs, divmod, pow, round, math.ceil, math.floor, math.trunc})
"""Builtins that ask a number by a special method, which a loop's index has."""

_SYMBOLS: dict[str, Callable[..., Any]] = {
    "/": operator.truediv, "//": operator.floordiv, "%": operator.mod, "**": operator.pow, "&": operator.and_,
    "|": operator.or_, "^": operator.xor, "<<": operator.lshift, ">>": operator.rshift,
}  # fmt: skip


def _course(value: Any) -> Any:
    """Returns an operand as what courses are computed of; None if it is no such number."""
    return course_in(value) if isinstance(value, Symbolic) else None if plain_kind(value) is None else value


def _loop_of(part: Any) -> Courses | None:
    return part.loop if isinstance(part, Course) else None


def window(index: Any, bounds: slice[Any, Any, Any], size: int) -> tuple[Any, int]:
    """Returns where a slice begins, and its width, which is the same in all iterations.

    Args:
      index: one of the bounds: the index of a loop, or another number that it knows for all iterations.
      bounds: the slice.
      size: of the axis that it is about.

    Raises:
      RegionAborted: the width changes from one iteration to the next.
    """
    start, stop = bounds.start, bounds.stop
    if bounds.step is None or (type(bounds.step) is int and bounds.step == 1):
        if isinstance(start, LoopIndex) and isinstance(stop, LoopIndex):
            width = stop.form.plus(start.form, -1)
            # A negative start counts from the end, and Python cuts what passes it: both change the width.
            if not width.terms and width.offset > 0 and start.low >= 0 and stop.high <= size:
                return start.tensor, width.offset
        parts = [None if bound is None else _course(bound) for bound in (start, stop)]
        loops = {part.loop for part in parts if isinstance(part, Course)}
        whole = all(isinstance(part, Course) or bound is part for bound, part in zip((start, stop), parts, strict=True))
        if whole and len(loops) == 1:
            loop = loops.pop()
            found = loop.window(parts[0], parts[1], size)
            if found is not None:
                return loop.make(found[0]), found[1]
    return index.give_up("a slice whose width changes, or is not known,")


@operand.register(LoopIndex)
def _as_tensor(value: LoopIndex) -> Tensor:
    return value.tensor


def loop_position(tensor: SymbolicTensor, order: range, region: Region, courses: Courses | None = None) -> LoopIndex:
    """Returns the number that runs through ``order``, one in each iteration of a loop.

    Args:
      tensor: its value in the graph.
      order: its values.
      region: the loop's body.
      courses: the numbers of the loop that Python computes for all iterations; None where it does not.

    Raises:
      RegionAborted: it could pass 32 bits.
    """
    course = None if courses is None else courses.index
    low, high = min(order[0], order[-1]), max(order[0], order[-1])  # the range may run down
    index = LoopIndex(held_as_int(tensor), low, high, region, order[-1], course)
    if index.low < _INT32.min or index.high > _INT32.max:
        index.give_up("a range that passes 32 bits")
    return index


def held_as_int(counter: SymbolicTensor) -> SymbolicTensor:
    """Returns the counter of a loop in the dtype that Python's ints have, where that is of 64 bits."""
    return cast("SymbolicTensor", apply(AS_NUMBER, (counter,), Attrs(kind="int"))) if dtype_rules() else counter


def _last(value: Any, region: Region) -> int | None:
    """Returns what an operand is in the last iteration of a loop."""
    if isinstance(value, LoopIndex):
        return value.last if value.region is region else None
    return int(value)


def limited(op: str, first: Any, second: Any) -> Any:
    """Returns the ``"maximum"`` or ``"minimum"`` of two ints, each of which may be a loop's index."""
    if isinstance(first, LoopIndex):
        return first.limited(op, second)
    return second.limited(op, first) if isinstance(second, LoopIndex) else _PYTHON[op](first, second)


def is_symbolic(value: Any) -> bool:
    """Returns True if a value is a tensor or a number that is not known while the function is traced."""
    return isinstance(as_tensor(value), SymbolicTensor)
