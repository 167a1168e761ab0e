"""QueueRunner: threads that fill a queue, what closes it, and how a failure and a stop reach everybody."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base.errors import (
    FailedPreconditionError,
    InvalidArgumentError,
    InvalidTypeError,
    NotFoundError,
    OutOfRangeError,
    UnimplementedError,
)
from graphc.graphs.queues import Coordinator, FIFOQueue, TextLineReader
from graphc.graphs.session import Graph, GraphKeys, Session
from graphc.graphs.session.runners import QueueRunner, add_queue_runner, start_queue_runners

LONG = 60.0


def joined(threads: list[threading.Thread]) -> None:
    for thread in threads:
        thread.join(LONG)
        assert not thread.is_alive(), thread.name


def counted(limit: int) -> Any:
    """Makes a queue of the numbers below a limit in the default graph; returns it, and what fills and closes it."""
    source = FIFOQueue(limit, "int32", shapes=[[]], name="source")
    return source, [source.enqueue_many([np.arange(limit, dtype=np.int32)]), source.close()]


def test_all_operations_run_until_the_source_ends_and_the_last_one_closes_the_queue() -> None:
    with Graph().as_default(), Session() as session:
        source, fill = counted(50)
        queue = FIFOQueue(5, "int32", shapes=[[]])
        runner = QueueRunner(queue, [queue.enqueue(source.dequeue()) for _ in range(3)])
        rows, closed = queue.dequeue_many(10), queue.is_closed()
        for op in fill:
            session.run(op)
        coord = Coordinator()
        threads = runner.create_threads(session, coord, start=True)
        assert [thread.name.startswith("QueueRunnerThread-fifo_queue-") for thread in threads] == [True] * 4
        found = [number for _ in range(5) for number in session.run(rows)]
        assert sorted(found) == list(range(50))
        coord.join(threads)  # nobody asked for a stop: the thread that waits for one ends with the others
        assert not coord.should_stop()
        assert session.run(closed)
        with pytest.raises(OutOfRangeError) as caught:
            session.run(rows)
        assert caught.value.__cause__ is None


def test_threads_are_made_once_for_a_session_and_again_when_they_have_ended() -> None:
    with Graph().as_default():
        queue = FIFOQueue(2, "int32", shapes=[[]])
        runner = QueueRunner(queue, [queue.enqueue(1)] * 2)
        with Session() as first, Session() as second:
            coord = Coordinator()
            threads = runner.create_threads(first, coord, daemon=True)
            assert [thread.daemon for thread in threads] == [True] * 3
            assert not any(thread.is_alive() for thread in threads)
            assert runner.create_threads(first, coord) == []
            others = runner.create_threads(second, coord, start=True)
            assert len(others) == 3
            for thread in threads:
                thread.start()
            coord.request_stop()
            coord.join()
            assert len(runner.create_threads(first, Coordinator())) == 3


def of_files(*names: str) -> tuple[Any, Any, list[Any]]:
    """Makes a queue of lines of files and its runner, in the default graph; returns also what fills it with names."""
    files = FIFOQueue(10, gx.string, shapes=[[]], name="files")
    fill = [files.enqueue_many([list(names)]), files.close()]
    lines = FIFOQueue(2, gx.string, shapes=[[]], name="lines")
    return lines, QueueRunner(lines, [lines.enqueue(TextLineReader().read(files).value) for _ in range(2)]), fill


class TestFailures:
    def test_one_stops_the_coordinator_and_is_the_cause_of_the_consumers_error(self) -> None:
        with Graph().as_default(), Session() as session:
            lines, runner, fill = of_files("missing.txt")
            line = lines.dequeue()
            for op in fill:
                session.run(op)
            coord = Coordinator()
            threads = runner.create_threads(session, coord, start=True)
            with pytest.raises(OutOfRangeError) as caught:
                session.run(line)
            assert isinstance(caught.value.__cause__, FileNotFoundError)
            with pytest.raises(NotFoundError, match=r"missing\.txt: No such file"):
                coord.join(threads)
            assert runner.exceptions_raised == []

    def test_it_passes_through_a_chain_of_queues(self) -> None:
        with Graph().as_default(), Session() as session:
            lines, first, fill = of_files("missing.txt")
            last = FIFOQueue(2, gx.string, shapes=[[]], name="last")
            second = QueueRunner(last, [last.enqueue(lines.dequeue())])
            line = last.dequeue()
            for op in fill:
                session.run(op)
            threads = first.create_threads(session, start=True) + second.create_threads(session, start=True)
            with pytest.raises(OutOfRangeError, match="'last' is closed") as caught:
                session.run(line)
            assert isinstance(caught.value.__cause__, NotFoundError)
            joined(threads)

    def test_without_a_coordinator_it_is_kept_and_logged_and_the_queue_is_closed(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        with Graph().as_default(), Session() as session:
            lines, runner, fill = of_files("missing.txt", "missing.txt")
            line = lines.dequeue()
            for op in fill:
                session.run(op)
            with caplog.at_level(logging.ERROR, "graphc.queue_runner"):
                joined(runner.create_threads(session, start=True))
            assert all(isinstance(error, NotFoundError) for error in runner.exceptions_raised)
            assert "missing.txt: No such file" in caplog.text
            with pytest.raises(OutOfRangeError):
                session.run(line)

    def test_other_types_may_say_that_a_queue_is_closed(self) -> None:
        with Graph().as_default(), Session() as session:
            lines, _, _ = of_files("missing.txt")
            files = FIFOQueue(2, gx.string, shapes=[[]], name="others")
            enqueue = lines.enqueue(TextLineReader().read(files).value)
            runner = QueueRunner(lines, [enqueue], queue_closed_exception_types=(NotFoundError,))
            size, closed, name = lines.size(), lines.is_closed(), files.enqueue(["missing.txt"])
            session.run(name)
            coord = Coordinator()
            coord.join(runner.create_threads(session, coord, start=True))
            assert (session.run(size), session.run(closed)) == (0, True)
            assert not coord.should_stop()


class TestStops:
    def test_one_in_the_middle_of_everything_ends_all_threads(self) -> None:
        with Graph().as_default(), Session() as session:
            # One queue is full, one is empty and nobody fills it, one is read through another.
            full, empty = FIFOQueue(1, "int32", shapes=[[]], name="full"), FIFOQueue(1, "int32", name="empty")
            lines, reading, _ = of_files("never.txt")
            runners = [
                QueueRunner(full, [full.enqueue(1)] * 3),
                QueueRunner(full, [full.enqueue(empty.dequeue())] * 3),
                reading,
            ]
            size = full.size()
            coord, threads = Coordinator(), list[threading.Thread]()
            for runner in runners:
                threads += runner.create_threads(session, coord, start=True)
            while session.run(size) < 1:
                pass
            coord.request_stop()
            coord.join(threads, stop_grace_period_secs=LONG)
            assert not any(thread.is_alive() for thread in threads)
            del lines

    def test_the_end_of_the_session_ends_them_quietly(self) -> None:
        graph = Graph()
        with graph.as_default():
            queue = FIFOQueue(1, "int32", shapes=[[]])
            runner = QueueRunner(queue, [queue.enqueue(1)] * 2)
            first = queue.dequeue()
        session = Session(graph=graph)
        threads = runner.create_threads(session, start=True)
        session.run(first)
        session.close()
        joined(threads)
        assert runner.exceptions_raised == []


class TestCollections:
    def test_runners_of_a_collection_are_started_together(self) -> None:
        with Graph().as_default() as graph, Session() as session:
            queues = [FIFOQueue(3, "int32", shapes=[[]]) for _ in range(2)]
            for number, queue in enumerate(queues):
                add_queue_runner(QueueRunner(queue, [queue.enqueue(number)]))
            assert len(graph.get_collection(GraphKeys.QUEUE_RUNNERS)) == 2
            both = [queue.dequeue() for queue in queues]
            coord = Coordinator()
            threads = start_queue_runners(coord=coord)
            assert [thread.daemon for thread in threads] == [True] * 4
            assert session.run(both) == [0, 1]
            coord.request_stop()
            coord.join(threads)

    def test_who_forgets_to_start_them_is_told(self) -> None:
        with Graph().as_default(), Session() as session:
            queue = FIFOQueue(3, "int32", shapes=[[]], name="forgotten")
            runner = QueueRunner(queue, [queue.enqueue(1)])
            add_queue_runner(runner)
            queue.fillers(session.resources).patience = 0.01
            message = (
                r"its QueueRunner was never started, .*; call gx\.start_queue_runners\(sess, coord\) before the first"
            )
            with pytest.raises(FailedPreconditionError, match=message):
                session.run(queue.dequeue())

    def test_a_collection_without_runners_is_logged(self, caplog: pytest.LogCaptureFixture) -> None:
        with Graph().as_default(), Session(), caplog.at_level(logging.WARNING, "graphc.queue_runner"):
            assert start_queue_runners(collection="others") == []
        assert "the collection 'others' of the graph has no queue runners" in caplog.text


def test_eager_queues_are_filled_by_functions() -> None:
    queue, numbers = FIFOQueue(3, "int32", shapes=[[]]), iter(range(20))

    def enqueue() -> None:
        number = next(numbers, None)
        if number is None:
            raise OutOfRangeError("no more numbers")
        queue.enqueue(number)

    runner, coord = QueueRunner(queue, [enqueue]), Coordinator()
    threads = runner.create_threads(coord=coord, start=True)
    assert queue.dequeue_many(20).tolist() == list(range(20))
    coord.join(threads)
    with pytest.raises(OutOfRangeError):
        queue.dequeue()


def eager() -> FIFOQueue:
    return FIFOQueue(3, "int32", shapes=[[]])


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (
            lambda: QueueRunner(eager(), []),
            InvalidArgumentError,
            r"QueueRunner: expected a queue and a list of at least",
        ),
        (lambda: QueueRunner(3, [print]), InvalidTypeError, r"QueueRunner: expected a queue, got 3"),  # type: ignore[arg-type]
        (
            lambda: QueueRunner(eager(), [print], queue_closed_exception_types=[ValueError]),  # type: ignore[arg-type]
            InvalidTypeError,
            r"queue_closed_exception_types must be a tuple of exception classes, got \[<class 'ValueError'>\]",
        ),
        (lambda: QueueRunner(queue_runner_def=b""), UnimplementedError, r"graphs are not kept as protocol buffers"),
        (lambda: QueueRunner.from_proto(b""), UnimplementedError, r"make the QueueRunner where the graph is built"),
        (lambda: QueueRunner(eager(), [print]).to_proto(), UnimplementedError, r"not kept as protocol buffers"),
        (
            lambda: QueueRunner(eager(), [print]).create_threads(coord=3),  # type: ignore[arg-type]
            InvalidTypeError,
            r"QueueRunner\.create_threads: coord must be a Coordinator, got 3",
        ),
        (lambda: start_queue_runners(3), InvalidTypeError, r"start_queue_runners: sess must be a Session, got 3"),
        (lambda: start_queue_runners(), FailedPreconditionError, r"there is no default Session; use `with gx\.Session"),
    ],
)
def test_what_is_wrong_is_said(call: Callable[[], object], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message) as caught:
        call()
    assert "test_runners.py" in str(caught.value)


def test_operations_need_a_session() -> None:
    with Graph().as_default():
        queue = eager()
        with pytest.raises(InvalidArgumentError, match="expected the Session that runs the operations, got None"):
            QueueRunner(queue, [queue.enqueue(1)]).create_threads()
