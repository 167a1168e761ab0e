"""Each queue against a model in plain Python: any order of enqueues, dequeues, closes and cancellations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

import graphc as gx
from graphc.compiler.base.errors import CancelledError, OutOfRangeError
from graphc.graphs.queues import FIFOQueue, QueueBase, RandomShuffleQueue
from tests.draws import examples
from tests.graphs.queues.calls import Call


@dataclass(eq=False)
class Waiting:
    """A call that the model has not served yet: a put with rows, a close, or a take that wants some."""

    kind: str
    rows: list[Any] = field(default_factory=list)
    wanted: int = 0
    up_to: bool = False
    outcome: Any = None


class Model:
    """What TensorFlow's documentation and behaviour say of a queue."""

    def __init__(self, capacity: int, kept: int = 0) -> None:
        self.capacity, self.kept = capacity, kept
        self.rows: list[Any] = []
        self.closed = False
        self.putters: list[Waiting] = []
        self.takers: list[Waiting] = []

    def take(self, count: int) -> list[Any]:
        taken, self.rows = self.rows[:count], self.rows[count:]
        return taken

    def put_back(self, rows: list[Any]) -> None:
        self.rows = rows + self.rows

    def serve(self) -> None:
        moved = True
        while moved:
            moved = False
            for step in (self.serve_put, self.serve_take):  # each as far as it gets, as TensorFlow does
                while step():
                    moved = True

    def serve_put(self) -> bool:
        if not self.putters:
            return False
        call = self.putters[0]
        if call.kind == "close":
            call.outcome = CancelledError if self.closed else "closed"
            self.closed = True
        elif self.closed:
            call.outcome = CancelledError
        else:
            room = self.capacity - len(self.rows)
            if room <= 0:
                return False
            self.rows += call.rows[:room]
            call.rows = call.rows[room:]
            call.outcome = None if call.rows else "put"
        if call.outcome is not None:
            self.putters.pop(0)
        return True

    def serve_take(self) -> bool:
        if not self.takers:
            return False
        call = self.takers[0]
        left = call.wanted - len(call.rows)
        if self.closed and len(self.rows) < left:
            self.put_back(call.rows)
            call.rows = []
            left = min(call.wanted, len(self.rows)) if call.up_to else call.wanted
            if not self.rows or not call.up_to:
                call.outcome = OutOfRangeError
                self.takers.pop(0)
                return True
            call.wanted = left
        ready = min(left, len(self.rows) - (0 if self.closed else self.kept))
        if ready <= 0:
            return False
        call.rows += self.take(ready)
        if len(call.rows) == call.wanted:
            call.outcome = "taken"
            self.takers.pop(0)
        return True

    def cancel_all_puts(self) -> None:
        self.closed = True
        for call in self.putters:
            call.outcome = CancelledError
        self.putters = []

    def cancel(self, call: Waiting) -> None:
        line = self.takers if call.kind == "take" else self.putters
        line.remove(call)
        if call.kind == "take":
            self.put_back(call.rows)
        call.outcome = CancelledError


class ShuffleModel(Model):
    """Which rows are taken is drawn, so the model only counts: rows stand for any."""


class QueueMachine(RuleBasedStateMachine):
    """Does to a queue and to the model the same."""

    most = 7

    def __init__(self, queue: QueueBase, model: Model) -> None:
        super().__init__()
        self.queue, self.model = queue, model
        state = queue._state
        assert state is not None
        self.state = state
        self.calls: list[tuple[Call, Waiting]] = []
        self.number = 0
        self.put, self.taken = set[int](), list[int]()

    def new_rows(self, count: int) -> list[Any]:
        first, self.number = self.number, self.number + count
        return list(range(first, first + count))

    def given(self, rows: list[Any]) -> Any:
        return [rows]

    def got(self, result: Any, *, one: bool = False) -> list[Any]:
        return [result.item()] if one else result.tolist()

    def start(self, function: Callable[[], Any], waiting: Waiting) -> None:
        line = self.model.takers if waiting.kind == "take" else self.model.putters
        line.append(waiting)
        self.calls.append((Call(self.state, function), waiting))
        self.model.serve()
        self.compare()

    @rule()
    def enqueue(self) -> None:
        rows = self.new_rows(1)
        self.start(lambda: self.queue.enqueue([part[0] for part in self.given(rows)]), Waiting("put", rows))

    @rule(count=st.integers(1, 7))
    def enqueue_many(self, count: int) -> None:
        rows = self.new_rows(count)
        self.start(lambda: self.queue.enqueue_many(self.given(rows)), Waiting("put", rows))

    @rule()
    def dequeue(self) -> None:
        self.start(lambda: self.got(self.queue.dequeue(), one=True), Waiting("take", wanted=1))

    @rule(count=st.integers(1, 7), up_to=st.booleans())
    def dequeue_several(self, count: int, up_to: bool) -> None:
        count = min(count, self.most)
        dequeue = self.queue.dequeue_up_to if up_to else self.queue.dequeue_many
        self.start(lambda: self.got(dequeue(count)), Waiting("take", wanted=count, up_to=up_to))

    @precondition(lambda self: self.number > 10)
    @rule()
    def close(self) -> None:
        self.start(self.queue.close, Waiting("close"))

    @precondition(lambda self: self.number > 15)
    @rule()
    def close_and_cancel(self) -> None:
        self.queue.close(cancel_pending_enqueues=True)
        self.model.cancel_all_puts()
        self.model.serve()
        self.compare()

    @precondition(lambda self: self.calls)
    @rule(data=st.data())
    def cancel(self, data: Any) -> None:
        call, waiting = data.draw(st.sampled_from(self.calls))
        assert isinstance(call.cancel(), CancelledError)
        self.model.cancel(waiting)
        self.model.serve()
        self.compare()

    def compare(self) -> None:
        for call, waiting in self.calls:
            if waiting.outcome is None:
                assert call.waits
            elif isinstance(waiting.outcome, type):
                with pytest.raises(waiting.outcome):
                    call.end()
            else:
                self.compare_result(call.end(), waiting)
        self.calls = [(call, waiting) for call, waiting in self.calls if waiting.outcome is None]

    def compare_result(self, result: Any, waiting: Waiting) -> None:
        assert result == (waiting.rows if waiting.kind == "take" else None)

    @invariant()
    def same_size(self) -> None:
        assert self.queue.size().item() == len(self.model.rows)
        assert self.queue.is_closed().item() == self.model.closed

    def teardown(self) -> None:
        for call, _ in self.calls:
            call.token.cancel()


class FifoMachine(QueueMachine):
    def __init__(self) -> None:
        super().__init__(FIFOQueue(5, "int32", [[]]), Model(5))


class ShuffleMachine(QueueMachine):
    def __init__(self) -> None:
        super().__init__(RandomShuffleQueue(5, 2, "int32", [[]]), ShuffleModel(5, 2))

    def compare_result(self, result: Any, waiting: Waiting) -> None:
        if waiting.kind == "take":
            assert len(result) == len(waiting.rows)
            assert all(0 <= row < self.number for row in result)
            self.taken += result
            assert len(set(self.taken)) == len(self.taken)  # nothing is given twice


@pytest.mark.parametrize("machine", [FifoMachine, ShuffleMachine])
def test_a_queue_does_as_its_model(machine: type[QueueMachine]) -> None:
    run_state_machine_as_test(
        machine, settings=settings(max_examples=examples(60), stateful_step_count=25, deadline=None)
    )


def test_a_shuffled_queue_gives_back_all_that_was_put() -> None:
    queue = RandomShuffleQueue(100, 5, "int32", [[]], seed=3)
    queue.enqueue_many([list(range(50))])
    queue.enqueue_many([list(range(50, 100))])
    first = queue.dequeue_many(90).tolist()
    queue.close()
    rest = queue.dequeue_up_to(100).tolist()
    assert sorted(first + rest) == list(range(100))
    assert first != sorted(first)
    assert gx.asarray(rest).shape == (10,)
