"""Input producers: epochs, orders, slices, files, and what is said of wrong input. Values as TensorFlow 2.21's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base.errors import FailedPreconditionError, InvalidArgumentError, OutOfRangeError
from graphc.graphs.queues import Coordinator
from graphc.graphs.session import Graph, GraphKeys, Session, placeholder
from graphc.graphs.session.producers import (
    input_producer,
    limit_epochs,
    match_filenames_once,
    range_input_producer,
    slice_input_producer,
    string_input_producer,
)
from graphc.graphs.session.runners import start_queue_runners


def results(make: Callable[[], Any], count: int = 99, *, seed: int | None = None) -> list[Any]:
    """What runs of a fetch give, at most so many, until the queues are closed."""
    with Graph().as_default() as graph:
        graph.seed = seed
        fetch = make()
        with Session() as session:
            session.run([variable.initializer for variable in graph.get_collection(GraphKeys.LOCAL_VARIABLES)])
            coord, found = Coordinator(), list[Any]()
            threads = start_queue_runners(session, coord)
            try:
                while len(found) < count:
                    found.append(session.run(fetch))
            except OutOfRangeError:
                pass
            coord.request_stop()
            coord.join(threads, stop_grace_period_secs=60)
            return found


def test_strings_come_in_order_for_some_epochs_or_for_ever() -> None:
    assert results(lambda: string_input_producer(["a", "b"], num_epochs=2, shuffle=False).dequeue()) == [
        b"a", b"b", b"a", b"b"
    ]  # fmt: skip
    assert results(lambda: string_input_producer(["a"]).dequeue(), 40) == [b"a"] * 40


def test_each_epoch_has_an_order_of_its_own_by_the_seed() -> None:
    def numbers(seed: int | None) -> list[int]:
        return results(lambda: range_input_producer(20, num_epochs=3, seed=seed).dequeue())

    first = numbers(7)
    epochs = [first[:20], first[20:40], first[40:]]
    assert [sorted(epoch) for epoch in epochs] == [list(range(20))] * 3
    assert len({tuple(epoch) for epoch in epochs}) == 3
    assert numbers(7) == first
    assert numbers(8) != first
    by_graph = results(lambda: range_input_producer(20, num_epochs=1).dequeue(), seed=1)
    assert by_graph == results(lambda: range_input_producer(20, num_epochs=1).dequeue(), seed=1)


def test_rows_of_a_tensor_may_be_computed_anew_and_have_a_shape_that_is_given() -> None:
    def make() -> Any:
        rows = placeholder("float32", shape=None)
        with pytest.raises(InvalidArgumentError, match=r"the shape of a row of f32\[\*\] is not known; give element"):
            input_producer(rows)
        return input_producer(rows * 2.0, element_shape=[2]).dequeue()

    with Graph().as_default():
        assert make().shape == (2,)
    assert results(lambda: input_producer([[1, 2], [3, 4]], num_epochs=1, shuffle=False).dequeue_many(2))[
        0
    ].tolist() == [[1, 2], [3, 4]]


def test_slices_of_several_tensors_belong_together() -> None:
    rows, names = np.arange(6).reshape(3, 2), ["x", "y", "z"]
    found = results(lambda: slice_input_producer([rows, names], num_epochs=2, shuffle=False))
    assert [(row.tolist(), name) for row, name in found] == [([0, 1], b"x"), ([2, 3], b"y"), ([4, 5], b"z")] * 2
    found = results(lambda: slice_input_producer([rows, names], num_epochs=1, seed=5))
    assert sorted((row.tolist(), name) for row, name in found) == [([0, 1], b"x"), ([2, 3], b"y"), ([4, 5], b"z")]


def test_epochs_are_counted_in_a_local_variable() -> None:
    with Graph().as_default() as graph, Session() as session:
        value = limit_epochs(gx.asarray([1.0, 2.0]), 2, name="twice")
        (epochs,) = graph.get_collection(GraphKeys.LOCAL_VARIABLES)
        assert epochs.name == "twice/epochs:0"
        assert graph.get_collection(GraphKeys.GLOBAL_VARIABLES) == []
        with pytest.raises(FailedPreconditionError, match="twice/epochs"):
            session.run(value)
        session.run(epochs.initializer)
        assert [session.run(value).tolist() for _ in range(2)] == [[1.0, 2.0]] * 2
        with pytest.raises(OutOfRangeError, match="limit of 2"):
            session.run(value)
        session.run(epochs.initializer)
        assert session.run(value).tolist() == [1.0, 2.0]
        assert limit_epochs(value) is value


def test_a_forgotten_initializer_is_the_cause_of_the_consumers_error() -> None:
    with Graph().as_default(), Session() as session:
        name = string_input_producer(["a"], num_epochs=1).dequeue()
        coord = Coordinator()
        threads = start_queue_runners(session, coord)
        with pytest.raises(OutOfRangeError) as caught:
            session.run(name)
        assert isinstance(caught.value.__cause__, FailedPreconditionError)
        with pytest.raises(FailedPreconditionError, match="epochs"):
            coord.join(threads)


def test_files_are_matched_once_in_each_session(tmp_path: Path) -> None:
    for name in ("b.csv", "a.csv", "c.txt"):
        (tmp_path / name).touch()
    with Graph().as_default() as graph:
        names = match_filenames_once(str(tmp_path / "*.csv"))
        several = match_filenames_once([str(tmp_path / "*.txt"), str(tmp_path / "a*")])
        assert names.name == "matching_filenames:0"
    with Session(graph=graph) as first, Session(graph=graph) as second:
        found = [str(tmp_path / name).encode() for name in ("a.csv", "b.csv")]
        assert first.run(names).tolist() == found
        (tmp_path / "d.csv").touch()
        assert first.run(names).tolist() == found
        assert len(second.run(names)) == 3
        assert [Path(name.decode()).name for name in first.run(several)] == ["a.csv", "c.txt"]


def test_names_are_tensorflows() -> None:
    with Graph().as_default() as graph:
        assert string_input_producer(["a"]).name == "input_producer"
        assert range_input_producer(3, name="numbers").name == "numbers"
        assert len(graph.get_collection(GraphKeys.QUEUE_RUNNERS)) == 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: string_input_producer([]), r"string_input_producer: expected at least one string, got \[\]"),
        (lambda: limit_epochs(gx.asarray(1), 0), r"limit_epochs: num_epochs must be positive or None, got 0"),
        (lambda: input_producer(3), r"input_producer: expected a tensor with at least one axis, got i32\[\]"),
        (
            lambda: input_producer([[1, 2]], element_shape=[3]),
            r"input_producer: the tensor has rows of the type i32\[2\], and element_shape is \[3\]",
        ),
        (lambda: slice_input_producer([]), r"slice_input_producer: expected at least one tensor in tensor_list"),
        (
            lambda: slice_input_producer([[1, 2], [1, 2, 3]]),
            r"slice_input_producer: all tensors need as many rows, got i32\[2\], i32\[3\]",
        ),
    ],
)
def test_what_is_wrong_is_said(call: Callable[[], object], message: str) -> None:
    with Graph().as_default(), pytest.raises(InvalidArgumentError, match=message) as caught:
        call()
    assert "test_inputs.py" in str(caught.value)


def test_an_input_without_rows_ends_the_run() -> None:
    with Graph().as_default(), Session() as session:
        names = match_filenames_once("/no/such/folder/*")
        queue = string_input_producer(names)
        name = queue.dequeue()
        coord = Coordinator()
        threads = start_queue_runners(session, coord)
        with pytest.raises(OutOfRangeError) as caught:
            session.run(name)
        assert "the input has no rows" in str(caught.value.__cause__)
        with pytest.raises(InvalidArgumentError, match="the input has no rows, so that its queue would never be fill"):
            coord.join(threads)
