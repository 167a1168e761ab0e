"""Positions at the ends and beyond, parts that are empty, and values that do not fit the tensor they are put into."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError, OutOfRangeError

BOTH = pytest.mark.parametrize("how", [lambda f: f, gx.function], ids=["eager", "compiled"])


@BOTH
@pytest.mark.parametrize("places", [(1, 7), (-1,), (2, 1), (0, 0), ()], ids=str)
def test_parts_between_positions_are_those_of_numpy(how: Any, places: tuple[int, ...]) -> None:
    x = np.arange(12).reshape(2, 2, 3)
    for name, array in (
        ("split", x),
        ("array_split", x),
        ("hsplit", x),
        ("hsplit", x[0, 0]),
        ("vsplit", x),
        ("dsplit", x),
    ):
        found = how(lambda x, name=name: getattr(gx, name)(x, places))(gx.asarray(array))
        expected = getattr(np, name)(array, places)
        assert [part.tolist() for part in found] == [part.tolist() for part in expected]
    for name, array in (("hsplit", x[0, 0, 0]), ("vsplit", x[0, 0]), ("dsplit", x[0])):
        with pytest.raises(InvalidArgumentError, match=rf"{name}\(.*expected at least (one|two|three) ax"):
            how(lambda x, name=name: getattr(gx, name)(x, places))(gx.asarray(array))


@BOTH
def test_positions_out_of_range_are_refused(how: Any) -> None:
    x = gx.arange(3)
    assert how(lambda x: gx.insert(x, 3, 7))(x).tolist() == [0, 1, 2, 7]
    for position in (4, -4):
        with pytest.raises(OutOfRangeError, match=rf"insert.* position {position} is out of range for 3 elements"):
            how(lambda x, position=position: gx.insert(x, position, 7))(x)
    for position in (3, -4):
        with pytest.raises(OutOfRangeError, match=rf"delete.* position {position} is out of range for 3 elements"):
            how(lambda x, position=position: gx.delete(x, (0, position)))(x)
    with pytest.raises(InvalidArgumentError, match=r"diag_indices_from.* expected at least two axes.*\(3,\)"):
        how(lambda x: gx.diag_indices_from(x))(x)


@BOTH
def test_values_that_would_lose_something_are_refused(how: Any) -> None:
    x = gx.zeros((2, 2), "int32")
    with pytest.raises(InvalidTypeError, match=r"fill_diagonal.* of dtype float32 cannot be put into .* int32 without"):
        how(lambda x: gx.fill_diagonal(x, 1.5))(x)
    with pytest.raises(
        InvalidTypeError, match=r"put_along_axis.* of dtype float32 cannot be put into .* int32 without"
    ):
        how(lambda x: gx.put_along_axis(x, gx.asarray([[0]]), 1.5, 1))(x)
    assert how(lambda x: gx.fill_diagonal(x, 7))(gx.zeros((2, 2), "float16")).tolist() == [[7, 0], [0, 7]]


@BOTH
def test_no_parts_at_all(how: Any) -> None:
    assert how(lambda x: gx.unstack(x))(gx.zeros((0, 2))) == ()
    assert how(lambda x: gx.gradient(x))(gx.asarray(1.0)) == ()


def test_the_order_of_dtypes_that_numpy_does_not_know() -> None:
    x = gx.asarray([np.nan, 2.0, -1.0, np.nan], "bfloat16")
    found = gx.unique_counts(x)
    assert found.values.dtype == gx.bfloat16
    np.testing.assert_array_equal(found.values.astype("float32").numpy(), [-1, 2, np.nan, np.nan])
    assert found.counts.tolist() == [1, 1, 1, 1]
    assert gx.unique(gx.asarray([3, -2, 3], "int4")).tolist() == [-2, 3]
    assert gx.union1d(gx.asarray([3.0], "bfloat16"), gx.asarray([1.0], "float16")).dtype == gx.float32


@BOTH
@pytest.mark.parametrize("value", [7, [1, 2, 3]], ids=["a number", "numbers"])
@pytest.mark.parametrize("shape", [(7, 2), (2, 3), (3, 3)], ids=str)
def test_a_diagonal_that_wraps(how: Any, shape: tuple[int, int], value: Any) -> None:
    expected = np.zeros(shape, np.int32)
    np.fill_diagonal(expected, value, wrap=True)
    x = gx.zeros(shape, "int32")
    np.testing.assert_array_equal(how(lambda x: gx.fill_diagonal(x, value, wrap=True))(x).numpy(), expected)


@BOTH
def test_weights_that_do_not_fit(how: Any) -> None:
    x = gx.ones((2, 3))
    with pytest.raises(InvalidArgumentError, match=r"cov.*incompatible numbers of samples and fweights"):
        how(lambda x: gx.cov(x, fweights=gx.asarray([1, 2])))(x)
