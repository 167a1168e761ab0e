"""LoopIndex: the index of a ``range`` loop while its body is traced once for all iterations.

To the body it is a Python int whose value is not known, only its bounds. Arithmetic that stays an int keeps the
bounds, so that nothing overflows where Python's ints would not. What else Python's numbers can do, Python does for all
iterations, see :mod:`graphc.compiler.autograph.values.course`. Whatever needs the number itself (an index into a
list, a shape, a format) gives the attempt up, and the loop is unrolled.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, cast

from graphc.compiler.autograph.values.course import (
    HostSequence,
    HostSequences,
    PerIterationNumber,
    course_of,
    in_one_loop,
    window,
)
from graphc.compiler.autograph.values.exact import compare_exactly
from graphc.compiler.autograph.values.number import number
from graphc.compiler.autograph.values.protocol import Symbolic, as_tensor, refuses
from graphc.compiler.autograph.values.spans import BINARY, COMPARISONS, LIMITS, UNARY, Operator, ValueRange
from graphc.compiler.base.errors import InternalError
from graphc.compiler.core import ArrayMethods, SymbolicTensor, Tensor, apply, dtype_rules, operand
from graphc.compiler.ir import OPS, Attrs
from graphc.compiler.ops import AS_NUMBER
from graphc.compiler.tracing import Region

_EXACT_IN_FLOAT32 = 2**24  # float32 holds all ints up to it


@dataclass(frozen=True)
class Sum:
    """A sum of multiples of ints that are not known, and an int."""

    terms: Mapping[Any, int]  # how often each of them is in it
    offset: int

    @staticmethod
    def of(op: str, operands: Sequence[Any]) -> Sum | None:
        """Returns what an op makes of ints and indices as a sum; None if that is none."""
        forms = [value.form if isinstance(value, LoopIndex) else Sum({}, int(value)) for value in operands]
        if op in ("add", "subtract"):
            return forms[0].plus(forms[1], 1 if op == "add" else -1)
        if op == "multiply" and not all(form.terms for form in forms):
            first, second = forms if forms[0].terms else reversed(forms)
            return Sum({}, 0).plus(first, second.offset)
        return None

    def plus(self, other: Sum, times: int) -> Sum:
        """Returns the sum with a multiple of another one."""
        terms = dict(self.terms)
        for part, count in other.terms.items():
            terms[part] = terms.get(part, 0) + times * count
        # i - i leaves no term: a[i : i + 3] has the width 3.
        return Sum({part: count for part, count in terms.items() if count}, self.offset + times * other.offset)


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
    """An int of which only the bounds are known."""

    __slots__ = ("course", "form", "high", "last", "low", "region", "tensor")

    __graphc_index__ = True

    def __init__(
        self,
        tensor: Tensor,  # its value in the graph, a weakly typed scalar of integers
        low: int,
        high: int,
        region: Region,
        last: int | None,  # its value in the region's last iteration; None if unknown
        # In each iteration of that loop; None where it depends on other loops too, or they are too many.
        course: HostSequence | None = None,
        form: Sum | None = None,  # the sum that it is, if it is one
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

    refuse = give_up

    def require_within(self, low: int, high: int, error: Callable[[], Exception]) -> None:
        """Ends the attempt to roll the loop, unless it lies between two: Python finds the iteration that raises."""
        if not low <= self.low <= self.high <= high:
            self.give_up(f"a value that may not lie between {low} and {high}")

    def python_type(self) -> type[Any]:
        """Returns ``int``."""
        return int

    def bounds(self) -> ValueRange:
        """Returns between which ints it lies."""
        return ValueRange(self.low, self.high)

    def host_sequence(self) -> HostSequence | None:
        """Returns what it is in each iteration, where that is known."""
        return self.course

    def as_tensor(self) -> Tensor:
        """Returns its value in the graph."""
        return self.tensor

    def converted(self, kind: type[Any]) -> Any:
        """Returns it as an int, or as a number of another kind that the program computes."""
        if kind is int:
            return self
        if kind is bool:
            return number(self.tensor, kind)
        result = in_one_loop(float, (self,))
        return number(
            self._float() + 0.0 if result is NotImplemented else result, kind
        )  # a cast would be a strong type

    def snapshot(self) -> LoopIndex:
        """Returns the index itself, which has no items to assign."""
        return self

    def check_given(self, function: Any) -> None:
        """Ends the attempt to roll the loop, unless the function asks by a special method that the index has."""
        if function not in _ASKING_INDICES:
            self.give_up(f"the call of {getattr(function, '__name__', function)}")

    def window(self, bounds: slice[Any, Any, Any], size: int) -> tuple[Any, int]:
        """Returns where a slice with this bound begins, and its width."""
        start, stop = bounds.start, bounds.stop
        steps = bounds.step is not None and not (type(bounds.step) is int and bounds.step == 1)
        if not steps and isinstance(start, LoopIndex) and isinstance(stop, LoopIndex):
            width = stop.form.plus(start.form, -1)
            # A negative start counts from the end, and Python cuts what passes it: both change the width.
            if not width.terms and width.offset > 0 and start.low >= 0 and stop.high <= size:
                return start.tensor, width.offset
        return window(self, bounds, size)

    def exactly(self, of: Operator, *operands: Any) -> Any:
        """Returns what an operator makes of ints and indices, one of them this; an index, or gives up past 32 bits."""
        span = ValueRange(*of.bounds(*map(_bounds, operands)))
        if not span.fits:
            result = in_one_loop(of.native, operands)  # Python's ints hold it in each iteration
            return (
                self.give_up(f"the integer {of.op} could pass 32 bits, which") if result is NotImplemented else result
            )
        result = cast("Tensor", apply(OPS[of.op], tuple(map(as_tensor, operands))))
        regions = [value.region for value in operands if isinstance(value, LoopIndex)]
        region = regions[-1] if regions[-1].is_inside(regions[0]) else regions[0]
        lasts = [_last(value, region) for value in operands]  # after the loop its name holds an int
        last = None if None in lasts else of.native(*lasts)
        course = course_of(of.native, operands)
        return LoopIndex(result, span.low, span.high, region, last, course, Sum.of(of.op, operands))

    def _with_float(self, of: Operator, *pair: Any) -> Any:
        """Returns what is computed of the index and a known number, as a float; NotImplemented for anything else."""
        result = in_one_loop(of.native, pair)
        if result is not NotImplemented:
            return result
        first, second = pair
        other = second if first is self else first
        if of.op == "divide":
            if isinstance(other, LoopIndex):
                self.give_up("the quotient of two indices")
            # Unrolled, Python raises in the first iteration that divides.
            if self.low <= 0 <= self.high if second is self else isinstance(other, int | float) and other == 0:
                self.give_up("division by an index that may be zero" if second is self else "division by zero")
        if not isinstance(other, int | float | complex):
            return NotImplemented
        return of.native(*[self._float() if value is self else value for value in pair])

    def _float(self) -> Tensor:
        if max(abs(self.low), abs(self.high)) >= _EXACT_IN_FLOAT32:
            self.give_up("a float made from a large index")
        return self.tensor

    def compare(self, of: Operator, other: Any) -> Any:
        """Returns what a comparison says of the index and a number."""
        if isinstance(other, LoopIndex):
            result = apply(OPS[of.op], (self.tensor, other.tensor))
        elif isinstance(other, int | float):
            result = compare_exactly(of.op, self.tensor, other)
        else:
            return NotImplemented
        course = course_of(of.native, (self, other)) if isinstance(result, Tensor) else None
        return result if course is None else PerIterationNumber(course, cast("SymbolicTensor", result))

    def __neg__(self) -> Any:
        return self.exactly(BINARY["mul"], self, -1)  # unlike `negative`, it leaves the index a Sum

    def __invert__(self) -> Any:
        return self.exactly(BINARY["sub"], -1, self)

    def __abs__(self) -> Any:
        return self.exactly(UNARY["abs"], self)

    def __divmod__(self, other: Any) -> tuple[Any, Any]:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> tuple[Any, Any]:
        return other // self, other % self

    def __round__(self, digits: int | None = None) -> LoopIndex:
        if digits is not None and not (type(digits) is int and digits >= 0):  # round(i, -1) rounds to tens
            self.give_up("round()")
        return self

    def __trunc__(self) -> LoopIndex:
        return self

    __pos__ = __floor__ = __ceil__ = __trunc__

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("__") and hasattr(int, name):
            self.give_up(f".{name}")  # bit_length, say, which an unrolled index has
        raise AttributeError(f"'int' object has no attribute {name!r}")

    def __repr__(self) -> str:
        return f"<loop index from {self.low} to {self.high}>"


_ASKING_INDICES = frozenset({abs, divmod, pow, round, math.ceil, math.floor, math.trunc})
"""Builtins that ask a number by a special method, which a loop's index has."""

_STAYS_INDEX: dict[str, Callable[[Any], bool]] = {
    **dict.fromkeys(("add", "sub", "mul"), lambda other: isinstance(other, int | LoopIndex)),
    "floordiv": lambda other: isinstance(other, int) and other != 0,
    "mod": lambda other: isinstance(other, int) and other > 0,
    # The bounds of a larger power take Python long, and seldom fit.
    "pow": lambda other: isinstance(other, int) and 0 <= other <= 64,
}
"""By operators, the second operands with which an index stays one."""


def _operator(name: str, of: Operator, *, reflected: bool) -> Callable[[LoopIndex, Any], Any]:
    arithmetic = name in ("add", "sub", "mul", "truediv")
    stays = _STAYS_INDEX.get(name) if arithmetic or not reflected else None
    swapped = reflected and name not in ("add", "mul")  # 1 + i is i + 1

    def run(self: LoopIndex, other: Any) -> Any:
        pair = (other, self) if swapped else (self, other)
        if stays is not None and stays(other):
            return self.exactly(of, *pair)
        if arithmetic:
            return self._with_float(of, *pair)  # pyright: ignore[reportPrivateUsage]
        result = in_one_loop(of.native, pair)
        if result is NotImplemented and not isinstance(other, ArrayMethods):
            self.give_up(f"the operator {of.symbol}")
        return result

    return run


@operand.register(LoopIndex)
def _as_tensor(value: LoopIndex) -> Tensor:
    return value.tensor


def loop_position(
    tensor: SymbolicTensor, order: range, region: Region, courses: HostSequences | None = None
) -> LoopIndex:
    """Returns the number that runs through ``order``; ``courses``: those that Python computes for all iterations."""
    course = None if courses is None else courses.index
    low, high = min(order[0], order[-1]), max(order[0], order[-1])  # the range may run down
    index = LoopIndex(held_as_int(tensor), low, high, region, order[-1], course)
    if not index.bounds().fits:
        index.give_up("a range that passes 32 bits")
    return index


def held_as_int(counter: SymbolicTensor) -> SymbolicTensor:
    """Returns the counter of a loop in the dtype that Python's ints have, where that is of 64 bits."""
    return cast("SymbolicTensor", apply(AS_NUMBER, (counter,), Attrs(kind="int"))) if dtype_rules() else counter


def _bounds(value: Any) -> ValueRange:
    return value.bounds() if isinstance(value, LoopIndex) else ValueRange(int(value), int(value))


def _last(value: Any, region: Region) -> int | None:
    """Returns what an operand is in the last iteration of a loop."""
    if isinstance(value, LoopIndex):
        return value.last if value.region is region else None
    return int(value)


def limited(op: str, first: Any, second: Any) -> Any:
    """Returns the ``"maximum"`` or ``"minimum"`` of two ints, each of which may be a loop's index."""
    if isinstance(first, LoopIndex):
        return first.exactly(LIMITS[op], first, second)
    # The index comes first, as the names of values in the graph count on.
    return (
        second.exactly(LIMITS[op], second, first) if isinstance(second, LoopIndex) else LIMITS[op].native(first, second)
    )


def is_symbolic(value: Any) -> bool:
    """Returns True if a value is a tensor or a number that is not known while the function is traced."""
    return isinstance(as_tensor(value), SymbolicTensor)


def _comparison(of: Operator) -> Callable[[LoopIndex, Any], Any]:
    return lambda self, other: self.compare(of, other)


def _define() -> None:
    for name, of in BINARY.items():
        setattr(LoopIndex, f"__{name}__", _operator(name, of, reflected=False))
        setattr(LoopIndex, f"__r{name}__", _operator(name, of, reflected=True))
    for name, of in COMPARISONS.items():
        setattr(LoopIndex, f"__{name}__", _comparison(of))


_define()
