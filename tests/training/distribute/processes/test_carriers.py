"""The carriers, over loopback, in threads of one process."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable

import pytest

from graphc.compiler.base.errors import FailedPreconditionError, GraphcError, UnauthenticatedError, UnavailableError
from graphc.training.distribute.processes.carriers import HubCarrier, MemberCarrier, ProcessRank, free_port
from graphc.training.distribute.processes.protocol import Hub, Member

HOST = "127.0.0.1"


def place(rank: int, port: int, key: bytes = b"secret") -> ProcessRank:
    return ProcessRank(rank, 2, HOST, port, key)


def hub(port: int) -> HubCarrier:
    now = time.monotonic()
    carrier = HubCarrier(Member(0, 20.0, now), place(0, port), Hub(2, now, 20.0, 20.0))
    carrier.send({"kind": "join", "rank": 0, "count": 2, "where": "here", "coordinator": "c:1"})
    return carrier


def pumped(carrier: HubCarrier | MemberCarrier, until: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not until():
        assert time.monotonic() < end
        carrier.pump(0.05)


def test_ranks_meet_and_see_each_other_go() -> None:
    port = free_port(HOST)
    zero = hub(port)
    one = MemberCarrier(Member(1, 20.0, 0.0), place(1, port), timeout=20.0)
    one.send({"kind": "join", "rank": 1, "count": 2, "where": "there"})
    pumped(zero, lambda: zero.hub.is_complete)
    pumped(one, lambda: one.member.coordinator == "c:1")
    for carrier in (one, zero):
        carrier.send(carrier.member.enter("step", "train.py:1", {}, 1, 20.0))
    pumped(zero, lambda: not zero.member.is_waiting)
    pumped(one, lambda: not one.member.is_waiting)
    one._connection.close()
    pumped(zero, lambda: zero.member.failure is not None)
    assert zero.member.failure is not None
    assert zero.member.failure.text.startswith("rank 1 (there) has died: its connection is closed")
    zero.accepting.join(20)  # once all are there nobody listens
    with pytest.raises(OSError, match="refused"):
        socket.create_connection((HOST, port), timeout=1.0)


def test_who_does_not_know_the_secret_is_not_let_in() -> None:
    port = free_port(HOST)
    zero = hub(port)
    with pytest.raises(UnauthenticatedError, match=rf"rank 0, at {HOST}:{port}, has another secret than this process"):
        MemberCarrier(Member(1, 20.0, 0.0), place(1, port, b"other"), timeout=20.0)
    with socket.create_connection((HOST, port), timeout=5.0) as silent:  # it holds nobody up
        one = MemberCarrier(Member(1, 20.0, 0.0), place(1, port), timeout=20.0)
        one.send({"kind": "join", "rank": 1, "count": 2, "where": "there"})
        pumped(zero, lambda: zero.hub.is_complete)
        del silent


def test_a_second_process_of_one_rank_is_told_why_it_is_refused() -> None:
    port = free_port(HOST)
    zero = hub(port)
    other = MemberCarrier(Member(0, 20.0, 0.0), place(0, port), timeout=20.0)
    other.send({"kind": "join", "rank": 0, "count": 2, "where": "there"})
    pumped(zero, lambda: zero.member.failure is not None)
    pumped(other, lambda: other.member.failure is not None)
    assert other.member.failure == zero.member.failure
    assert other.member.failure is not None
    assert other.member.failure.text == "two processes say that they are rank 0: here and there"


@pytest.mark.parametrize("error", [UnavailableError, FailedPreconditionError])
def test_an_address_that_does_not_work_is_named(error: type[GraphcError]) -> None:
    with socket.socket() as taken:
        taken.bind((HOST, 0))
        port = taken.getsockname()[1]
        if error is UnavailableError:
            with pytest.raises(error, match=f"rank 0 does not answer at {HOST}:{port} within 0.1 s .*; check that"):
                MemberCarrier(Member(1, 20.0, 0.0), place(1, port), timeout=0.1)
        else:
            taken.listen()
            with pytest.raises(error, match=f"rank 0 cannot listen on {HOST}:{port} .* and a free port"):
                hub(port)
