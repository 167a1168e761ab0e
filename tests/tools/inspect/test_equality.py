"""Whether two results are the same up to rounding."""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphc as gx
from graphc.tools.inspect.equality import Agreement, Tolerance, compare_results


def compared(reference: Any, value: Any, tolerance: Tolerance | None = None, *, strict: bool = True) -> Agreement:
    return compare_results(reference, value, tolerance or Tolerance(), "result", strict=strict)


def f32(*values: float) -> np.ndarray[Any, Any]:
    return np.array(values, np.float32)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64"])
def test_rounding_is_let_through_and_errors_are_not(dtype: str) -> None:
    eps = float(jnp.finfo(dtype).eps)
    reference = np.linspace(1.0, 2.0, 10).astype(jnp.dtype(dtype))
    rounded, wrong = reference.copy(), reference.copy()
    rounded[3] = rounded[3] * (1 + 2 * eps)
    wrong[3] = wrong[3] * (1 + 4 * eps ** (2 / 3))
    assert compared(reference, rounded).equal
    found = compared(reference, wrong).worst
    assert found is not None
    assert not found.equal
    assert found.index == (3,)
    assert found.error is not None
    assert found.allowed is not None
    assert found.error > found.allowed


@pytest.mark.parametrize("dtype", ["int8", "int32", "uint32", "int64", "bool"])
def test_whole_numbers_are_compared_exactly(dtype: str) -> None:
    reference = np.array([0, 1, 1], dtype)
    assert compared(reference, reference.copy()).equal
    assert not compared(reference, np.array([0, 1, 0], dtype), Tolerance(rtol=10.0, atol=10.0)).equal


def test_large_whole_numbers_that_floats_cannot_tell_apart_differ() -> None:
    assert not compared(np.array([2**60]), np.array([2**60 + 1])).equal


@pytest.mark.parametrize(
    ("reference", "value", "equal"),
    [
        (math.nan, math.nan, True),
        (math.inf, math.inf, True),
        (math.inf, -math.inf, False),
        (math.nan, 1.0, False),
        (1.0, math.nan, False),
        (math.inf, 1.0, False),
        (1.0, math.inf, False),
    ],
)
def test_nan_and_infinity_agree_with_their_like_only(reference: float, value: float, equal: bool) -> None:
    agreement = compared(f32(1.0, reference), f32(1.0, value))
    assert agreement.equal is equal
    assert agreement.worst is not None
    assert agreement.worst.error == (0.0 if equal else math.inf)


def test_an_element_that_cancels_is_judged_by_its_neighbours() -> None:
    assert compared(f32(1.0, 1e-9), f32(1.0, -3e-9)).equal
    assert not compared(f32(1e-9), f32(-3e-9)).equal


def test_noise_of_the_size_of_the_inputs_rounding_is_let_through() -> None:
    assert not compared(f32(0.0), f32(1e-7)).equal
    assert compared(f32(0.0), f32(1e-7), Tolerance(scale=1.0)).equal


def test_the_tolerance_of_the_user_counts() -> None:
    assert compared(f32(1.0), f32(1.1), Tolerance(rtol=0.2)).equal
    assert compared(f32(1.0), f32(1.1), Tolerance(atol=0.2)).equal
    assert not compared(f32(1.0), f32(1.0 + 1e-6), Tolerance(rtol=0.0, atol=0.0)).equal


def test_products_that_a_device_rounds_coarsely_are_allowed_for() -> None:
    assert not compared(f32(1.0), f32(1.0005)).equal
    assert compared(f32(1.0), f32(1.0005), Tolerance(products=2.0**-10)).equal


def test_nested_results_name_the_output_that_differs() -> None:
    reference = {"loss": gx.asarray(1.0), "more": (gx.asarray([1.0, 2.0]), gx.asarray(3))}
    value = {"loss": gx.asarray(1.0), "more": (gx.asarray([1.0, 2.5]), gx.asarray(3))}
    agreement = compared(reference, value)
    assert [difference.path for difference in agreement.differences if not difference.equal] == ["result['more'][0]"]
    assert agreement.worst is not None
    assert agreement.worst.problem == "2.5 at [1], eager code gives 2.0"
    assert agreement.worst.error == 0.5


@pytest.mark.parametrize(
    ("reference", "value", "problem"),
    [
        ((1.0, 2.0), [1.0, 2.0], "the structure is [*, *], that of eager code is (*, *)"),
        ((1.0, 2.0), (1.0,), "the structure is (*), that of eager code is (*, *)"),
        (f32(1.0), np.array([1.0], np.float64), "it is float64[1], that of eager code is float32[1]"),
        (f32(1.0), f32(1.0, 1.0), "it is float32[2], that of eager code is float32[1]"),
        ("left", "right", "'right' given, eager code gives 'left'"),
    ],
)
def test_what_differs_in_form_is_said(reference: Any, value: Any, problem: str) -> None:
    worst = compared(reference, value).worst
    assert worst is not None
    assert worst.problem == problem


def test_a_baseline_may_differ_in_containers_and_dtypes() -> None:
    assert compared((f32(1.0), f32(2.0)), [np.array([1.0]), jnp.array([2.0])], strict=False).equal
    assert not compared((f32(1.0), f32(2.0)), [np.array([1.0])], strict=False).equal


def test_a_python_number_takes_the_dtype_of_the_other() -> None:
    assert compared(111, gx.asarray(111)).equal
    assert compared(0.1, gx.asarray(0.1)).equal
    assert not compared(110, gx.asarray(111)).equal


def test_empty_and_plain_results() -> None:
    assert compared(None, None).worst is None
    assert compared(np.zeros((0, 3), np.float32), np.zeros((0, 3), np.float32)).equal
    assert compared({"name": "w", "value": gx.ones((2,))}, {"name": "w", "value": gx.ones((2,))}).equal


@given(st.lists(st.floats(-1e3, 1e3, width=32), min_size=1, max_size=20), st.data())
def test_a_change_above_the_tolerance_is_found_wherever_it_is(values: list[float], data: st.DataObject) -> None:
    reference = f32(*values)
    place = data.draw(st.integers(0, len(values) - 1))
    value = reference.copy()
    value[place] += np.float32(2.0)
    worst = compared(reference, value, Tolerance(rtol=1e-5, atol=1e-2)).worst
    assert worst is not None
    assert worst.index == (place,)
    assert worst.error == pytest.approx(2.0, rel=1e-3)
