"""A compiled function under a tape keeps what its gradient needs."""

from __future__ import annotations

from typing import Any

import jax
import pytest

import graphc as gx
from graphc import Tensor
from graphc.gradients import forward_pass
from graphc.ops import pull_back
from tests.gradients.agreement import f


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
        assert one.numpy() == pytest.approx(other.numpy(), rel=1e-6)
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


def test_a_function_that_is_pinned() -> None:
    square = gx.function(lambda x: x * gx.pyfunc(lambda value: value, gx.TensorSpec(()), x), device="/cpu:1")
    x = f(3.0)
    with gx.GradientTape() as tape:
        tape.watch(x)
        y = square(x)
        with gx.device("/cpu:2"):
            z = y * 2.0
    assert (y.device, z.device) == ("/device:CPU:1", "/device:CPU:2")
    assert tape.gradient(z, x).item() == 6.0  # and no gradient flows through the call of Python
