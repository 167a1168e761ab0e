"""Deadlines, cancellation tokens, and waiting that keeps to them."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import logging
import math
import threading
import weakref
from collections.abc import Callable
from typing import Any

import pytest

from graphc.compiler.base import (
    CancellationToken,
    Interruption,
    Signal,
    check_interrupted,
    config,
    deadline,
    holding,
    interruption,
    note_progress,
    overseen,
    pause,
    slow_path_reasons,
    wait_only_for,
    wait_until,
    watched,
)
from graphc.compiler.base.errors import CancelledError, DeadlineExceededError, InternalError, InvalidArgumentError

SHORT = 0.001
LONG = 60.0


def in_thread(function: Callable[[], Any]) -> tuple[threading.Thread, list[Any]]:
    """Starts a thread; its result or error is put into the list."""
    found: list[Any] = []

    def run() -> None:
        try:
            found.append(function())
        except Exception as error:
            found.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread, found


class TestDeadline:
    @pytest.mark.parametrize("seconds", [0, 0.0, -1, math.nan, math.inf, -math.inf])
    def test_must_be_positive_and_finite(self, seconds: float) -> None:
        message = f"gx.deadline: expected a positive, finite number of seconds or None, got {seconds!r}"
        with pytest.raises(InvalidArgumentError, match=message), deadline(seconds):
            pass

    @pytest.mark.parametrize("seconds", ["1", True, [1.0]])
    def test_must_be_a_number(self, seconds: Any) -> None:
        with (
            pytest.raises(TypeError, match=r"gx\.deadline: expected a number of seconds or None, got"),
            deadline(seconds),
        ):
            pass

    def test_the_earliest_of_nested_ones_holds(self) -> None:
        with deadline(LONG) as outer, deadline(2 * LONG) as inner:
            assert inner is outer
        with deadline(2 * LONG) as outer, deadline(LONG) as inner:
            assert inner is not outer
            assert inner is not None
            assert inner.seconds == LONG

    def test_none_leaves_the_outer_one(self) -> None:
        with deadline(None) as none:
            assert none is None
            assert interruption() is None
        with deadline(LONG) as outer, deadline(None) as inner:
            assert inner is outer

    def test_is_over_at_the_end_of_its_scope(self) -> None:
        with pytest.raises(KeyError), deadline(LONG):
            raise KeyError
        assert interruption() is None
        check_interrupted("anything")

    def test_says_what_was_waited_for_and_where(self) -> None:
        with deadline(SHORT), pytest.raises(DeadlineExceededError) as caught:
            Signal().wait("the moon")
        first, place = str(caught.value).split("\n", 1)
        assert first == "the deadline of 0.001 s passed while waiting for the moon"
        assert "test_deadlines.py" in place
        assert 'Signal().wait("the moon")' in place

    def test_what_is_ready_is_not_waited_for(self) -> None:
        signal = Signal()
        signal.set()
        with deadline(SHORT) as found:
            assert found is not None
            while not found.expired:
                pass
            assert signal.wait("what is there")
            with pytest.raises(DeadlineExceededError, match="waiting for more"):
                check_interrupted(lambda: "more")

    def test_a_plain_thread_starts_with_none(self) -> None:
        with deadline(LONG):
            thread, found = in_thread(interruption)
            thread.join(LONG)
        assert found == [None]

    def test_tasks_of_asyncio_start_with_what_is_in_force(self) -> None:
        async def seconds() -> float | None:
            current = interruption()
            return None if current is None or current.deadline is None else current.deadline.seconds

        async def main() -> list[float | None]:
            outside = asyncio.create_task(seconds())
            with deadline(LONG):
                inside = asyncio.create_task(seconds())
            return [await outside, await inside]

        assert asyncio.run(main()) == [None, LONG]


class TestDetours:
    """Compiled calls look for deadlines as long as one can be in force anywhere."""

    @staticmethod
    def count() -> int:
        gc.collect()
        return sum("deadline" in reason for reason in slow_path_reasons.values())

    def test_last_as_long_as_a_scope(self) -> None:
        before = self.count()
        with deadline(LONG), CancellationToken():
            assert self.count() == before + 1
        assert self.count() == before

    def test_end_with_the_scope_though_its_error_is_kept(self) -> None:
        before = self.count()
        token = CancellationToken()
        token.cancel()
        with deadline(LONG), token, pytest.raises(CancelledError) as kept:
            check_interrupted("a test")
        assert self.count() == before
        assert "a test" in str(kept.value)

    def test_last_as_long_as_a_context_that_was_copied(self) -> None:
        before = self.count()
        with deadline(LONG):
            copied = contextvars.copy_context()
        assert self.count() == before + 1
        assert isinstance(copied.run(interruption), Interruption)
        del copied
        assert self.count() == before

    def test_of_settings(self) -> None:
        with config.scope(max_in_flight=2, watchdog_seconds=LONG):
            assert {"max_in_flight", "watchdog"} <= slow_path_reasons.keys()
        assert not {"max_in_flight", "watchdog"} & slow_path_reasons.keys()


class TestCancellation:
    def test_wakes_what_waits(self) -> None:
        token, waiting, signal = CancellationToken(), threading.Barrier(2), Signal()

        def work() -> None:
            with token:
                waiting.wait(LONG)
                signal.wait("Godot")

        thread, found = in_thread(work)
        waiting.wait(LONG)
        assert token.cancel("he will not come")
        thread.join(LONG)
        (error,) = found
        assert isinstance(error, CancelledError)
        assert str(error).startswith("cancelled (he will not come) while waiting for Godot\n")

    def test_counts_once(self) -> None:
        token, calls = CancellationToken(), list[str]()
        token.on_cancel(lambda: calls.append("kept"))
        take_back = token.on_cancel(lambda: calls.append("taken back"))
        take_back()
        assert token.cancel("first")
        assert not token.cancel("second")
        assert (token.cancelled, token.reason, calls) == (True, "first", ["kept"])
        token.on_cancel(lambda: calls.append("at once"))
        assert calls == ["kept", "at once"]
        assert repr(token) == "<CancellationToken, cancelled: first>"

    def test_of_a_parent_is_its_children_s(self) -> None:
        parent = CancellationToken()
        child, other = CancellationToken(parent), CancellationToken(parent)
        other.close()
        parent.cancel("all")
        assert (child.cancelled, child.reason, other.cancelled) == (True, "all", False)

    def test_a_parent_wakes_what_waits_for_its_child(self) -> None:
        parent = CancellationToken()
        child, calls = CancellationToken(parent), list[str]()
        child.on_cancel(lambda: calls.append("called"))
        thread, found = in_thread(child.wait)
        assert parent.cancel("all")
        thread.join(LONG)
        assert (found, calls, child.cancel()) == ([True], ["called"], False)

    def test_a_parent_keeps_no_child(self) -> None:
        parent = CancellationToken()
        with CancellationToken(parent) as child:
            pause(SHORT, "nothing")
            child.on_cancel(lambda: None)()
            gone = weakref.ref(child)
        del child
        gc.collect()
        assert gone() is None

    def test_reaches_all_though_one_raises(self) -> None:
        token, calls = CancellationToken(), list[str]()

        def fail() -> None:
            raise OSError("no such disk")

        token.on_cancel(lambda: calls.append("before"))
        token.on_cancel(fail)
        token.on_cancel(lambda: calls.append("after"))
        with pytest.raises(OSError, match="no such disk"):
            token.cancel()
        assert calls == ["before", "after"]

    def test_wait_tells_whether_it_came(self) -> None:
        token = CancellationToken()
        assert not token.wait(SHORT)
        thread, found = in_thread(token.wait)
        token.cancel()
        thread.join(LONG)
        assert found == [True]

    def test_every_token_of_nested_scopes_holds(self) -> None:
        outer, inner = CancellationToken(), CancellationToken()
        with outer, inner, deadline(LONG):
            outer.cancel()
            with pytest.raises(CancelledError, match=r"^cancelled while waiting for this"):
                check_interrupted("this")
        assert interruption() is None

    def test_scopes_close_in_order(self) -> None:
        token = CancellationToken()
        with pytest.raises(InternalError, match="not closed in the order"):
            token.__exit__()

    def test_one_token_in_many_threads(self) -> None:
        token, ready = CancellationToken(), threading.Barrier(5)

        def work() -> None:
            with token:
                ready.wait(LONG)
                pause(LONG, "the end")

        threads = [in_thread(work) for _ in range(4)]
        ready.wait(LONG)
        token.cancel()
        for thread, found in threads:
            thread.join(LONG)
            assert [type(error) for error in found] == [CancelledError]


class TestWaiting:
    def test_a_timeout_is_no_error(self) -> None:
        condition = threading.Condition()
        with condition:
            assert not wait_until(condition, lambda: False, "never", SHORT)
            assert wait_until(condition, lambda: True, "now", SHORT)

    def test_a_lock_is_waited_for(self) -> None:
        lock = threading.Lock()
        expected = pytest.raises(DeadlineExceededError, match="waiting for the lock")
        with lock, deadline(SHORT), expected, holding(lock, "the lock"):
            pass
        with holding(lock, "the lock"):
            assert lock.locked()
        assert not lock.locked()

    def test_a_token_ends_the_wait_for_a_lock(self) -> None:
        lock, token, ready = threading.Lock(), CancellationToken(), threading.Barrier(2)

        def work() -> None:
            with token:
                ready.wait(LONG)
                with holding(lock, "the lock"):
                    pass

        with lock:
            thread, found = in_thread(work)
            ready.wait(LONG)
            token.cancel()
            thread.join(LONG)
        assert [type(error) for error in found] == [CancelledError]

    def test_a_pause_is_cut_short(self) -> None:
        pause(SHORT, "a moment")
        with deadline(SHORT), pytest.raises(DeadlineExceededError, match="waiting for an age"):
            pause(LONG, "an age")


class TestWatchdog:
    class Reports(logging.Handler):
        """Sets a signal at each report."""

        def __init__(self) -> None:
            super().__init__()
            self.texts: list[str] = []
            self.reported = threading.Semaphore(0)

        def emit(self, record: logging.LogRecord) -> None:
            self.texts.append(record.getMessage())
            self.reported.release()

    @pytest.fixture
    def reports(self) -> Any:
        handler, logger = self.Reports(), logging.getLogger("graphc.watchdog")
        logger.addHandler(handler)
        yield handler
        logger.removeHandler(handler)

    def test_reports_a_stall_once(self, reports: Reports) -> None:
        with config.scope(watchdog_seconds=SHORT):
            signals = [Signal(), Signal()]
            threads: list[threading.Thread] = []
            for signal, name in zip(signals, ["a sign", "another one"], strict=True):
                threads.append(in_thread(lambda signal=signal, name=name: signal.wait(name))[0])
                # The second time the watchdog has nothing new to say of the first.
                assert reports.reported.acquire(timeout=LONG)
            for signal, thread in zip(signals, threads, strict=True):
                signal.set()
                thread.join(LONG)
        first, second = reports.texts
        assert first.startswith("no progress for ")
        assert "waits for a sign" in first
        assert "signal.wait(name)" in first
        assert "waits for another one" in second

    def test_progress_makes_it_begin_anew(self, reports: Reports) -> None:
        with config.scope(watchdog_seconds=SHORT), overseen("the whole"):
            for _ in range(2):
                assert reports.reported.acquire(timeout=LONG)
                note_progress()
            with watched("a part"):  # which is no wait of its own
                assert reports.reported.acquire(timeout=LONG)
        assert ["waits for the whole" in text for text in reports.texts] == [True] * len(reports.texts)

    def test_what_cannot_be_described_is_reported_all_the_same(self, reports: Reports) -> None:
        def what() -> str:
            raise KeyError("gone")

        with config.scope(watchdog_seconds=SHORT):
            with watched(what):
                assert reports.reported.acquire(timeout=LONG)
            with watched("something else"):
                assert reports.reported.acquire(timeout=LONG)
        assert "waits for something that cannot be described now (KeyError('gone'))" in reports.texts[0]

    def test_its_thread_ends_with_the_last_wait(self, reports: Reports) -> None:
        with config.scope(watchdog_seconds=SHORT), watched("something"):
            assert reports.reported.acquire(timeout=LONG)
        for thread in threading.enumerate():
            if thread.name == "graphc.watchdog":
                thread.join(LONG)
        assert "graphc.watchdog" not in [thread.name for thread in threading.enumerate()]

    def test_says_nothing_by_default(self, reports: Reports) -> None:
        with deadline(5 * SHORT), pytest.raises(DeadlineExceededError):
            Signal().wait("nothing")
        assert reports.texts == []


class Sleeper(threading.Condition):
    """Notes how long a thread means to sleep at a time, and wakes it at once."""

    def __init__(self) -> None:
        super().__init__()
        self.naps: list[float | None] = []

    def wait(self, timeout: float | None = None) -> bool:
        self.naps.append(timeout)
        return True


@pytest.mark.parametrize("wait", [wait_only_for, lambda *given: wait_until(*given, "it")])
def test_the_main_thread_looks_for_ctrl_c_and_others_sleep(wait: Any) -> None:
    """A signal that comes just before Python blocks is not seen before something wakes the thread."""

    def naps() -> list[float | None]:
        condition, asked = Sleeper(), iter([False, False, False, True])
        with condition:
            wait(condition, lambda: next(asked))
        return condition.naps

    assert {nap for nap in naps() if nap is None or nap > 1} == set()
    found: list[float | None] = []
    thread = threading.Thread(target=lambda: found.extend(naps()))
    thread.start()
    thread.join()
    assert set(found) == {None}
