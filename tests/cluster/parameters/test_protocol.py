"""Parameter servers on a simulated clock, with messages lost, repeated and reordered, and crashes at every step."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphc.cluster.parameters import Body, Durability, Keeper, Push, Shard, StepSchedule, drop, scale, warm_up
from tests.cluster.parameters.simulated import SimulatedTraining
from tests.cluster.simulation import Clock, Network
from tests.draws import examples

_STEPS = 12
_WORKERS = ["a", "b", "c", "d"]


@dataclass
class _Disk:
    """A disk that outlives the servers that write on it."""

    state: Mapping[str, Any] | None = None
    records: list[Mapping[str, Any]] = field(default_factory=list[Mapping[str, Any]])

    is_busy = False

    def load(self) -> tuple[Mapping[str, Any], Sequence[Mapping[str, Any]]] | None:
        return None if self.state is None else (self.state, [*self.records])

    def append(self, record: Mapping[str, Any], *, sync: bool) -> None:
        self.records.append(record)

    def checkpoint(self, state: Mapping[str, Any], version: int) -> None:
        self.state, self.records = state, []

    def close(self) -> None:
        pass


def _push(number: int, worker: str, versions: Sequence[int]) -> list[Push]:
    """A step adds 1 to the element with its number, so what was applied is there to be seen."""
    mark = Body(np.ones(1, np.int32), [([number], 1)])
    return [Push("client", number, worker, 10, version, added={0: mark}) for version in versions]


@dataclass(frozen=True)
class _Case:
    """What happens during a training: seeds of luck, and crashes (time, which, back after)."""

    seed: int
    loss: float
    repeats: float
    servers: list[tuple[float, int, float]]
    workers: list[tuple[float, int, float, bool]]


_TIMES = st.floats(0, 30)
_CASES = st.builds(
    _Case,
    seed=st.integers(0, 2**32),
    loss=st.sampled_from([0.0, 0.1, 0.4]),
    repeats=st.sampled_from([0.0, 0.3]),
    servers=st.lists(st.tuples(_TIMES, st.integers(0, 1), st.floats(0.1, 5)), max_size=3),
    workers=st.lists(st.tuples(_TIMES, st.integers(0, 3), st.floats(0.1, 50), st.booleans()), max_size=4),
)


def _train(case: _Case, durability: Durability, round: int | None = None, policy: Any = None) -> SimulatedTraining:
    chance = random.Random(case.seed)
    network = Network(Clock(), chance, 0.3, case.loss, case.repeats, until=60.0)
    disks = [_Disk(), _Disk()]

    def server(disk: _Disk) -> Keeper:
        shard = Shard([np.zeros(_STEPS, np.int32)], policy=policy, round=round)
        return Keeper(shard, None if durability == "none" else disk, durability, every=3)

    schedule = StepSchedule.of(_WORKERS, 2, round, policy)
    schedule.attempts = 100
    for _ in range(_STEPS):
        schedule.submit(None)
    training = SimulatedTraining(
        schedule, [lambda: server(disks[0]), lambda: server(disks[1])],
        lambda worker, number: chance.expovariate(1.0) * (1 + 4 * (worker == "d")), _push, network,
    )  # fmt: skip
    for time, index, back in case.servers:
        network.clock.after(time, lambda index=index, back=back: _crash(training, index, back))
    for time, index, back, zombie in case.workers:
        network.clock.after(time, lambda i=index, b=back, z=zombie: training.kill(_WORKERS[i], back=b, zombie=z))
    training.run()
    return training


def _crash(training: SimulatedTraining, index: int, back: float) -> None:
    if training.servers[index] is not None:
        training.crash(index, back=back)


def _shards(training: SimulatedTraining) -> list[Shard]:
    assert training.schedule.idle  # no deadlock: all steps are done
    return [keeper.shard for keeper in training.servers if keeper is not None]


def _check_ledger(shard: Shard) -> dict[int, str]:
    """The values hold what the ledger says was applied, once; returns the fate of each step."""
    fates = {entry.number: entry.fate for entry in shard.ledger}
    applied = [int(fates.get(number) == "applied") for number in range(_STEPS)]
    assert np.asarray(shard.values[0]).tolist() == applied
    rows = {fate: sum(row.get(f"{fate}_rows", 0) for row in shard.ledger.table().values()) for fate in fates.values()}
    assert all(rows[fate] == 10 * shard.ledger.count(fate) for fate in fates.values())
    return fates


@settings(max_examples=examples(60), deadline=None)
@given(_CASES)
def test_no_update_is_lost_or_twice_where_all_that_is_answered_is_on_the_disk(case: _Case) -> None:
    for shard in _shards(_train(case, "sync")):
        assert _check_ledger(shard) == dict.fromkeys(range(_STEPS), "applied")
        assert shard.version == _STEPS


@settings(max_examples=examples(40), deadline=None)
@given(_CASES)
def test_with_checkpoints_the_ledger_tells_which_updates_were_lost(case: _Case) -> None:
    for shard in _shards(_train(case, "checkpoint")):
        fates = _check_ledger(shard)
        assert fates.keys() == set(range(_STEPS))
        assert set(fates.values()) <= {"applied", "lost"}
        assert shard.version == list(fates.values()).count("applied")
        assert case.servers or "lost" not in fates.values()


@settings(max_examples=examples(40), deadline=None)
@given(_CASES, st.sampled_from([drop(0), drop(2), warm_up(4, drop(1)), scale()]))
def test_no_update_is_staler_than_promised(case: _Case, policy: Any) -> None:
    bounds = {drop(0): 0, drop(2): 2, warm_up(4, drop(1)): 1}
    for shard in _shards(_train(case, "sync", policy=policy)):
        fates = _check_ledger(shard)
        assert set(fates.values()) <= {"applied", "dropped"}
        assert max(shard.ledger.staleness, default=0) <= bounds.get(policy, _STEPS)
        assert sum(shard.ledger.staleness.values()) == shard.version


@settings(max_examples=examples(60), deadline=None)
@given(_CASES, st.integers(1, 4), st.sampled_from(["sync", "checkpoint"]))
def test_of_a_version_the_first_gradients_count_and_late_ones_are_in_the_ledger(
    case: _Case, round: int, durability: Durability
) -> None:
    for shard in _shards(_train(case, durability, round=round)):
        fates = _check_ledger(shard)
        assert shard.waiting == 0
        assert set(shard.ledger.staleness) <= {0}
        applied = list(fates.values()).count("applied")
        assert set(fates.values()) <= {"applied", "late"} | ({"lost"} if durability == "checkpoint" else set())
        if durability == "sync":
            assert fates.keys() == set(range(_STEPS))
            assert (shard.version - 1) * round < applied <= shard.version * round


@settings(max_examples=examples(60), deadline=None)
@given(_CASES)
def test_without_spare_workers_no_gradient_is_late_whoever_dies(case: _Case) -> None:
    for shard in _shards(_train(case, "sync", round=len(_WORKERS))):
        assert _check_ledger(shard) == dict.fromkeys(range(_STEPS), "applied")
        assert shard.version == _STEPS / len(_WORKERS)


def test_with_one_worker_for_warm_up_no_gradient_is_stale() -> None:
    quiet = _Case(1, 0.0, 0.0, [], [])
    shard = _shards(_train(quiet, "none", policy=warm_up(_STEPS)))[0]
    assert shard.ledger.staleness == {0: _STEPS}


def test_spare_workers_make_a_step_as_fast_as_the_others() -> None:
    def time_of(spares: int) -> float:
        schedule = StepSchedule.of([f"w{i}" for i in range(4)], 1, 4 - spares)
        for _ in range(40):
            schedule.submit(None)
        make = [lambda: Keeper(Shard([np.zeros(40, np.int32)], round=4 - spares))]
        training = SimulatedTraining(schedule, make, lambda worker, _: 10.0 if worker == "w0" else 1.0, _push)
        training.run()
        return training.updates[5] / 6

    assert time_of(0) == pytest.approx(10.0)
    assert time_of(1) == pytest.approx(1.0)
