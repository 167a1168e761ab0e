"""The rules of the control plane, without sockets, on a clock that the tests move."""

from __future__ import annotations

from typing import Any

import pytest

from graphc.compiler.base.errors import (
    AbortedError,
    DeadlineExceededError,
    FailedPreconditionError,
    InvalidArgumentError,
    UnavailableError,
    error_of_code,
)
from graphc.training.distribute.processes.protocol import Hub, Member, ranks_text


class Simulation:
    """A hub and its members; messages take no time, and time passes when a test says so."""

    def __init__(self, count: int, *, come: bool = True) -> None:
        self.now = 0.0
        self.hub = Hub(count, 0.0, timeout=60.0, silence=10.0)
        self.members = [Member(rank, 10.0, 0.0) for rank in range(count)]
        self.stopped: set[int] = set()
        if come:
            for rank in range(count):
                self.join(rank)

    def join(self, rank: int, count: int | None = None, where: str = "") -> None:
        self.tell(rank, kind="join", where=where or f"host{rank}", count=count or self.hub.count, coordinator="c:1")

    def tell(self, rank: int, **message: Any) -> None:
        self.hub.receive(rank, message, self.now)
        self.deliver()

    def enter(self, rank: int, what: str = "step 'train'", line: int = 12, **more: Any) -> None:
        given = {"facts": {}, "vote": 1, "timeout": 5.0, **more}
        self.tell(rank, **self.members[rank].enter(what, f"train.py:{line}", **given))

    def deliver(self) -> None:
        while self.hub.outbox:
            rank, message = self.hub.outbox.pop(0)
            self.members[rank].receive(message, self.now)

    def wait(self, seconds: float) -> None:
        """Lets time pass, in which all that are not stopped say that they are alive."""
        for _ in range(round(seconds * 2)):
            self.now += 0.5
            for rank in range(self.hub.count):
                if rank not in self.stopped:
                    self.hub.heard(rank, self.now)
            self.hub.tick(self.now)
            self.deliver()

    def failure(self) -> tuple[type[Exception], str]:
        """What all members were told, which must be the same."""
        found = {member.failure for member in self.members}
        assert len(found) == 1, found
        (failure,) = found
        assert failure is not None
        return error_of_code(failure.code), failure.text


def test_all_start_once_the_last_has_come_and_are_told_who_is_missing() -> None:
    job = Simulation(4, come=False)
    for rank in (0, 2):
        job.join(rank)
    job.wait(6)
    notice = "still waiting for ranks 1 and 3 of 4 after 5 s; rank 0 is on host0; rank 2 is on host2"
    assert [job.members[rank].notices for rank in range(4)] == [[notice], [], [notice], []]
    job.join(3)
    assert not job.hub.is_complete
    job.join(1)
    assert [member.coordinator for member in job.members] == ["c:1"] * 4


def test_who_does_not_come_is_named() -> None:
    job = Simulation(3, come=False)
    job.join(0)
    job.wait(61)
    failure = job.members[0].failure
    assert failure is not None
    assert error_of_code(failure.code) is DeadlineExceededError
    assert failure.text.startswith("ranks 1 and 2 of 3 have not come within 60 s (rank 0 is on host0); check that")


@pytest.mark.parametrize(
    ("join", "said"),
    [
        ((1, 2, "other:7"), "two processes say that they are rank 1: host1 and other:7"),
        ((2, 5, "other:7"), "rank 2 (other:7) was told that there are 5 processes, and rank 0 that there are 3"),
    ],
)
def test_a_wrong_place_is_refused(join: tuple[int, int, str], said: str) -> None:
    job = Simulation(3, come=False)
    job.join(0)
    job.join(1)
    job.join(*join)
    failure = job.members[0].failure
    assert failure is not None
    assert (error_of_code(failure.code), failure.text) == (FailedPreconditionError, said)


def test_a_barrier_opens_when_all_are_there_and_gives_the_smallest_vote_and_all_notes() -> None:
    job = Simulation(3)
    for step in range(2):
        for rank, vote in ((1, 1), (2, step), (0, 1)):
            job.enter(rank, vote=vote, note=f"rank {rank}" if step else "")
            assert job.members[1].is_waiting == (rank != 0)
        assert [(member.is_waiting, member.vote) for member in job.members] == [(False, step)] * 3
        assert [member.notes for member in job.members] == [["rank 0", "rank 1", "rank 2"] if step else []] * 3
    job.wait(30)
    assert job.hub.failure is None


def test_a_late_rank_is_named_with_the_place_where_it_is() -> None:
    job = Simulation(3)
    for rank in range(3):
        job.enter(rank)
    job.enter(0, timeout=20.0)
    job.enter(2)
    job.tell(1, kind="alive", place="load.py:88")
    job.wait(4)
    assert job.hub.failure is None
    job.wait(2)
    error, text = job.failure()
    assert error is DeadlineExceededError
    assert text.startswith("rank 1 has not entered step 'train' at train.py:12 within 5 s; it was last at load.py:88 (")


def test_a_stopped_rank_is_named() -> None:
    job = Simulation(2)
    job.enter(1)
    job.enter(0)
    job.stopped = {1}
    job.wait(9)
    assert job.hub.failure is None
    job.wait(2)
    error, text = job.failure()
    assert error is UnavailableError
    assert text.startswith("rank 1 (host1) has given no sign of life for 10.5 s")
    assert text.endswith("it was last at train.py:12")


def test_a_member_sees_that_rank_0_is_stopped_or_gone() -> None:
    job = Simulation(2)
    member = job.members[1]
    member.tick(9.0)
    assert member.failure is None
    member.tick(11.0)
    assert member.failure is not None
    assert member.failure.text.startswith("rank 0 has given no sign of life for 11 s")
    finished = Member(1, 10.0, 0.0)
    finished.has_left = True
    finished.lost()
    finished.tick(11.0)
    assert finished.failure is None
    other = Member(1, 10.0, 0.0)
    other.lost()
    assert other.failure is not None
    assert other.failure.text == "rank 0 has died, or ended: its connection is closed"


def test_a_rank_that_dies_or_fails_is_named() -> None:
    job = Simulation(2)
    job.hub.lost(1)
    job.deliver()
    said = "rank 1 (host1) has died: its connection is closed; it has not run anything yet"
    assert job.failure() == (UnavailableError, said)
    job = Simulation(2)
    job.enter(0)
    job.tell(1, kind="failed", text="ValueError: no such file")
    assert job.failure() == (AbortedError, "rank 1 (host1) has failed: ValueError: no such file")
    job.hub.lost(1)
    assert job.failure()[0] is AbortedError


def test_a_rank_that_has_finished_is_not_missed_unless_others_wait_for_it() -> None:
    job = Simulation(3)
    for rank in range(3):
        job.enter(rank, line=30)
    job.tell(1, kind="leave", place="train.py:40")
    job.hub.lost(1)
    job.wait(60)
    assert job.hub.failure is None
    job.enter(0)
    error, text = job.failure()
    assert error is FailedPreconditionError
    assert text.startswith(
        "step 'train' at train.py:12 is entered by rank 0, but rank 1 has come to the end of its program (it was last "
        "at train.py:40); give each rank as many steps, for example with gx.distribute.synchronized"
    )


def test_ranks_that_do_different_things_are_told_so() -> None:
    job = Simulation(3)
    job.enter(0)
    job.enter(1, "step 'evaluate'", line=20)
    job.enter(2)
    assert job.failure() == (
        InvalidArgumentError,
        "the ranks do different things: rank 1 enters step 'evaluate' at train.py:20, where rank 0 enters step 'train' "
        "at train.py:12; what runs on several processes must be called by all, in the same order",
    )


@pytest.mark.parametrize("odd", [0, 1, 2])
def test_a_fact_that_differs_is_named_with_the_rank_that_most_differ_from(odd: int) -> None:
    job = Simulation(3)
    for rank in range(3):
        job.enter(rank, facts={"the graph": "5e1f", "Variable 'w'": "aa" if rank == odd else "bb"})
    other = 1 if odd == 0 else 0
    assert job.failure() == (
        InvalidArgumentError,
        f"Variable 'w' on rank {odd} differs from rank {other}, before step 'train' at train.py:12: aa there, bb here",
    )


def test_a_fact_that_only_some_ranks_state_differs() -> None:
    job = Simulation(2)
    job.enter(0, facts={"Variable 'w'": "aa"})
    job.enter(1)
    assert job.failure()[1].startswith("Variable 'w' on rank 1 differs from rank 0, ")


def test_of_batches_one_rank_may_have_laid_out_more() -> None:
    job = Simulation(2)
    job.enter(0, facts={"argument x": "aa"})
    job.enter(1)
    assert all(member.failure is None for member in job.members)


def test_ranks_in_words() -> None:
    assert [ranks_text([3]), ranks_text([3, 1])] == ["rank 3", "ranks 1 and 3"]
