"""What becomes of runs where a task dies or stalls, where time is up, and where the target is reset."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import pytest

import graphc as gx
from graphc.cluster.master.service import PartExecution
from graphc.compiler.base.errors import (
    AbortedError,
    CancelledError,
    DeadlineExceededError,
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
    UnavailableError,
)
from graphc.compiler.runtime import Execution
from graphc.graphs.queues.state import QueueState
from tests.cluster.master.conftest import Cluster


class _Waiting:
    """A graph in which the master waits for a queue, while a parameter server has something to do.

    Attributes:
      begun: set when the dequeue waits.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun = threading.Event()
        take = QueueState.take_row

        def noted(state: QueueState) -> Any:
            self.begun.set()
            return take(state)

        monkeypatch.setattr(QueueState, "take_row", noted)
        with gx.Graph().as_default() as self.graph:
            with gx.device("/job:worker/task:1"):
                self.queue: Any = gx.queues.FIFOQueue(1, "float32", shapes=[[]], shared_name="never")
                self.item = self.queue.dequeue()
            with gx.device("/job:ps/task:1"):
                self.v = gx.Variable(1.0, name="v")
                self.after: Any = self.item + self.v

    def run(self, session: gx.Session, fetch: Any = None) -> list[BaseException]:
        """Runs it in a thread until the dequeue waits; returns where its error will be."""
        errors: list[BaseException] = []

        def work() -> None:
            try:
                session.run(self.after if fetch is None else fetch)
            except BaseException as error:
                errors.append(error)

        self.thread = threading.Thread(target=work)
        self.thread.start()
        assert self.begun.wait(60)
        return errors


@pytest.fixture
def waiting(monkeypatch: pytest.MonkeyPatch) -> _Waiting:
    return _Waiting(monkeypatch)


def test_a_task_that_dies_in_a_run_is_named(cluster: Cluster, waiting: _Waiting) -> None:
    session = gx.Session(cluster.target("worker0"), graph=waiting.graph)
    errors = waiting.run(session)
    cluster.restart("worker1")
    waiting.thread.join(60)
    assert isinstance(errors[0], UnavailableError)
    assert "/job:worker/task:1 at 127.0.0.1:2512 was stopped" in str(errors[0])
    # the Session goes on with the task that was started in its place
    enqueue = waiting.queue
    with waiting.graph.as_default():
        put = enqueue.enqueue(2.0)
    session.run([put, waiting.v.initializer])
    assert session.run(waiting.after) == 3.0


def test_a_part_that_fails_ends_the_others(cluster: Cluster, waiting: _Waiting) -> None:
    with waiting.graph.as_default(), gx.device("/job:ps/task:0"):
        w = gx.Variable(1.0, name="w")
    session = gx.Session(cluster.target("worker0"), graph=waiting.graph)
    with pytest.raises(FailedPreconditionError, match=r"uninitialized value w.*\(at /job:ps/task:0\)"):
        session.run([w, waiting.item])


def test_the_first_failure_is_told_though_a_part_that_it_cancels_ends_before(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(execution: PartExecution, *_: object) -> None:
        execution.end(UnavailableError("the parameter server is gone"))
        raise CancelledError("another part of the run has failed")

    monkeypatch.setattr(Execution, "run", run)
    master: Any = SimpleNamespace(drop=lambda *_: None)
    plan: Any = None
    with pytest.raises(UnavailableError, match="parameter server is gone"):
        PartExecution(master, None).run(plan, ())


def test_a_stalled_task_is_unavailable_and_the_client_lives(cluster: Cluster, waiting: _Waiting) -> None:
    session = gx.Session(cluster.target("worker0"), graph=waiting.graph)
    session.run(waiting.v.initializer)
    cluster.task("ps1").stall()
    with gx.config.scope(heartbeat_timeout=0.01), pytest.raises(UnavailableError, match=r"/job:ps/task:1 at .* 0.01 s"):
        session.run(waiting.v)
    cluster.task("ps1").resume()
    assert session.run(waiting.v) == 1.0


def test_a_task_that_was_never_started_is_named(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphc.cluster.carriers.rays.ray_in_use", bool)
    alone = "gx.Server makes tasks of its own process only .*'threads'.*`graphc cluster up`.*RAY_ADDRESS.*'ray'"
    cluster.servers["ps1"].stop()
    with gx.Graph().as_default() as graph, gx.device("/job:ps/task:1"):
        v = gx.Variable(1.0)
    session = gx.Session(cluster.target("worker0"), graph=graph)
    with pytest.raises(UnavailableError, match=rf"/job:ps/task:1 at 127.0.0.1:2502 does not run: .*{alone}"):
        session.run(v.initializer)
    with pytest.raises(NotFoundError, match=rf"there is no task at '127.0.0.1:9'.*{alone}(.|\n)*test_faults"):
        gx.Session("grpc://127.0.0.1:9")


def test_a_run_ends_by_its_deadline(cluster: Cluster, waiting: _Waiting) -> None:
    late = r"the deadline of 0.02 s passed .*FIFOQueue 'never'.*\(at /job:worker/task:1\)"
    session = gx.Session(cluster.target("ps0"), graph=waiting.graph)
    with pytest.raises(DeadlineExceededError, match=late) as raised:
        session.run(waiting.after, options=gx.RunOptions(timeout_in_ms=20))
    assert raised.value.op == waiting.item.op
    hurried = gx.Session(cluster.target("ps0"), graph=waiting.graph, config=gx.ConfigProto(operation_timeout_in_ms=20))
    with pytest.raises(DeadlineExceededError, match=late):
        hurried.run(waiting.item)


def test_closing_a_session_ends_what_waits(cluster: Cluster, waiting: _Waiting) -> None:
    session = gx.Session(cluster.target("ps0"), graph=waiting.graph)
    errors = waiting.run(session)
    session.close()
    waiting.thread.join(60)
    assert isinstance(errors[0], CancelledError)
    assert "the Session was closed" in str(errors[0])


def test_a_reset_ends_the_sessions_of_the_target_alone(cluster: Cluster, waiting: _Waiting) -> None:
    session = gx.Session(cluster.target("ps0"), graph=waiting.graph)
    other = gx.Session(cluster.target("worker0"), graph=waiting.graph)
    session.run(waiting.v.initializer)
    errors = waiting.run(session)
    cluster.servers["worker2"].stop()  # a task that is gone has nothing to reset
    gx.Session.reset(cluster.target("ps0"))
    waiting.thread.join(60)
    assert isinstance(errors[0], CancelledError)
    assert "ended by a reset of its target" in str(errors[0])
    with pytest.raises(AbortedError, match="ended by a reset of its target; open another one"):
        session.run(waiting.v)
    with pytest.raises(FailedPreconditionError, match="uninitialized value v"):
        other.run(waiting.v)
    with pytest.raises(InvalidArgumentError, match="pass the target of a cluster"):
        gx.Session.reset()
    with pytest.raises(NotFoundError, match="there is no task at"):
        gx.Session.reset("grpc://127.0.0.1:9")


def test_a_reset_names_a_task_that_does_not_answer_and_resets_the_others(cluster: Cluster, waiting: _Waiting) -> None:
    session = gx.Session(cluster.target("worker0"), graph=waiting.graph)
    session.run(waiting.v.initializer)
    cluster.task("ps0").stall()
    with gx.config.scope(heartbeat_timeout=0.01), pytest.raises(UnavailableError, match=r"/job:ps/task:0 at"):
        gx.Session.reset(cluster.target("worker2"))
    with pytest.raises(FailedPreconditionError, match="uninitialized value v"):
        session.run(waiting.v)


def test_a_reset_at_another_task_ends_who_waits_at_what_it_gives_up(cluster: Cluster, waiting: _Waiting) -> None:
    with gx.Session(cluster.target("worker0"), graph=waiting.graph) as session:
        session.run(waiting.v.initializer)
        errors = waiting.run(session)
        gx.Session.reset(cluster.target("worker2"))
        waiting.thread.join(30)
        (error,) = errors
        assert isinstance(error, AbortedError)
        assert "were reset while this waited for" in str(error)
