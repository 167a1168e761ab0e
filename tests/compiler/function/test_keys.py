"""What a trace is shared by: values that are equal in Python but mean different programs have traces of their own."""

from __future__ import annotations

import collections
import enum
from typing import Any

import jax
import numpy as np
import pytest

import graphc as gx

X = gx.asarray(1.0)


class Weekday(enum.IntEnum):
    FIRST = 1


class Month(enum.IntEnum):
    FIRST = 1


class Weight(enum.Flag):
    FIRST = 1


class Holder:
    def __init__(self, value: Any) -> None:
        self.value = value


def named(option: Any, x: Any) -> Any:
    return x, type(option).__name__


def of_keys(option: Any, x: Any) -> Any:
    return x, repr(list(option))


def of_held_keys(option: Any, x: Any) -> Any:
    return x, repr(list(option.value))


def of_missing(option: Any, x: Any) -> Any:
    return x + option.default_factory()


@pytest.mark.parametrize(
    ("function", "options"),
    [
        (named, [Weekday.FIRST, Month.FIRST, Weight.FIRST, 1]),
        (lambda option, x: named(option.value, x), [Holder(Weekday.FIRST), Holder(Month.FIRST), Holder(1)]),
        (of_keys, [{1: 2}, {1.0: 2}, {True: 2}, {Weekday.FIRST: 2}, {(1, 0.0): 2}, {(1.0, 0.0): 2}, {(1, -0.0): 2}]),
        (of_held_keys, [Holder({1: 2}), Holder({1.0: 2}), Holder({True: 2}), Holder({Month.FIRST: 2})]),
        (of_keys, [{"a": 1}, {"b": 1}]),
        (of_missing, [collections.defaultdict(int), collections.defaultdict(lambda: 3.0)]),
        (of_held_keys, [Holder({(1, 2)}), Holder({(1.0, 2)}), Holder({(True, 2)})]),
        (lambda option, x: (x, str(option.value)), [Holder(np.timedelta64(1, "s")), Holder(np.timedelta64(1, "ms"))]),
    ],
)  # fmt: skip
def test_equal_values_of_other_types_are_told_apart(function: Any, options: list[Any]) -> None:
    compiled = gx.function(function, on_retrace="ignore")
    for _ in range(2):
        for option in options:
            result, expected = compiled(option, X), function(option, X)
            assert str(result) == str(expected)
    assert compiled.num_traces == len(options)


def scale(holder: Any, x: Any) -> Any:
    return x * holder.value[0], holder.value


@pytest.mark.parametrize("dtype", ["float32", "int32", "bool", "bfloat16"])
def test_a_small_array_among_the_attributes_counts_by_what_it_holds(dtype: str) -> None:
    array = np.ones(3, gx.core.as_dtype(dtype))
    holder, compiled = Holder(array), gx.function(scale, on_retrace="ignore")
    assert compiled(holder, X)[0].item() == 1
    array[0] = 0
    assert compiled(holder, X)[0].item() == 0
    other = Holder(array.copy())
    result, returned = compiled(other, X)
    assert result.item() == 0
    assert returned is other.value
    assert compiled.num_traces == 2
    holder.value = array.astype("complex64")
    assert compiled(holder, X)[0].dtype == "complex64"
    holder.value = array.reshape(3, 1)
    assert compiled(holder, X)[0].shape == (1,)
    assert compiled.num_traces == 4


def test_arrays_that_are_one_are_told_from_arrays_that_are_equal() -> None:
    one, other = np.ones(2, np.float32), np.ones(2, np.float32)
    compiled = gx.function(lambda holder, x: (x, holder.value[0] is holder.value[1], holder.value[0]))
    for pair in ([one, one], [one, other], [other, one]):
        _, same, first = compiled(Holder(pair), X)
        assert same == (pair[0] is pair[1])
        assert first is pair[0]


def test_a_large_array_among_the_attributes_counts_by_identity() -> None:
    holder, compiled = Holder(np.ones(1 << 19, np.float32)), gx.function(scale)
    with pytest.warns(gx.errors.SideEffectWarning, match=r"holder\.value, a NumPy array of 2 MiB that may"):
        assert compiled(holder, X)[0].item() == 1
    holder.value[0] = 5
    assert compiled(holder, X)[0].item() == 1  # as the module says
    holder.value = holder.value.copy()
    holder.value.flags.writeable = False
    assert compiled(holder, X)[0].item() == 5


def test_typed_random_keys_are_refused_with_the_remedy() -> None:
    function = gx.function(lambda key: key)
    with pytest.raises(TypeError, match=r"argument 'key': a tensor cannot hold .*jax.random.key_data\(key\)") as caught:
        function(jax.random.key(0))
    assert isinstance(caught.value, gx.errors.InvalidTypeError)
    assert "function(jax.random.key(0))" in str(caught.value)
    assert function(jax.random.key_data(jax.random.key(0))).shape == (2,)
