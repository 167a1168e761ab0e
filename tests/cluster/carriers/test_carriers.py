"""What calls of tasks do, whatever carries them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import graphc as gx
from graphc.cluster.carriers import Peer, find
from graphc.compiler.base.errors import (
    AlreadyExistsError,
    CancelledError,
    DeadlineExceededError,
    NotFoundError,
    OutOfRangeError,
    UnavailableError,
)
from tests.cluster.conftest import started

_CARRIERS = ["threads", pytest.param("ray", marks=pytest.mark.multiprocess)]


@pytest.fixture(scope="module", params=_CARRIERS)
def protocol(request: pytest.FixtureRequest) -> str:
    if request.param == "ray":
        request.getfixturevalue("ray_here")
    return request.param


@pytest.fixture(scope="module")
def server_and_peer(protocol: str) -> Iterator[tuple[gx.Server, Peer]]:
    server, peer = started(protocol)
    yield server, peer
    server.stop()


@pytest.fixture
def server(server_and_peer: tuple[gx.Server, Peer]) -> gx.Server:
    return server_and_peer[0]


@pytest.fixture
def peer(server_and_peer: tuple[gx.Server, Peer]) -> Peer:
    return server_and_peer[1]


def test_messages_arrive_as_they_were_sent(peer: Peer) -> None:
    sent = {"a": np.arange(3), "b": [jnp.ones(2, "bfloat16"), (1.5, "text", b"bytes", None)]}
    got = peer.start("probe", "echo", sent).result()
    np.testing.assert_array_equal(got["a"], [0, 1, 2])
    assert isinstance(got["a"], np.ndarray)
    assert got["b"][0].dtype == "bfloat16"
    np.testing.assert_array_equal(got["b"][0], [1, 1])
    assert got["b"][1] == (1.5, "text", b"bytes", None)
    large = np.arange(200_000.0)
    np.testing.assert_array_equal(peer.call("probe", "double", large), 2 * large)
    np.testing.assert_array_equal(peer.call("probe", "double", jnp.asarray(large)), 2 * jnp.asarray(large))


def test_a_task_keeps_its_own_resources_and_knows_its_place(peer: Peer) -> None:
    assert peer.call("probe", "keeps_own_resources")
    assert peer.call("task", "ping") == peer.name == "/job:ps/task:0"
    assert peer.call("task", "describe")["cluster"] == {"ps": [peer.address]}
    assert peer.call("probe", "call_other", peer.address, "double", 4) == 8
    assert not peer.lost


def test_errors_arrive_with_their_class_and_message(peer: Peer) -> None:
    for method, kind, message in [
        ("fail", OutOfRangeError, "the queue is closed"),
        ("break_down", ZeroDivisionError, "no such luck"),
    ]:
        with pytest.raises(kind) as caught:
            peer.call("probe", method)
        assert (type(caught.value), str(caught.value)) == (kind, message)
    with pytest.raises(NotFoundError, match=f"{peer.name} at {peer.address} has no service 'nothing'; it has"):
        peer.call("nothing", "run")
    for method in ("_private", "begun", "missing"):
        with pytest.raises(NotFoundError, match=f"the service 'probe' of {peer.name} .* has no method '{method}'"):
            peer.call("probe", method)


def test_a_deadline_ends_a_call_on_both_sides(peer: Peer) -> None:
    late = "the deadline of 0.05 s passed while waiting for"
    with pytest.raises(DeadlineExceededError, match=late), gx.deadline(0.05):
        peer.call("probe", "wait")
    with pytest.raises(DeadlineExceededError, match=late), gx.deadline(0.05):
        peer.start("probe", "wait").result()
    assert peer.call("probe", "nobody_waits")


def test_a_token_cancels_a_call_on_both_sides(peer: Peer) -> None:
    token = gx.CancellationToken()
    with token:
        pending = peer.start("probe", "wait")
    assert peer.call("probe", "wait_for_waiter")
    token.cancel("enough")
    with pytest.raises(CancelledError, match="waiting for"):
        pending.result()
    assert peer.call("probe", "nobody_waits")
    with pytest.raises(CancelledError, match="enough"), token:
        peer.call("probe", "wait")


def test_calls_that_block_keep_nobody_else_waiting(peer: Peer) -> None:
    token = gx.CancellationToken()
    with token:
        pending = [peer.start("probe", "wait") for _ in range(40)]
    assert peer.call("probe", "double", 1) == 2
    token.cancel()
    for each in pending:
        with pytest.raises(CancelledError):
            each.result()


def test_every_call_counts_once(peer: Peer) -> None:
    def add(_: int) -> None:
        for _ in range(25):
            peer.call("probe", "add", 1)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add, range(8)))
    assert peer.call("probe", "add", 0) == 200


def test_an_address_is_taken_once_and_free_after_the_stop(protocol: str) -> None:
    server, peer = started(protocol)
    with pytest.raises(AlreadyExistsError, match=rf"/job:ps/task:0 is running at {peer.address} .*stop"):
        gx.Server(server.server_def)
    joined = threading.Thread(target=server.join)
    joined.start()
    pending: Any = peer.start("probe", "wait")
    assert peer.call("probe", "wait_for_waiter")
    server.stop()
    with pytest.raises(UnavailableError, match=f"{peer.name} at {peer.address}"):
        pending.result()
    with pytest.raises(UnavailableError, match=f"{peer.name} at {peer.address}"):
        peer.call("probe", "double", 1)
    joined.join(30)
    assert not joined.is_alive()
    other = gx.Server(server.server_def)
    again = find(other.target)
    assert again.call("task", "ping") == peer.name
    with pytest.raises(NotFoundError):
        again.call("probe", "double", 1)
    other.stop()
