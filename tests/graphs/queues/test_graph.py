"""Queues in graphs that are built by hand: each Session has elements of its own."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base.errors import DeadlineExceededError, InvalidArgumentError, InvalidTypeError, OutOfRangeError
from graphc.compiler.ir import parse_graph
from graphc.graphs.queues import FIFOQueue, PaddingFIFOQueue, RandomShuffleQueue


def test_sessions_run_the_operations_of_a_queue() -> None:
    with gx.Graph().as_default() as graph:
        queue = FIFOQueue(10, ["float32", "int32"], [[2], []], names=["x", "n"], name="q")
        x, n = gx.placeholder("float32", shape=(None, 2)), gx.placeholder("int32", shape=(None,))
        enqueue, batch, size = queue.enqueue_many({"x": x, "n": n}), queue.dequeue_many(3), queue.size()
        close, closed = queue.close(), queue.is_closed()
    rest = queue.dequeue_up_to(3)  # the queue knows its graph
    with gx.Session(graph=graph) as session, gx.Session(graph=graph) as other:
        assert session.run(enqueue, {x: np.ones((4, 2)), n: [1, 2, 3, 4]}) is None
        assert session.run(size) == 4
        assert other.run(size) == 0
        found = session.run(batch)
        assert (found["x"].shape, found["n"].tolist()) == ((3, 2), [1, 2, 3])
        session.run(close)
        assert session.run(closed)
        with pytest.raises(OutOfRangeError, match=r"'q' is closed .*\(requested 3, current size 1\).*q_DequeueMany"):
            session.run(batch)
        assert session.run(rest)["n"].tolist() == [4]
        assert not other.run(closed)


def test_operations_have_tensorflows_names_and_the_graph_parses_back() -> None:
    with gx.Graph().as_default() as graph:
        queue = FIFOQueue(10, "float32", [[]], name="q")
        again = RandomShuffleQueue(10, 0, gx.string, [[]], name="q")
        operations = [
            queue.enqueue(1.0),
            queue.enqueue_many([[1.0]]),
            queue.close(),
            queue.dequeue().op,
            queue.dequeue_many(2).op,
            queue.dequeue_up_to(2).op,
            queue.size().op,
            queue.is_closed().op,
            again.dequeue().op,
            queue.dequeue(name="batch").op,
        ]
    names = "q_enqueue q_EnqueueMany q_Close q_Dequeue q_DequeueMany q_DequeueUpTo q_Size q_Is_Closed q_1_Dequeue batch"
    assert [operation.name for operation in operations] == names.split()
    assert (queue.name, queue.queue_ref.name, again.name) == ("q", "q:0", "q_1")
    assert str(parse_graph(str(graph))) == str(graph)


def test_queues_of_one_shared_name_are_one_in_each_session() -> None:
    with gx.Graph().as_default() as graph:
        first = FIFOQueue(5, "int32", [[]], shared_name="s")
        second = FIFOQueue(5, "int32", [[]], shared_name="s")
        with graph.container("box"):
            boxed = FIFOQueue(5, "int32", [[]], shared_name="s")
        unlike = FIFOQueue(6, "int32", [[]], shared_name="s")
        put, sizes, wrong = first.enqueue(1), [second.size(), boxed.size()], unlike.size()
    with gx.Session(graph=graph) as session:
        session.run(put)
        assert session.run(sizes) == [1, 0]
        with pytest.raises(InvalidArgumentError, match="another object with that shared name has capacity 5, not 6"):
            session.run(wrong)


def test_a_queue_of_eager_code_is_the_same_in_graphs() -> None:
    queue = FIFOQueue(5, gx.string, [[]])
    queue.enqueue("a")
    with gx.Graph().as_default() as graph:
        taken, put = queue.dequeue(), queue.enqueue_many([["b", "c"]])
    with gx.Session(graph=graph) as session:
        assert session.run(taken) == b"a"
        session.run(put)
    assert queue.dequeue_many(2).tolist() == ["b", "c"]


def test_sizes_may_be_open() -> None:
    with gx.Graph().as_default() as graph:
        queue = PaddingFIFOQueue(5, "float32", [[None]])
        row, count = gx.placeholder("float32", shape=(None,)), gx.placeholder("int32", shape=())
        put, batch = queue.enqueue([row]), queue.dequeue_many(count)
    assert batch.shape == (None, None)
    with gx.Session(graph=graph) as session:
        for given in ([1.0], [1.0, 2.0]):
            session.run(put, {row: given})
        assert session.run(batch, {count: 2}).tolist() == [[1.0, 0.0], [1.0, 2.0]]


def test_a_run_waits_for_another_thread_and_for_a_deadline() -> None:
    with gx.Graph().as_default() as graph:
        queue = FIFOQueue(5, "int32", [[]], name="q")
        put, taken = queue.enqueue(7), queue.dequeue_many(2)
    with gx.Session(graph=graph) as session:
        with gx.deadline(0.1), pytest.raises(DeadlineExceededError, match=r"0.1 s passed while waiting for .*q"):
            session.run(taken)
        found: list[object] = []
        thread = threading.Thread(target=lambda: found.append(session.run(taken).tolist()), daemon=True)
        thread.start()
        session.run([put])
        session.run([put])
        thread.join(30)
        assert found == [[7, 7]]


def test_what_does_not_fit_is_refused_when_the_graph_is_built() -> None:
    with gx.Graph().as_default():
        queue = FIFOQueue(5, "float32", [[2]], name="q")
        with pytest.raises(InvalidArgumentError, match=r"component 0 is f32\[3\] for each element, but it t"):
            queue.enqueue_many(gx.placeholder("float32", shape=(None, 3)))
        with pytest.raises(
            InvalidTypeError, match=r"the component takes float32, got int32; convert it with gx.astype"
        ):
            queue.enqueue([gx.placeholder("int32", shape=(2,))])

        @gx.function
        def uses(x: gx.Tensor) -> gx.Tensor:
            queue.enqueue(x)
            return x

    with pytest.raises(InvalidArgumentError, match="'q' is part of a graph built by hand, so a compiled fun"):
        uses(gx.ones(2))
