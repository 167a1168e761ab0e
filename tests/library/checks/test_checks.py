"""Checks: what holds passes, what does not is refused by name, in compiled functions when they run."""

from __future__ import annotations

from typing import Any

import pytest

import graphc as gx
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError

c = gx.checks
PASS: list[Any] = [
    lambda x: c.assert_equal(x, [1.0, 2.0]),
    lambda x: c.assert_none_equal(x, 3.0),
    lambda x: c.assert_greater(x, 0.0),
    lambda x: c.assert_greater_equal(x, 1.0),
    lambda x: c.assert_less(x, 3.0),
    lambda x: c.assert_less_equal(x, 2.0),
    lambda x: c.assert_positive(x),
    lambda x: c.assert_non_negative(x),
    lambda x: c.assert_negative(-x),
    lambda x: c.assert_non_positive(-x),
    lambda x: c.assert_near(x, x + 1e-7),
    lambda x: c.assert_all_finite(x),
    lambda x: c.assert_true(x > 0),
    lambda x: c.assert_rank(x, 1),
    lambda x: c.assert_rank_at_least(x, 1),
    lambda x: c.assert_rank_in(x, (0, 1)),
    lambda x: c.assert_scalar(x[0]),
    lambda x: c.assert_type(x, "float32"),
    lambda x: c.assert_integer(gx.astype(x, "int32")),
    lambda x: c.assert_same_float_dtype([x, x]),
    lambda x: c.assert_proper_iterable([x]),
    lambda x: c.assert_shapes({x.ref(): "N", gx.ones((2, 2)).ref(): ("N", 2)}),
    lambda x: c.assert_shapes([(gx.ones((4, 3, 2)), (..., "N")), (gx.ones((2, 5)), ("N", "*")), (x, (None,))]),
]
FAIL: list[tuple[Any, str]] = [
    (lambda x: c.assert_equal(x, [1.0, 3.0], "labels"), "assert_equal: x and y differ; labels"),
    (lambda x: c.assert_none_equal(x, 2.0), "assert_none_equal: x and y are equal somewhere"),
    (lambda x: c.assert_greater(x, 1.0), "assert_greater: x is not greater than y everywhere"),
    (lambda x: c.assert_greater_equal(x, 2.0), "assert_greater_equal: x is less than y somewhere"),
    (lambda x: c.assert_less(x, 2.0), "assert_less: x is not less than y everywhere"),
    (lambda x: c.assert_less_equal(x, 1.0), "assert_less_equal: x is greater than y somewhere"),
    (lambda x: c.assert_positive(x - 1), "assert_positive: x is not above 0 everywhere"),
    (lambda x: c.assert_non_negative(-x), "assert_non_negative: x is below 0 somewhere"),
    (lambda x: c.assert_negative(x), "assert_negative: x is not below 0 everywhere"),
    (lambda x: c.assert_non_positive(x), "assert_non_positive: x is above 0 somewhere"),
    (lambda x: c.assert_near(x, x + 1), "assert_near: x and y are not near each other"),
    (lambda x: c.assert_all_finite(x / 0), "assert_all_finite: x is infinite or NaN somewhere"),
    (lambda x: c.assert_true(x > 1, "x"), "assert_true: the condition does not hold; data: x"),
    (lambda x: c.assert_rank(x, 2), r"assert_rank: x of shape \(2,\) has rank 1, expected 2"),
    (lambda x: c.assert_rank_at_least(x, 2), "has rank 1, expected at least 2"),
    (lambda x: c.assert_rank_in(x, (0, 2), "m"), "has rank 1, expected 0 or 2; m"),
    (lambda x: c.assert_scalar(x), "assert_scalar: .* has rank 1, expected 0"),
    (lambda x: c.assert_shapes([(x, ("N", "M"))]), r"tensor 0 of shape \(2,\) has rank 1, expected 2"),
    (lambda x: c.assert_shapes([(x, ("N",)), (gx.ones(3), ["N"])]), "must have size 2 as 'N' of tensor 0, axis 0"),
    (lambda x: c.assert_shapes([(x, (3,))]), r"axis 0 of tensor 0 of shape \(2,\) must have size 3"),
    (lambda x: c.assert_shapes([(x, 2)]), "a shape is a list of sizes or names, got 2"),
]
TYPES: list[tuple[Any, str]] = [
    (lambda x: c.assert_type(x, "int32"), "assert_type: the dtype is float32, expected int32"),
    (lambda x: c.assert_integer(x), "assert_integer: the dtype is float32, expected integers"),
    (lambda x: c.assert_same_float_dtype([x, gx.ones(1, "float16")]), "has the dtype float16, expected float32"),
    (lambda x: c.assert_same_float_dtype([], "int32"), "the dtype is int32, expected a floating one"),
    (lambda x: c.assert_proper_iterable(x), "assert_proper_iterable: expected a list or the like of values, got"),
]


def test_what_holds_passes() -> None:
    x = gx.asarray([1.0, 2.0])
    for check in PASS:
        check(x)
    gx.function(lambda x: [check(x) for check in PASS])(x)
    assert c.is_numeric_tensor(x)
    assert not c.is_numeric_tensor(gx.asarray(["a"]))
    assert c.assert_same_float_dtype() == gx.float32


@pytest.mark.parametrize(("check", "message"), FAIL)
def test_what_does_not_hold_is_refused(check: Any, message: str) -> None:
    for run in (check, gx.function(check)):
        with pytest.raises(InvalidArgumentError, match=f"(?s){message}.*test_checks"):
            run(gx.asarray([1.0, 2.0]))


@pytest.mark.parametrize(("check", "message"), TYPES)
def test_other_dtypes_are_refused(check: Any, message: str) -> None:
    with pytest.raises(InvalidTypeError, match=f"(?s){message}.*test_checks"):
        check(gx.asarray([1.0, 2.0]))
