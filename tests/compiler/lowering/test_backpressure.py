"""Steps in flight are bounded."""

from __future__ import annotations

from typing import Any

import pytest

import graphc as gx
from graphc.compiler.core import InFlight, wait_for


class Log:
    """What happens to the programs of this test: dispatched, waited for."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.events: list[str] = []
        self.steps = InFlight()
        monkeypatch.setattr("graphc.compiler.lowering.launch.in_flight", self.steps)
        monkeypatch.setattr("graphc.compiler.core.waiting.wait_for", self._waited)

    def _waited(self, arrays: Any, what: Any) -> None:
        assert what().startswith("room for another step: 'step', the tensor f32[")
        self.events.append("wait")
        wait_for(arrays, what)

    def dispatched(self) -> None:
        self.events.append("dispatch")
        assert len(self.steps) < 4


@pytest.mark.parametrize("limit", [1, 3])
def test_no_more_steps_are_in_flight_than_allowed(monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    log = Log(monkeypatch)

    @gx.function
    def step(x: gx.Tensor) -> gx.Tensor:
        return x * 2

    x = gx.ones(3)
    for _ in range(3):
        step(x)  # the short way would be taken now
    with gx.config.scope(max_in_flight=limit):
        for _ in range(6):
            log.dispatched()
            assert step(x).sum().item() == 6
            assert len(log.steps) <= limit
    assert log.events.count("wait") == 6 - limit
    step(x)
    assert log.events.count("dispatch") == 6


@pytest.mark.parametrize("limit", [1, 2])
def test_steps_that_only_write_variables_are_bounded(monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    log, v = Log(monkeypatch), gx.Variable(gx.zeros(3))

    @gx.function
    def step() -> None:
        v.assign_add(gx.ones(3))

    with gx.config.scope(max_in_flight=limit):
        for _ in range(6):
            step()  # which donates what the one before has computed
            assert len(log.steps) <= limit
    assert v.numpy().tolist() == [6, 6, 6]


class Array:
    """Stands for an array that is being computed."""

    nbytes = 0
    deleted = False

    def is_deleted(self) -> bool:
        return self.deleted

    def is_ready(self) -> bool:
        return False


def test_a_full_pipeline_keeps_to_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = InFlight()

    def waited(arrays: Any, what: Any) -> None:
        raise gx.errors.DeadlineExceededError(f"{len(arrays)} to wait for")

    monkeypatch.setattr("graphc.compiler.core.waiting.wait_for", waited)
    steps.add("step", [Array()])
    with pytest.raises(TimeoutError):
        steps.make_room(1)
    assert len(steps) == 1  # it is still in flight
    steps.make_room(2)


def test_what_went_wrong_is_raised_once(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = InFlight()

    def waited(arrays: Any, what: Any) -> None:
        raise RuntimeError("out of memory")

    monkeypatch.setattr("graphc.compiler.core.waiting.wait_for", waited)
    steps.add("step", [Array()])
    with pytest.raises(RuntimeError, match="out of memory"):
        steps.make_room(1)
    steps.make_room(1)
    assert len(steps) == 0


def test_what_another_thread_s_step_takes_meanwhile_is_in_flight_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    steps, array = InFlight(), Array()

    def waited(arrays: Any, what: Any) -> None:
        array.deleted = True
        raise RuntimeError("the array has been deleted")

    monkeypatch.setattr("graphc.compiler.core.waiting.wait_for", waited)
    steps.add("step", [array])
    steps.make_room(1)
    assert len(steps) == 0
