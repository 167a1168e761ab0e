"""Accumulators: means and sums of gradients of one step, once there are enough."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base.errors import (
    CancelledError,
    DeadlineExceededError,
    GraphcError,
    InvalidArgumentError,
    InvalidTypeError,
)
from graphc.graphs.queues import ConditionalAccumulator, FIFOQueue
from tests.graphs.queues.calls import Call


def test_the_mean_or_the_sum_of_all_that_were_added_is_taken() -> None:
    for reduction, expected in (("MEAN", [2.0, 4.0]), ("SUM", [6.0, 12.0])):
        gradients = ConditionalAccumulator("float32", [2], reduction_type=reduction)
        for gradient in ([1.0, 2.0], np.array([2.0, 4.0]), gx.asarray([3.0, 6.0])):
            gradients.apply_grad(gradient)
        assert gradients.num_accumulated().item() == 3
        assert gradients.take_grad(2).tolist() == expected
        assert gradients.num_accumulated().item() == 0


def test_gradients_of_earlier_steps_are_dropped() -> None:
    gradients = ConditionalAccumulator("float32", [])
    gradients.apply_grad(1.0, local_step=0)
    gradients.take_grad(1)
    gradients.apply_grad(2.0, local_step=0)
    assert gradients.num_accumulated().item() == 0
    gradients.apply_grad(2.0, local_step=1)
    gradients.apply_grad(4.0, local_step=9)
    gradients.set_global_step(5)
    gradients.apply_grad(8.0, local_step=4)
    assert gradients.take_grad(2).item() == 3.0
    gradients.apply_grad(1.0, local_step=5)  # the step is 6 now
    assert gradients.num_accumulated().item() == 0
    gradients.set_global_step(2)
    gradients.apply_grad(1.0, local_step=2)
    assert gradients.num_accumulated().item() == 1


def test_takers_wait_in_their_order_and_leave_all_when_they_are_cancelled() -> None:
    gradients = ConditionalAccumulator("float32", [], name="g")
    assert gradients._state is not None
    gradients.set_global_step(-1)
    cancelled = Call(gradients._state, lambda: gradients.take_grad(3))
    second = Call(gradients._state, lambda: gradients.take_grad(1).item())
    gradients.apply_grad(1.0)
    gradients.apply_grad(3.0)
    error = cancelled.cancel()
    assert isinstance(error, CancelledError)
    assert "waiting for 3 gradients in ConditionalAccumulator 'g', which has 2" in str(error)
    assert second.end() == 2.0
    with gx.deadline(0.05), pytest.raises(DeadlineExceededError, match=r"waiting for a gradient in .*which has 0"):
        gradients.take_grad(1)


def test_without_a_shape_the_first_gradient_says_it() -> None:
    gradients = ConditionalAccumulator("float32", name="g")
    gradients.apply_grad([1.0, 2.0])
    with pytest.raises(InvalidArgumentError, match=r"the gradient has the shape \(1,\), earlier ones have \(2,\)"):
        gradients.apply_grad([1.0])
    assert gradients.take_grad(1).tolist() == [1.0, 2.0]
    gradients.apply_grad(5.0, local_step=1)
    assert gradients.take_grad(1).item() == 5.0


def test_accumulators_in_compiled_functions() -> None:
    gradients = ConditionalAccumulator("float32", [2])

    @gx.function
    def step(x: gx.Tensor) -> gx.Tensor:
        gradients.apply_grad(x * 2.0)
        gradients.apply_grad(x * 4.0)
        return gradients.take_grad(2)

    gradients.set_global_step(-5)
    assert step(gx.ones(2)).tolist() == [3.0, 3.0]
    assert step(gx.ones(2) * 2.0).tolist() == [6.0, 6.0]
    assert len(step.trace_report()) == 1


def test_accumulators_in_graphs() -> None:
    with gx.Graph().as_default() as graph:
        gradients = ConditionalAccumulator("float32", [2], name="g")
        x, step = gx.placeholder("float32", shape=(None,)), gx.placeholder("int32", shape=())
        put, taken, count = gradients.apply_grad(x, step), gradients.take_grad(1), gradients.num_accumulated()
        later = gradients.set_global_step(3)
    assert (gradients.name, put.name, taken.name) == ("g", "g_ApplyGrad", "g_TakeGrad:0")
    with gx.Session(graph=graph) as session, gx.Session(graph=graph) as other:
        session.run(put, {x: [1.0, 2.0], step: 0})
        assert (session.run(count), other.run(count)) == (1, 0)
        assert session.run(taken).tolist() == [1.0, 2.0]
        with pytest.raises(InvalidArgumentError, match=r"the gradient is f32\[3\], but it takes f32\[2\]"):
            session.run(put, {x: [1.0, 2.0, 3.0], step: 9})
        session.run(later)
        session.run(put, {x: [1.0, 2.0], step: 2})
        assert session.run(count) == 0


def test_a_shared_name_is_one_accumulator() -> None:
    first = ConditionalAccumulator("float32", [], shared_name="tests.compiler.gradients")
    ConditionalAccumulator("float32", [], shared_name="tests.compiler.gradients").apply_grad(1.0)
    assert first.take_grad(1).item() == 1.0
    with pytest.raises(InvalidArgumentError, match=r"'tests.compiler.gradients': another object .* has type f32\["):
        ConditionalAccumulator("float32", [2], shared_name="tests.compiler.gradients")
    assert FIFOQueue(3, "float32", [[]], shared_name="tests.compiler.gradients").size().item() == 0


def _dense() -> ConditionalAccumulator:
    return ConditionalAccumulator("float32", [2], name="g")


BAD: dict[str, tuple[Callable[[], object], type[GraphcError], str]] = {
    "shape": (
        lambda: _dense().apply_grad([1.0]),
        InvalidArgumentError,
        r"ConditionalAccumulator 'g'.apply_grad: the gradient is f32\[1\], but it takes f32\[2\]",
    ),
    "dtype": (lambda: _dense().apply_grad(gx.asarray([1, 2])), InvalidTypeError, r"takes float32, got i32\[2\]"),
    "step": (lambda: _dense().apply_grad([1.0, 2.0], 0.5), InvalidTypeError, "local_step must be an int, got 0.5"),
    "too few": (lambda: _dense().take_grad(0), InvalidArgumentError, "'g'.take_grad: num_required must be at least 1"),
    "reduction": (
        lambda: ConditionalAccumulator("float32", reduction_type="MAX"),
        InvalidArgumentError,
        "reduction_type must be 'MEAN' or 'SUM', got 'MAX'",
    ),
    "no dtype": (lambda: ConditionalAccumulator("floaty"), InvalidTypeError, "'floaty' is not a dtype"),
}


@pytest.mark.parametrize(("use", "kind", "message"), BAD.values(), ids=BAD.keys())
def test_what_is_wrong_is_said(use: Callable[[], object], kind: type[GraphcError], message: str) -> None:
    with pytest.raises(kind, match=message) as found:
        use()
    assert "test_accumulators.py" in str(found.value)
