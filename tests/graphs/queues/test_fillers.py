"""A dequeue from a queue that nobody fills says so; what ended a runner is the cause of its consumer's error."""

from __future__ import annotations

import subprocess
import sys

import pytest

import graphc as gx
from graphc.compiler.base.errors import DeadlineExceededError, FailedPreconditionError, OutOfRangeError
from graphc.graphs.queues import FIFOQueue, QueueState
from tests.graphs.queues.calls import Call


class Runner:
    """Stands for a QueueRunner."""

    remedy = "call start_queue_runners(sess)"


def waiting_queue(runner: object) -> FIFOQueue:
    queue = FIFOQueue(3, "int32", [[]], name="q")
    queue.expects(runner)
    queue.fillers().patience = 0.02
    return queue


def test_a_dequeue_whose_runner_was_never_started_says_so() -> None:
    runner = Runner()
    queue = waiting_queue(runner)
    message = (
        r"nothing fills FIFOQueue 'q': its QueueRunner was never started, so 2 elements of FIFOQueue 'q', which has 0 "
        r"cannot come; call start_queue_runners\(sess\)\n  at .*test_fillers.py"
    )
    with pytest.raises(FailedPreconditionError, match=message):
        queue.dequeue_many(2)
    del runner
    assert not queue.fillers().is_missing  # one that nobody holds is expected no more


@pytest.mark.parametrize("help", ["start", "enqueue"])
def test_a_dequeue_waits_once_somebody_fills_the_queue(help: str) -> None:
    runner = Runner()
    queue = waiting_queue(runner)
    if help == "start":
        queue.fillers().start()
    else:
        queue.enqueue(1)
        assert queue.dequeue().item() == 1
    assert queue._state is not None
    call = Call(queue._state, queue.dequeue)
    queue.enqueue(2)
    assert call.end().item() == 2


def test_the_failure_of_a_runner_is_the_cause() -> None:
    queue = FIFOQueue(3, "int32", [[]], name="q")
    assert queue._state is not None
    call = Call(queue._state, queue.dequeue)
    first = ValueError("a bad file")
    queue.fillers().fail(first)
    queue.fillers().fail(ValueError("a later one"))
    queue.close(cancel_pending_enqueues=True)
    with pytest.raises(OutOfRangeError, match="is closed") as found:
        call.end()
    assert found.value.__cause__ is first


def test_a_runner_of_another_graph_is_not_expected() -> None:
    runner, graphs, taken = Runner(), [gx.Graph(), gx.Graph()], []
    for graph in graphs:
        with graph.as_default():
            queue = FIFOQueue(3, "int32", [[]], name="q")
            taken.append(queue.dequeue())
        if graph is graphs[0]:
            queue.expects(runner)
    for graph, dequeue in zip(graphs, taken, strict=True):
        with gx.Session(graph=graph) as session:
            assert queue.name == "q"
            with gx.deadline(0.05), pytest.raises(DeadlineExceededError):
                session.run(dequeue)
            (state,) = session.resources.all(QueueState)
            assert state.fillers.is_missing == (graph is graphs[0])


ALONE = """
import threading
import graphc as gx

def produce():
    queue.enqueue(1)

queue = gx.queues.FIFOQueue(1, "int32", shapes=[[]], name="q")
queue.fillers().patience = 0.05
producer = threading.Thread(target=produce)
producer.start()
for wait in (lambda: queue.dequeue_many(2), lambda: queue.enqueue_many([[2, 3]])):
    try:
        wait()
    except gx.errors.FailedPreconditionError as error:
        print(str(error).splitlines()[0])
print(queue.size().item())
"""


@pytest.mark.multiprocess
@pytest.mark.usefixtures("warm_python")
def test_the_last_thread_does_not_wait_for_ever() -> None:
    found = subprocess.run([sys.executable, "-c", ALONE], capture_output=True, text=True, check=True, timeout=120)
    remedy = "; close the queue when no more elements will come, and enqueue and dequeue in different threads"
    assert found.stdout.splitlines() == [
        f"this is the only thread left, and it waits for 2 elements of FIFOQueue 'q', of which 1 are there{remedy}",
        f"this is the only thread left, and it waits for room in FIFOQueue 'q', which is full (capacity 1); 0 of its "
        f"2 rows are in{remedy}",
        "1",
    ]
