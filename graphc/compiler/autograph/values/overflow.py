"""Arithmetic with ints that depend on tensors: its bounds, and the check that a result fits into 32 bits.

What the bounds of the operands keep within 32 bits is not checked, nor is the step of a count, see
:mod:`graphc.compiler.autograph.values.spans`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphc.compiler.autograph.values.spans import ANY_INT, BINARY, HIGHEST, LOWEST, UNARY, Bounds, ValueRange
from graphc.compiler.base import user_location
from graphc.compiler.base.errors import NumberOverflowError
from graphc.compiler.core import apply, dtype_rules
from graphc.compiler.ir import OPS, Attrs


def checked_span(name: str, pair: tuple[Any, Any], spans: tuple[ValueRange, ValueRange]) -> ValueRange:
    """Returns the span of an operator's result (``"add"`` for ``+``) on two ints, checked to fit where it may not."""
    first, second = spans
    # Before anything relies on the bounds: a number that is taken for a count may not be relied on.
    if name in ("add", "sub"):
        moved = _moved(name, first, second)
        if moved is not None:
            return moved
    for span in spans:
        span.rely()
    bounds = BINARY[name].bounds(first, second)
    outcome = ValueRange(*bounds)
    if name == "add":
        outcome = first.moved(second) if first.drifts else second.moved(first)
    elif name == "sub":
        outcome = first.moved(second.negated())
    outcome = ValueRange(*bounds, drifts=outcome.drifts)
    if not outcome.fits:
        allowed = _allowed(name, pair)
        _require(name, _fits(name, pair, spans, allowed))
        if allowed is not None:  # what passes the check leaves less: 3 * n + 1 needs no second one
            operand, limits = allowed
            passing = list(spans)
            passing[operand] = spans[operand].within(*limits)
            outcome = ValueRange(*BINARY[name].bounds(*passing), drifts=outcome.drifts)
    return outcome.clamped()  # what passes 32 bits has raised by now


def _moved(name: str, first: ValueRange, second: ValueRange) -> ValueRange | None:
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


def checked_unary_span(name: str, operand: Any, span: ValueRange) -> ValueRange:
    """Returns the span of the result of ``-a``, ``abs(a)`` and the like; as :func:`checked_span`."""
    span.rely()
    outcome = ValueRange(*UNARY[name].bounds(span))
    if not outcome.fits:
        # Of all 32-bit ints LOWEST alone has no negative.
        _require(name, _is_within(operand, ANY_INT, LOWEST + 1, HIGHEST))
    return outcome.clamped()


def _require(name: str, fits: Any) -> None:
    from graphc.compiler.autograph.constructs.branches.logic import require_limit

    location, symbol = user_location(), (UNARY.get(name) or BINARY[name]).symbol
    message = (
        f"the result of {symbol} on Python ints that depend on tensors passes 32 bits, in which compiled code "
        "holds such a number where Python's grow; bound it, for example by %, or compute it as a tensor: as a float, "
        "gx.astype(x, 'float32'), or as an int32 tensor, which wraps"
    )
    require_limit(fits, lambda: NumberOverflowError(message).at(location))


def require_within(value: Any, span: ValueRange, low: int, high: int, error: Callable[[], Exception]) -> None:
    """Raises an error where an int does not lie between two; the program asks what its bounds do not tell."""
    from graphc.compiler.autograph.constructs.branches.logic import require

    span.rely()
    if not low <= span.low <= span.high <= high:
        require(_is_within(value, span, low, high), error)


def _is_within(value: Any, span: ValueRange, low: int, high: int) -> Any:
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


def _fits(
    name: str, pair: tuple[Any, Any], spans: tuple[ValueRange, ValueRange], allowed: tuple[int, Bounds] | None
) -> Any:
    """Returns whether 32 bits hold the result of an operator."""
    if allowed is not None:
        operand, bounds = allowed
        return _is_within(pair[operand], spans[operand], *bounds)
    a, b = pair
    return _WITH_TENSORS[name](np.int32(a) if isinstance(a, int) else a, b)


_ANY_WIDE_INT = ValueRange(2 * LOWEST * -LOWEST, 2 * LOWEST * LOWEST)


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
    row = _op("maximum", _op("minimum", b, 32), 0)
    low, high = [_op("take", _LIMITS[:, side], row) for side in (0, 1)]
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
