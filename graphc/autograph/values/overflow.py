"""Arithmetic with ints that depend on tensors: its bounds, and the check that a result fits into 32 bits.

What the bounds of the operands keep within 32 bits is not checked, nor is the step of a count, see
:mod:`graphc.autograph.values.spans`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from itertools import product
from typing import Any

import numpy as np

from graphc.autograph.values.control import require_limit
from graphc.autograph.values.spans import ANY_INT, HIGHEST, LOWEST, Span
from graphc.base import at, user_location
from graphc.base.errors import NumberOverflowError
from graphc.core import apply, dtype_rules
from graphc.ir import OPS, Attrs

__all__ = ["checked_span", "checked_unary_span"]

Bounds = tuple[int, int]

_PASSES: Bounds = (LOWEST - 1, HIGHEST + 1)
"""Of what may be larger than it is worth to compute."""

_SYMBOLS = {
    "abs": "abs", "add": "+", "floordiv": "//", "lshift": "<<", "mul": "*", "neg": "-", "pow": "**", "sub": "-",
}  # fmt: skip


# --- bounds


def _of(values: Iterable[int]) -> Bounds:
    found = list(values)
    return min(found), max(found)


def _corners(native: Callable[[int, int], int]) -> Callable[[Span, Span], Bounds]:
    return lambda a, b: _of(native(x, y) for x, y in product((a.low, a.high), (b.low, b.high)))


def _floordiv(a: Span, b: Span) -> Bounds:
    # A quotient is extreme at the ends of the divisor and next to zero; a check refuses zero itself.
    divisors = {value for value in (b.low, b.high, -1, 1) if value and b.low <= value <= b.high}
    return _of(x // y for x, y in product((a.low, a.high), divisors)) if divisors else (0, 0)


def _mod(a: Span, b: Span) -> Bounds:
    del a  # so that a loop finds the bounds of what it carries at once
    return min(b.low + 1, 0), max(b.high - 1, 0)  # Python's % has the sign of the divisor


def _pow(a: Span, b: Span) -> Bounds:
    low, high = max(b.low, 0), max(b.high, 0)
    if high > 32:  # then only powers of -1, 0 and 1 can fit
        return (-1, 1) if a.low >= -1 and a.high <= 1 else _PASSES
    # An even power is smallest at 0.
    bases = {a.low, a.high, *(value for value in (-1, 0, 1) if a.low <= value <= a.high)}
    # Of a negative base the last odd power is the smallest, the last even one the largest.
    return _of(x**y for x, y in product(bases, {low, max(low, high - 1), high}))


def _lshift(a: Span, b: Span) -> Bounds:
    low, high = max(b.low, 0), max(b.high, 0)
    if high > 32:
        return (0, 0) if a.low == a.high == 0 else _PASSES
    return _of(x << y for x, y in product((a.low, a.high), (low, high)))


def _rshift(a: Span, b: Span) -> Bounds:
    shifts = [min(max(shift, 0), 32) for shift in (b.low, b.high)]  # all bits are gone after 32: 0 or -1 is left
    return _of(x >> y for x, y in product((a.low, a.high), shifts))


def _and(a: Span, b: Span) -> Bounds:
    # Such an operand masks the sign, and the result is no larger.
    limits = [span.high for span in (a, b) if span.low >= 0]
    return (0, min(limits)) if limits else (LOWEST, HIGHEST)


def _or(a: Span, b: Span) -> Bounds:
    if a.low < 0 or b.low < 0:
        return LOWEST, HIGHEST
    return 0, (1 << max(a.high, b.high).bit_length()) - 1  # neither sets a bit above the highest of both


_BINARY: dict[str, Callable[[Span, Span], Bounds]] = {
    "add": _corners(operator.add),
    "sub": _corners(operator.sub),
    "mul": _corners(operator.mul),
    "floordiv": _floordiv,
    "mod": _mod,
    "pow": _pow,
    "lshift": _lshift,
    "rshift": _rshift,
    "and": _and,
    "or": _or,
    "xor": _or,
}

_UNARY: dict[str, Callable[[Span], Bounds]] = {
    "neg": lambda a: (-a.high, -a.low),
    "pos": lambda a: (a.low, a.high),
    "abs": lambda a: _of([abs(a.low), abs(a.high), *([0] if a.low < 0 < a.high else [])]),
    "invert": lambda a: (~a.high, ~a.low),
}


# --- checks


def checked_span(name: str, pair: tuple[Any, Any], spans: tuple[Span, Span]) -> Span:
    """Returns the span of the result of an operator on two ints, which is checked to fit where it may not.

    Args:
      name: of the operator, ``"add"`` for ``+``.
      pair: the operands: tensors, or Python ints.
      spans: their spans.
    """
    first, second = spans
    # Before anything relies on the bounds: a number that is taken for a count may not be relied on.
    if name in ("add", "sub"):
        moved = _moved(name, first, second)
        if moved is not None:
            return moved
    for span in spans:
        span.rely()
    bounds = _BINARY[name](first, second)
    found = Span(*bounds)
    if name == "add":
        found = first.moved(second) if first.drifts else second.moved(first)
    elif name == "sub":
        found = first.moved(second.negated())
    found = Span(*bounds, drifts=found.drifts)
    if not found.fits:
        allowed = _allowed(name, pair)
        _require(name, _fits(name, pair, spans, allowed))
        if allowed is not None:  # what passes the check leaves less: 3 * n + 1 needs no second one
            place, limits = allowed
            passing = list(spans)
            passing[place] = spans[place].within(*limits)
            found = Span(*_BINARY[name](passing[0], passing[1]), drifts=found.drifts)
    return found.clamped()  # what passes 32 bits has raised by now


def _moved(name: str, first: Span, second: Span) -> Span | None:
    """Returns the span of a sum if one of the two is a small step, which needs no check; None if it does."""
    if name == "add" and ((first.is_small and not second.is_small) or (second.drifts and not first.drifts)):
        first, second = second, first
    if not second.is_small:
        return None
    second.rely()
    moved = first.moved(second if name == "add" else second.negated())
    if first.counted:
        if not moved.fits:
            first.step()
        return moved.clamped()
    return moved if moved.fits else None


def checked_unary_span(name: str, operand: Any, span: Span) -> Span:
    """Returns the span of the result of ``-a``, ``abs(a)`` and the like; as :func:`checked_span`."""
    span.rely()
    found = Span(*_UNARY[name](span))
    if not found.fits:
        # Of all 32-bit ints LOWEST alone has no negative.
        _require(name, _is_within(operand, ANY_INT, LOWEST + 1, HIGHEST))
    return found.clamped()


def _require(name: str, fits: Any) -> None:
    location = user_location()
    message = (
        f"the result of {_SYMBOLS[name]} on Python ints that depend on tensors passes 32 bits, in which compiled code "
        "holds such a number where Python's grow; bound it, for example by %, or compute it as a tensor: as a float, "
        "gx.astype(x, 'float32'), or as an int32 tensor, which wraps"
    )
    require_limit(fits, lambda: at(NumberOverflowError(message), location))


def _is_within(value: Any, span: Span, low: int, high: int) -> Any:
    """Returns whether a number lies between two, of which it is asked what is not known."""
    tests = [apply(OPS["greater_equal"], (value, low))] if span.low < low else []
    tests += [apply(OPS["less_equal"], (value, high))] if span.high > high else []
    return _all(tests)


def _all(tests: list[Any]) -> Any:
    if not tests:
        return True
    return tests[0] if len(tests) == 1 else apply(OPS["logical_and"], tuple(tests))


def _allowed(name: str, pair: tuple[Any, Any]) -> tuple[int, Bounds] | None:
    """Returns the place of the operand that a check compares, and its bounds; None if neither operand is known."""
    first, second = pair
    if isinstance(second, int):
        return 0, _WITH_KNOWN_SECOND[name](second)
    if isinstance(first, int) and name in _WITH_KNOWN_FIRST:
        return 1, _WITH_KNOWN_FIRST[name](first)
    return None


def _fits(name: str, pair: tuple[Any, Any], spans: tuple[Span, Span], allowed: tuple[int, Bounds] | None) -> Any:
    """Returns whether 32 bits hold the result of an operator."""
    if allowed is not None:
        place, bounds = allowed
        return _is_within(pair[place], spans[place], *bounds)
    a, b = pair
    return _WITH_TENSORS[name](np.int32(a) if isinstance(a, int) else a, b)


_ANY_WIDE_INT = Span(2 * LOWEST * -LOWEST, 2 * LOWEST * LOWEST)


def _op(name: str, *operands: Any) -> Any:
    return apply(OPS[name], operands)


def _factors(c: int) -> Bounds:
    """Returns the numbers whose product with ``c`` fits."""
    if not c:
        return LOWEST, HIGHEST
    ends = (LOWEST, HIGHEST) if c > 0 else (HIGHEST, LOWEST)
    return -(-ends[0] // c), ends[1] // c  # the first one rounds up


def _bases(exponent: int) -> Bounds:
    """Returns the numbers of which this power fits."""
    if exponent <= 0:  # the operator has refused a negative one, or made it a float
        return LOWEST, HIGHEST
    if exponent > 31:  # (-2) ** 31 still fits
        return -1, 1
    # The float root may be off by one, so the search starts above it.
    high = round((HIGHEST + 1) ** (1 / exponent)) + 1
    while high**exponent > HIGHEST:
        high -= 1
    low = -high - 1  # (-2) ** 31 fits, where 2 ** 31 does not
    return (low if LOWEST <= low**exponent <= HIGHEST else -high), high


def _exponents(base: int) -> Bounds:
    """Returns the exponents, from 0, with which a power of this number fits."""
    if -1 <= base <= 1:
        return LOWEST, HIGHEST
    most = 0
    while LOWEST <= base ** (most + 1) <= HIGHEST:
        most += 1
    return LOWEST, most


def _shifted(shift: int) -> Bounds:
    # A negative shift has raised by now: see _check_shift.
    return (0, 0) if shift > 31 else (LOWEST >> max(shift, 0), HIGHEST >> max(shift, 0))


def _shifts(value: int) -> Bounds:
    if not value:
        return LOWEST, HIGHEST
    most = 0
    while LOWEST <= value << (most + 1) <= HIGHEST:
        most += 1
    return LOWEST, most


_WITH_KNOWN_SECOND: dict[str, Callable[[int], Bounds]] = {
    "add": lambda c: (LOWEST - min(c, 0), HIGHEST - max(c, 0)),
    "sub": lambda c: (LOWEST + max(c, 0), HIGHEST + min(c, 0)),
    "mul": _factors,
    "floordiv": lambda c: (LOWEST + (c == -1), HIGHEST),  # LOWEST // -1 alone passes
    "pow": _bases,
    "lshift": _shifted,
}
"""For the second operand, between which numbers the first one must lie."""

_WITH_KNOWN_FIRST: dict[str, Callable[[int], Bounds]] = {
    "add": _WITH_KNOWN_SECOND["add"],
    "sub": lambda c: (c - HIGHEST, min(c - LOWEST, HIGHEST)),
    "mul": _factors,
    "pow": _exponents,
    "lshift": _shifts,
}
"""For the first operand, between which numbers the second one must lie."""


def _fits_in_64(name: str, a: Any, b: Any) -> Any:
    """Returns whether the result fits; in 64 bits nothing that 32 bits hold wraps."""
    wide = [apply(OPS["astype"], (value,), Attrs(dtype=np.dtype(np.int64))) for value in (a, b)]
    return _is_within(_op(name, *wide), _ANY_WIDE_INT, LOWEST, HIGHEST)


def _sum_fits(a: Any, b: Any) -> Any:
    if dtype_rules():
        return _fits_in_64("add", a, b)
    total = _op("add", a, b)  # of another sign than both, if it wraps
    signs = _op("bitwise_and", _op("bitwise_xor", a, total), _op("bitwise_xor", b, total))
    return _op("greater_equal", signs, 0)


def _difference_fits(a: Any, b: Any) -> Any:
    if dtype_rules():
        return _fits_in_64("subtract", a, b)
    # A difference wraps if the operands' signs differ, and the result has not the sign of the first.
    signs = _op("bitwise_and", _op("bitwise_xor", a, b), _op("bitwise_xor", a, _op("subtract", a, b)))
    return _op("greater_equal", signs, 0)


def _product_fits(a: Any, b: Any) -> Any:
    if dtype_rules():
        return _fits_in_64("multiply", a, b)
    # The division runs for a == 0, too, so 1 stands in for it.
    none, back = _op("equal", a, 0), _op("floor_divide", _op("multiply", a, b), _op("where", _op("equal", a, 0), 1, a))
    # -1 * LOWEST wraps to LOWEST, and the division wraps it back, as if it had fitted.
    wraps_back = _op("logical_and", _op("equal", a, -1), _op("equal", b, LOWEST))
    divided = _op("logical_and", _op("equal", back, b), _op("logical_not", wraps_back))
    return _op("logical_or", none, divided)


def _quotient_fits(a: Any, b: Any) -> Any:
    return _op("logical_or", _op("not_equal", a, LOWEST), _op("not_equal", b, -1))


_LIMITS = np.array([_bases(exponent) for exponent in range(33)], np.int32)  # 32 stands for all larger exponents


def _power_fits(a: Any, b: Any) -> Any:
    place = _op("maximum", _op("minimum", b, 32), 0)
    low, high = [_op("take", _LIMITS[:, side], place) for side in (0, 1)]
    return _op("logical_and", _op("less_equal", low, a), _op("less_equal", a, high))


def _shift_fits(a: Any, b: Any) -> Any:
    shift = _op("maximum", _op("minimum", b, 31), 0)
    low, high = [_op("bitwise_right_shift", np.int32(end), shift) for end in (LOWEST, HIGHEST)]
    fits = _op("logical_and", _op("less_equal", low, a), _op("less_equal", a, high))
    return _op("logical_or", _op("equal", a, 0), _op("logical_and", fits, _op("less_equal", b, 31)))  # 0 << 40 is 0


_WITH_TENSORS: dict[str, Callable[[Any, Any], Any]] = {
    "add": _sum_fits,
    "sub": _difference_fits,
    "mul": _product_fits,
    "floordiv": _quotient_fits,
    "pow": _power_fits,
    "lshift": _shift_fits,
}
