"""What monitored Sessions say when something is wrong, and how they wait; test_monitored.py of compat has the rest."""

from __future__ import annotations

import logging
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

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
from graphc.graphs.session import get_or_create_global_step, summaries
from graphc.graphs.session.monitored import (
    CheckpointSaverHook,
    ChiefSessionCreator,
    LoggingTensorHook,
    MonitoredSession,
    MonitoredTrainingSession,
    NanLossDuringTrainingError,
    NanTensorHook,
    Scaffold,
    SessionRunArgs,
    SessionRunHook,
    StopAtStepHook,
    WorkerSessionCreator,
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
    with pytest.raises(
        DeadlineExceededError, match=r"after waiting 0\.05 s: Variables not initialized: weights\. Is the"
    ):
        WorkerSessionCreator(max_wait_secs=0.05).create_session()
    with (
        deadline(0.05),
        pytest.raises(DeadlineExceededError, match="chief to initialize the model: Variables not initialized: weights"),
    ):
        WorkerSessionCreator().create_session()
    token = CancellationToken()
    threading.Timer(0.05, token.cancel, ("enough",)).start()
    with token, pytest.raises(CancelledError, match="enough"):
        WorkerSessionCreator().create_session()


@pytest.mark.parametrize(
    ("act", "kind", "message"),
    [
        (lambda: StopAtStepHook(1).begin(), FailedPreconditionError, "StopAtStepHook needs a global step: call"),
        (lambda: StopAtStepHook(), InvalidArgumentError, "give num_steps or last_step, got num_steps=None"),
        (lambda: LoggingTensorHook(["x"], 0), InvalidArgumentError, "every_n_iter is 0; expected a positive number"),
        (lambda: CheckpointSaverHook("a"), InvalidArgumentError, "give either every_secs or every_steps"),
        (lambda: CheckpointSaverHook("a", 1, saver=1, scaffold=1), InvalidArgumentError, "a saver or a scaffold"),
        (lambda: ChiefSessionCreator(None, "", None, "a", "b"), InvalidArgumentError, "checkpoint_dir or checkpoint_f"),
        (
            lambda: (Variable(1.0, name="v"), ChiefSessionCreator(Scaffold(init_op=gx.no_op())).create_session()),
            FailedPreconditionError, "initializers have run, and the model is not ready: Variables not initialized: v",
        ),
    ],
)  # fmt: skip
def test_what_is_refused_where_it_is_made(act: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        act()


def test_what_a_monitored_session_refuses() -> None:
    x = gx.placeholder("float32", (), name="x")
    y = gx.log(x)

    class Feeds(SessionRunHook):
        def before_run(self, run_context: Any) -> SessionRunArgs:
            return SessionRunArgs(None, {x: -1.0})

    feed = Feeds()
    with MonitoredSession(hooks=[feed]) as session:
        with pytest.raises(InvalidArgumentError, match="is fed by Feeds, and by another hook or the program too"):
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
    with deadline(0.05), pytest.raises(DeadlineExceededError, match="a replacement of the lost Session"):
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
    found = EventAccumulator(str(tmp_path))
    found.Reload()
    assert [(event.step, event.value) for event in found.Scalars("twice")] == [(1, 2.0), (3, 6.0), (5, 10.0)]
    assert [event.step for event in found.Scalars("global_step/sec")] == [3, 5]


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
