"""Who waits for whom, what a close does, and how waits end early: TensorFlow's rules, one by one."""

from __future__ import annotations

import re
import threading

import pytest

import graphc as gx
from graphc.compiler.base.errors import CancelledError, DeadlineExceededError, OutOfRangeError
from graphc.graphs.queues import FIFOQueue, QueueBase, RandomShuffleQueue
from tests.graphs.queues.calls import Call


def queue_of(*values: int, capacity: int = 3) -> FIFOQueue:
    queue = FIFOQueue(capacity, "int32", [[]], name="q")
    for value in values:
        queue.enqueue(value)
    return queue


def calling(queue: QueueBase, function: object) -> Call:
    assert queue._state is not None
    assert callable(function)
    return Call(queue._state, function)


def numbers(queue: FIFOQueue) -> list[int]:
    return queue.dequeue_many(queue.size().item()).tolist()


def test_those_who_wait_are_served_in_the_order_of_arrival() -> None:
    queue = queue_of(0, 1, 2)
    puts = [calling(queue, lambda n=n: queue.enqueue(n)) for n in (3, 4, 5)]
    assert [queue.dequeue().item() for _ in range(3)] == [0, 1, 2]
    for put in puts:
        put.end()
    assert numbers(queue) == [3, 4, 5]
    takes = [calling(queue, queue.dequeue) for _ in range(3)]
    queue.enqueue_many([[6, 7, 8]])
    assert [take.end().item() for take in takes] == [6, 7, 8]


def test_nobody_overtakes_a_dequeue_of_many() -> None:
    queue = queue_of()
    many = calling(queue, lambda: queue.dequeue_many(2))
    one = calling(queue, queue.dequeue)
    queue.enqueue(0)
    assert many.waits
    assert one.waits
    queue.enqueue_many([[1, 2]])
    assert many.end().tolist() == [0, 1]
    assert one.end().item() == 2


def test_many_rows_go_in_as_room_appears_and_nobody_comes_between_them() -> None:
    queue = queue_of(0, 1)
    many = calling(queue, lambda: queue.enqueue_many([[2, 3, 4, 5, 6]]))
    other = calling(queue, lambda: queue.enqueue(7))
    assert queue.size().item() == 3
    assert [queue.dequeue().item() for _ in range(5)] == [0, 1, 2, 3, 4]
    many.end()
    other.end()
    assert numbers(queue) == [5, 6, 7]


def test_a_dequeue_of_more_than_the_capacity_gets_rows_as_they_come() -> None:
    queue = queue_of(0)
    many = calling(queue, lambda: queue.dequeue_many(5))
    assert queue.size().item() == 0
    queue.enqueue_many([[1, 2, 3, 4, 5]])
    assert many.end().tolist() == [0, 1, 2, 3, 4]
    assert numbers(queue) == [5]


def test_a_closed_queue_takes_nothing_and_gives_what_it_has() -> None:
    queue = queue_of(0, 1)
    queue.close()
    for enqueue in (lambda: queue.enqueue(2), lambda: queue.enqueue_many([[2]])):
        with pytest.raises(CancelledError, match=r"FIFOQueue 'q' is closed and accepts no more elements\n  at .*py"):
            enqueue()
    assert queue.is_closed().item()
    assert queue.dequeue().item() == 0
    assert queue.dequeue().item() == 1
    with pytest.raises(OutOfRangeError, match=r"'q' is closed and has insufficient .*requested 1, current size 0\)"):
        queue.dequeue()


def test_a_dequeue_of_too_many_takes_nothing_and_says_how_many_there_are() -> None:
    queue = queue_of(0, 1)
    queue.close()
    error = r"\(requested 3, current size 2\); dequeue_up_to returns the remaining ones"
    with pytest.raises(OutOfRangeError, match=error):
        queue.dequeue_many(3)
    assert queue.dequeue_up_to(3).tolist() == [0, 1]
    with pytest.raises(OutOfRangeError, match=r"\(requested 3, current size 0\)"):
        queue.dequeue_up_to(3)
    assert queue.dequeue_many(0).shape == queue.dequeue_up_to(0).shape == (0,)


def test_a_close_ends_a_dequeue_that_has_some_rows_and_they_are_there_again() -> None:
    queue = queue_of(0)
    many = calling(queue, lambda: queue.dequeue_many(3))
    queue.enqueue(1)
    assert queue.size().item() == 0
    one = calling(queue, queue.dequeue)
    queue.close()
    with pytest.raises(OutOfRangeError, match=r"\(requested 3, current size 2\)"):
        many.end()
    assert one.end().item() == 0  # the next in the line gets its row
    assert numbers(queue) == [1]


def test_a_close_ends_dequeue_up_to_with_what_there_is() -> None:
    queue = queue_of(0)
    up_to = calling(queue, lambda: queue.dequeue_up_to(3))
    queue.enqueue(1)
    assert up_to.waits  # while it is open, all of them are waited for
    queue.close()
    assert up_to.end().tolist() == [0, 1]


def test_a_close_comes_after_the_enqueues_that_wait() -> None:
    queue = queue_of(0, 1, 2)
    pending = calling(queue, lambda: queue.enqueue_many([[3, 4]]))
    close = calling(queue, queue.close)
    late = calling(queue, lambda: queue.enqueue(5))
    assert not queue.is_closed().item()
    assert queue.dequeue_many(2).tolist() == [0, 1]
    pending.end()
    close.end()
    with pytest.raises(CancelledError, match="is closed"):
        late.end()
    assert numbers(queue) == [2, 3, 4]


def test_a_close_that_cancels_ends_all_who_wait_to_enqueue() -> None:
    queue = queue_of(0, 1)
    pending = calling(queue, lambda: queue.enqueue_many([[2, 3, 4]]))
    close = calling(queue, queue.close)
    queue.close(cancel_pending_enqueues=True)
    cancelled = r"the enqueue was cancelled: FIFOQueue 'q' was closed with cancel_pending_enqueues .* 1 of its 3 rows"
    with pytest.raises(CancelledError, match=cancelled):
        pending.end()
    with pytest.raises(CancelledError, match=r"was closed with cancel_pending_enqueues while this close waited"):
        close.end()
    assert numbers(queue) == [0, 1, 2]


def test_a_queue_is_closed_once_unless_a_close_cancels() -> None:
    queue = queue_of()
    queue.close()
    with pytest.raises(CancelledError, match="FIFOQueue 'q' is already closed"):
        queue.close()
    queue.close(cancel_pending_enqueues=True)


def test_a_dequeue_that_waits_for_a_close_fails() -> None:
    queue = queue_of()
    calls = [calling(queue, queue.dequeue), calling(queue, lambda: queue.dequeue_up_to(2))]
    queue.close()
    for call in calls:
        with pytest.raises(OutOfRangeError, match="insufficient"):
            call.end()


def test_a_shuffled_queue_keeps_some_while_it_is_open() -> None:
    queue = RandomShuffleQueue(10, 2, "int32", [[]], seed=1)
    queue.enqueue_many([[0, 1, 2]])
    first = queue.dequeue().item()
    waiting = calling(queue, lambda: queue.dequeue_many(2))
    assert waiting.waits
    queue.close()
    assert {first, *waiting.end().tolist()} == {0, 1, 2}


def test_a_cancelled_dequeue_leaves_the_queue_as_it_was() -> None:
    queue = queue_of(0, 1)
    many = calling(queue, lambda: queue.dequeue_many(5))
    behind = calling(queue, queue.dequeue)
    error = many.cancel()
    waited = r"cancelled \(not needed\) while waiting for 5 elements of FIFOQueue 'q', of which 2 are there\n  at .*py"
    assert re.match(waited, str(error)), error
    assert behind.end().item() == 0  # who stood behind it goes on
    assert numbers(queue) == [1]


def test_a_deadline_ends_a_dequeue_and_leaves_the_queue_as_it_was() -> None:
    queue = queue_of(0)
    with (
        gx.deadline(0.05),
        pytest.raises(DeadlineExceededError, match=r"0.05 s passed while waiting for 2 elements of FIFOQueue 'q', of"),
    ):
        queue.dequeue_many(2)
    assert numbers(queue) == [0]


def test_a_deadline_ends_an_enqueue_and_says_what_is_in() -> None:
    queue = queue_of(0, 1)
    full = r"room in FIFOQueue 'q', which is full \(capacity 3\); 1 of its 2 rows are in"
    with gx.deadline(0.05), pytest.raises(DeadlineExceededError, match=full):
        queue.enqueue_many([[2, 3]])
    assert numbers(queue) == [0, 1, 2]


def test_who_stands_behind_a_cancelled_enqueue_goes_on() -> None:
    queue = queue_of(0, 1, 2)
    first = calling(queue, lambda: queue.enqueue(3))
    second = calling(queue, lambda: queue.enqueue(4))
    assert isinstance(first.cancel(), CancelledError)
    assert queue.dequeue().item() == 0
    second.end()
    assert numbers(queue) == [1, 2, 4]


def test_who_is_cancelled_is_not_served_before_its_thread_sees_it() -> None:
    queue = queue_of(0, 1, 2)
    pending = calling(queue, lambda: queue.enqueue(3))
    assert queue._state is not None
    with queue._state._lock:  # so that the thread that waits cannot wake
        canceller = threading.Thread(target=pending.token.cancel)
        canceller.start()
        assert pending.token.wait(30)
        assert queue.dequeue().item() == 0
    canceller.join(30)
    with pytest.raises(CancelledError):
        pending.end()
    assert numbers(queue) == [1, 2]


def test_a_cancelled_close_leaves_the_queue_open() -> None:
    queue = queue_of(0, 1, 2)
    pending = calling(queue, lambda: queue.enqueue(3))
    error = calling(queue, queue.close).cancel()
    assert "waiting for the enqueues to FIFOQueue 'q' before its close" in str(error)
    queue.dequeue()
    pending.end()
    queue.dequeue()
    queue.enqueue(4)
    assert not queue.is_closed().item()


def test_ctrl_c_in_the_middle_leaves_the_queue_usable(monkeypatch: pytest.MonkeyPatch) -> None:
    queue = queue_of(0, 1)
    assert queue._state is not None
    state = queue._state

    def interrupted() -> None:
        raise KeyboardInterrupt

    state._putters.append(object())  # type: ignore[arg-type]  so that somebody is to be served
    monkeypatch.setattr(state, "_advance", interrupted)
    with pytest.raises(KeyboardInterrupt):
        queue.dequeue()
    monkeypatch.undo()
    state._putters.clear()
    assert queue.size().item() == 1
    assert queue.dequeue().item() == 1


def test_a_wait_is_seen_by_the_watchdog(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = threading.Event()
    queue = queue_of()
    queue.fillers().patience = 0.01  # it looks around more often than the watchdog does
    monkeypatch.setattr(gx.config, "watchdog_seconds", 0.1)
    handler_emit = caplog.handler.emit

    def emit(record: object) -> None:
        handler_emit(record)  # type: ignore[arg-type]
        seen.set()

    monkeypatch.setattr(caplog.handler, "emit", emit)
    call = calling(queue, queue.dequeue)
    assert seen.wait(30)
    call.cancel()
    assert "waits for an element of FIFOQueue 'q', which has 0" in caplog.text


def test_eight_producers_and_consumers_lose_nothing_and_keep_the_order_of_each() -> None:
    queue, each = FIFOQueue(16, "int32", [[]]), 300
    got = [list[int]() for _ in range(8)]
    raw = [gx.asarray(number) for number in range(8 * each)]
    together = threading.Barrier(16)

    def produce(worker: int) -> None:
        together.wait()
        for number in range(each):
            queue.enqueue(raw[worker * each + number])

    def consume(worker: int) -> None:
        together.wait()
        try:
            while True:
                got[worker].append(queue.dequeue().item())
        except OutOfRangeError:
            pass

    producers = [threading.Thread(target=produce, args=(n,), daemon=True) for n in range(8)]
    consumers = [threading.Thread(target=consume, args=(n,), daemon=True) for n in range(8)]
    for thread in (*producers, *consumers):
        thread.start()
    for thread in producers:
        thread.join(60)
    queue.close()
    for thread in consumers:
        thread.join(60)
    assert sorted(number for numbers in got for number in numbers) == list(range(8 * each))
    for numbers_of_one in got:
        for worker in range(8):
            mine = [number for number in numbers_of_one if number // each == worker]
            assert mine == sorted(mine)
