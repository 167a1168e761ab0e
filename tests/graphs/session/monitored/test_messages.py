"""What monitored Sessions say when something is wrong, and how they wait; test_monitored.py of compat has the rest."""

from __future__ import annotations

import logging
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base import CancellationToken, deadline
from graphc.compiler.base.errors import (
    AbortedError,
    CancelledError,
    DeadlineExceededError,
    FailedPreconditionError,
    InvalidArgumentError,
    UnavailableError,
)
from graphc.graphs.session import Saver, get_or_create_global_step, report_uninitialized_variables, summaries
from graphc.graphs.session.monitored import (
    CheckpointSaverHook,
    CheckpointSaverListener,
    ChiefSessionCreator,
    FeedFnHook,
    FileWriterCache,
    GlobalStepWaiterHook,
    LoggingTensorHook,
    MonitoredSession,
    MonitoredTrainingSession,
    NanLossDuringTrainingError,
    NanTensorHook,
    Scaffold,
    SessionManager,
    SessionRunArgs,
    SessionRunHook,
    StopAtStepHook,
    Supervisor,
)

pytestmark = pytest.mark.timeout(60)

Variable: Any = gx.Variable
"""What it makes in a graph has more methods than in eager code."""


@pytest.fixture(autouse=True)
def graph() -> Any:
    with gx.Graph().as_default() as graph:
        yield graph


def test_a_wait_for_the_chief_says_what_is_missing_and_keeps_to_deadlines_and_tokens() -> None:
    Variable(1.0, name="weights")
    manager = SessionManager(ready_op=report_uninitialized_variables())
    with pytest.raises(
        DeadlineExceededError, match=r"after waiting 0\.05 s: Variables not initialized: weights\. Is the"
    ):
        manager.wait_for_session("", max_wait_secs=0.05)
    with (
        deadline(0.05),
        pytest.raises(DeadlineExceededError, match="chief to initialize the model: Variables not initialized: weights"),
    ):
        manager.wait_for_session("")
    token = CancellationToken()
    threading.Timer(0.05, token.cancel, ("enough",)).start()
    with token, pytest.raises(CancelledError, match="enough"):
        manager.wait_for_session("")


def test_a_wait_for_a_checkpoint_ends_when_there_is_one(tmp_path: Path) -> None:
    v = Variable(1.0, name="v")
    saver, init = Saver(), gx.global_variables_initializer()
    manager = SessionManager(ready_op=report_uninitialized_variables())
    found: list[float] = []

    def wait() -> None:
        session = manager.prepare_session("", saver=saver, checkpoint_dir=str(tmp_path), wait_for_checkpoint=True)
        with session:
            found.append(float(session.run(v)))

    waiting = threading.Thread(target=wait)
    waiting.start()
    with gx.Session() as session:
        session.run([init, v.initializer], {v.initializer.inputs[0]: np.float32(7.0)})
        saver.save(session, str(tmp_path / "model"))
    waiting.join()
    assert found == [7.0]


@pytest.mark.parametrize(
    ("act", "kind", "message"),
    [
        (
            lambda manager: manager.prepare_session(""),
            FailedPreconditionError, "there is no checkpoint, and no init_op, init_fn or local_init_op was",
        ),
        (
            lambda manager: manager.prepare_session("", init_fn=lambda session: None),
            FailedPreconditionError, "initializers have run, and the model is not ready: Variables not initialized: v",
        ),
        (
            lambda manager: manager.recover_session("", None, "a", "b"),
            InvalidArgumentError, "give checkpoint_dir or checkpoint_filename_with_path, not both",
        ),
        (
            lambda manager: SessionManager(ready_for_local_init_op=1),
            InvalidArgumentError, "there is no local_init_op that waits for it",
        ),
    ],
)  # fmt: skip
def test_what_a_manager_refuses(act: Any, kind: type[Exception], message: str) -> None:
    Variable(1.0, name="v")
    with pytest.raises(kind, match=message):
        act(SessionManager(ready_op=report_uninitialized_variables()))


@pytest.mark.parametrize(
    ("act", "kind", "message"),
    [
        (lambda: StopAtStepHook(1).begin(), FailedPreconditionError, "StopAtStepHook needs a global step: call"),
        (lambda: StopAtStepHook(), InvalidArgumentError, "give num_steps or last_step, got num_steps=None"),
        (lambda: LoggingTensorHook(["x"], 0), InvalidArgumentError, "every_n_iter is 0; expected a positive number"),
        (lambda: CheckpointSaverHook("a"), InvalidArgumentError, "give either every_secs or every_steps"),
        (lambda: CheckpointSaverHook("a", 1, saver=1, scaffold=1), InvalidArgumentError, "a saver or a scaffold"),
        (lambda: Supervisor().summary_computed(None, b""), FailedPreconditionError, "no summary writer; give logdir"),
        (
            lambda: Supervisor(is_chief=False).start_standard_services(None),  # type: ignore[arg-type]
            FailedPreconditionError, "only the chief saves and summarizes",
        ),
        (
            lambda: (Variable(1.0, name="v"), Supervisor(is_chief=False)),
            InvalidArgumentError, r"'v:0' .* is pinned nowhere.*under tf.device\(tf.train.replica_device_setter",
        ),
        (lambda: Scaffold(copy_from_scaffold=3), InvalidArgumentError, "must be a Scaffold, got 3"),  # type: ignore[arg-type]
    ],
)  # fmt: skip
def test_what_is_refused_where_it_is_made(act: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        act()


def test_what_a_monitored_session_refuses() -> None:
    x = gx.placeholder("float32", (), name="x")
    y = gx.log(x)
    feed = FeedFnHook(lambda: {x: -1.0})
    with MonitoredSession(hooks=[feed]) as session:
        with pytest.raises(InvalidArgumentError, match="is fed by FeedFnHook, and by another hook or the program too"):
            session.run(y, {x: 1.0})
        with pytest.raises(InvalidArgumentError, match=r"takes one argument, step_context; got \(other\)"):
            session.run_step_fn(lambda other: None)
        with (
            pytest.raises(NanLossDuringTrainingError, match=r"'log:0' is not a number; try a smaller"),
            MonitoredSession(hooks=[feed, NanTensorHook(y)]) as other,
        ):
            other.run(y)
    for act in (session.close, lambda: session.run(y)):
        with pytest.raises(FailedPreconditionError, match="already closed"):
            act()
    assert session.should_stop()
    assert session.graph is None


def test_runs_after_a_stop_are_refused() -> None:
    class Stops(SessionRunHook):
        def after_run(self, run_context: Any, run_values: Any) -> None:
            run_context.request_stop()

    v = Variable(1.0)
    with MonitoredSession(hooks=[Stops()]) as session:
        session.run(v)
        with pytest.raises(FailedPreconditionError, match="asked to stop; look at should_stop"):
            session.run(v)


def test_hooks_merge_options_and_see_what_the_run_tells() -> None:
    seen: list[Any] = []

    class Traces(SessionRunHook):
        def before_run(self, run_context: Any) -> SessionRunArgs:
            return SessionRunArgs(None, options=gx.RunOptions(trace_level=gx.RunOptions.FULL_TRACE))

        def after_run(self, run_context: Any, run_values: Any) -> None:
            seen.append((run_values.results, run_values.options, run_values.run_metadata.timeline is not None))

    v = Variable(1.0)
    given = gx.RunOptions(timeout_in_ms=5000)
    with MonitoredSession(hooks=[Traces()]) as session:
        session.run(v, options=given)
    assert seen == [(None, gx.RunOptions(trace_level=3, timeout_in_ms=5000), True)]
    assert given.trace_level == 0


def test_a_worker_waits_for_its_step_and_listeners_hear_of_checkpoints(tmp_path: Path) -> None:
    step = get_or_create_global_step()
    more, twice = step.assign_add(1), step.assign_add(2)
    heard: list[tuple[str, int]] = []

    class Listens(CheckpointSaverListener):
        def begin(self) -> None:
            heard.append(("begin", 0))

        def before_save(self, session: Any, global_step_value: int) -> None:
            heard.append(("before", global_step_value))

        def after_save(self, session: Any, global_step_value: int) -> bool:
            heard.append(("after", global_step_value))
            return global_step_value >= 2

        def end(self, session: Any, global_step_value: int) -> None:
            heard.append(("end", global_step_value))

    class Elsewhere(SessionRunHook):
        """Stands for another worker, which makes steps when this one waits."""

        def after_create_session(self, session: Any, coord: Any) -> None:
            self.other = threading.Thread(target=session.run, args=(twice,))
            self.other.start()

    saver = CheckpointSaverHook(str(tmp_path), save_steps=1, scaffold=(scaffold := Scaffold()), listeners=[Listens()])
    elsewhere = Elsewhere()
    hooks = [saver, elsewhere, GlobalStepWaiterHook(2)]
    with MonitoredSession(ChiefSessionCreator(scaffold), hooks) as session:
        assert session.run(more) == 3
        assert session.should_stop()
    elsewhere.other.join()
    assert heard == [
        ("begin", 0), ("before", 0), ("after", 0), ("before", 3), ("after", 3), ("end", 3)
    ]  # fmt: skip
    assert "global_step" in (tmp_path / "graph.txt").read_text()


class _Flaky(ChiefSessionCreator):
    """Cannot make a Session at first."""

    def __init__(self, errors: list[Exception]) -> None:
        super().__init__()
        self.errors = errors

    def create_session(self) -> gx.Session:
        if self.errors:
            raise self.errors.pop()
        return super().create_session()


def test_a_session_that_cannot_be_made_yet_is_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    v = Variable(3.0)
    creator = _Flaky([UnavailableError("not there yet"), AbortedError("not there yet")])
    with caplog.at_level(logging.WARNING, "graphc.monitored"), MonitoredSession(creator) as session:
        assert session.run(v) == 3.0
    assert caplog.text.count("no Session could be made; trying again: not there yet") == 2
    creator.errors = [UnavailableError("gone")] * 100
    with (
        deadline(0.05),
        pytest.raises(DeadlineExceededError, match="a replacement of the lost Session"),
    ):
        MonitoredSession(creator)


def test_lines_of_the_log(caplog: pytest.LogCaptureFixture) -> None:
    x = Variable([1.0, 2.0], name="x")
    with (
        caplog.at_level(logging.INFO, "graphc.monitored"),
        MonitoredSession(hooks=[LoggingTensorHook(["x"], 1)]) as session,
    ):
        session.run(x)
    assert "x = [1. 2.]" in caplog.text


def test_what_tensorboard_reads_of_a_training(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    step = get_or_create_global_step()
    train = step.assign_add(1)
    summaries.scalar("twice", gx.astype(step, "float32") * 2.0)
    with MonitoredTrainingSession(
        checkpoint_dir=str(tmp_path), hooks=[StopAtStepHook(5)], log_step_count_steps=2, save_summaries_steps=2
    ) as session:
        while not session.should_stop():
            session.run(train)
    FileWriterCache.clear()
    found = EventAccumulator(str(tmp_path))
    found.Reload()
    assert [(event.step, event.value) for event in found.Scalars("twice")] == [(1, 2.0), (3, 6.0), (5, 10.0)]
    assert [event.step for event in found.Scalars("global_step/sec")] == [3, 5]


def test_the_services_of_a_supervisor(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    step = get_or_create_global_step()
    more = step.assign_add(1)
    summaries.scalar("step", step)
    supervisor = Supervisor(logdir=str(tmp_path), save_model_secs=0.01, save_summaries_secs=0.01)
    with supervisor.managed_session() as session:
        while not list(tmp_path.glob("model.ckpt-*")) or not list(tmp_path.glob("events*")):
            assert not supervisor.should_stop()
            session.run(more)
    assert supervisor.coord.joined
    supervisor.stop()  # as programs do that have not seen that the scope has
    assert (tmp_path / "graph.txt").exists()


def test_a_run_that_always_loses_its_session_is_tried_less_and_less_often_and_fails_in_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Fails(SessionRunHook):
        def after_run(self, run_context: Any, run_values: Any) -> None:
            if losses:
                losses.pop()
                raise UnavailableError("the camera is gone")

    y = Variable(1.0, name="v") + 1.0
    clock, pauses, losses = [0.0], list[float](), [None] * 100

    def pause(seconds: float, what: str) -> None:
        pauses.append(seconds)
        clock[0] += seconds

    module = sys.modules[MonitoredSession.__module__]
    monkeypatch.setattr(module, "pause", pause)
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    monkeypatch.setattr(module, "_RECOVERY_SECONDS", 10.0)
    with MonitoredSession(hooks=[Fails()]) as session:
        with pytest.raises(UnavailableError, match="the camera is gone"):
            session.run(y)
        assert pauses == pytest.approx([0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0])
        pauses.clear()
        losses[:] = [None] * 2
        assert session.run(y) == 2.0
        assert pauses == [0.05], "a run that has failed for good is behind it"
