"""Variable: what it takes, its name, its memory, and that a call that fails leaves it as it was."""

from __future__ import annotations

import copy
import gc
import pickle
import sys
import threading
import weakref
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base import slow_path_reasons
from graphc.compiler.base.errors import FailedPreconditionError, UnimplementedError
from graphc.compiler.core import held
from graphc.compiler.lowering import run_on_variables


def counter(size: int = 1024) -> tuple[gx.Variable, Callable[[], Any]]:
    """A variable, and a compiled function that adds one to it."""
    variable = gx.Variable(np.zeros(size, np.float32))

    @gx.function
    def step() -> None:
        variable.assign_add(gx.ones((size,)))

    step()
    return variable, step


def test_what_a_variable_can_be_made_of() -> None:
    assert gx.Variable(1).dtype == np.int32
    assert gx.Variable(1.0).dtype == np.float32
    assert gx.Variable([[1, 2]], dtype="float32").type == gx.ones((1, 2)).type
    assert gx.Variable(lambda: gx.ones((3,))).tolist() == [1, 1, 1]
    assert gx.Variable(gx.Variable(2.0)).item() == 2
    assert gx.Variable(True).dtype == np.bool_
    assert gx.Variable(1.0, dtype="bfloat16").dtype.name == "bfloat16"


def test_what_it_cannot_be_made_of() -> None:
    with pytest.raises(gx.errors.InvalidTypeError, match=r"Variable 'w': expected a tensor.*got str 'abc'") as caught:
        gx.Variable("abc", name="w")
    assert "test_variable.py" in str(caught.value)
    with pytest.raises(TypeError, match="not a dtype"):
        gx.Variable(1.0, dtype="nonsense")


def test_the_initial_value_is_copied() -> None:
    tensor = gx.ones((4,))
    variable = gx.Variable(tensor)
    gx.function(lambda: variable.assign_add(gx.ones((4,))))()
    assert tensor.tolist() == [1, 1, 1, 1]
    assert variable.tolist() == [2, 2, 2, 2]


def test_names_are_unique() -> None:
    names = [gx.Variable(0.0, name="unique").name for _ in range(3)]
    assert names == ["unique", "unique_1", "unique_2"]


def test_copies_are_variables_of_their_own() -> None:
    original = gx.Variable([1.0, 2.0], name="original", trainable=False)
    for duplicate in (copy.copy(original), copy.deepcopy(original), pickle.loads(pickle.dumps(original))):
        assert duplicate.name.startswith("original_")
        assert duplicate.trainable is False
        duplicate.assign([5.0, 5.0])
        assert original.tolist() == [1, 2]

        @gx.function
        def both(second: gx.Variable) -> Any:
            return original + second

        assert both(duplicate).tolist() == [6, 7]


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        (lambda: [1.0, 2.0], ValueError, r"assign to Variable 'w\w*': shape \(2,\) given, shape \(3,\) expected"),
        (lambda: 1.0, ValueError, r"shape \(\) given"),
        (lambda: gx.ones((3,), dtype="int32"), TypeError, r"dtype int32 given, dtype float32 expected.*gx\.astype"),
        (lambda: gx.ones((3,), dtype="bfloat16"), TypeError, r"dtype bfloat16 given"),
        (lambda: "abc", TypeError, r"expected a tensor"),
    ],
)
@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
def test_assignments_that_do_not_fit(
    value: Callable[[], Any], error: type[Exception], message: str, compiled: bool
) -> None:
    variable = gx.Variable([1.0, 2.0, 3.0], name="w")

    def step() -> None:
        variable.assign(value())

    with pytest.raises(error, match=message) as caught:
        (gx.function(step) if compiled else step)()
    assert "variable.assign(value())" in str(caught.value)
    assert variable.tolist() == [1, 2, 3]


def test_numbers_take_the_dtype_of_the_variable() -> None:
    half = gx.Variable(1.0, dtype="bfloat16")
    half.assign(2)
    half.assign_add(0.5)
    assert (half.item(), half.dtype.name) == (2.5, "bfloat16")
    whole = gx.Variable(1)
    with pytest.raises(TypeError, match="dtype float32 given, dtype int32 expected"):
        whole.assign(2.5)
    gx.function(lambda: half.assign(half + 1))()
    assert (half.item(), half.dtype.name) == (3.5, "bfloat16")


def test_assigning_returns_the_variable_and_reads_are_snapshots() -> None:
    variable = gx.Variable(1.0)
    before = variable.value()
    assert variable.assign_add(2.0) is variable
    assert variable.assign_sub(0.5) is variable
    assert (before.item(), variable.item()) == (1, 2.5)
    assert repr(variable).startswith(f"Variable(name={variable.name!r}, shape=(), dtype=float32, value=2.5")


def test_variables_are_operands() -> None:
    variable = gx.Variable([1.0, 2.0])
    assert (variable * 2 + variable[0]).tolist() == [3, 5]
    assert (np.ones(2, np.float32) - variable).tolist() == [0, -1]
    assert np.asarray(variable).tolist() == [1, 2]
    assert len(variable) == 2


def test_updates_happen_in_place() -> None:
    variable, step = counter()
    for _ in range(3):
        place, old = variable.raw.unsafe_buffer_pointer(), weakref.ref(variable.raw)
        step()
        assert variable.raw.unsafe_buffer_pointer() == place
        assert old() is None
    assert variable.numpy()[0] == 4


def readers() -> list[tuple[str, Callable[[gx.Variable], Any]]]:
    compiled = gx.function(lambda variable: variable.value())

    @gx.function
    def read_and_write(variable: gx.Variable) -> Any:
        before = variable.value()
        variable.assign_add(gx.ones(variable.shape))
        return before, variable.value()

    def second(variable: gx.Variable) -> Any:
        other = gx.Variable(np.zeros(variable.shape, np.float32))
        other.assign(variable)
        return other

    def on_device(variable: gx.Variable) -> Any:
        with gx.device("cpu:0"):
            return gx.identity(variable)

    return [
        ("value", lambda variable: variable.value()),
        ("numpy", lambda variable: variable.numpy()),
        ("view", lambda variable: variable.value().numpy()),
        ("asarray", np.asarray),
        ("dlpack", lambda variable: np.from_dlpack(variable.value())),
        ("jax", lambda variable: variable.__jax_array__()),
        ("identity", gx.identity),
        ("reshape", lambda variable: gx.reshape(variable, variable.shape)),
        ("compiled", compiled),
        ("read and write", read_and_write),
        ("other variable", second),
        ("gx.device", on_device),
    ]


@pytest.mark.parametrize(("name", "read"), readers(), ids=[name for name, _ in readers()])
def test_what_was_read_stays_when_the_variable_is_updated_in_place(name: str, read: Callable[..., Any]) -> None:
    variable, step = counter()
    kept = read(variable)
    leaves = [np.asarray(leaf).copy() for leaf in (kept if isinstance(kept, tuple) else (kept,))]
    for _ in range(3):
        step()
    for leaf, before in zip(kept if isinstance(kept, tuple) else (kept,), leaves, strict=True):
        np.testing.assert_array_equal(np.asarray(leaf), before)


def test_what_is_assigned_from_another_sharding_shares_no_memory() -> None:
    parallel = gx.distribute.DataParallel()
    with parallel.scope():
        variable = gx.Variable(np.zeros(1024, np.float32))
    tensor = gx.ones((1024,))
    variable.assign(tensor)
    step = gx.function(lambda: variable.assign_add(gx.ones((1024,))))
    for _ in range(3):
        step()
    assert tensor.numpy()[0] == 1
    assert variable.numpy()[0] == 4


def test_an_error_while_tracing_changes_no_variable() -> None:
    first, second = gx.Variable(1.0), gx.Variable([1.0])

    @gx.function
    def step(x: Any) -> None:
        first.assign(x)
        second.assign(gx.ones((2,)))

    with pytest.raises(ValueError, match="shape"):
        step(gx.asarray(5.0))
    assert (first.item(), second.item()) == (1, 1)
    with pytest.raises(ZeroDivisionError):
        gx.function(lambda x: (first.assign(x), 1 / 0))(gx.asarray(5.0))
    assert first.item() == 1


def test_an_error_in_the_call_that_makes_variables_changes_none() -> None:
    made: list[gx.Variable] = []
    count = gx.Variable(0.0)

    @gx.function
    def step(x: Any) -> Any:
        if not made:
            made.append(gx.Variable(7.0))
        made[0].assign_add(x)
        count.assign_add(1.0)
        if len(made) == 1 and made[0].trainable:
            raise KeyError("the user's own")
        return x

    with pytest.raises(KeyError, match="the user's own"):
        step(gx.asarray(1.0))
    assert (count.item(), made[0].item()) == (0, 7)


def test_an_error_of_the_program_changes_no_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    variable = gx.Variable([1.0, 2.0])

    @gx.function
    def step(x: Any) -> Any:
        variable.assign(x)
        return x

    def fail(*arrays: Any) -> Any:
        raise RuntimeError("RESOURCE_EXHAUSTED")

    traced = step.trace(gx.ones((2,)))
    monkeypatch.setattr(traced.executable, "jitted", fail)
    with pytest.raises(RuntimeError, match="RESOURCE_EXHAUSTED"):
        step(gx.ones((2,)))
    assert variable.tolist() == [1, 2]


def test_making_a_variable_on_every_call_is_refused() -> None:
    @gx.function
    def step(x: Any) -> Any:
        return x * gx.Variable(2.0)

    assert step(gx.asarray(1.0)).item() == 2
    with pytest.raises(
        gx.errors.VariableCreationError, match=r"'step' makes a Variable again.*if self\.w is None"
    ) as caught:
        step(gx.asarray(1.0))
    assert "gx.Variable(2.0)" in str(caught.value)


def test_the_refusal_stands_when_the_user_swallows_it() -> None:
    @gx.function
    def step(x: Any) -> Any:
        try:
            return x * gx.Variable(2.0)
        except Exception:
            return x

    step(gx.asarray(1.0))
    with pytest.raises(gx.errors.VariableCreationError):
        step(gx.asarray(1.0))


def test_threads_may_update_and_read_one_variable() -> None:
    variable, step = counter(100_000)
    read = gx.function(lambda: variable.value().sum())
    read()
    barrier, errors = threading.Barrier(4), []

    def work(call: Callable[[], Any]) -> None:
        barrier.wait()
        try:
            for _ in range(100):
                call()
        except Exception as error:
            errors.append(error)

    calls = [step, step, lambda: read().item(), variable.numpy]
    threads = [threading.Thread(target=work, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert variable.numpy()[0] == 201


def test_a_variable_dies_with_its_last_reference() -> None:
    variable, step = counter()
    dead = weakref.ref(variable)
    del variable, step
    gc.collect()
    assert dead() is None


def test_jax_takes_variables() -> None:
    assert jax.numpy.asarray(gx.Variable([1.0, 2.0])).tolist() == [1, 2]


def in_threads(*calls: Callable[[], Any], times: int) -> None:
    """Runs each call so many times in a thread of its own, all at once, and raises what one of them raised."""
    barrier, errors = threading.Barrier(len(calls)), list[BaseException]()

    def work(call: Callable[[], Any]) -> None:
        try:
            barrier.wait(60)
            for _ in range(times):
                call()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(call,)) for call in calls]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # threads take turns between any two instructions
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
    finally:
        sys.setswitchinterval(interval)
    assert not any(thread.is_alive() for thread in threads)
    if errors:
        raise errors[0]


def test_readers_see_whole_values_while_a_compiled_step_donates_them() -> None:
    variable, step = counter(64)
    seen: list[np.ndarray[Any, Any]] = []

    def uniform(values: Any) -> None:
        seen.append(np.asarray(values))

    in_threads(
        step,
        lambda: uniform(variable.value()),
        lambda: uniform(variable.numpy()),
        lambda: uniform(variable * 1.0),
        lambda: repr(variable),
        times=300,
    )
    assert all((values == values[0]).all() for values in seen)
    assert variable.numpy()[0] == 301


def test_nobody_can_take_a_value_between_the_count_of_its_references_and_its_donation() -> None:
    variable, step = counter(4)
    jitted, begun, found = step.trace().executable.jitted, threading.Event(), list[Any]()

    def launch(*arrays: Any) -> Any:
        begun.set()
        assert held(variable) is None
        return jitted(*arrays)

    def read() -> None:
        begun.wait(60)
        found.append(variable.value())

    thread = threading.Thread(target=read)
    thread.start()
    run_on_variables(launch, [variable], 1, [])
    thread.join(60)
    assert found[0].tolist() == [2.0] * 4
    with pytest.raises(
        FailedPreconditionError, match=r"Variable '\w+' has no value while a compiled function replaces"
    ):
        run_on_variables(lambda *arrays: variable.value(), [variable], 1, [])
    with pytest.raises(FailedPreconditionError, match="has no value while"):
        run_on_variables(lambda *arrays: step(), [variable], 1, [])
    assert variable.tolist() == [2.0] * 4


@pytest.mark.parametrize("count", [1, 4, 5])  # up to four are updated by code that is written out
def test_updates_leave_alone_what_somebody_else_has_of_a_variable(count: int) -> None:
    variables = [gx.Variable([1.0, 2.0]) for _ in range(count)]

    @gx.function
    def step(x: Any) -> Any:
        for variable in variables:
            variable.assign_add(x)
        return [variable.value() for variable in variables]

    for _ in range(3):
        step(gx.asarray(1.0))
    kept = [variable.value() for variable in variables]
    results = step(gx.asarray(1.0))
    assert [value.tolist() for value in kept] == [[4.0, 5.0]] * count
    assert [value.tolist() for value in (*results, *variables)] == [[5.0, 6.0]] * 2 * count


@pytest.mark.parametrize("count", [1, 5])
def test_an_update_that_fails_by_the_short_way_changes_nothing(count: int) -> None:
    assert not slow_path_reasons
    variables = [gx.Variable([1.0, 2.0]) for _ in range(count)]

    @gx.function
    def step(x: Any) -> None:
        for variable in variables:
            variable.assign_add(x)

    for _ in range(2):
        step(gx.asarray(1.0))
    traced = step.trace(gx.asarray(1.0))
    (call,) = traced.entries.values()

    def failing(*arrays: Any) -> Any:
        raise RuntimeError("the program failed")

    program = call.__globals__["program"]
    call.__globals__["program"] = failing
    with pytest.raises(RuntimeError, match="the program failed"):
        step(gx.asarray(1.0))
    assert [variable.tolist() for variable in variables] == [[3.0, 4.0]] * count
    call.__globals__["program"] = program
    step(gx.asarray(1.0))
    assert [variable.tolist() for variable in variables] == [[4.0, 5.0]] * count


def test_eager_updates_of_many_threads_are_all_kept() -> None:
    total, items = gx.Variable(0.0), gx.Variable(np.zeros(2, np.float32))

    def step() -> None:
        total.assign_add(2.0)
        total.assign_sub(1.0)
        items[0] = items.value()[0] * 0 + 1.0

    in_threads(step, step, step, lambda: items[1:].numpy(), times=100)
    assert total.numpy() == 300
    assert items.tolist() == [1.0, 0.0]
    one = gx.function(lambda: total.assign_add(1.0))
    one()
    in_threads(one, lambda: total.assign_add(1.0), times=100)
    assert total.numpy() == 501


def test_the_array_of_a_variable_is_refused_in_a_compiled_function() -> None:
    variable = gx.Variable(2.0, name="held")
    with pytest.raises(
        UnimplementedError, match=r"raw of Variable 'held\w*' would be a constant.*; use value\(\)"
    ) as caught:
        gx.function(lambda: variable.raw * gx.ones(()))()
    assert __file__ in str(caught.value)
    assert gx.do_not_convert(repr)(variable).endswith("value=2.0)")
    texts: list[str] = []
    gx.function(gx.do_not_convert(lambda: texts.append(repr(variable))), side_effects="ignore")()
    assert "value" not in texts[0]
