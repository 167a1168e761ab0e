"""Batches: of one list and several, in order and mixed, filled up, smaller at the end, and of what is kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.core import apply
from graphc.compiler.ir import Attrs
from graphc.graphs.queues import SparseValue
from graphc.graphs.session import Graph, placeholder
from graphc.graphs.session.producers import batch, batch_join, range_input_producer, shuffle_batch, shuffle_batch_join
from graphc.graphs.session.producers.inputs import RANGE
from tests.graphs.session.producers.test_inputs import results


def number(limit: int = 10) -> Any:
    return range_input_producer(limit, num_epochs=1, shuffle=False).dequeue()


def flat(found: list[Any]) -> list[int]:
    return [int(item) for row in found for item in row]


class TestBatch:
    def test_lists_dicts_and_single_tensors_come_back_as_they_were(self) -> None:
        def listed() -> Any:
            n = number()
            return batch([n, n * n], 4)

        def named() -> Any:
            n = number()
            return batch({"n": n, "square": n * n}, 4)

        assert [(a.tolist(), b.tolist()) for a, b in results(listed)] == [
            ([0, 1, 2, 3], [0, 1, 4, 9]), ([4, 5, 6, 7], [16, 25, 36, 49])
        ]  # fmt: skip
        assert [found["square"].tolist() for found in results(named)] == [[0, 1, 4, 9], [16, 25, 36, 49]]
        assert [found.tolist() for found in results(lambda: batch(number(4), 2))] == [[0, 1], [2, 3]]
        assert [found["n"].tolist() for found in results(lambda: batch({"n": number(4)}, 2))] == [[0, 1], [2, 3]]

    def test_the_last_one_may_be_smaller(self) -> None:
        found = results(lambda: batch([number()], 4, allow_smaller_final_batch=True))
        assert [row.tolist() for row in found] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]

    def test_many_elements_are_enqueued_at_once(self) -> None:
        def make() -> Any:
            n = number(3)
            return batch([gx.stack([n, n + 10])], 3, enqueue_many=True)

        assert [row.tolist() for row in results(make)] == [[0, 10, 1], [11, 2, 12]]

    def test_several_threads_lose_nothing(self) -> None:
        assert sorted(flat(results(lambda: batch([number(100)], 10, num_threads=4, capacity=20)))) == list(range(100))

    def test_sizes_that_differ_are_filled_up(self) -> None:
        def make() -> Any:
            n = number(4)
            return batch([n, apply(RANGE, (n,), Attrs(rows=False))], 2, dynamic_pad=True)

        found = results(make)
        assert [numbers.tolist() for numbers, _ in found] == [[0, 1], [2, 3]]
        assert [rows.tolist() for _, rows in found] == [[[0], [0]], [[0, 1, 0], [0, 1, 2]]]

    def test_a_batch_size_may_be_a_tensor(self) -> None:
        assert [len(row) for row in results(lambda: batch([number(6)], gx.asarray(3) + 0))] == [3, 3]


class TestJoin:
    def test_each_list_has_a_thread(self) -> None:
        def make() -> Any:
            first, second = number(6), number(6)
            return batch_join([[first], [second + 100]], 4)

        assert sorted(flat(results(make))) == [*range(6), *range(100, 106)]

    def test_dicts_with_the_same_keys(self) -> None:
        def make() -> Any:
            return batch_join([{"n": number(2)}, {"n": number(2)}], 4)

        assert sorted(flat([found["n"] for found in results(make)])) == [0, 0, 1, 1]


class TestShuffle:
    def test_elements_come_mixed_by_the_seed(self) -> None:
        def make() -> Any:
            return shuffle_batch([number(40)], 5, capacity=40, min_after_dequeue=20, seed=3)

        found = flat(results(make))
        assert sorted(found) == list(range(40))
        assert found != list(range(40))

    def test_of_several_lists(self) -> None:
        def make() -> Any:
            lists = [[number(10)], [number(10) + 100]]
            return shuffle_batch_join(lists, 5, capacity=20, min_after_dequeue=5)

        assert sorted(flat(results(make))) == [*range(10), *range(100, 110)]


def test_elements_that_a_mask_keeps() -> None:
    def make() -> Any:
        rows = gx.reshape(number(), (1,))
        return batch([rows[gx.equal(rows % 2, 0)]], 5, enqueue_many=True)

    assert flat(results(make)) == [0, 2, 4, 6, 8]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: batch([], 2), r"batch: expected at least one tensor"),
        (lambda: batch_join([], 2), r"batch_join: tensors_list is empty"),
        (lambda: batch([1], 2, num_threads=0), r"batch: num_threads must be positive, got 0"),
        (
            lambda: batch([placeholder("float32", shape=[None])], 2),
            r"batch: the shapes of \(f32\[\?\]\) are not known; set them with .* shapes=, or pass dynamic_pad=True",
        ),
        (
            lambda: shuffle_batch([placeholder("float32", shape=[None])], 2, 9, 1),
            r"shuffle_batch: the shapes of \(f32\[\?\]\) are not known; set them with set_shape or shapes=\n",
        ),
        (lambda: batch([1, 2], 2, shapes=[[]]), r"batch: 2 tensors and 1 shapes; give one shape for each"),
        (
            lambda: batch_join([[1], [1.0]], 2),
            r"batch_join: the lists of tensors must have the same dtypes, got i32\[\]; f32\[\]",
        ),
        (lambda: batch_join([{"a": 1}, {"b": 1}], 2), r"all of tensors_list must be dicts with the keys \['a'\], got"),
        (lambda: batch([1], 2, enqueue_many=True), r"with enqueue_many tensors need an axis of elements, got i32\[\]"),
        (lambda: batch([SparseValue([], [], [])], 2), r"queues take no sparse tensors; make batches of the messages"),
    ],
)
def test_what_is_wrong_is_said(call: Callable[[], object], message: str) -> None:
    with Graph().as_default(), pytest.raises(InvalidArgumentError, match=message) as caught:
        call()
    assert "test_batching.py" in str(caught.value)


def test_names_and_shapes_are_tensorflows() -> None:
    with Graph().as_default():
        a, b = batch([np.float32([1, 2]), 3], 4)
        assert (a.name, b.name, a.shape, b.shape) == ("batch:0", "batch:1", (4, 2), (4,))
        assert batch([1], 4, allow_smaller_final_batch=True, name="some").shape == (None,)
        assert shuffle_batch([1], 4, 9, 1).name == "shuffle_batch:0"
