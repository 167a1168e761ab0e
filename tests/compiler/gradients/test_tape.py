"""GradientTape: what it records, what it gives, what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc import Tensor
from graphc.compiler.base.errors import FailedPreconditionError, InvalidArgumentError, InvalidTypeError
from tests.compiler.gradients.agreement import assert_close, f


def both(function: Any) -> Any:
    """Runs a test's body eagerly and compiled."""
    return pytest.mark.parametrize("run", [function, gx.function(function)], ids=["eager", "compiled"])


def square_gradient(x: Tensor) -> Any:
    with gx.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    return tape.gradient(y, x)


@both(square_gradient)
def test_the_gradient_of_a_square(run: Any) -> None:
    found = run(f(3.0))
    assert found.item() == 6.0
    assert found.shape == ()
    assert found.dtype == "float32"


def unwatched(x: Tensor) -> Any:
    z = x * 1.0
    with gx.GradientTape() as tape:
        tape.watch(z)
        y = z * 2 + x
    return tape.gradient(y, [z, x]), tape.watched_variables()


@both(unwatched)
def test_what_is_not_watched_has_no_gradient(run: Any) -> None:
    (found, missing), names = run(f(3.0))
    assert found.item() == 2.0
    assert missing is None
    assert names == ()


def persistent(x: Tensor) -> Any:
    with gx.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        z = y * y
    return tape.gradient(z, x), tape.gradient(y, x), tape.gradient(z, y), tape.gradient(z, [x, y])


@both(persistent)
def test_a_persistent_tape_may_be_asked_again(run: Any) -> None:
    dz_dx, dy_dx, dz_dy, pair = run(f(2.0))
    assert (dz_dx.item(), dy_dx.item(), dz_dy.item()) == (32.0, 4.0, 8.0)
    assert [value.item() for value in pair] == [32.0, 8.0]


def higher(x: Tensor) -> Any:
    with gx.GradientTape() as third:
        third.watch(x)
        with gx.GradientTape() as second:
            second.watch(x)
            with gx.GradientTape() as first:
                first.watch(x)
                y = x**4 + gx.sin(x)
            one = first.gradient(y, x)
        two = second.gradient(one, x)
    return one, two, third.gradient(two, x)


@both(higher)
def test_nested_tapes_give_higher_orders(run: Any) -> None:
    import math

    one, two, three = run(f(2.0))
    assert_close(one, 32 + math.cos(2))
    assert_close(two, 48 - math.sin(2))
    assert_close(three, 48 - math.cos(2))


def mixed_partials(x: Tensor, y: Tensor) -> Any:
    with gx.GradientTape(persistent=True) as outer:
        outer.watch([x, y])
        with gx.GradientTape() as inner:
            inner.watch([x, y])
            z = x * x * y + gx.exp(y)
        dx, dy = inner.gradient(z, [x, y])
    return outer.gradient(dx, [x, y]), outer.gradient(dy, [x, y])


@both(mixed_partials)
def test_a_hessian(run: Any) -> None:
    (xx, xy), (yx, yy) = run(f(3.0), f(0.0))
    assert [value.item() for value in (xx, xy, yx, yy)] == [0.0, 6.0, 6.0, 1.0]


def stopped(x: Tensor) -> Any:
    with gx.GradientTape() as tape:
        tape.watch(x)
        with tape.stop_recording():
            constant = x * x
        y = constant * x
    return tape.gradient(y, x)


@both(stopped)
def test_stop_recording(run: Any) -> None:
    assert run(f(3.0)).item() == 9.0


def stop_gradient(x: Tensor) -> Any:
    with gx.GradientTape() as tape:
        tape.watch(x)
        y = gx.stop_gradient(x * x) * x + gx.stop_gradient(x)
    return tape.gradient(y, x)


@both(stop_gradient)
def test_stop_gradient(run: Any) -> None:
    assert run(f(3.0)).item() == 9.0


def unconnected(x: Tensor, z: Tensor) -> Any:
    with gx.GradientTape(persistent=True) as tape:
        tape.watch([x, z])
        y = x * 2
    return tape.gradient(y, [x, z]), tape.gradient(y, [x, z], unconnected_gradients="zero")


@both(unconnected)
def test_unconnected_sources_are_none_or_zero(run: Any) -> None:
    (dx, none), (_, zero) = run(f(3.0), f(1.0, 2.0))
    assert dx.item() == 2.0
    assert none is None
    assert zero.tolist() == [0.0, 0.0]
    assert zero.dtype == "float32"


def targets_and_cotangents(x: Tensor) -> Any:
    with gx.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y, z = x * x, gx.sin(x)
    ones = tape.gradient([y, {"z": z}], x)
    weighted = tape.gradient([y, z], x, output_gradients=[x * 0 + 10.0, gx.zeros(2)])
    return ones, weighted, tape.gradient(y, x, output_gradients=f(1.0, -1.0)), tape.gradient([y, y], x)


@both(targets_and_cotangents)
def test_several_targets_and_their_cotangents(run: Any) -> None:
    x = np.array([1.0, 2.0], np.float32)
    ones, weighted, signed, twice = run(gx.asarray(x))
    assert_close(ones, 2 * x + np.cos(x))
    assert_close(weighted, 20 * x)
    assert_close(signed, 2 * x * [1, -1])
    assert_close(twice, 4 * x)


def cotangents_of_other_dtypes(x: Tensor) -> Any:
    with gx.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = gx.astype(x * x, "bfloat16")
        z = gx.sum(y)
    whole = gx.asarray([1, -1], dtype="int32")
    given = [(y, whole), (y, gx.astype(whole, "float32")), (y, np.asarray([1, -1])), (z, 2)]
    return [tape.gradient(target, x, output_gradients=seed) for target, seed in given]


@both(cotangents_of_other_dtypes)
def test_cotangents_are_taken_in_the_dtype_of_the_target(run: Any) -> None:
    found = run(f(1.0, 2.0))
    assert [value.tolist() for value in found] == [[2, -4]] * 3 + [[4, 8]]
    assert [value.dtype for value in found] == ["float32"] * 4


def intermediate(x: Tensor) -> Any:
    with gx.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        z = y * x
    return tape.gradient(z, {"y": y, "x": x, "z": z})


@both(intermediate)
def test_intermediate_sources(run: Any) -> None:
    found = run(f(3.0))
    assert {name: value.item() for name, value in found.items()} == {"y": 3.0, "x": 27.0, "z": 1.0}


def used_twice(x: Tensor) -> Any:
    with gx.GradientTape() as tape:
        tape.watch(x)
        y = x * x + x * 3 + gx.concat([gx.reshape(x, (1,)), gx.reshape(x, (1,))])[1]
    return tape.gradient(y, x)


@both(used_twice)
def test_uses_add_up(run: Any) -> None:
    assert run(f(2.0)).item() == 8.0


def test_variables_are_watched_as_they_are_read() -> None:
    w, frozen = gx.Variable([1.0, 2.0]), gx.Variable(3.0, trainable=False)

    def run(x: Tensor) -> Any:
        with gx.GradientTape() as tape:
            y = gx.sum(w * w * x) * frozen
        return tape.gradient(y, [w, frozen]), tuple(variable.name for variable in tape.watched_variables())

    for way in (run, gx.function(run)):
        (dw, none), names = way(f(2.0))
        assert dw.tolist() == [12.0, 24.0]
        assert none is None
        assert names == (w.name,)


def test_watch_accessed_variables_may_be_off() -> None:
    w, v = gx.Variable(2.0), gx.Variable(3.0)

    def run() -> Any:
        with gx.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(v)
            y = w * v
        return tape.gradient(y, [w, v])

    for way in (run, gx.function(run)):
        none, dv = way()
        assert none is None
        assert dv.item() == 2.0


def test_a_variable_that_is_assigned_inside_the_tape() -> None:
    def run(v: gx.Variable, x: Tensor) -> Any:
        with gx.GradientTape() as tape:
            tape.watch(x)
            y = v * x
            v.assign(v * 10.0)
            z = y + v * x
        return tape.gradient(z, [v, x])

    for way in (run, gx.function(run)):
        v = gx.Variable(2.0)
        dv, dx = way(v, f(3.0))
        # Each read of the variable counts; what was assigned is a value of its own.
        assert dv.item() == 6.0
        assert dx.item() == 22.0
        assert v.numpy() == 20.0


def test_an_optimisation_step_by_hand() -> None:
    w = gx.Variable([1.0, -1.0])

    def step(x: Tensor) -> Tensor:
        with gx.GradientTape() as tape:
            loss = gx.sum((w * x - 1.0) ** 2)
        w.assign_sub(0.1 * tape.gradient(loss, w))
        return loss

    eager = [step(f(1.0, 2.0)).item() for _ in range(3)], w.numpy()
    w.assign([1.0, -1.0])
    compiled_step = gx.function(step)
    compiled = [compiled_step(f(1.0, 2.0)).item() for _ in range(3)], w.numpy()
    assert_close(eager[0], compiled[0])
    assert_close(eager[1], compiled[1])


def test_reset_and_an_exception_leave_no_tape_open() -> None:
    tape = gx.GradientTape()
    with pytest.raises(KeyError), tape:
        raise KeyError("x")
    x = f(2.0)
    tape.reset()
    with tape:
        tape.watch(x)
        y = x * x
    assert tape.gradient(y, x).item() == 4.0


def test_a_tape_holds_nothing_after_its_gradient() -> None:
    x = f(2.0)
    with gx.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    tape.gradient(y, x)
    assert tape._records == []
    assert tape._connected == {}


# --- bad input


def test_a_target_that_depends_on_nothing_in_the_tape_has_no_gradient() -> None:
    def run(x: Tensor) -> Any:
        outside = x * 2
        found: list[Any] = []
        with gx.GradientTape(persistent=True) as tape:
            tape.watch(x)
            inside = gx.asarray(1.0), gx.ones(()), gx.stop_gradient(x), outside * 3, gx.zeros_like(x)
        for y in (outside, gx.ones(()), *inside):
            found.append(tape.gradient(y, x))
            found.append(tape.jacobian(y, x))
            found.append(tape.gradient(y, x, unconnected_gradients="zero"))
        return found

    for way in (run, gx.function(run)):
        assert [None if y is None else y.item() for y in way(f(1.0))] == [None, None, 0.0] * 7


def test_a_second_call_of_gradient() -> None:
    x = f(2.0)
    with gx.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    tape.gradient(y, x)
    with pytest.raises(FailedPreconditionError, match="persistent=True"):
        tape.gradient(y, x)


@pytest.mark.parametrize("bad", [3, "x", [1.0]])
def test_watch_of_what_is_no_tensor(bad: Any) -> None:
    with gx.GradientTape() as tape, pytest.raises(InvalidTypeError, match=r"watch: expected a Tensor or a Variable"):
        tape.watch(bad)


def test_watch_of_integers() -> None:
    with gx.GradientTape() as tape, pytest.raises(InvalidTypeError, match=r"watch: i32\[2\] has no gradient"):
        tape.watch(gx.asarray([1, 2]))


def test_targets_and_sources_of_a_wrong_type() -> None:
    x = f(2.0)
    with gx.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        k = gx.argmax(gx.ones(3))
    with pytest.raises(InvalidTypeError, match="target must be a Tensor, got float"):
        tape.gradient(4.0, x)
    with pytest.raises(InvalidTypeError, match="target must have a floating dtype, got i32"):
        tape.gradient(k, x)
    with pytest.raises(InvalidTypeError, match=r"source must be a Tensor or a Variable, got 2\.0"):
        tape.gradient(y, 2.0)
    with pytest.raises(InvalidArgumentError, match="'none' or 'zero', got 'zeros'"):
        tape.gradient(y, x, unconnected_gradients="zeros")  # type: ignore[arg-type]
    with pytest.raises(InvalidArgumentError, match="2 output_gradients for 1 targets"):
        tape.gradient(y, x, output_gradients=[y, y])
    with pytest.raises(InvalidArgumentError, match=r"shape \(2,\) for a target of shape \(\)"):
        tape.gradient(y, x, output_gradients=[f(1.0, 2.0)])


def test_a_tape_is_not_opened_twice() -> None:
    with gx.GradientTape() as tape, pytest.raises(FailedPreconditionError, match="is open already"):
        tape.__enter__()


def test_a_tape_of_another_trace() -> None:
    x = f(2.0)
    with gx.GradientTape() as tape:
        tape.watch(x)
        y = x * x

    @gx.function
    def run() -> Any:
        return tape.gradient(y, x)

    with pytest.raises(FailedPreconditionError, match="outside the function or loop body that opened"):
        run()


def test_a_tape_opened_outside_and_used_in_a_branch() -> None:
    @gx.function
    def run(x: Tensor) -> Any:
        with gx.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = x * x
        return tape.gradient(y, x) if x > 0 else x

    assert run(f(1.5)).item() == 3.0
    assert run(f(-1.0)).item() == -1.0


def test_the_message_names_the_line() -> None:
    with gx.GradientTape() as tape, pytest.raises(InvalidTypeError, match=r"test_tape\.py"):
        tape.watch(5)


def test_watched_variables_are_those_that_were_read_and_a_reset_forgets_them() -> None:
    read, unread, frozen = gx.Variable(1.0), gx.Variable(1.0), gx.Variable(1.0, trainable=False)
    with gx.GradientTape(persistent=True) as tape:
        tape.watch(unread)
        y = read * frozen * read
        assert [variable is read for variable in tape.watched_variables()] == [True]
        assert tape.gradient(y, read).item() == 2.0
        tape.reset()
        assert tape.watched_variables() == ()
        z = read * 3.0
        assert tape.gradient(z, read).item() == 3.0


def test_what_has_no_gradient_gives_none_as_a_target() -> None:
    x = gx.asarray([1.0, 2.0])
    for constant in (gx.stop_gradient, gx.spacing, lambda x: gx.nextafter(x, 3.0)):

        def gradient(x: Any, constant: Any = constant) -> Any:
            with gx.GradientTape() as tape:
                tape.watch(x)
                y = constant(x)
            return tape.gradient(y, x)

        assert gradient(x) is None
        assert gx.function(gradient)(x) is None
        with gx.GradientTape() as tape:
            tape.watch(x)
            y = constant(x) + x
        assert tape.gradient(y, x).tolist() == [1.0, 1.0]
