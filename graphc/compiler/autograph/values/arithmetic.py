"""The operators of Python's numbers: by name, Python's function, the op that computes it, and bounds of the result."""

from __future__ import annotations

import operator as _operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import product
from typing import Any

from graphc.compiler.autograph.values.spans import HIGHEST, LOWEST, Span

__all__ = ["BINARY", "COMPARISONS", "LIMITS", "UNARY", "Bounds", "Operator"]

operator: Any = _operator  # its functions are only partly annotated

Bounds = tuple[int, int]


def _any(*spans: Span) -> Bounds:
    del spans
    return LOWEST, HIGHEST


@dataclass(frozen=True)
class Operator:
    """An operator.

    Attributes:
      bounds: returns between which ints the result lies, of the spans of the operands.
    """

    symbol: str
    native: Callable[..., Any]
    op: str
    bounds: Callable[..., Bounds] = _any


_PASSES: Bounds = (LOWEST - 1, HIGHEST + 1)
"""Of what may be larger than it is worth to compute."""


def _of(values: Iterable[int]) -> Bounds:
    found = list(values)
    return min(found), max(found)


def _corners(native: Callable[..., int]) -> Callable[..., Bounds]:
    def bounds(*spans: Span) -> Bounds:
        return _of(native(*corner) for corner in product(*[(span.low, span.high) for span in spans]))

    return bounds


def _abs(a: Span) -> Bounds:
    return _of([abs(a.low), abs(a.high), *([0] if a.low < 0 < a.high else [])])


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


BINARY = {
    "add": Operator("+", operator.add, "add", _corners(operator.add)),
    "sub": Operator("-", operator.sub, "subtract", _corners(operator.sub)),
    "mul": Operator("*", operator.mul, "multiply", _corners(operator.mul)),
    "truediv": Operator("/", operator.truediv, "divide"),
    "floordiv": Operator("//", operator.floordiv, "floor_divide", _floordiv),
    "mod": Operator("%", operator.mod, "remainder", _mod),
    "pow": Operator("**", operator.pow, "pow", _pow),
    "and": Operator("&", operator.and_, "bitwise_and", _and),
    "or": Operator("|", operator.or_, "bitwise_or", _or),
    "xor": Operator("^", operator.xor, "bitwise_xor", _or),
    "lshift": Operator("<<", operator.lshift, "bitwise_left_shift", _lshift),
    "rshift": Operator(">>", operator.rshift, "bitwise_right_shift", _rshift),
}

LIMITS = {
    "maximum": Operator("max", max, "maximum", _corners(max)),
    "minimum": Operator("min", min, "minimum", _corners(min)),
}

UNARY = {
    "neg": Operator("-", operator.neg, "negative", _corners(operator.neg)),
    "pos": Operator("+", operator.pos, "positive", _corners(operator.pos)),
    "abs": Operator("abs", abs, "abs", _abs),
    "invert": Operator("~", operator.invert, "bitwise_invert", _corners(operator.invert)),
}

COMPARISONS = {
    "lt": Operator("<", operator.lt, "less"),
    "le": Operator("<=", operator.le, "less_equal"),
    "gt": Operator(">", operator.gt, "greater"),
    "ge": Operator(">=", operator.ge, "greater_equal"),
    "eq": Operator("==", operator.eq, "equal"),
    "ne": Operator("!=", operator.ne, "not_equal"),
}
