"""Ints that depend on tensors grow as Python's do, or the call raises; what cannot overflow is not checked."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.autograph.values import overflow
from graphc.compiler.autograph.values.spans import (
    BINARY,
    HIGHEST,
    LOWEST,
    InductionStep,
    ValueRange,
    after_loop,
    common_span,
)
from graphc.compiler.base.errors import NumberOverflowError

EXTREMES = [LOWEST, LOWEST + 1, -46341, -46340, -2, -1, 0, 1, 2, 3, 31, 32, 46340, 46341, 2**30, HIGHEST - 1, HIGHEST]
OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "floordiv": operator.floordiv,
    "pow": operator.pow,
    "lshift": operator.lshift,
}


def _python(native: Callable[[Any, Any], Any], a: int, b: int) -> int | None:
    """The result, if it is an int of 32 bits; None if it is larger."""
    if native in (operator.pow, operator.lshift) and b > 64 and abs(a) > 1:
        return None
    result = native(a, b if abs(a) > 1 else min(b, 64 + b % 2)) if native is operator.pow else None
    result = (0 if native is operator.lshift and a == 0 else native(a, b)) if result is None else result
    return result if LOWEST <= result <= HIGHEST else None


@pytest.mark.parametrize("name", OPERATORS)
def test_arithmetic_of_two_numbers_gives_what_python_gives_or_raises(name: str) -> None:
    native = OPERATORS[name]
    compiled = gx.function(lambda a, b: native(int(a), int(b)))
    for a in EXTREMES:
        for b in EXTREMES:
            if (name == "floordiv" and b == 0) or (
                name in ("pow", "lshift") and (b < 0 or (abs(a) <= 1 and b > 2**20))
            ):
                continue
            expected = _python(native, a, b)
            if expected is None:
                with pytest.raises(NumberOverflowError):
                    compiled(gx.asarray(a), gx.asarray(b))
            else:
                assert compiled(gx.asarray(a), gx.asarray(b)) == expected, (name, a, b)


@pytest.mark.drawn(3)
@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("literal", [-46341, -3, -2, -1, 0, 1, 2, 7, 31, 32, 2**30, HIGHEST, LOWEST])
def test_the_bounds_for_a_literal_are_exact(name: str, literal: int) -> None:
    native = OPERATORS[name]
    if not ((name == "floordiv" and literal == 0) or (name in ("pow", "lshift") and literal < 0)):
        low, high = overflow._WITH_KNOWN_SECOND[name](literal)
        for value in {*EXTREMES, *range(low - 2, low + 3), *range(high - 2, high + 3)}:
            if LOWEST <= value <= HIGHEST:
                assert (low <= value <= high) == (_python(native, value, literal) is not None), value
    if name in overflow._WITH_KNOWN_FIRST:
        low, high = overflow._WITH_KNOWN_FIRST[name](literal)
        for value in {*EXTREMES, *range(low - 2, low + 3), *range(high - 2, high + 3)}:
            if name in ("pow", "lshift") and (value < 0 or (abs(literal) <= 1 and value > 2**20)):
                continue
            if LOWEST <= value <= HIGHEST:
                assert (low <= value <= high) == (_python(native, literal, value) is not None), value


SPANS = [
    ValueRange(0, 0),
    ValueRange(-3, 5),
    ValueRange(2, 7),
    ValueRange(-9, -2),
    ValueRange(-1, 1),
    ValueRange(0, 40),
    ValueRange(30, 33),
]


@pytest.mark.parametrize("name", [name for name in BINARY if name != "truediv"])
def test_results_lie_between_their_bounds(name: str) -> None:
    native = getattr(operator, f"__{name}__")
    for first in SPANS:
        for second in SPANS:
            low, high = BINARY[name].bounds(first, second)
            for a in range(first.low, first.high + 1):
                for b in range(second.low, second.high + 1):
                    if (name in ("floordiv", "mod") and b == 0) or (name in ("pow", "lshift", "rshift") and b < 0):
                        continue
                    result = native(a, b)
                    assert low <= result <= high or (low < LOWEST and high > HIGHEST), (first, second, a, b)


def test_the_lowest_number_has_no_opposite() -> None:
    negated = gx.function(lambda n: (-int(n), abs(int(n))))
    assert negated(gx.asarray(LOWEST + 1)) == (HIGHEST, HIGHEST)
    with pytest.raises(NumberOverflowError, match="passes 32 bits"):
        negated(gx.asarray(LOWEST))


def test_the_message_names_the_line_and_what_to_do() -> None:
    def doubled(x: Any) -> Any:
        n = 1
        while x > 0:
            x = x - 1
            n = n * 2  # the line
        return n

    compiled = gx.function(doubled)
    assert compiled(gx.asarray(30.0)).item() == 2**30
    with pytest.raises(
        NumberOverflowError, match=r"result of \* .* passes 32 bits.*bound it.*float32(.|\n)*# the line"
    ):
        compiled(gx.asarray(31.0))
    assert issubclass(NumberOverflowError, OverflowError)


def test_no_handler_catches_what_python_would_not_raise() -> None:
    @gx.function
    def product(n: Any) -> Any:
        try:
            return int(n) * int(n)
        except (OverflowError, ValueError):
            return -1
        finally:
            n = n + 1

    assert product(gx.asarray(3)) == 9
    with pytest.raises(NumberOverflowError):
        product(gx.asarray(2**16))


def test_a_variable_keeps_its_value() -> None:
    count = gx.Variable(1)

    @gx.function
    def squared() -> Any:
        n = int(count.value())
        count.assign(n + 1)
        for _ in range(6):
            n = n * n
        count.assign(n)

    squared()
    assert count.numpy() == 1
    count.assign(2)
    with pytest.raises(NumberOverflowError):
        squared()
    assert count.numpy() == 2


def test_a_gradient_through_a_loop_that_is_checked() -> None:
    def power(x: Any, k: Any) -> Any:
        n, y = 1, x
        while k > 0:
            k = k - 1
            n = n * 3
            y = y * x + n
        return y

    compiled = gx.function(gx.grad(power))
    for k in (0, 1, 5):
        expected = gx.grad(power)(gx.asarray(2.0), gx.asarray(k)).item()
        assert compiled(gx.asarray(2.0), gx.asarray(k)).item() == pytest.approx(expected)
    with pytest.raises(NumberOverflowError):
        compiled(gx.asarray(0.5), gx.asarray(25))


# --- what is not checked


def _count(x: Any) -> Any:
    n = 0
    while x > 1:
        x = x / 2
        n += 1
    return n


def _count_down(x: Any) -> Any:
    n = 1000
    while x > 1:
        x = x / 2
        n = n - 3 if x > 4 else n - 1
    return n


def _nested(x: Any) -> Any:
    n = 0
    while x > 1:
        x = x / 2
        y = x
        while y > 1:
            y = y / 3
            n += 1
        n += 1
    return n


def _rolled(x: Any) -> Any:
    n = 0
    for _ in range(1000):
        for y in x:
            if y > 1:
                n += 500
    return n * 4


def _attribute(x: Any) -> Any:
    class Counter:
        n = 0

    counter = Counter()
    counter.n = 0
    for y in x:
        if y > 1:
            counter.n += 1
    return counter.n * 1000


def _bounded(x: Any) -> Any:
    n = 3
    while x > 1:
        x = x / 2
        n = (n * 5 + 1) % 1000
    return n


def _of_a_branch(x: Any) -> Any:
    n = 10 if x > 1 else -3
    return n * n * n, n**8, n << 10, -n, abs(n), n // -1


def _of_a_small_dtype(x: Any) -> Any:
    n = int(gx.astype(x, "uint8"))
    return (n * n + 1) * 2 + 0 * (x > 1), (int(x > 1) + 5) * 3 + 0 * x


def _range(x: Any) -> Any:
    n = 0
    for k in range(5, gx.astype(x, "int32"), 2):
        n = k if k > 6 else n
    return n


def _restarted(xs: Any) -> Any:
    longest = run = 0
    for x in xs:
        run = run + 1 if x > 0 else 0
        longest = max(longest, run)
    return longest, run


@pytest.mark.parametrize(
    ("fn", "argument"),
    [
        (_count, 100.0),
        (_restarted, [1.0, -2.0, 3.0, 4.0, -1.0, 2.0]),
        (_count_down, 100.0),
        (_nested, 100.0),
        (_rolled, [1.0, 2.0, 3.0]),
        (_attribute, [1.0, 2.0, 3.0]),
        (_bounded, 100.0),
        (_of_a_branch, 2.0),
        (_of_a_small_dtype, 200.0),
        (_range, 12.0),
    ],
)
def test_what_cannot_overflow_is_not_checked(fn: Any, argument: Any) -> None:
    x = gx.asarray(argument)
    compiled, expected = gx.function(fn), fn(x)
    for one, other in zip(np.ravel(compiled(x)), np.ravel(expected), strict=True):
        assert int(one) == int(other)
    graph = compiled.graph(x)
    assert len(graph.outputs) == (len(expected) if isinstance(expected, tuple) else 1), "it can fail"


def test_what_passes_a_check_is_not_checked_again() -> None:
    triple = gx.function(lambda x: 3 * int(x) + 1)
    assert triple(gx.asarray(715827882)) == HIGHEST
    with pytest.raises(NumberOverflowError):
        triple(gx.asarray(715827883))
    assert gx.ir.print_graph(triple.graph(gx.asarray(1))).count(" less_equal(") == 1


@pytest.mark.parametrize(("restart", "overflows"), [(3, False), (2**31 - 9, True)])
def test_a_count_that_restarts_far_up_is_checked(restart: int, overflows: bool) -> None:
    @gx.function
    def count(xs: Any) -> Any:
        n = 0
        for x in xs:
            n = n + 3 if x > 0 else restart
        return n

    xs = gx.asarray([1.0, -1.0, 1.0, 1.0, 1.0])
    if overflows:
        with pytest.raises(NumberOverflowError):
            count(xs)
    else:
        assert count(xs) == restart + 9


def test_a_count_that_takes_the_place_of_another_has_its_bounds() -> None:
    @gx.function
    def largest(xs: Any) -> Any:
        a = b = run = most = 0
        far = False
        for x in xs:
            run = run + 1 if x > 9 else (a if x > 1 else b)
            most = run * 1_000_000
            a, b = a + (8 if far else 1), b + (8 if far else 1)
            far = far or x > 0
        return most

    assert largest(gx.ones(200)) == (8 * 198 + 1) * 1_000_000
    with pytest.raises(NumberOverflowError):
        largest(gx.ones(300))


def test_what_a_loop_moves_too_far_is_checked() -> None:
    @gx.function
    def total(xs: Any) -> Any:
        n = 0
        for _ in range(1000):
            for x in xs:
                if x > 1:
                    n += 2**20
        return n

    assert total(gx.asarray([2.0, 0.0, 2.0])).item() == 2000 * 2**20
    with pytest.raises(NumberOverflowError):
        total(gx.asarray([2.0, 2.0, 2.0]))


def test_spans_of_what_loops_move() -> None:
    assert after_loop(ValueRange(0, 1), InductionStep(0, 3), 10) == ValueRange(0, 31)
    assert after_loop(ValueRange(0, 1), InductionStep(0, 3), None).counted
    assert after_loop(ValueRange(0, 1), InductionStep(0, 300), None) == ValueRange(LOWEST, HIGHEST)
    assert after_loop(ValueRange(5, 6), InductionStep(), None) == ValueRange(5, 6)
    assert after_loop(ValueRange(0, 0), InductionStep(1, 1, restart=(-4, 7)), 10) == ValueRange(-4, 17)
    assert not after_loop(ValueRange(0, 0), InductionStep(1, 1, restart=(0, HIGHEST)), None).counted
    counted = after_loop(ValueRange(0, 0), InductionStep(1, 1), None)
    assert common_span(counted, ValueRange(0, 5)) == counted
    assert common_span(counted, ValueRange(0, HIGHEST)) == ValueRange(LOWEST, HIGHEST)
    assert ValueRange(LOWEST, HIGHEST).holds(counted)
    assert not counted.holds(ValueRange(0, HIGHEST))


@pytest.mark.parametrize("value", [100.0, 1e6, 1e30])
def test_a_sum_of_two_numbers_that_a_loop_carries_is_checked(value: float) -> None:
    def fibonacci(x: Any) -> Any:
        a, b = 1, 1
        while x > 1:
            a, b = b, a + b
            x = x / 2
        return b

    expected, compiled = fibonacci(gx.asarray(value)), gx.function(fibonacci)
    if expected <= HIGHEST:
        assert compiled(gx.asarray(value)) == expected
    else:
        with pytest.raises(NumberOverflowError):
            compiled(gx.asarray(value))


@pytest.mark.parametrize("others", [1, 2], ids=["once removed", "twice removed"])
def test_what_takes_the_values_of_no_count_is_none(others: int) -> None:
    # A step from b is not checked as long as b may be a count. It takes the values of a, which grows faster.
    @gx.function
    def steps(x: Any) -> Any:
        a = b = c = 2**20
        while x > 1:
            a, b, c = a * 2, a + 1, b + 1
            x = x - 1
        return a, b, c

    assert steps(gx.asarray(9.0))[others] == (2**20 << 8 - others) + others
    with pytest.raises(NumberOverflowError):
        steps(gx.asarray(20.0))
