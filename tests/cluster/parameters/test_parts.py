"""The parts of a parameter server: the ledger, staleness policies, and the files."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from graphc.cluster.parameters import (
    Body,
    Keeper,
    Ledger,
    Moment,
    Policy,
    Push,
    PushEntry,
    Shard,
    StepSchedule,
    drop,
    scale,
    service,
    staleness,
    warm_up,
)
from graphc.cluster.parameters.service import Disk
from graphc.cluster.spec import ClusterSpec
from graphc.cluster.task import Task
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError


def _entry(number: int, fate: Any = "applied", staleness: int = 0) -> PushEntry:
    return PushEntry("client", number, "worker:0", 32, staleness, fate, 1.0, number)


def test_a_ledger_counts_what_it_does_not_keep_any_more() -> None:
    ledger = Ledger(capacity=2)
    for number in range(5):
        ledger.add(_entry(number, staleness=number % 2))
    assert [entry.number for entry in ledger] == [3, 4]
    assert ledger.table() == {"worker:0": {"applied": 5, "applied_rows": 160}}
    assert ledger.staleness == {0: 3, 1: 2}
    for number in (0, 4):
        assert ledger.find("client", number) is not None
    assert ledger.repeats == 2
    assert ledger.find("client", 5) is None
    assert ledger.find("another", 0) is None
    other = Ledger()
    other.restore(ledger.state())
    assert other.state() == ledger.state()


def test_a_push_that_was_lost_is_taken_when_it_comes_again() -> None:
    ledger = Ledger()
    ledger.add(_entry(0, "lost"))
    assert ledger.find("client", 0) is None
    ledger.add(_entry(0))
    assert ledger.table() == {"worker:0": {"applied": 1, "applied_rows": 32}}


def test_a_step_over_which_three_workers_are_lost_is_given_up() -> None:
    schedule = StepSchedule.of(["worker"], servers=1)
    work = schedule.submit("a step")
    for lost in range(3):
        assert schedule.next("worker", now=float(lost)) is work
        assert schedule.next("worker", now=float(lost)) is None
        assert schedule.failed("worker") is (work if lost == 2 else None)
        assert schedule.alive == []
        schedule.revive("worker")
    assert schedule.idle


def test_policies_refuse_what_they_do_not_take() -> None:
    with pytest.raises(InvalidArgumentError, match=r"drop\(most\): expected an int of at least 0, got -1"):
        drop(-1)
    with pytest.raises(InvalidArgumentError, match=r"warm_up\(updates\): expected an int of at least 0, got 0.5"):
        warm_up(0.5)  # pyright: ignore[reportArgumentType]
    with pytest.raises(InvalidArgumentError, match=r"scale\(power\): expected a positive number, got 0"):
        scale(0)
    with pytest.raises(InvalidTypeError, match=r"warm_up\(then\): expected a staleness policy, such as drop\(8\)"):
        warm_up(3, 8)  # pyright: ignore[reportArgumentType]
    with pytest.raises(AttributeError, match=r"distribute.staleness has no 'gap_aware': use .*scale\(\)"):
        _ = staleness.gap_aware
    assert Policy().weights(Moment(7)) == 1.0
    assert scale(0.5).weights(Moment(4)) == 0.5


def test_what_a_server_wrote_is_there_for_the_next_one(tmp_path: Path) -> None:
    def serve() -> Keeper:
        values = [np.zeros(4, np.float32), np.zeros(2, ml_dtypes.bfloat16)]
        return Keeper(Shard(values), Disk(tmp_path / "0"), "sync", every=3)

    keeper = serve()
    assert not keeper.recovered
    half = np.full(4, 0.5, np.float32)
    for number in range(5):
        body, some = Body(half), Body(np.ones(1, ml_dtypes.bfloat16), [(np.array([1]), 1)])
        keeper.push(Push("client", number, "worker:0", 8, number, added={0: body, 1: some}))
    keeper.close()
    again = serve()
    assert again.recovered
    assert (again.shard.version, again.shard.ledger.count("applied")) == (5, 5)
    np.testing.assert_array_equal(np.asarray(again.shard.values[0]), np.full(4, 2.5))
    np.testing.assert_array_equal(np.asarray(again.shard.values[1]).astype(np.float32), [0, 5])
    again.push(Push("client", 5, "worker:0", 8, 5, added={0: Body(half)}))
    again.close()
    log = max((tmp_path / "0").glob("log-*"), key=lambda path: int(path.name[4:]))
    with log.open("r+b") as file:  # a crash cuts the last record off
        file.truncate(log.stat().st_size - 3)
    last = serve()
    assert last.shard.version == 5
    last.close()


@pytest.mark.parametrize("round", [None, 2])
def test_a_push_whose_update_fails_is_neither_in_the_ledger_nor_in_the_log(round: Any, tmp_path: Path) -> None:
    fails = [False]

    class Descent:
        def __call__(self, values: Any, gradients: Any, state: Any) -> Any:
            if fails[0]:
                raise ValueError("no update today")
            return [values[0] - gradients[0][1]], state

    def serve() -> Keeper:
        return Keeper(Shard([np.zeros(1, np.float32)], Descent(), round=round), Disk(tmp_path), "sync")

    def push(number: int) -> Push:
        return Push("c", number, "w", 1, 0, {0: Body(np.ones(1, np.float32))})

    keeper = serve()
    if round:
        keeper.push(push(0))
    fails[0] = True
    for _ in range(2):
        with pytest.raises(ValueError, match="no update today"):
            keeper.push(push(1))
    if round:
        with pytest.raises(ValueError, match="no update today"):
            keeper.flush()
    keeper.close()
    again = serve()
    assert (again.shard.version, again.shard.ledger.latest("c", 1), again.shard.waiting) == (0, None, (round or 1) - 1)
    fails[0] = False
    assert again.push(push(1)).fate == "applied"
    assert np.asarray(again.shard.values[0]).tolist() == [-1.0]
    again.close()


def test_a_server_that_died_in_the_middle_of_a_round_goes_on_with_it(tmp_path: Path) -> None:
    def serve() -> Keeper:
        return Keeper(Shard([np.zeros(1, np.float32)], round=3), Disk(tmp_path), "sync")

    for number, fate in enumerate(("waiting", "waiting", "applied")):
        keeper = serve()
        keeper.push(Push("c", number, "w", 1, 0, added={0: Body(np.ones(1, np.float32))}))
        found = keeper.shard.ledger.latest("c", number)
        assert found is not None
        assert found.fate == fate
        keeper.close()
    last = serve()
    assert np.asarray(last.shard.values[0]).tolist() == [3.0]
    last.close()


def test_a_server_that_is_started_twice_goes_on_with_what_it_keeps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, made = threading.Event(), [0]

    class Slow(Disk):
        def load(self) -> Any:
            made[0] += 1
            assert gate.wait(30)
            return super().load()

    monkeypatch.setattr(service, "Disk", Slow)
    kept = service.ServerService(Task(ClusterSpec({"ps": ["localhost:0"]}), "ps", 0))
    found: list[Any] = []
    options = service.ServerOptions(Policy(), None, str(tmp_path), "sync", 100)

    def start() -> None:
        found.append(kept.start("training", [np.zeros(1, np.float32)], None, options))

    threads = [threading.Thread(target=start) for _ in range(2)]
    for thread in threads:
        thread.start()
    gate.set()
    for thread in threads:
        thread.join(30)
    assert sorted(found) == [(0, False), (0, True)]
    kept.push("training", Push("c", 0, "w", 1, 0, added={0: Body(np.ones(1, np.float32))}))
    start()
    assert (found[-1], made) == ((1, True), [1])
    kept.end("training")
    start()
    assert (found[-1], made) == ((1, True), [2])
    kept.end("training")
