"""Numbers that depend on tensors compare to Python numbers as in Python, also to those that 32 bits do not hold."""

from __future__ import annotations

import itertools
import operator
from typing import Any

import numpy as np
import pytest

import graphc as gx
from tests.compiler.autograph.differential import check, kinds_of

ORDERS = [operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne]
BOUNDS = [7, 7.0, 0.07 * 100, 0.29 * 100, 6.999999999999999, -0.1, 2.0**31, -(2.0**40), 2**40, np.inf, -np.inf, np.nan]


@pytest.mark.drawn(4)
@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize("order", ORDERS)
def test_an_int_of_a_tensor(order: Any, bound: float) -> None:
    def program(x: Any) -> Any:
        return bool(order(int(x), bound)), bool(order(bound, int(x)))

    compiled = gx.function(program)
    for value in (6.0, 7.0, 8.0, 28.0, 29.0, 0.0, -1.0):
        x = gx.asarray(value)
        assert compiled(x) == program(x)


@pytest.mark.drawn(4)
@pytest.mark.parametrize(
    "bound",
    [
        0.1,
        0.5,
        0.30000001192092896,
        1e-60,
        3.4028235e38,
        1e39,
        -1e39,
        np.inf,
        np.nan,
        1,
        2**24 + 1,
        10**400,
        -(10**400),
    ],
)
@pytest.mark.parametrize("order", ORDERS)
def test_a_float_of_a_tensor(order: Any, bound: float) -> None:
    def program(x: Any) -> Any:
        return bool(order(float(x), bound)), bool(order(bound, float(x)))

    compiled = gx.function(program)
    for value in (
        0.1,
        0.3,
        0.5,
        0.0,
        -0.0,
        1.0,
        2.0**24,
        3.4028234e38,
        np.inf,
        -np.inf,
        np.nan,
        np.nextafter(np.float32(0.1), 0),
    ):
        x = gx.asarray(np.float32(value))
        assert compiled(x) == program(x), value


@pytest.mark.parametrize("bound", [bound for bound in BOUNDS if bound == bound])
def test_the_index_of_a_rolled_loop(bound: float) -> None:
    def program(x: Any) -> Any:
        for i in range(40):
            if i < bound:
                x = x + 1
            if i <= bound:
                x = x + 2
            if i == bound:
                x = x * 3
            if bound < i:
                x = x - 0.5
        return x

    check(program, gx.asarray(1.0))
    assert kinds_of(program, gx.asarray(1.0)) == ["rolled"]


def test_an_int_and_a_float_of_tensors() -> None:
    def program(a: Any, b: Any) -> Any:
        i, r = int(a), float(b)
        return [order(*pair) for order in ORDERS for pair in ((i, r), (r, i))]

    compiled = gx.function(program)
    ints = (0, -1, 16777217, -16777217, 2147483647, -2147483648, 2147483520)
    floats = (0.0, 0.5, -0.5, 16777216.0, 2147483648.0, -2147483648.0, 1e20, np.inf, -np.inf, np.nan)
    for a, b in itertools.product(ints, floats):
        args = gx.asarray(a), gx.asarray(np.float32(b))
        assert [bool(answer) for answer in compiled(*args)] == program(*args), (a, b)


@pytest.mark.parametrize(
    "dtype", ["int2", "int4", "uint4", "bfloat16", "float8_e5m2", "float8_e4m3fn", "float8_e4m3b11fnuz"]
)
def test_numbers_of_jaxs_own_dtypes(dtype: str) -> None:
    def program(x: Any) -> Any:
        return x.item() * 100, int(x) + 1, float(x), f"{x.item()}"

    x = gx.asarray(1, dtype)
    assert gx.function(program)(x) == program(x)
    assert [type(part) for part in gx.function(program)(x)] == [type(part) for part in program(x)]
