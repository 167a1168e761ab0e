"""LoopIndex: the index of a ``range`` loop while its body is traced once for all iterations.

To the body it is a Python int whose value is not known, only its bounds. Arithmetic that stays an int keeps the
bounds, so that nothing overflows where Python's ints would not. Whatever needs the number itself (an index into a
list, a shape, a format) gives the attempt up, and the loop is unrolled.
"""

from __future__ import annotations

import operator
from typing import Any, NoReturn, cast

import numpy as np

from graphc.autograph.values.exact import compare_exactly
from graphc.base.errors import InternalError
from graphc.core import ArrayMethods, SymbolicTensor, Tensor, apply, dtype_rules, operand
from graphc.ir import OPS, Attrs
from graphc.ops import AS_NUMBER
from graphc.tracing import Region

__all__ = ["LoopIndex", "as_tensor", "held_as_int", "is_symbolic", "loop_position"]

_INT32 = np.iinfo(np.int32)
_EXACT_IN_FLOAT32 = 2**24
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


class LoopIndex:
    """An int of which only the bounds are known.

    Args:
      tensor: its value in the graph, a weakly typed scalar of integers.
      low: the smallest value it takes.
      high: the largest value it takes.
      region: the loop body that is being attempted.
      last: its value in the last iteration of that loop; None where that is not known.
    """

    __slots__ = ("high", "last", "low", "region", "tensor")

    __graphc_index__ = True

    def __init__(self, tensor: Tensor, low: int, high: int, region: Region, last: int | None) -> None:
        self.tensor = tensor
        self.low = low
        self.high = high
        self.region = region
        self.last = last

    def give_up(self, use: str) -> NoReturn:
        """Ends the attempt to roll the loop, because ``use`` needs the index as a Python int."""
        self.region.abort(f"{use} needs the loop's index as a Python int")
        raise InternalError("a loop index outside an attempt to roll a loop")

    def _make(self, op: str, other: Any, corners: list[int], swap: bool = False) -> Any:
        low, high = min(corners), max(corners)
        if low < _INT32.min or high > _INT32.max:
            self.give_up(f"the integer {op} could pass 32 bits, which")
        operands: tuple[Any, ...] = (self,) if other is None else (other, self) if swap else (self, other)
        tensors = [value.tensor if isinstance(value, LoopIndex) else value for value in operands]
        region = self._inner(other)
        lasts = [_last(value, region) for value in operands]
        last = None if None in lasts else _PYTHON[op](*lasts)
        return LoopIndex(apply(OPS[op], tensors), low, high, region, last)

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
        return self._float(None) + 0.0

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
            return self._float(other) + other if isinstance(other, float | complex) else NotImplemented
        return self._make("add", other, [self.low + bounds[0], self.high + bounds[1]])

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        bounds = self._bounds(other)
        if bounds is None:
            return self._float(other) - other if isinstance(other, float | complex) else NotImplemented
        return self._make("subtract", other, [self.low - bounds[1], self.high - bounds[0]])

    def __rsub__(self, other: Any) -> Any:
        bounds = self._bounds(other)
        if bounds is None:
            return other - self._float(other) if isinstance(other, float | complex) else NotImplemented
        return self._make("subtract", other, [bounds[0] - self.high, bounds[1] - self.low], swap=True)

    def __mul__(self, other: Any) -> Any:
        bounds = self._bounds(other)
        if bounds is None:
            return self._float(other) * other if isinstance(other, float | complex) else NotImplemented
        return self._make("multiply", other, [mine * its for mine in (self.low, self.high) for its in bounds])

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, int | float) and other == 0:
            self.give_up("division by zero")
        if isinstance(other, LoopIndex):
            self.give_up("the quotient of two indices")
        return self._float(other) / other if isinstance(other, int | float) else NotImplemented

    def __rtruediv__(self, other: Any) -> Any:
        if self.low <= 0 <= self.high:
            self.give_up("division by an index that may be zero")
        return other / self._float(other) if isinstance(other, int | float) else NotImplemented

    def __floordiv__(self, other: Any) -> Any:
        if not isinstance(other, int):
            return self._unlike_int("//", other)
        if other == 0:
            self.give_up("division by zero")
        return self._make("floor_divide", other, [self.low // other, self.high // other])

    def __mod__(self, other: Any) -> Any:
        if not isinstance(other, int):
            return self._unlike_int("%", other)
        if other <= 0:
            self.give_up("the remainder by a number that is not positive")
        return self._make("remainder", other, [0, other - 1])

    def __neg__(self) -> Any:
        return self._make("multiply", -1, [-self.low, -self.high])

    def __pos__(self) -> LoopIndex:
        return self

    def _unlike_int(self, symbol: str, other: Any) -> Any:
        """Returns an operation on ints that is not compiled; with a tensor it is the tensor's."""
        if not isinstance(other, ArrayMethods):
            self.give_up(f"the operator {symbol}")
        return NotImplemented

    def __rfloordiv__(self, other: Any) -> Any:
        return self._unlike_int("//", other)

    def __rmod__(self, other: Any) -> Any:
        return self._unlike_int("%", other)

    def __rpow__(self, other: Any) -> Any:
        return self._unlike_int("**", other)

    def __and__(self, other: Any) -> Any:
        return self._unlike_int("&", other)

    def __or__(self, other: Any) -> Any:
        return self._unlike_int("|", other)

    def __xor__(self, other: Any) -> Any:
        return self._unlike_int("^", other)

    def __lshift__(self, other: Any) -> Any:
        return self._unlike_int("<<", other)

    def __rshift__(self, other: Any) -> Any:
        return self._unlike_int(">>", other)

    __rand__, __ror__, __rxor__, __rlshift__, __rrshift__ = __and__, __or__, __xor__, __lshift__, __rshift__

    def __divmod__(self, other: Any) -> Any:
        self.give_up("divmod()")

    __rdivmod__ = __divmod__

    def __invert__(self) -> Any:
        self.give_up("the operator ~")

    def __abs__(self) -> Any:
        return self._make("abs", None, [abs(self.low), abs(self.high), *([0] if self.low < 0 < self.high else [])])

    def __round__(self, digits: int | None = None) -> Any:
        self.give_up("round()")

    def __pow__(self, other: Any) -> Any:
        if not isinstance(other, int) or not 0 <= other <= 64:
            self.give_up("this power")
        corners = [self.low**other, self.high**other, *([0] if self.low < 0 < self.high else [])]
        return self._make("pow", other, corners)

    def _compare(self, op: str, other: Any) -> Any:
        if not isinstance(other, int | float | LoopIndex):
            return NotImplemented
        if isinstance(other, LoopIndex):
            return apply(OPS[op], (self.tensor, other.tensor))
        return compare_exactly(op, self.tensor, other)

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

    def __index__(self) -> int:
        self.give_up("an index or a size")

    def __int__(self) -> int:
        self.give_up("int()")

    def __float__(self) -> float:
        self.give_up("float()")

    def __complex__(self) -> complex:
        self.give_up("complex()")

    def __hash__(self) -> int:
        self.give_up("a key of a dict or set")

    def __bool__(self) -> bool:
        self.give_up("bool()")

    def __str__(self) -> str:
        self.give_up("str()")

    def __format__(self, spec: str) -> str:
        self.give_up("a formatted string")

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("__") and hasattr(int, name):
            self.give_up(f".{name}")
        raise AttributeError(f"'int' object has no attribute {name!r}")

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        self.give_up("a NumPy function")

    def __array_ufunc__(self, *args: Any, **kwargs: Any) -> Any:
        self.give_up("a NumPy function")

    def __repr__(self) -> str:
        return f"<loop index from {self.low} to {self.high}>"


@operand.register(LoopIndex)
def _as_tensor(value: LoopIndex) -> Tensor:
    return value.tensor


def loop_position(tensor: SymbolicTensor, order: range, region: Region) -> LoopIndex:
    """Returns the number that runs through ``order``, one in each iteration of a loop.

    Raises:
      RegionAborted: it could pass 32 bits.
    """
    index = LoopIndex(held_as_int(tensor), min(order[0], order[-1]), max(order[0], order[-1]), region, order[-1])
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


def as_tensor(value: Any) -> Any:
    """Returns the index of a loop as the tensor that it is, and any other value as it is."""
    return value.tensor if isinstance(value, LoopIndex) else value


def is_symbolic(value: Any) -> bool:
    """Returns True if a value is a tensor or a number that is not known while the function is traced."""
    return isinstance(value, SymbolicTensor | LoopIndex)
