"""``int(t)``, ``float(t)``, ``bool(t)``, ``complex(t)`` and ``round(t)`` of tensors without values.

In eager code these are Python numbers. Here they are 0-d tensors of weak type, which yield to tensors in promotion as
numbers do; among themselves and with numbers they follow Python's rules: the quotient of ints is a float, and to divide
by zero raises. A function that returns one returns a Python number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import IntEnum
from functools import partial
from itertools import product, starmap
from typing import Any, cast

import numpy as np

from graphc.compiler.autograph.values.exact import compare_exactly, compare_mixed
from graphc.compiler.autograph.values.index import as_tensor
from graphc.compiler.autograph.values.join import is_tensor
from graphc.compiler.autograph.values.number import (
    KINDS,
    Between,
    SymbolicNumber,
    any_joined,
    is_whole,
    kind_of,
    kinds_of,
    note_condition,
    number,
    span_of,
)
from graphc.compiler.autograph.values.overflow import checked_span, checked_unary_span
from graphc.compiler.autograph.values.spans import BINARY, COMPARISONS, HIGHEST, LOWEST, UNARY, ValueRange
from graphc.compiler.base.errors import InvalidArgumentError, UnimplementedError
from graphc.compiler.core import FUNCTIONS, SymbolicTensor, apply
from graphc.compiler.ir import OPS
from graphc.compiler.tracing import current_trace

_SEQUENCES = (list, tuple, str, bytes, bytearray)


# --- operators


def _made(tensor: Any, results: Iterable[Any], *operands: Any, span: ValueRange | None = None) -> SymbolicNumber:
    """Returns a number computed of ``operands``; ``results``: what Python makes of numbers of their possible types."""
    kinds = frozenset(cast("type[Any]", type(result)) for result in results)
    return SymbolicNumber(tensor, max(kinds, key=KINDS.index), kinds, joined=any_joined(operands), span=span)


def _samples(value: Any) -> list[Any]:
    """Returns a number of each type that a number may have; a known one itself."""
    if type(value) in KINDS:
        return [value]
    return [kind(1) for kind in kinds_of(value) or ()]


def _unary(name: str, op: str, native: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def run(self: SymbolicNumber) -> SymbolicNumber:
        value, span = _ordinal(self), span_of(self)
        result = apply(OPS[op], (value,))
        span = None if span is None else checked_unary_span(name, value, span)
        return _made(result, map(native, _samples(self)), self, span=span)

    return run


def _ordinal(value: Any) -> Any:
    """Returns a bool as the int that it is in arithmetic."""
    # -True is -1 and True + True is 2, where the sum of two boolean tensors is their disjunction.
    return number(value, int) if isinstance(value, SymbolicNumber) and value.kind is bool else value


def _arithmetic(name: str, *, reflected: bool) -> Callable[[Any, Any], Any]:
    """Returns the method for an operator: that of tensors, unless both operands are numbers."""
    method = getattr(SymbolicTensor, f"__{name}__")

    def run(self: SymbolicNumber, other: Any) -> Any:
        other = int(other) if isinstance(other, IntEnum) else other
        if isinstance(other, _SEQUENCES):
            return NotImplemented  # no array, as it would be to a tensor: a number repeats it
        if kind_of(other) is None:
            # On NotImplemented, Python asks the other operand, or raises its own TypeError.
            if not is_tensor(other):
                return NotImplemented
            if name != "truediv" and not is_whole(self) and as_tensor(other).dtype.kind in "biu":
                self.check_kind("arithmetic with a tensor of ints")  # whose dtype a float changes
            return method(*(other, self) if reflected else (self, other))
        return _result(name, (other, self) if reflected else (self, other))

    return run


def _result(name: str, pair: tuple[Any, Any]) -> SymbolicNumber:
    native = BINARY[name].native
    check = _CHECKS.get(name)
    if check is not None:
        check(native, *pair)
    # Python says of what type the result is, asked with numbers of the same types.
    results = list(starmap(native, product(*map(_samples, pair))))
    kinds = {cast("type[Any]", type(result)) for result in results}
    first, second = pair if kinds == {bool} else map(_ordinal, pair)  # True & True is a bool, True + True an int
    # 2 ** -1 is 0.5 in Python; the op on two ints would give an int.
    if name == "pow" and float in kinds:
        first = as_tensor(first) * 1.0
    operands = as_tensor(first), as_tensor(second)
    if kinds == {int}:
        _check_known(operands)
    result = apply(OPS[BINARY[name].op], operands)
    spans = span_of(first), span_of(second)
    if kinds != {int} or spans[0] is None or spans[1] is None:
        return _made(result, results, *pair)
    return _made(result, results, *pair, span=checked_span(name, operands, (spans[0], spans[1])))


def _check_known(operands: Iterable[Any]) -> None:
    """Refuses a Python int that 32 bits do not hold: the bounds of what is computed of it would not be right."""
    for value in operands:
        if type(value) is int and not LOWEST <= value <= HIGHEST:
            error = InvalidArgumentError(f"the Python int {value} does not fit int32; use a float")
            raise current_trace().refuse(error)


def _comparison(name: str, op: str) -> Callable[[Any, Any], Any]:
    method = getattr(SymbolicTensor, f"__{name}__")

    def run(self: SymbolicNumber, other: Any) -> Any:
        other = int(other) if isinstance(other, IntEnum) else other
        if kind_of(other) is None:
            return method(self, other) if is_tensor(other) else NotImplemented
        # A float that was joined with others was rounded to 32 bits only for that.
        exact = type(other) in (int, float) and self.kind is not bool and not (self.joined and self.kind is float)
        if exact:
            result = compare_exactly(op, self, other)
        elif _rounds(self, other):
            swapped = self.kind is float
            pair = (other, self) if swapped else (self, other)
            result = compare_mixed(_SWAPPED[op] if swapped else op, *pair)
        else:
            result = method(self, other)
        if not isinstance(result, SymbolicTensor):
            return result
        bounds = span_of(other)
        if self.kind is int and bounds is not None:
            _note_comparison(result, op, self, bounds)
        return _made(result, (True,), self, other)

    return run


_SWAPPED = {
    "less": "greater",
    "less_equal": "greater_equal",
    "greater": "less",
    "greater_equal": "less_equal",
    "equal": "equal",
    "not_equal": "not_equal",
}


def _rounds(first: SymbolicNumber, second: Any) -> bool:
    """Returns True if one of two numbers is an int that the dtype of the other, a float, does not hold."""
    if not isinstance(second, SymbolicNumber) or {first.kind, second.kind} != {int, float}:
        return False
    if first.joined or second.joined:
        return False
    whole, real = (first, second) if first.kind is int else (second, first)
    span, exact = span_of(whole), 2 ** (np.finfo(real.dtype).nmant + 1)  # nmant leaves the leading bit out
    if span is None:
        return True
    span.rely()
    return not -exact <= span.low <= span.high <= exact


def _note_comparison(result: SymbolicTensor, op: str, number: SymbolicNumber, other: ValueRange) -> None:
    """Notes what a comparison of an int to another says of the one."""
    other.rely()
    less, not_less = Between(LOWEST, other.high - 1), Between(other.low, HIGHEST)
    greater, not_greater = Between(other.low + 1, HIGHEST), Between(LOWEST, other.high)
    sides = {
        "less": (less, not_less),
        "less_equal": (not_greater, greater),
        "greater": (greater, not_greater),
        "greater_equal": (not_less, less),
    }
    if op in sides:
        note_condition(result, number, *sides[op])


# --- what numbers refuse


def _error_of(native: Callable[[Any, Any], Any], *values: Any) -> Exception:
    """Returns what Python raises for such operands."""
    # Python words it: `division by zero` and its kin differ by operator and version.
    try:
        native(*values)
    except (ArithmeticError, ValueError) as error:
        return error
    return UnimplementedError(f"{native.__name__} of {values}")


def _check_divisor(native: Any, first: Any, second: Any) -> None:
    from graphc.compiler.autograph.constructs.branches.logic import require

    kinds = kind_of(first) or int, kind_of(second) or int
    require(as_tensor(second) != 0, lambda: _error_of(native, kinds[0](1), kinds[1](0)))


def _check_shift(native: Any, first: Any, second: Any) -> None:
    from graphc.compiler.autograph.constructs.branches.logic import require

    del first
    require(as_tensor(second) >= 0, lambda: _error_of(native, 1, -1))


def _check_power(native: Any, first: Any, second: Any) -> None:
    """Refuses the powers that Python refuses, and those of which the type depends on the values."""
    from graphc.compiler.autograph.constructs.branches.logic import or_, require, require_limit

    kinds = kind_of(first), kind_of(second)
    base, exponent = as_tensor(first), as_tensor(second)
    if complex in kinds:
        _check_complex_power(native, base, exponent)
        return
    if float not in kinds and type(exponent) not in (int, bool):
        error = "an int to the power of a negative int is a float, which depends on tensors; make the base a float"
        # A limit, not an exception: plain Python goes on here, so no `except` of the user's may run.
        require_limit(exponent >= 0, lambda: UnimplementedError(error))
        return
    if type(base) not in KINDS or base == 0:
        one = 1.0 if float in kinds else 1
        require(or_(lambda: exponent >= 0, lambda: base != 0), lambda: _error_of(native, 0 * one, -1))
    if float in kinds and not (type(exponent) in KINDS and float(exponent).is_integer()):
        error = "a negative number to a power that is not whole is complex; make the base complex"
        require_limit(or_(lambda: base >= 0, lambda: exponent % 1.0 == 0), lambda: UnimplementedError(error))


def _check_complex_power(native: Any, base: Any, exponent: Any) -> None:
    """Refuses a power of 0j that is not real, or negative."""
    from graphc.compiler.autograph.constructs.branches.logic import or_, require

    if type(base) in KINDS and base != 0:
        return
    if type(exponent) in KINDS:
        if exponent.real < 0 or exponent.imag != 0:
            require(base != 0, lambda: _error_of(native, 0j, -1))
        return

    real = exponent.dtype.kind != "c"
    defined = exponent >= 0 if real else (exponent.real >= 0) & (exponent.imag == 0)
    require(or_(lambda: defined, lambda: base != 0), lambda: _error_of(native, 0j, -1))


_CHECKS: dict[str, Callable[[Any, Any, Any], None]] = {
    **dict.fromkeys(("truediv", "floordiv", "mod"), _check_divisor),
    **dict.fromkeys(("lshift", "rshift"), _check_shift),
    "pow": _check_power,
}


# --- methods and attributes


def _method(compute: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Returns a method without arguments."""
    return lambda owner: partial(compute, owner)


def _is_integer(value: Any) -> Any:
    if value.kind is not float:
        return True
    whole = FUNCTIONS["logical_and"](FUNCTIONS["floor"](value) == value, FUNCTIONS["isfinite"](value))
    return SymbolicNumber(whole, bool)


def _real(value: Any) -> Any:
    if value.kind is complex:
        return number(FUNCTIONS["real"](value), float)
    return value if value.kind is not bool else number(value, int)  # True.real is 1


def _imag(value: Any) -> Any:
    if value.kind is complex:
        return number(FUNCTIONS["imag"](value), float)
    return 0.0 if value.kind is float else 0  # (1).imag is an int, (1.0).imag a float


def _itself(value: Any) -> Any:
    return value


def _conjugate(value: Any) -> Any:
    return number(FUNCTIONS["conj"](value), complex) if value.kind is complex else value


def define_operators() -> None:
    """Gives numbers that depend on tensors the operators, methods and attributes of Python's numbers."""
    for name, own in UNARY.items():
        setattr(SymbolicNumber, f"__{name}__", _unary(name, own.op, own.native))
    for name in BINARY:
        setattr(SymbolicNumber, f"__{name}__", _arithmetic(name, reflected=False))
        setattr(SymbolicNumber, f"__r{name}__", _arithmetic(name, reflected=True))
    for name, own in COMPARISONS.items():
        setattr(SymbolicNumber, f"__{name}__", _comparison(name, own.op))
    for name, get in (("real", _real), ("imag", _imag)):
        setattr(SymbolicNumber, name, property(get))
    SymbolicNumber.methods.update(
        {
            "conjugate": _method(_conjugate),
            "denominator": lambda owner: 1,  # of an int: a float has none
            "is_integer": _method(_is_integer),
            "numerator": _itself,
        }
    )
