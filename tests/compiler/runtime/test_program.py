"""Functions on several devices: compiled with pins they mean what they mean without."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base import nest
from tests.compiler.runtime.placed import PROGRAMS, pins

INPUTS = [np.array([[0.3, 1.2], [2.0, -0.4]], "f"), np.array([[-3.0, 0.1], [-0.2, 0.5]], "f"), np.zeros((2, 2), "f")]
ONE = gx.asarray(1.0)


def outcome(function: Callable[..., Any], x: np.ndarray[Any, Any]) -> Any:
    """The values that a call gives, or the exception that it raises."""
    try:
        return nest.map_structure(np.asarray, function(gx.asarray(x)))
    except ValueError as error:
        return [type(error), *map(np.asarray, error.args)]


def assert_same(first: Any, second: Any) -> None:
    for a, b in zip(nest.flatten(first)[0], nest.flatten(second)[0], strict=True):
        if isinstance(a, np.ndarray) and a.dtype.kind == "f":
            assert (a.dtype, a.shape) == (b.dtype, b.shape)
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)
        else:
            assert np.array_equal(a, b)


def check_pinned(program: Callable[..., Any], seed: int) -> None:
    @gx.function(on_retrace="ignore", side_effects="ignore")
    def pinned(x: Any) -> Any:
        with gx.device(pins(seed)):
            return program(x)

    plain = gx.function(program)
    for x in INPUTS:
        assert_same(outcome(pinned, x), outcome(plain, x))


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_pins_change_nothing_but_the_devices(program: Callable[..., Any], seed: int) -> None:
    check_pinned(program, seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10, 30))
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_many_pins_change_nothing_but_the_devices(program: Callable[..., Any], seed: int) -> None:
    check_pinned(program, seed)


def test_values_are_where_their_ops_are_pinned() -> None:
    @gx.function
    def spread(x: Any) -> Any:
        with gx.device("cpu:1"):
            a = x + 1
        with gx.device("/job:localhost"), gx.device("cpu:2"):
            b = a * 2
        return a, b, a + b, x

    with gx.device("cpu:3"):
        x = gx.asarray(1.0)
    found = spread(x)
    assert [value.device for value in found] == [f"/device:CPU:{number}" for number in (1, 2, 0, 3)]
    assert [value.item() for value in found] == [2, 4, 6, 1]
    assert spread.trace(x).devices == ("/device:CPU:1", "/device:CPU:2", "/device:CPU:0")


def test_variables_stay_on_their_devices() -> None:
    made: list[gx.Variable] = []
    for number in (1, 2):
        with gx.device(f"cpu:{number}"):
            made.append(gx.Variable(float(number)))
    near, far = made

    @gx.function
    def step(x: Any) -> Any:
        near.assign_add(far * x)
        with gx.device("cpu:3"):
            far.assign(near - x)  # computed there, and brought home
        near.assign(far)
        return near + far

    values = [step(ONE).item() for _ in range(3)]
    a, b, expected = 1.0, 2.0, []
    for _ in range(3):
        a = b = a + b - 1
        expected.append(a + b)
    assert values == expected
    assert [variable.device for variable in made] == ["/device:CPU:1", "/device:CPU:2"]
    assert [variable.item() for variable in made] == [a, b]


def test_variables_on_several_devices_meet_in_a_function_without_pins() -> None:
    with gx.device("cpu:1"):
        far = gx.Variable(2.0)
    near = gx.Variable(3.0)
    product = gx.function(lambda x: near * far * x)
    assert product(ONE).item() == 6
    assert product(ONE).device == "/device:CPU:0"


def test_what_is_returned_is_not_destroyed_by_an_update_in_place() -> None:
    with gx.device("cpu:1"):
        far = gx.Variable([1.0, 2.0])
    near = gx.Variable([0.0, 0.0])

    @gx.function
    def move() -> Any:
        near.assign(far)
        return near.value(), far.value()

    @gx.function
    def update() -> None:
        near.assign_add([1.0, 1.0])
        far.assign_add([1.0, 1.0])

    one, two = move()
    for _ in range(3):
        update()
    assert one.numpy().tolist() == two.numpy().tolist() == [1, 2]
    assert near.numpy().tolist() == [4, 5]


def test_gradients_are_placed_with_their_ops() -> None:
    with gx.device("cpu:1"):
        first = gx.Variable([[1.0, 2.0], [3.0, 4.0]])
    with gx.device("cpu:2"):
        second = gx.Variable([[0.5], [1.5]])

    def loss_and_gradients(x: Any) -> Any:
        with gx.GradientTape() as tape:
            with gx.device("cpu:1"):
                hidden = gx.tanh(x @ first)
            with gx.device("cpu:2"):
                loss = gx.sum((hidden @ second) ** 2)
        return loss, tape.gradient(loss, [first, second])

    x = gx.asarray([[0.1, 0.2], [0.3, -0.4]])
    compiled = gx.function(loss_and_gradients)
    loss, gradients = compiled(x)
    expected = gx.sum((gx.tanh(x @ gx.asarray(first.numpy())) @ gx.asarray(second.numpy())) ** 2)
    assert loss.item() == pytest.approx(expected.item(), rel=1e-5)
    assert [gradient.device for gradient in gradients] == ["/device:CPU:1", "/device:CPU:2"]
    places = {node.attrs["op"]: node for node in compiled.graph(x).walk() if node.op.name == "vjp"}
    assert places
    segments = [str(step.name) for step in compiled.trace(x).plan.steps if step.kind == "segment"]
    assert any("vjp" in name for name in segments)


def test_a_failed_call_leaves_all_variables_as_they_were() -> None:
    with gx.device("cpu:1"):
        far = gx.Variable(1.0)
    near = gx.Variable(1.0)

    def fail(value: Any) -> Any:
        if value > 2:
            raise KeyError("too large", float(value))
        return value

    @gx.function
    def step(x: Any) -> Any:
        far.assign_add(x)
        near.assign_add(x)
        with gx.device("cpu:2"):
            y = gx.pyfunc(fail, gx.TensorSpec((), "float32"), near.value())
        if y + far > 100:
            raise ValueError("sum", y)
        return y

    assert step(ONE).item() == 2
    with pytest.raises(KeyError, match="too large") as caught:
        step(ONE)
    assert caught.value.args == ("too large", 3.0)
    assert (near.item(), far.item()) == (2, 2)
    far.assign(200.0)
    with pytest.raises(ValueError, match="sum"):
        step(gx.asarray(-1.0))
    assert (near.item(), far.item()) == (2, 200)


def test_prints_and_host_calls_keep_the_order_of_the_program(capfd: pytest.CaptureFixture[str]) -> None:
    @gx.function
    def talk(x: Any) -> Any:
        print("first", x)
        with gx.device("cpu:1"):
            y = x + 1
            print("second", y)
        for _ in range(2):
            with gx.device("cpu:2"):
                y = y * 2
            y = y + 1
            print("loop", y)
        print("last", y)
        return y

    assert talk(ONE).item() == 11
    assert capfd.readouterr().out == "first 1.0\nsecond 2.0\nloop 5.0\nloop 11.0\nlast 11.0\n"


def test_independent_host_calls_run_at_the_same_time() -> None:
    meeting = threading.Barrier(2)

    def meet(value: Any) -> Any:
        meeting.wait(30)  # the one that comes first waits for the other
        return value + 1

    @gx.function
    def both(x: Any) -> Any:
        kind = gx.TensorSpec((), "float32")
        first = gx.pyfunc(meet, kind, x, ordered=False)
        second = gx.pyfunc(meet, kind, x * 2, ordered=False)
        return first + second

    assert [both(gx.asarray(value)).item() for value in (1.0, 2.0)] == [5, 8]


def test_control_dependencies_hold_over_devices() -> None:
    order: list[str] = []

    def note(what: str) -> Callable[[Any], Any]:
        def record(value: Any) -> Any:
            threading.Event().wait(0.01 if what == "first" else 0)  # time for what does not wait
            order.append(what)
            return value

        return record

    @gx.function
    def run(x: Any) -> Any:
        kind = gx.TensorSpec((), "float32")
        first = gx.pyfunc(note("first"), kind, x, ordered=False)
        with gx.device("cpu:1"), gx.control_dependencies([first]):
            y = x * 3
        with gx.control_dependencies([y]):
            second = gx.pyfunc(note("second"), kind, x + 1, ordered=False)
        return first, second, y

    for _ in range(3):
        run(ONE)
    assert order == ["first", "second"] * 3


def test_a_variable_that_moved_is_refused() -> None:
    with gx.device("cpu:1"):
        far = gx.Variable(1.0)
    near = gx.Variable(1.0)
    total = gx.function(lambda: near + far)
    total()
    with gx.device("cpu:2"):
        far.raw = gx.asarray(5.0).raw
    with pytest.raises(gx.errors.UnimplementedError, match=r"was placed with Variable .* on /device:CPU:1"):
        total()


def test_there_is_no_one_program_to_lower() -> None:
    @gx.function
    def spread(x: Any) -> Any:
        with gx.device("cpu:1"):
            y = x + 1
        return y, x * 2

    with pytest.raises(gx.errors.UnimplementedError, match=r"spread: it runs on .* steps; there is no single program"):
        spread.lower(ONE)
    text = str(gx.explain(spread, ONE))
    assert "segment add on /device:CPU:1" in text
    with pytest.raises(gx.errors.UnimplementedError, match="pins ops to /device:CPU:1, /device:CPU:0"):
        gx.to_jax(spread)({}, ONE)


def test_calls_from_several_threads_do_not_mix() -> None:
    @gx.function
    def spread(x: Any) -> Any:
        with gx.device("cpu:1"):
            y = x + 1
        return y * 2

    spread(ONE)
    results: dict[int, float] = {}
    start = threading.Barrier(4)

    def work(number: int) -> None:
        start.wait(30)
        for _ in range(20):
            results[number] = spread(gx.asarray(float(number))).item()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert results == {number: 2.0 * (number + 1) for number in range(4)}


def test_arguments_on_several_devices_are_brought_together() -> None:
    def on(number: int, *values: float) -> gx.Tensor:
        with gx.device(f"cpu:{number}"):
            return gx.asarray(list(values))

    add = gx.function(lambda x, y: x + y)
    for _ in range(2):
        found = add(on(1, 1.0), on(2, 2.0))
        assert (found.device, found.item()) == ("/device:CPU:0", 3)
        assert add(on(2, 1.0), on(2, 2.0)).device == "/device:CPU:2"
    with gx.device("cpu:3"):
        assert add(on(1, 1.0), on(2, 2.0)).device == "/device:CPU:3"
    pinned = gx.function(lambda x, y: x + y, device="cpu:4")
    for first, second in ((1, 2), (3, 4), (4, 4), (5, 1)):
        found = pinned(on(first, 1.0), on(second, 2.0))
        assert (found.device, found.item()) == ("/device:CPU:4", 3)


def test_what_no_device_has_computed_is_on_the_default_one() -> None:
    """What Python functions return, and what loops give that turn not once."""

    def program(x: Any, n: Any) -> Any:
        found = gx.pyfunc(lambda value: value > 1, gx.TensorSpec((), "bool"), x, ordered=False)
        count, scale, total = 0, 1.5, gx.asarray(1.0)
        while n > 0:
            with gx.device("cpu:1"):
                total = total * 2
            with gx.device("cpu:2"):
                n = n - 1
            count, scale = count + 1, scale * 2
        return found, count, scale, total, n

    compiled, plain = gx.function(program), gx.function(program)
    arguments = gx.asarray(2.0), gx.asarray(0)
    with gx.device(lambda node: "cpu:0"):
        expected = plain(*arguments)
    for found, other in zip(compiled(*arguments), expected, strict=True):
        assert (found.item(), found.dtype, found.device) == (other.item(), other.dtype, "/device:CPU:0")
        assert found.raw.weak_type == other.raw.weak_type


def test_a_variable_that_is_on_the_device_is_not_moved_there() -> None:
    with gx.device("cpu:1"):
        far = gx.Variable([1.0, 2.0])

    @gx.function
    def step(x: Any) -> Any:
        with gx.device("cpu:2"):
            y = x * 2
        with gx.device("cpu:1"):
            far.assign(far * y)
        with gx.device("cpu:2"):
            return far + 1

    moves = [step.split(" on ") for step in gx.explain(step, ONE).steps if step.startswith("transfer")]
    assert moves == [
        ["transfer x", "/device:CPU:2"],
        ["transfer multiply", "/device:CPU:1"],
        ["transfer multiply_1", "/device:CPU:2"],
    ]
    assert step(ONE).tolist() == [3, 5]
    assert (far.tolist(), far.device) == ([2, 4], "/device:CPU:1")


def _long(x: Any) -> Any:
    for _ in range(60):
        x = gx.sin(x @ x)
    return x


def _apart(x: Any) -> tuple[Any, Any]:
    with gx.device("cpu:1"):
        first = LONG(x)
    with gx.device("cpu:2"):
        second = x + 1
    return first, second


LONG = gx.function(_long)


@pytest.mark.parametrize("program", [_apart, gx.function(_apart)], ids=["eager", "compiled"])
@pytest.mark.parametrize("kind", ["tensor", "variable"])
def test_a_device_begins_while_another_one_works_with_the_same_input(program: Callable[..., Any], kind: str) -> None:
    with gx.device("cpu:1"):
        x = gx.Variable(gx.ones((400, 400))) if kind == "variable" else gx.ones((400, 400))
    gx.wait_all(program(x))

    def second_is_first() -> bool:
        first, second = program(x)
        second.wait()
        return not first.raw.is_ready()

    # This thread may be kept from looking in time; a device that has to wait is never first.
    assert any(second_is_first() for _ in range(20))
