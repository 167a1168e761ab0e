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
    UnimplementedError,
)
from graphc.graphs.queues import ConditionalAccumulator, FIFOQueue, SparseConditionalAccumulator
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
    with (
        gx.deadline(0.05),
        pytest.raises(DeadlineExceededError, match=r"waiting for a gradient in .*which has 0"),
    ):
        gradients.take_grad(1)


def test_without_a_shape_the_first_gradient_says_it() -> None:
    gradients = ConditionalAccumulator("float32", name="g")
    gradients.apply_grad([1.0, 2.0])
    with pytest.raises(InvalidArgumentError, match=r"the gradient has the shape \(1,\), earlier ones have \(2,\)"):
        gradients.apply_grad([1.0])
    assert gradients.take_grad(1).tolist() == [1.0, 2.0]
    gradients.apply_grad(5.0, local_step=1)
    assert gradients.take_grad(1).item() == 5.0


def test_the_mean_of_a_row_is_that_of_the_gradients_that_have_it() -> None:
    gradients = SparseConditionalAccumulator("float32", [None, 2])
    gradients.apply_grad([2, 0], [[2.0, 2.0], [1.0, 1.0]])
    gradients.apply_indexed_slices_grad(gx.IndexedSlices([[2.0, 2.0], [6.0, 6.0]], [2, 3], dense_shape=(4, 2)))
    gradients.apply_grad(np.array([3, 3]), np.ones((2, 2), np.float32))  # rows of one index are added
    indices, values, shape = gradients.take_grad(3)
    assert indices.tolist() == [0, 2, 3]
    assert values.tolist() == [[1.0, 1.0], [2.0, 2.0], [4.0, 4.0]]
    assert shape.tolist() == [-1, 2]


def test_sums_of_rows_as_indexed_slices() -> None:
    gradients = SparseConditionalAccumulator("float32", [4], reduction_type="SUM")
    gradients.apply_grad([1, 3], [1.0, 2.0])
    gradients.apply_grad([1], [5.0])
    gradients.apply_grad([], np.zeros(0))
    taken = gradients.take_indexed_slices_grad(3)
    assert (taken.indices.tolist(), taken.values.tolist(), taken.sizes) == ([1, 3], [6.0, 2.0], (4,))
    assert taken.to_dense().tolist() == [0.0, 6.0, 0.0, 2.0]


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
    rows = SparseConditionalAccumulator("float32", [4, 2])

    @gx.function
    def takes_rows() -> gx.Tensor:
        return rows.take_grad(1).values

    with pytest.raises(UnimplementedError, match=r"accumulator.take_slices gives i32\[\?\]"):
        takes_rows()


def test_accumulators_in_graphs() -> None:
    with gx.Graph().as_default() as graph:
        gradients, rows = (
            ConditionalAccumulator("float32", [2], name="g"),
            SparseConditionalAccumulator("float32", [4, 2]),
        )
        x, step = gx.placeholder("float32", shape=(None,)), gx.placeholder("int32", shape=())
        put, taken, count = gradients.apply_grad(x, step), gradients.take_grad(1), gradients.num_accumulated()
        put_rows = rows.apply_grad([0, 2], [[1.0, 1.0], [2.0, 2.0]])
        taken_rows, slices = rows.take_grad(1), rows.take_indexed_slices_grad(1)
        later = gradients.set_global_step(3)
    assert (gradients.name, gradients.accumulator_ref.name, put.name, taken.name) == (
        "g",
        "g:0",
        "g_ApplyGrad",
        "g_TakeGrad:0",
    )
    with gx.Session(graph=graph) as session, gx.Session(graph=graph) as other:
        session.run(put, {x: [1.0, 2.0], step: 0})
        assert (session.run(count), other.run(count)) == (1, 0)
        assert session.run(taken).tolist() == [1.0, 2.0]
        with pytest.raises(InvalidArgumentError, match=r"the gradient is f32\[3\], but it takes f32\[2\]"):
            session.run(put, {x: [1.0, 2.0, 3.0], step: 9})
        session.run(later)
        session.run(put, {x: [1.0, 2.0], step: 2})
        assert session.run(count) == 0
        session.run(put_rows)
        assert [part.tolist() for part in session.run(taken_rows)] == [[0, 2], [[1.0, 1.0], [2.0, 2.0]], [4, 2]]
        session.run(later)
    assert (slices.values.shape, slices.sizes) == ((None, 2), (4, 2))


def test_a_shared_name_is_one_accumulator() -> None:
    first = ConditionalAccumulator("float32", [], shared_name="tests.compiler.gradients")
    ConditionalAccumulator("float32", [], shared_name="tests.compiler.gradients").apply_grad(1.0)
    assert first.take_grad(1).item() == 1.0
    with pytest.raises(InvalidArgumentError, match=r"'tests.compiler.gradients': another object .* has type f32\["):
        ConditionalAccumulator("float32", [2], shared_name="tests.compiler.gradients")
    assert FIFOQueue(3, "float32", [[]], shared_name="tests.compiler.gradients").size().item() == 0


def _dense() -> ConditionalAccumulator:
    return ConditionalAccumulator("float32", [2], name="g")


def _sparse() -> SparseConditionalAccumulator:
    return SparseConditionalAccumulator("float32", [4, 2], name="s")


BAD: dict[str, tuple[Callable[[], object], type[GraphcError], str]] = {
    "shape": (
        lambda: _dense().apply_grad([1.0]),
        InvalidArgumentError,
        r"ConditionalAccumulator 'g'.apply_grad: the gradient is f32\[1\], but it takes f32\[2\]",
    ),
    "dtype": (lambda: _dense().apply_grad(gx.asarray([1, 2])), InvalidTypeError, r"takes float32, got i32\[2\]"),
    "step": (lambda: _dense().apply_grad([1.0, 2.0], 0.5), InvalidTypeError, "local_step must be an int, got 0.5"),
    "too few": (
        lambda: _dense().take_grad(0),
        InvalidArgumentError,
        "'g'.take_grad: num_required must be at least 1",
    ),
    "reduction": (
        lambda: ConditionalAccumulator("float32", reduction_type="MAX"),
        InvalidArgumentError,
        "reduction_type must be 'MEAN' or 'SUM', got 'MAX'",
    ),
    "no dtype": (lambda: ConditionalAccumulator("floaty"), InvalidTypeError, "'floaty' is not a dtype"),
    "an index": (
        lambda: _sparse().apply_grad([4], [[1.0, 1.0]]),
        InvalidArgumentError,
        "'s'.apply_grad: indices must be from 0 to 3, got 4 to 4",
    ),
    "a negative index": (
        lambda: _sparse().apply_grad([-1], [[1.0, 1.0]]),
        InvalidArgumentError,
        "indices must be from 0 to 3, got -1 to -1",
    ),
    "more indices": (
        lambda: _sparse().apply_grad([1, 2], [[1.0, 1.0]]),
        InvalidArgumentError,
        r"expected one index for each row of values, got indices \(2,\) and values \(1, 2\)",
    ),
    "a row": (
        lambda: _sparse().apply_grad([1], [[1.0]]),
        InvalidArgumentError,
        r"a row of the gradient is f32\[1\], but it takes f32\[2\]",
    ),
    "the shape of all": (
        lambda: _sparse().apply_grad([1], [[1.0, 1.0]], [5, 2]),
        InvalidArgumentError,
        r"the gradient is f32\[5,2\], but it takes f32\[4,2\]",
    ),
    "no slices": (
        lambda: _sparse().apply_indexed_slices_grad([1.0]),
        InvalidTypeError,
        r"expected a gx.IndexedSlices, got \[1.0\]",
    ),
}


@pytest.mark.parametrize(("use", "kind", "message"), BAD.values(), ids=BAD.keys())
def test_what_is_wrong_is_said(use: Callable[[], object], kind: type[GraphcError], message: str) -> None:
    with pytest.raises(kind, match=message) as found:
        use()
    assert "test_accumulators.py" in str(found.value)
