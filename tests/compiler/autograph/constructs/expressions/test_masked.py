"""``x[mask] op= value`` where the mask has no value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError

FLOATS = np.array([[1.5, -2.0, 3.0], [4.0, 0.5, -6.0]], np.float32)
INTS = np.array([[1, 2, 3], [4, 5, 6]], np.int32)


def arithmetic(x: Any, m: Any, v: Any) -> Any:
    x[m] += v
    x[m] -= 1.5
    x[m] *= v
    x[m] /= 4.0
    x[m] //= 0.25
    x[m] %= v
    x[(m,)] **= 2.0


def bits(x: Any, m: Any, v: Any) -> Any:
    x[m] <<= v
    x[m] |= 9
    x[m] &= 13
    x[m] ^= 3
    x[m] >>= 1


@pytest.mark.drawn(3)
@pytest.mark.parametrize("mask", [FLOATS > 1, FLOATS > 99, np.array([True, False]), np.array([True, True])])
@pytest.mark.parametrize(("function", "array", "value"), [(arithmetic, FLOATS, np.float32(2.5)), (bits, INTS, 2)])
def test_only_what_the_mask_chooses_changes(function: Any, array: Any, value: Any, mask: Any) -> None:
    expected = array.copy()
    function(expected, mask, value)
    for run in (function, gx.function(function)):
        x = gx.asarray(array)
        run(x, gx.asarray(mask), gx.asarray(value))
        np.testing.assert_allclose(x.numpy(), expected, rtol=1e-5)


@pytest.mark.parametrize("shape", [(3,), (1, 3)])
def test_a_value_for_each_column(shape: tuple[int, ...]) -> None:
    def add(x: Any, m: Any, v: Any) -> None:
        x[m] += v

    mask, value = np.array([False, True]), np.arange(3, dtype=np.float32).reshape(shape)
    expected, x = FLOATS.copy(), gx.asarray(FLOATS)
    add(expected, mask, value)
    gx.function(add)(x, gx.asarray(mask), gx.asarray(value))
    np.testing.assert_array_equal(x.numpy(), expected)


def test_the_right_side_is_evaluated_after_the_left_one_is_read() -> None:
    def change(x: Any) -> None:
        def side() -> Any:
            x[0] = 100.0
            return 1.0

        x[x > 1] += side()

    for run in (change, gx.function(change)):
        x = gx.asarray([2.0, 0.0, 3.0])
        run(x)
        assert x.tolist() == [3.0, 0.0, 4.0]


def test_a_variable() -> None:
    variable = gx.Variable([1.0, 2.0, 3.0])

    @gx.function
    def step(x: Any) -> None:
        variable[variable > x] *= 10.0

    step(gx.asarray(1.5))
    assert variable.tolist() == [1.0, 20.0, 30.0]


def test_what_does_not_fit() -> None:
    def scale(x: Any, v: Any) -> None:
        x[x > 1] *= v

    compiled = gx.function(scale)
    with pytest.raises(InvalidTypeError, match="values of dtype float32 cannot be put into a tensor of dtype int32"):
        compiled(gx.asarray(INTS), gx.asarray(0.5))
    with pytest.raises(InvalidArgumentError, match=r"values of shape \(2,\) that would have to fit how many") as caught:
        compiled(gx.asarray([1.0, 2.0, 3.0]), gx.asarray([1.0, 2.0]))
    assert "x[x > 1] *= v" in str(caught.value)


def test_what_the_operand_assigns_elsewhere_stays() -> None:
    def f(x: gx.Tensor) -> gx.Tensor:
        def first() -> float:
            x[0] = 100.0
            return 1.0

        x[x > 1.5] += first()
        return x

    given = [1.0, 2.0, 3.0]
    assert gx.function(f)(gx.asarray(given)).tolist() == f(gx.asarray(given)).tolist() == [100.0, 3.0, 4.0]
