"""A compiled function under a tape keeps what its gradient needs."""

from __future__ import annotations

import contextlib
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jax
import numpy as np
import pytest

import graphc as gx
from graphc import Tensor
from graphc.compiler.function import traced
from graphc.compiler.gradients import forward_pass
from graphc.compiler.ops import pull_back
from tests.compiler.gradients.agreement import f


def test_the_backward_pass_computes_nothing_again(monkeypatch: pytest.MonkeyPatch) -> None:
    programs: list[str] = []

    def spy(push: Any, types: Any, given: Any, places: Any, cotangents: Any) -> Any:
        programs.append(str(jax.make_jaxpr(lambda values: pull_back(push, types, given, places, values))(cotangents)))
        return pull_back(push, types, given, places, cotangents)

    monkeypatch.setattr(forward_pass, "pull_back", spy)
    w = gx.Variable([[0.5, -1.0], [2.0, 0.25]])
    hidden = gx.function(lambda x: gx.sum(gx.tanh(x @ w)))
    x = f(1.0, -2.0)
    with gx.GradientTape() as tape:
        tape.watch(x)
        y = hidden(x)
    found = tape.gradient(y, [x, w])
    with gx.GradientTape() as tape:
        tape.watch(x)
        y = gx.sum(gx.tanh(x @ w))
    for one, other in zip(found, tape.gradient(y, [x, w]), strict=True):
        assert one.numpy() == pytest.approx(other.numpy(), rel=1e-5)  # XLA may add in another order
    (program,) = programs
    assert "tanh" not in program
    assert program.count("dot_general") == 2  # one for each gradient, and none forwards


def test_an_output_that_is_not_asked_for_takes_no_part() -> None:
    both = gx.function(lambda x: (gx.sqrt(x), x * 2))
    x = f(0.0, 4.0)
    with gx.GradientTape(persistent=True) as tape:
        tape.watch(x)
        root, double = both(x)
    assert tape.gradient(double, x).tolist() == [2.0, 2.0]
    assert tape.gradient([root, double], x).tolist() == [float("inf"), 2.25]


def test_other_tapes_see_the_gradient() -> None:
    cube = gx.function(lambda x: x**3)
    x = f(2.0)
    with gx.GradientTape() as inner:
        inner.watch(x)
        y = cube(x)
    with gx.GradientTape() as outer:
        outer.watch(x)
        found = inner.gradient(y, x)
    assert (found.item(), outer.gradient(found, x).item()) == (12.0, 12.0)


def test_what_a_call_assigns_later_does_not_count() -> None:
    w = gx.Variable(3.0)

    @gx.function
    def count(x: Tensor) -> Tensor:
        y = w * x * x
        w.assign_add(1.0)
        return y

    x = f(2.0)
    with gx.GradientTape() as tape:
        tape.watch(x)
        y = count(x)
    count(x)  # the buffer that the tape saw is donated
    assert [found.item() for found in tape.gradient(y, [x, w])] == [12.0, 4.0]


def test_what_has_no_derivative_is_told_when_one_is_asked_for() -> None:
    w = gx.Variable([[2.0, 1.0], [1.0, 3.0]])
    vectors = gx.function(lambda: gx.linalg.eig(w)[1])
    x = f(1.0, 2.0)
    with gx.GradientTape(persistent=True) as tape:
        y = gx.sum((w @ x) ** 2)
        z = gx.real(vectors())
    assert tape.gradient(y, w).tolist() == [[8.0, 16.0], [14.0, 28.0]]
    with pytest.raises(gx.errors.GraphcError, match="Derivatives of non-symmetric eigenvectors"):
        tape.gradient(z, w)


def test_the_python_of_a_while_loop_is_called_and_its_gradient_refused() -> None:
    calls: list[float] = []

    def note(value: Any) -> Any:
        calls.append(float(value))
        return value

    @gx.function
    def repeated(x: Tensor, n: Tensor) -> Tensor:
        while n > 0:
            x = x * gx.pyfunc(note, gx.TensorSpec(()), x)
            n = n - 1
        return x

    x = f(3.0)
    with gx.GradientTape() as tape:
        tape.watch(x)
        y = repeated(x, gx.asarray(1))
    assert (y.item(), calls) == (9.0, [3.0])
    with pytest.raises(gx.errors.UnimplementedError, match="a second time"):
        tape.gradient(y, x)


def test_values_of_other_devices() -> None:
    twice = gx.function(lambda x: gx.sin(x) * x)
    x, c = f(1.0, 2.0).to_device("cpu:1"), f(1.0, 1.0).to_device("cpu:2")
    with gx.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = twice(x)
        with gx.device("cpu:2"):
            z = y * c
    with gx.device("cpu:2"):
        there = tape.gradient(y, x)
    expected = pytest.approx([1.3817732, 0.0770037], rel=1e-5)
    for found in (there, tape.gradient(z, x), tape.gradient(y, x, output_gradients=c)):
        assert found.numpy() == expected
    assert there.device == "/device:CPU:2"


def test_what_it_was_given_is_not_copied() -> None:
    size = 211
    w = gx.Variable(np.full((size, size), 0.01, np.float32))
    model = gx.function(lambda x: gx.sum(gx.tanh(x @ w) @ w))
    with gx.GradientTape() as tape:
        y = model(gx.ones((2, size)))
    assert [array.shape for array in jax.live_arrays() if array.shape == (size, size)] == [(size, size)]
    assert tape.gradient(y, w).shape == (size, size)


def test_the_gradient_has_the_dtypes_of_the_forward_pass() -> None:
    picked = gx.function(lambda x: x * gx.cumsum(x)[gx.argmax(x)])
    x = f(1.0, 2.0)
    with gx.config.scope(enable_x64=True), gx.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = picked(x)
    assert tape.gradient(y, x).tolist() == [6.0, 6.0]
    assert tape.jacobian(y, x).tolist() == [[4.0, 1.0], [2.0, 5.0]]


def test_numbers_that_were_bad_before_are_not_the_gradients() -> None:
    product = gx.function(lambda x, w: x * w)
    x, w = f(1.0, 2.0), f(float("nan"), 1.0)
    with gx.config.scope(check_numerics=True):
        with gx.GradientTape() as tape:
            tape.watch(x)
            y = product(x, w)
        found = tape.gradient(y, x).numpy()
    assert np.isnan(found[0])
    root = gx.function(lambda x: gx.sum(gx.sqrt(x)))
    x = f(0.0, 1.0)
    with gx.GradientTape() as tape:
        tape.watch(x)
        y = root(x)
    with gx.config.scope(check_numerics=True), pytest.raises(gx.errors.NumericsError, match="the gradient of"):
        tape.gradient(y, x)


def test_a_function_that_is_pinned() -> None:
    @gx.function(device="/cpu:1")
    def square(x: Tensor) -> Tensor:
        return x * gx.pyfunc(lambda value: value, gx.TensorSpec(()), gx.stop_gradient(x))

    x = f(3.0)
    with gx.GradientTape() as tape:
        tape.watch(x)
        y = square(x)
        with gx.device("/cpu:2"):
            z = y * 2.0
    assert (y.device, z.device) == ("/device:CPU:1", "/device:CPU:2")
    assert tape.gradient(z, x).item() == 6.0


def test_later_calls_and_their_gradients_are_a_program_each(monkeypatch: pytest.MonkeyPatch) -> None:
    w = gx.Variable([[0.5, -1.0], [2.0, 0.25]])
    hidden = gx.function(lambda x: gx.sum(gx.tanh(x @ w)))
    x = f(1.0, -2.0)

    def both() -> list[Any]:
        with gx.GradientTape() as tape:
            tape.watch(x)
            y = hidden(x)
        return [found.tolist() for found in tape.gradient(y, [x, w])]

    first = both()
    applied: list[str] = []
    monkeypatch.setattr(traced, "apply_all", lambda *_, **__: applied.append("forward"))
    monkeypatch.setattr(forward_pass, "apply_compiled", lambda *_, **__: applied.append("backward"))
    assert (both(), applied) == (first, [])
    w.assign(w * 2)
    second = both()
    monkeypatch.undo()
    with gx.GradientTape() as tape:
        tape.watch(x)
        y = gx.sum(gx.tanh(x @ w))
    for one, other in zip(second, tape.gradient(y, [x, w]), strict=True):
        assert np.asarray(one) == pytest.approx(other.numpy(), rel=1e-6)


def test_later_calls_heed_what_the_first_did_not_meet() -> None:
    w = gx.Variable(3.0)
    product, square = gx.function(lambda x: w * x * x), gx.function(lambda x: x * x)
    x = f(2.0)

    def value_and_gradients(*tapes: Any) -> list[Any]:
        with contextlib.ExitStack() as stack:
            for outer in tapes:
                stack.enter_context(outer)
                outer.watch(x)
            with gx.GradientTape(persistent=True) as tape:
                tape.watch(x)
                y = product(x)
            w.assign(7.0)  # the tape has the old value
            found = [y, *tape.gradient(y, [x, w])]
            w.assign(3.0)
        assert [tensor.item() for tensor in found] == [12.0, 12.0, 4.0]
        return found

    for _ in range(3):
        value_and_gradients()
    outer = gx.GradientTape()
    _, by_x, _ = value_and_gradients(outer)
    assert outer.gradient(by_x, x).item() == 6.0
    with gx.config.scope(check_numerics=True), gx.GradientTape() as tape, pytest.raises(gx.errors.NumericsError):
        product(f(float("inf")) * x * 0.0)
    with gx.GradientTape() as tape:  # follows nothing that the call reads
        y = gx.function(lambda x: x * 2)(x)
    assert tape.gradient(y, x) is None
    with gx.GradientTape() as tape, ThreadPoolExecutor(1) as pool:
        tape.watch(x)
        found = [pool.submit(square, x).result() for _ in range(2)]
    assert tape.gradient(found, x).item() == 8.0


def test_a_gradient_under_other_settings_than_the_call() -> None:
    square = gx.function(lambda x: x * x)
    x = f(2.0)
    for scope in (contextlib.nullcontext(), gx.config.scope(enable_x64=True), contextlib.nullcontext()):
        with gx.GradientTape() as tape:
            tape.watch(x)
            y = square(x)
        with scope:
            found = tape.gradient(y, x)
        assert (found.item(), found.dtype) == (4.0, "float32")
