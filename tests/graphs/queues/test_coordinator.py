"""Coordinator: threads that stop together, and what join raises."""

from __future__ import annotations

import logging
import threading
import traceback
from collections.abc import Callable

import pytest

import graphc as gx
from graphc.compiler.base import CancellationToken, deadline
from graphc.compiler.base.errors import (
    CancelledError,
    DeadlineExceededError,
    FailedPreconditionError,
    InvalidArgumentError,
    InvalidTypeError,
    OutOfRangeError,
)

LONG = 60.0


def started(function: Callable[[], object], name: str | None = None) -> threading.Thread:
    thread = threading.Thread(target=function, name=name, daemon=True)
    thread.start()
    return thread


def test_all_threads_stop_when_one_asks_and_join_waits_for_them() -> None:
    coord, ready, ended = gx.Coordinator(), threading.Barrier(4), list[int]()

    def work(number: int) -> None:
        ready.wait(LONG)
        if number == 2:
            coord.request_stop()
        coord.wait_for_stop()
        ended.append(number)

    threads = [started(lambda number=number: work(number)) for number in range(4)]
    assert not coord.joined
    coord.join(threads)
    assert sorted(ended) == [0, 1, 2, 3]
    assert coord.should_stop()
    assert coord.joined


def test_join_returns_when_all_threads_have_ended_though_nobody_asked_them_to() -> None:
    coord = gx.Coordinator()
    coord.join([started(lambda: None), threading.Thread(target=print)])  # the second one never starts
    assert not coord.should_stop()


class TestExceptions:
    def test_join_raises_the_first_one_with_the_traceback_of_its_thread(self) -> None:
        coord, first_done = gx.Coordinator(), threading.Event()

        def broken_line() -> None:
            raise ValueError("no such record")

        def work() -> None:
            with coord.stop_on_exception():
                broken_line()
            first_done.set()

        def late() -> None:
            with coord.stop_on_exception():
                first_done.wait(LONG)
                raise KeyError("later")

        with pytest.raises(ValueError, match="no such record") as caught:
            coord.join([started(work), started(late)])
        assert "broken_line" in [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
        length = len(traceback.extract_tb(caught.value.__traceback__))
        with pytest.raises(ValueError, match="no such record") as again:
            coord.raise_requested_exception()
        assert len(traceback.extract_tb(again.value.__traceback__)) <= length  # no frames pile up

    def test_one_that_was_never_raised_and_exc_info_are_taken(self) -> None:
        coord = gx.Coordinator()
        coord.request_stop(ValueError("made, not raised"))
        with pytest.raises(ValueError, match="made, not raised"):
            coord.join()
        coord = gx.Coordinator()
        error = ZeroDivisionError("division")
        coord.request_stop((ZeroDivisionError, error, None))
        with pytest.raises(ZeroDivisionError, match="division"):
            coord.join()
        coord = gx.Coordinator()
        coord.request_stop((None, None, None))  # type: ignore[arg-type]
        coord.join()

    def test_what_is_reported_after_the_stop_is_only_logged(self, caplog: pytest.LogCaptureFixture) -> None:
        coord = gx.Coordinator()
        coord.request_stop()
        with caplog.at_level(logging.INFO, "graphc.coordinator"):
            coord.request_stop(ValueError("too late"))
        coord.join()
        assert "told again to stop by ValueError: too late" in caplog.text

    @pytest.mark.parametrize("kind", [OutOfRangeError, CancelledError])
    def test_the_end_of_a_queue_is_a_clean_stop(self, kind: type[Exception]) -> None:
        coord = gx.Coordinator()
        coord.request_stop(kind("closed"))
        assert coord.should_stop()
        coord.join()

    def test_clean_types_can_be_chosen(self) -> None:
        coord = gx.Coordinator(clean_stop_exception_types=[StopIteration])
        with coord.stop_on_exception():
            next(iter(()))
        coord.join()
        coord = gx.Coordinator(clean_stop_exception_types=())
        coord.request_stop(OutOfRangeError("closed"))
        with pytest.raises(OutOfRangeError, match="closed"):
            coord.join()

    def test_after_join_it_is_raised_at_once(self) -> None:
        coord = gx.Coordinator()
        coord.join()
        with pytest.raises(ValueError, match="nobody would see me"):
            coord.request_stop(ValueError("nobody would see me"))
        coord.request_stop(OutOfRangeError("clean"))

    def test_clear_stop_forgets_it(self) -> None:
        coord = gx.Coordinator()
        coord.request_stop(ValueError("forgotten"))
        coord.clear_stop()
        assert not coord.should_stop()
        coord.join()
        assert coord.joined
        coord.clear_stop()
        assert not coord.joined


class TestGracePeriod:
    def test_what_runs_on_is_an_error_that_names_thread_and_line(self) -> None:
        coord, let_go = gx.Coordinator(), threading.Event()

        def deaf() -> None:
            let_go.wait(LONG)

        thread = started(deaf, "deaf-reader")
        coord.request_stop()
        message = (
            r"Coordinator\.join: 1 thread is still running 0\.05 s after the request to stop; .*\n  deaf-reader, in .*"
            r"test_coordinator\.py, line \d+"
        )
        with pytest.raises(FailedPreconditionError, match=message) as caught:
            coord.join([thread], stop_grace_period_secs=0.05)
        assert isinstance(caught.value, RuntimeError)
        let_go.set()
        thread.join(LONG)

    def test_an_exception_comes_before_what_runs_on(self) -> None:
        coord, let_go = gx.Coordinator(), threading.Event()
        thread = started(lambda: let_go.wait(LONG))
        coord.request_stop(ValueError("the reason"))
        with pytest.raises(ValueError, match="the reason"):
            coord.join([thread], stop_grace_period_secs=0)
        let_go.set()

    def test_what_runs_on_can_be_ignored(self, caplog: pytest.LogCaptureFixture) -> None:
        coord, let_go = gx.Coordinator(), threading.Event()
        thread = started(lambda: let_go.wait(LONG), "slow-one")
        coord.request_stop()
        with caplog.at_level(logging.INFO, "graphc.coordinator"):
            coord.join([thread], stop_grace_period_secs=0, ignore_live_threads=True)
        assert "stopped while threads still run: slow-one" in caplog.text
        let_go.set()

    def test_it_starts_with_the_stop_and_not_with_join(self) -> None:
        coord, joining, let_go = gx.Coordinator(), threading.Event(), threading.Event()

        def work() -> None:
            joining.wait(LONG)
            let_go.wait(0.2)  # longer than the grace period, before the stop

        thread = started(work)
        joining.set()
        coord.join([thread], stop_grace_period_secs=0.01)


class TestWaiting:
    def test_registered_threads_are_waited_for_once(self) -> None:
        coord, go = gx.Coordinator(), threading.Event()
        thread = started(lambda: go.wait(LONG))
        coord.register_thread(thread)
        go.set()
        coord.join()
        assert not thread.is_alive()

    def test_wait_for_stop_says_whether_it_came(self) -> None:
        coord = gx.Coordinator()
        assert not coord.wait_for_stop(0.001)
        coord.request_stop()
        assert coord.wait_for_stop(LONG)

    def test_deadlines_and_tokens_end_the_waiting(self) -> None:
        coord, let_go, token = gx.Coordinator(), threading.Event(), CancellationToken()
        thread = started(lambda: let_go.wait(LONG), "reader-7")
        with pytest.raises(DeadlineExceededError, match="waiting for threads to end: reader-7"), deadline(0.01):
            coord.join([thread])
        token.cancel()
        with pytest.raises(CancelledError, match="waiting for a request to stop"), token:
            coord.wait_for_stop()
        let_go.set()
        coord.join([thread])


def test_callbacks_are_called_at_the_stop_once_and_at_once_after_it() -> None:
    coord, calls = gx.Coordinator(), list[str]()
    coord.on_stop(lambda: calls.append("first"))
    forget = coord.on_stop(lambda: calls.append("forgotten"))
    forget()
    assert calls == []
    coord.request_stop()
    coord.request_stop()
    assert calls == ["first"]
    coord.on_stop(lambda: calls.append("late"))
    assert calls == ["first", "late"]
    coord.clear_stop()
    coord.request_stop()
    assert calls == ["first", "late"]


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (
            lambda: gx.Coordinator(clean_stop_exception_types=[3]),  # type: ignore[list-item]
            InvalidTypeError,
            r"Coordinator: clean_stop_exception_types must be exception classes, got \(3,\)",
        ),
        (
            lambda: gx.Coordinator().request_stop("stop"),  # type: ignore[arg-type]
            InvalidTypeError,
            r"Coordinator\.request_stop: ex must be an exception, the result of sys\.exc_info\(\), or None, got 'stop'",
        ),
        (
            lambda: gx.Coordinator().register_thread(print),  # type: ignore[arg-type]
            InvalidTypeError,
            r"Coordinator\.register_thread: expected instances of threading\.Thread, got <built-in function print>",
        ),
        (
            lambda: gx.Coordinator().join([1]),  # type: ignore[list-item]
            InvalidTypeError,
            r"Coordinator\.join: expected instances of threading\.Thread, got 1",
        ),
        (
            lambda: gx.Coordinator().join([threading.current_thread()]),
            InvalidArgumentError,
            r"Coordinator\.join: a thread cannot wait for its own end",
        ),
        (
            lambda: gx.Coordinator().join(stop_grace_period_secs=-1),
            InvalidArgumentError,
            r"Coordinator\.join: stop_grace_period_secs must be a number of at least 0, got -1",
        ),
    ],
)
def test_what_is_wrong_is_said(call: Callable[[], object], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message) as caught:
        call()
    assert "test_coordinator.py" in str(caught.value)
