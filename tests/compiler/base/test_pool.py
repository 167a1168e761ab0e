"""A pool of threads for work of different priorities."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from graphc.compiler.base import CancellationToken, Pool, check_interrupted, deadline, interruption, run_on_thread
from graphc.compiler.base.errors import CancelledError, DeadlineExceededError

LONG = 60.0


def pool(threads: int = 1, **options: float) -> Pool:
    return Pool("test", lambda: threads, idle_seconds=0.001, **options)  # pyright: ignore[reportArgumentType]


class Blocked:
    """Work that a pool is busy with until :meth:`release`."""

    def __init__(self, of: Pool) -> None:
        self.begun, self._end = threading.Event(), threading.Event()
        of.give(self._run)
        assert self.begun.wait(LONG)

    def _run(self) -> None:
        self.begun.set()
        self._end.wait(LONG)

    def release(self) -> None:
        self._end.set()


def finished(of: Pool) -> None:
    """Waits until a pool has no thread any more."""
    for thread in of.threads:
        thread.join(LONG)
    assert of.threads == ()


def test_higher_priorities_come_first_and_equal_ones_in_order() -> None:
    found, workers = list[str](), pool()
    busy = Blocked(workers)
    for name, priority in [("a", 0), ("b", 1), ("c", 0), ("d", 1), ("e", -1)]:
        workers.give(lambda name=name: found.append(name), priority=priority)
    assert workers.num_queued == 5
    busy.release()
    finished(workers)
    assert found == ["b", "d", "a", "c", "e"]


def test_work_runs_at_once_on_as_many_threads_as_allowed() -> None:
    for _ in range(20):  # also where a thread is just about to be idle, or on its way to other work
        workers, together = pool(3), threading.Barrier(3)
        for _ in range(2):
            for _ in range(3):
                workers.give(lambda together=together: together.wait(LONG) and None)
        finished(workers)
        assert not together.broken


def test_no_more_threads_than_allowed() -> None:
    workers = pool(2)
    busy = [Blocked(workers), Blocked(workers)]
    done = threading.Event()
    workers.give(done.set)
    assert len(workers.threads) == 2
    assert not done.is_set()
    busy[0].release()
    assert done.wait(LONG)
    busy[1].release()
    finished(workers)


def test_it_is_busy_when_work_waits_for_other_work() -> None:
    workers = pool(2)
    first = Blocked(workers)
    assert not workers.is_busy
    second = Blocked(workers)
    assert not workers.is_busy
    done = threading.Event()
    workers.give(done.set)
    assert workers.is_busy
    first.release()
    assert done.wait(LONG)
    second.release()
    finished(workers)
    assert not workers.is_busy


def test_threads_that_are_to_end_do_not_come_to_work() -> None:
    limits = [2]
    workers = Pool("test", lambda: limits[0], idle_seconds=LONG)
    busy = [Blocked(workers), Blocked(workers)]
    limits[0] = 1
    busy[0].release()
    while len(workers.threads) > 1:  # it ends at once
        workers.threads[0].join(0.001)
    done = threading.Event()
    workers.give(done.set)
    assert workers.is_busy
    busy[1].release()
    assert done.wait(LONG)


def test_a_thread_that_acts_for_one_of_the_pool_counts_as_such() -> None:
    workers, other = pool(), pool()
    found: list[tuple[bool, bool]] = []

    def look() -> None:
        found.append((workers.is_mine(), other.is_mine()))

    def work() -> None:
        look()
        run_on_thread(look, "a look", inherits=True)
        run_on_thread(look, "a look")

    workers.give(work)
    finished(workers)
    assert found == [(True, False), (True, False), (False, False)]
    assert not workers.is_mine()


def test_a_thread_that_cannot_start_takes_no_place(monkeypatch: pytest.MonkeyPatch) -> None:
    workers, done = pool(), threading.Event()

    def start(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", start)
        with pytest.raises(RuntimeError, match="can't start new thread"):
            workers.give(lambda: None)
    assert workers.threads == ()
    workers.give(done.set)
    assert done.wait(LONG)
    finished(workers)


def test_a_thread_too_many_ends() -> None:
    limits = [2]
    workers = Pool("test", lambda: limits[0], idle_seconds=LONG)
    busy = [Blocked(workers), Blocked(workers)]
    limits[0] = 1
    before = workers.threads
    for one in busy:
        one.release()
    done = threading.Event()
    workers.give(done.set)
    assert done.wait(LONG)
    ended = [thread for thread in before if thread not in workers.threads]
    assert len(ended) <= 1


def test_threads_that_are_idle_keep_to_a_lower_limit() -> None:
    limits = [2]
    workers = Pool("test", lambda: limits[0], idle_seconds=LONG)
    for one in [Blocked(workers), Blocked(workers)]:
        one.release()
    limits[0] = 1
    busy, done = Blocked(workers), threading.Event()
    workers.give(done.set)
    assert (len(workers.threads), workers.num_queued) == (1, 1)
    busy.release()
    assert done.wait(LONG)


def test_work_that_was_taken_back_does_not_run() -> None:
    found, workers = list[int](), pool()
    busy = Blocked(workers)
    work = workers.give(lambda: found.append(1))
    assert work.cancel()
    assert not work.cancel()
    busy.release()
    finished(workers)
    assert found == []


def test_work_that_has_begun_is_not_taken_back() -> None:
    workers, begun, end = pool(), threading.Event(), threading.Event()

    def run() -> None:
        begun.set()
        end.wait(LONG)

    work = workers.give(run)
    assert begun.wait(LONG)
    assert not work.cancel()
    end.set()
    finished(workers)


def test_what_is_in_force_goes_with_the_work() -> None:
    workers, found, done = pool(), list[object](), threading.Event()

    def run() -> None:
        found.append(interruption())
        try:
            check_interrupted("it")
        except CancelledError as error:
            found.append(error)
        done.set()

    busy, token = Blocked(workers), CancellationToken()
    with token, deadline(LONG):
        workers.give(run)
        current = interruption()
    token.cancel()
    busy.release()
    assert done.wait(LONG)
    assert found[0] is current
    assert isinstance(found[1], CancelledError)


def test_a_thread_s_own_work_inherits_nothing_from_who_started_it() -> None:
    workers, found = pool(), list[object]()
    with deadline(LONG):
        busy = Blocked(workers)
    done = threading.Event()

    def run() -> None:
        found.append(interruption())
        done.set()

    workers.give(run)
    busy.release()
    assert done.wait(LONG)
    assert found == [None]


def test_a_full_queue_is_waited_for() -> None:
    workers = pool(most_queued=1)
    busy, done = Blocked(workers), threading.Event()
    workers.give(done.set)
    message = "room in the queue of test, where 1 wait, for more"
    with deadline(0.001), pytest.raises(DeadlineExceededError, match=message):
        workers.give(done.set, name="more")
    busy.release()
    with deadline(LONG):
        workers.give(done.set)
    finished(workers)


def test_a_thread_of_the_pool_never_waits_for_room() -> None:
    workers, found = pool(most_queued=1), list[int]()

    def again(depth: int) -> Callable[[], None]:
        def run() -> None:
            found.append(depth)
            if depth < 3:
                workers.give(again(depth + 1))
                workers.give(lambda: found.append(-depth))

        return run

    workers.give(again(1))
    finished(workers)
    assert sorted(found) == [-2, -1, 1, 2, 3]


def test_threads_are_daemons_and_end_when_idle() -> None:
    workers = pool()
    busy = Blocked(workers)
    (thread,) = workers.threads
    assert thread.daemon
    assert thread.name == "test-0"
    busy.release()
    thread.join(LONG)
    assert workers.threads == ()


def test_at_the_end_what_is_queued_is_dropped_and_what_runs_is_waited_for() -> None:
    found, workers = list[int](), pool()
    busy = Blocked(workers)
    workers.give(lambda: found.append(1))
    assert not workers.close(0.001)
    busy.release()
    assert workers.close(LONG)
    assert found == []
