"""What makes two Python values the same to a compiled function."""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.core.dtypes import narrowed
from graphc.compiler.tracing import sources
from graphc.compiler.tracing.sources import places_of, same_array, same_items

MANY = 200


@pytest.mark.parametrize("count", [3, MANY])
@pytest.mark.parametrize(
    ("known", "other"), [(1, True), (1, 1.0), (0.0, -0.0), (0.5, 0.25), ("a", "b"), (1.0, 1 + 0j), (None, 0)]
)
def test_items_are_the_same_if_their_values_and_types_are(count: int, known: Any, other: Any) -> None:
    held = (*([2.5] * (count - 1)), known)
    places = places_of(held)
    assert bool(places) == (count == MANY)
    assert same_items(list(held), held, places)
    assert same_items([float("2.5") for _ in range(count - 1)] + [known], held, places)  # others of the same values
    assert not same_items([*held[:-1], other], held, places)
    assert not same_items(held[:-1], held, places)


def test_a_number_that_is_none_is_the_same_as_itself() -> None:
    held = (math.nan,) * MANY
    assert same_items([float("nan")] * MANY, held, places_of(held))


@pytest.mark.parametrize("count", [0, 1, 9, 1000])
def test_addresses_are_those_of_the_items(count: int) -> None:
    held = tuple(object() for _ in range(count))
    given = np.array([id(one) for one in held], np.uintp).tobytes()
    assert sources.addresses(held) == sources._addresses_asked(held) == given  # pyright: ignore[reportPrivateUsage]


@pytest.mark.parametrize("dtype", ["float32", "int8", "datetime64[s]", "S3", jnp.bfloat16, "bool", "S300"])
@pytest.mark.parametrize("shape", [(), (2, 3), (20, 30), (0, 3)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_are_the_same_if_their_bytes_are(dtype: Any, shape: tuple[int, ...], order: Any) -> None:
    value = np.zeros(shape, dtype, order=order)
    given = type(value), value.dtype, value.shape, value.tobytes()
    assert same_array(value, *given)
    assert same_array(value.copy("C"), *given)
    assert not same_array(value.reshape(*shape, 1), *given)
    assert not same_array(value.view(np.recarray), *given)
    if value.size:
        changed = value.copy(order)
        changed[(-1,) * len(shape)] = np.ones((), np.int8).astype(dtype)
        assert not same_array(changed, *given)


@pytest.mark.parametrize("shape", [(), (4,), (40, 50), (0,)])
@pytest.mark.parametrize("wide", ["int64", "uint64"])
def test_ints_are_narrowed_if_they_fit(shape: tuple[int, ...], wide: str) -> None:
    narrow = np.dtype(wide.replace("64", "32"))
    limits = np.iinfo(narrow)
    for number in (limits.min, limits.max, 7):
        value = np.full(shape, number, wide)
        found = narrowed(value, value.astype(narrow))
        assert found.dtype == narrow
        np.testing.assert_array_equal(found, value)
        assert not np.shares_memory(found, value)
    for number in (limits.min - 1, limits.max + 1):
        if shape != (0,) and (number >= 0 or wide == "int64"):
            value = np.zeros(shape, wide)
            value[(-1,) * len(shape)] = number
            with pytest.raises(InvalidArgumentError, match="does not fit"):
                narrowed(value, value.astype(narrow))
