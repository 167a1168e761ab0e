"""Tensor types, literals and attributes."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given

from graphc.compiler.ir import Attrs, Literal, TensorType, dtype_from_short, short_dtype
from tests.compiler.ir.strategies import DTYPES, attribute_values


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_short_names_come_back(dtype: np.dtype[Any]) -> None:
    assert dtype_from_short(short_dtype(dtype)) == dtype


def test_an_unknown_dtype_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="there is no dtype 'f33'; expected one of bool, i8, "):
        dtype_from_short("f33")


@pytest.mark.parametrize(
    ("dtype", "inexact"),
    [
        ("float32", True),
        ("complex64", True),
        ("int32", False),
        ("bool", False),
        (ml_dtypes.bfloat16, True),
        (ml_dtypes.float8_e4m3fn, True),
        (ml_dtypes.int4, False),
    ],
)
def test_inexact_types_are_the_floating_and_complex_ones(dtype: Any, inexact: bool) -> None:
    assert TensorType((2,), np.dtype(dtype)).is_inexact is inexact


def test_a_type_knows_its_size_and_prints_its_weakness() -> None:
    assert TensorType((2, 3), np.dtype("int8")).size == 6
    assert TensorType((0, 3), np.dtype("int8")).size == 0
    assert TensorType((), np.dtype("int8")).size == 1
    assert str(TensorType((2,), np.dtype(ml_dtypes.bfloat16), weak=True)) == "~bf16[2]"


class TestLiteral:
    def test_is_a_copy_that_cannot_be_written(self) -> None:
        array = np.zeros(3)
        literal = Literal(array)
        array[0] = 1
        assert literal.array[0] == 0
        with pytest.raises(ValueError, match="read-only"):
            literal.array[0] = 1

    def test_is_equal_by_dtype_shape_and_bits(self) -> None:
        assert Literal([1, 2]) == Literal(np.array([1, 2]))
        assert hash(Literal([1, 2])) == hash(Literal([1, 2]))
        assert Literal(np.float32(1)) != Literal(np.float64(1))
        assert Literal([[1, 2]]) != Literal([1, 2])
        assert Literal(0.0) != Literal(-0.0)
        assert Literal(np.nan) == Literal(np.nan)
        assert Literal(1) != 1

    def test_the_byte_order_of_the_machine_is_the_only_one(self) -> None:
        assert Literal(np.array([1, 2], ">i4")) == Literal(np.array([1, 2], "<i4"))


class TestAttrs:
    @pytest.mark.parametrize(
        ("first", "second"),
        [
            (1, 1.0),
            (1, True),
            (0.0, -0.0),
            ((1,), (True,)),
            (1 + 0j, 1.0),
            (0j, complex(-0.0, 0.0)),
            ("f32", np.dtype("f4")),
        ],
    )
    def test_tells_values_apart_that_python_takes_for_equal(self, first: Any, second: Any) -> None:
        assert Attrs(a=first) != Attrs(a=second)

    def test_nan_is_equal_to_itself(self) -> None:
        assert Attrs(a=float("nan")) == Attrs(a=float("nan"))

    def test_order_does_not_count(self) -> None:
        assert Attrs(a=1, b=2) == Attrs({"b": 2}, a=1)
        assert hash(Attrs(a=1, b=2)) == hash(Attrs(b=2, a=1))

    @given(attribute_values)
    def test_every_value_is_hashable_and_equal_to_itself(self, value: Any) -> None:
        assert Attrs(a=value) == Attrs(a=value)
        assert hash(Attrs(a=value)) == hash(Attrs(a=value))

    def test_is_a_mapping(self) -> None:
        attrs = Attrs(a=1, b="x")
        assert {**attrs} == {"a": 1, "b": "x"}
        assert len(attrs) == 2
        assert repr(attrs) == "Attrs({'a': 1, 'b': 'x'})"
