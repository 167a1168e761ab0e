"""``range`` with a bound that is a tensor: how many numbers it holds, and which."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, ClassVar, NoReturn

import numpy as np

from graphc.compiler.autograph.constructs.branches.logic import require
from graphc.compiler.autograph.constructs.loops.spaces import TensorIndices
from graphc.compiler.autograph.constructs.overrides import Functions, of_values
from graphc.compiler.autograph.constructs.purity.natives import check_methods
from graphc.compiler.autograph.constructs.purity.watch import INDEXED
from graphc.compiler.autograph.values.exact import whole_number
from graphc.compiler.autograph.values.index import LoopIndex, as_tensor, is_symbolic
from graphc.compiler.autograph.values.number import SymbolicNumber, number, span_of
from graphc.compiler.autograph.values.spans import HIGHEST, LOWEST, ValueRange
from graphc.compiler.base.errors import ConcretizationError, InvalidArgumentError, UnimplementedError
from graphc.compiler.core import FUNCTIONS, SymbolicTensor, Tensor, apply, operand
from graphc.compiler.ir import OPS, Attrs
from graphc.compiler.tracing import current_trace


class TensorRange:
    """``range`` with a bound that is a tensor: an integer scalar of a value known at run time."""

    __graphc_range__ = True

    # What makes its items of the numbers; None where they are the numbers.
    item: ClassVar[Callable[[Any], Any] | None] = None

    def __init__(
        self, start: Any, stop: Any, step: Any, *, sign: int, most: int | None, span: ValueRange | None
    ) -> None:
        self._bounds = (start, stop, step)
        self._sign, self._most, self._span = sign, most, span

    def space(self, *, backwards: bool = False) -> TensorIndices:
        """Returns what a loop over it runs over."""
        start, stop, step = self._bounds
        start, step = [whole_number(bound) if isinstance(bound, SymbolicTensor) else bound for bound in (start, step)]
        if isinstance(stop, SymbolicTensor) and stop.dtype.itemsize == 8:
            whole_number(stop)  # which 32 bits may not hold, in which the loop counts
        length = _length(*self._bounds, self._sign)
        if backwards:
            # The last number of a range lies between its bounds, whatever wraps on the way to it.
            first, by, last = [_bare(value) for value in (start, step, number(length, int))]
            start, step = SymbolicNumber(apply(OPS["add"], (first, (last - 1) * by)), int), -step
        return TensorIndices(start, step, length, self._most, self._span)

    def fail(self) -> NoReturn:
        """Refuses any other use than in a loop."""
        refuse_range()

    def __iter__(self) -> Any:
        self.fail()

    def __len__(self) -> int:
        self.fail()

    def __getitem__(self, index: Any) -> Any:
        self.fail()

    def __contains__(self, item: Any) -> bool:
        self.fail()


def _as_item(number: Any) -> Any:
    value = as_tensor(number)
    return apply(OPS["astype"], (value,), Attrs(dtype=np.dtype(np.int32)))


class TensorNumbers(TensorRange):
    """``gx.arange`` with a bound that is a tensor: its items are tensors."""

    item: ClassVar[Callable[[Any], Any] | None] = staticmethod(_as_item)

    def fail(self, *args: Any) -> NoReturn:
        """Refuses any other use than in a loop."""
        del args
        bounds = [bound for bound in self._bounds if isinstance(bound, Tensor)]
        error = ConcretizationError(
            f"gx.arange of a tensor without a value ({bounds[0].type}) has no known shape; run over it in a `for` "
            "statement, or give it a Python int"
        )
        raise current_trace().refuse(error)

    def __getattr__(self, name: str) -> Any:
        # hasattr and Python's protocols expect this error, and go on without the method.
        if name.startswith("__"):
            raise AttributeError(name)
        self.fail()

    # Python's own __bool__ and __eq__ would answer: True, and whether it is the same object.
    __neg__ = __bool__ = fail
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = fail
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = __matmul__ = __rmatmul__ = fail
    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = fail  # pyright: ignore[reportAssignmentType]
    __hash__ = None  # pyright: ignore[reportAssignmentType]


@operand.register(TensorNumbers)
def _of_unknown_length(value: TensorNumbers) -> NoReturn:
    value.fail()


def _arange(native: Callable[..., Any], *bounds: Any, **options: Any) -> Any:
    """``gx.arange``; with integer tensors without values among the bounds, what a ``for`` statement can run over."""
    counted = all(_is_count(bound) for bound in bounds) and 1 <= len(bounds) <= 3 and not options
    if not counted or not any(isinstance(bound, SymbolicTensor) for bound in bounds):
        return native(*bounds, **options)
    numbers: Any = _range(range, *bounds)
    if not isinstance(numbers, TensorRange):
        return native(*bounds)
    return TensorNumbers(*numbers._bounds, sign=numbers._sign, most=numbers._most, span=numbers._span)  # pyright: ignore[reportPrivateUsage]


def _is_count(value: Any) -> bool:
    """Returns True if a number is an int, or an int32 that depends on tensors, as the items of the array will be."""
    return type(value) is int or (isinstance(value, SymbolicTensor) and not value.shape and value.dtype == np.int32)


def refuse_range() -> NoReturn:
    """Refuses the use of a range with a tensor bound by anything but a loop."""
    error = UnimplementedError(
        "range() with a tensor bound runs only in a for loop of a converted function; write that loop, or pass the "
        "bound as a Python int"
    )
    raise current_trace().refuse(error)


def _range(native: Callable[..., Any], *bounds: Any) -> Any:
    """``range``; with a tensor among the bounds, one that only a for loop can run."""
    check_methods(bounds, INDEXED)
    if len(bounds) > 3 or not any(is_symbolic(bound) for bound in bounds):
        return native(*bounds)
    limits = [bound if is_symbolic(bound) else operator.index(bound) for bound in bounds]
    for bound in limits:
        if isinstance(bound, SymbolicTensor) and (bound.shape or bound.dtype.kind not in "iu"):
            error = InvalidArgumentError(f"range() needs integer scalars, got a tensor {bound.type}")
            raise current_trace().refuse(error)
    start, stop = (0, limits[0]) if len(limits) == 1 else limits[:2]
    step: Any = limits[2] if len(limits) == 3 else 1
    if type(step) is int:
        native(0, 1, step)  # says what Python says of a step of 0
    tensors = [as_tensor(bound) for bound in (start, stop, step)]
    sign = _sign(step)
    return TensorRange(*tensors, sign=sign, most=_most(start, stop, step), span=_span(start, stop, sign))


def _bare(value: Any) -> Any:
    """Returns a number as a tensor, with which arithmetic is not checked."""
    return SymbolicTensor(value.raw, value.trace) if isinstance(value, SymbolicNumber) else value


OVERRIDES: Functions = {range: of_values(_range), FUNCTIONS["arange"]: of_values(_arange)}


def _most(start: Any, stop: Any, step: Any) -> int | None:
    """Returns how many numbers there are at most, where the bounds of all that is not known are; None else."""
    first, last, by = map(_span_of, (start, stop, step))
    sign = _sign(step)
    if not sign or first is None or last is None or by is None:
        return None
    ends = (first.low, last.high, by.low) if sign > 0 else (first.high, last.low, by.high)
    most = len(range(*ends))
    own = all(type(bound) in (int, LoopIndex) for bound in (start, stop, step))
    return most if own or most <= _MANY else None


_MANY = 1_000_000
"""A bound of more iterations than this that only the bounds of a number tell is none: room is made for so many."""


def _sign(step: Any) -> int:
    """Returns the sign of a step; 0 where it is not known."""
    span = _span_of(step)
    return 0 if span is None else 1 if span.low > 0 else -1 if span.high < 0 else 0


def _span(start: Any, stop: Any, sign: int) -> ValueRange | None:
    """Between which ints the numbers lie, as far as what is known of the bounds tells."""
    if not sign:
        return None
    first, last = (start, stop) if sign > 0 else (stop, start)
    below, above = _span_of(first), _span_of(last)
    # The stop itself is never reached, so that bound moves in by one.
    low = LOWEST if below is None else below.low + (sign < 0)
    high = HIGHEST if above is None else above.high - (sign > 0)
    return ValueRange(low, high) if LOWEST <= low <= high <= HIGHEST else None


def _span_of(bound: Any) -> ValueRange | None:
    """Returns between which ints a bound lies; None for a tensor and for a number of which nothing is known."""
    span = span_of(bound)
    if span is None or span.counted or (span.low, span.high) == (LOWEST, HIGHEST):
        return None
    span.rely()
    return span


def _length(start: Any, stop: Any, step: Any, sign: int) -> SymbolicTensor:
    """Returns how many numbers a range holds, exactly, whatever the bounds; negative ones count as none."""
    # Types first: == of a tensor would append a node.
    if (type(start), type(step)) == (int, int) and (start, step) == (0, 1):
        return stop
    signed, unsigned = _integers(start, stop, step)
    start, stop, step = [bound if type(bound) is int else _as(bound, signed) for bound in (start, stop, step)]
    # Differences of signed numbers may pass their range; as unsigned ones they do not.
    upwards = (apply(OPS["less"], (start, stop)), _difference(stop, start, unsigned))
    downwards = (apply(OPS["greater"], (start, stop)), _difference(start, stop, unsigned))
    if sign:
        some, distance = upwards if sign > 0 else downwards
    else:
        require(step != 0, lambda: ValueError("range() arg 3 must not be zero"))
        rising = step > 0
        some, distance = [FUNCTIONS["where"](rising, up, down) for up, down in zip(upwards, downwards, strict=True)]
    if type(step) is not int or abs(step) != 1:
        one = np.array(1, unsigned)
        size: Any = np.array(abs(step), unsigned) if type(step) is int else _as(abs(step), unsigned)
        # Rounds up; `distance + size - 1` could wrap. A distance of 0 does so here, and is not used.
        distance = (distance - one) // size + one
    return FUNCTIONS["where"](some, distance, np.array(0, unsigned))


def _integers(*bounds: Any) -> tuple[Any, Any]:
    """Returns the signed and the unsigned dtype to count in."""
    signed, unsigned = np.int32, np.uint32
    for bound in bounds:
        # Those of 64 bits are checked when they become numbers.
        fits = (
            bound.dtype.kind == "i" or np.can_cast(bound.dtype, signed)
            if isinstance(bound, Tensor)
            else (_holds(signed, bound))
        )
        if not fits:
            described = f"a tensor {bound.type}" if isinstance(bound, Tensor) else f"the bound {bound}"
            error = InvalidArgumentError(
                f"range() with a tensor bound counts in {np.dtype(signed).name}, which does not hold all values of "
                f"{described}; convert it with gx.astype, or pass a smaller number"
            )
            raise current_trace().refuse(error)
    return np.dtype(signed), np.dtype(unsigned)


def _holds(dtype: Any, value: int) -> bool:
    return bool(np.iinfo(dtype).min <= value <= np.iinfo(dtype).max)


def _difference(larger: Any, smaller: Any, unsigned: Any) -> Any:
    if type(larger) is int and type(smaller) is int:
        return _as(larger - smaller, unsigned)
    return _as(larger, unsigned) - _as(smaller, unsigned)


def _as(value: Any, dtype: Any) -> Any:
    if type(value) is int:
        # Wraps as XLA's conversion does: NumPy raises for np.array(-1, np.uint32).
        return np.array(value & (2 ** (8 * dtype.itemsize) - 1), dtype)
    return value if value.dtype == dtype else apply(OPS["astype"], (value,), Attrs(dtype=dtype))
