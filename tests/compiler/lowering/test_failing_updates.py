"""Programs that may fail and that update Variables: in place, and a failure leaves the old values."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest

import graphc as gx

SIZE = 4096
BYTES = 4 * SIZE


def _step() -> tuple[gx.Variable, gx.Variable, Any]:
    first, second = gx.Variable(gx.zeros(SIZE)), gx.Variable(gx.ones(SIZE))

    @gx.function
    def step(x: Any) -> Any:
        before = first.value()
        first.assign_add(x)
        second.assign(second * 2.0)
        assert gx.all(x < 10.0), "too large"
        return gx.sum(before)

    return first, second, step


def test_variables_of_a_function_with_an_assert_are_updated_in_place() -> None:
    first, second, step = _step()
    x = gx.ones(SIZE)
    needs = step.lower(x).compile().memory_analysis()
    assert needs.alias_size_in_bytes == 2 * BYTES
    step(x)
    places = [variable.raw.unsafe_buffer_pointer() for variable in (first, second)]
    step(x)
    assert [variable.raw.unsafe_buffer_pointer() for variable in (first, second)] == places
    assert (first[0].item(), second[0].item()) == (2.0, 4.0)


def test_a_failure_leaves_the_old_values_though_it_comes_after_the_assignments() -> None:
    first, second, step = _step()
    step(gx.ones(SIZE))
    kept = first.value()
    for _ in range(2):
        with pytest.raises(AssertionError, match="too large"):
            step(gx.full(SIZE, 10.0))
    step(gx.ones(SIZE))
    assert kept[0].item() == 1.0
    np.testing.assert_array_equal(first.numpy(), np.full(SIZE, 2.0))
    np.testing.assert_array_equal(second.numpy(), np.full(SIZE, 4.0))


@pytest.mark.parametrize("value", [0.0, -0.0, np.nan, np.inf])
def test_a_failure_that_is_a_value_of_the_variable_itself_keeps_its_bits(value: float) -> None:
    variable = gx.Variable(np.full(3, value, np.float32))

    @gx.function
    def step() -> None:
        variable.assign(variable / 0.0)
        assert gx.all(variable.value() == 1.0)

    with pytest.raises(AssertionError):
        step()
    np.testing.assert_array_equal(variable.numpy().view(np.int32), np.full(3, value, np.float32).view(np.int32))


def test_a_row_of_a_table_is_assigned_in_place_where_the_index_is_checked() -> None:
    table = gx.Variable(gx.zeros((64, 64)))

    @gx.function
    def put(place: Any, row: Any) -> None:
        if gx.any(row < 0.0):
            raise ValueError("negative")
        table[place] = row

    put(gx.asarray(3), gx.ones(64))
    with pytest.raises(ValueError, match="negative"):
        put(gx.asarray(4), -gx.ones(64))
    needs = put.lower(gx.asarray(3), gx.ones(64)).compile().memory_analysis()
    assert needs.alias_size_in_bytes == 4 * 64 * 64
    assert gx.sum(table).item() == 64.0


def test_a_failure_within_a_loop_and_under_a_deadline() -> None:
    variable = gx.Variable(gx.zeros(3))

    def run(values: Any) -> None:
        for value in values:
            variable.assign_add(gx.full(3, value))
            if value > 4.0:
                raise ValueError("too large")

    for function in (gx.function(run), gx.function(run, timeout=60.0)):
        with pytest.raises(ValueError, match="too large"):
            function(gx.arange(8.0))
        np.testing.assert_array_equal(variable.numpy(), np.zeros(3))
    gx.function(run)(gx.arange(4.0))
    assert variable[0].item() == 6.0


def test_a_program_that_calls_python_donates_nothing_and_its_exception_leaves_the_old_values() -> None:
    variable, fails = gx.Variable(gx.zeros(3)), []

    def look(x: Any) -> Any:
        if fails:
            raise KeyError("from Python")
        return x

    @gx.function
    def step(x: Any) -> None:
        variable.assign_add(gx.pyfunc(look, gx.TensorSpec((3,)), x))

    x = gx.ones(3)
    step(x)
    assert step.lower(x).compile().memory_analysis().alias_size_in_bytes == 0
    fails.append(True)
    with pytest.raises(KeyError, match="from Python"):
        step(x)
    assert variable[0].item() == 1.0


def test_a_variable_on_several_devices_keeps_its_layout() -> None:
    mesh = jax.make_mesh((2,), ("data",))
    place = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("data"))
    variable = gx.Variable(jax.device_put(np.zeros(8, np.float32), place))

    @gx.function
    def step(x: Any) -> None:
        variable.assign_add(x)
        assert gx.all(x < 10.0)

    step(gx.ones(8))
    with pytest.raises(AssertionError):
        step(gx.full(8, 10.0))
    step(gx.ones(8))
    assert variable.raw.sharding == place
    np.testing.assert_array_equal(variable.numpy(), np.full(8, 2.0))
