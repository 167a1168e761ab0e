"""New arrays have memory of their own, a dtype that is not weak, and the layout of what they copy."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import graphc as gx
from graphc.compiler.core.variable_arrays import copied_array, new_array

F32 = np.dtype(np.float32)
SIZES = [3, 40_000]


@pytest.mark.parametrize("value", [2, 2.5, True, np.float32(2), [1, 2], np.arange(3), np.arange(3.0)])
def test_of_numbers_and_numpy_arrays(value: Any) -> None:
    array = new_array(value, F32)
    np.testing.assert_array_equal(array, np.asarray(value, F32))
    assert (array.dtype, array.weak_type) == (F32, False)


@pytest.mark.parametrize("size", SIZES)
def test_variables_keep_no_memory_of_the_users(size: int) -> None:
    given = np.ones(size, np.float32)
    array = jnp.ones(size)
    kept = gx.asarray(given)
    made = [gx.Variable(value) for value in (given, array, kept)]
    for variable in made:
        variable.assign(given if variable is made[0] else array)
    add = gx.function(lambda v: v.assign_add(gx.ones(size)))
    given[0] = 7.0
    for variable in made:
        add(variable)
        assert variable.numpy().tolist() == [2.0] * size
    assert array[0] == kept[0].item() == 1.0


@pytest.mark.parametrize("size", SIZES)
def test_copies_are_not_weak_and_stay_where_they_are(size: int) -> None:
    there = jax.device_put(jnp.full(size, 2), jax.devices()[1])
    weak = jnp.broadcast_to(jnp.asarray(2.0), (size,))
    mesh = Mesh(np.array(jax.devices()[:2]), ("x",))
    spread = jax.device_put(jnp.ones((2, size)), NamedSharding(mesh, PartitionSpec("x")))
    for array in (there, weak, spread):
        copy = copied_array(array, F32)
        assert copy.sharding == array.sharding
        assert (copy.dtype, copy.weak_type) == (F32, False)
        np.testing.assert_array_equal(copy, array)
        pointers = {part.data.unsafe_buffer_pointer() for part in copy.addressable_shards}
        assert pointers.isdisjoint(part.data.unsafe_buffer_pointer() for part in array.addressable_shards)
    assert not copied_array(weak, F32).committed


def test_an_int_that_does_not_fit_is_refused() -> None:
    small = gx.Variable(np.int8(1))
    with pytest.raises(OverflowError):
        small.assign(300)
    assert small.item() == 1


@pytest.mark.parametrize("size", SIZES)
def test_tensors_of_jax_arrays_are_copies_of_the_same_kind(size: int) -> None:
    there = jax.device_put(jnp.full(size, 2), jax.devices()[1])
    weak = jnp.broadcast_to(jnp.asarray(2.0), (size,))
    for array in (there, weak, there.astype(jnp.bfloat16)):
        copy = gx.asarray(array).raw
        assert (copy.sharding, copy.committed) == (array.sharding, array.committed)
        assert (copy.dtype, copy.weak_type) == (array.dtype, array.weak_type)
        assert copy.unsafe_buffer_pointer() != array.unsafe_buffer_pointer()
        array.delete()
        np.testing.assert_array_equal(np.asarray(copy, np.float32), np.full(size, 2.0, np.float32))
    with pytest.raises(gx.errors.InvalidTypeError, match="key_data"):
        gx.asarray(jax.random.key(0))
