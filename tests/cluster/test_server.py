"""Servers of this process: names, addresses, calls, and their end."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.cluster.carriers import ThreadPeer, find
from graphc.compiler.base import Signal
from graphc.compiler.base.errors import (
    AlreadyExistsError,
    DeadlineExceededError,
    InvalidArgumentError,
    NotFoundError,
    UnavailableError,
)
from graphc.compiler.core import current_resources

_CLUSTER = {"ps": ["127.0.0.1:2221"], "worker": ["127.0.0.1:2222", "127.0.0.1:2223"]}


class _Service:
    """A service that waits until it is told to go on."""

    def __init__(self) -> None:
        self.begun = threading.Event()

    def double(self, x: Any) -> Any:
        return 2 * x

    def keep(self) -> int:
        return id(current_resources())

    def wait(self) -> None:
        self.begun.set()
        Signal().wait("the end of time")

    def _private(self) -> None:
        raise AssertionError


@pytest.fixture
def peer() -> Any:
    server = gx.Server(_CLUSTER, "ps", 0)
    found = find(server.target)
    assert isinstance(found, ThreadPeer)
    found.task.host("tests", _Service())
    yield found
    server.stop()


def test_a_task_answers_calls_with_its_own_resources(peer: ThreadPeer) -> None:
    np.testing.assert_array_equal(peer.call("tests", "double", np.arange(3)), [0, 2, 4])
    assert peer.start("tests", "double", 4).result() == 8
    assert peer.call("tests", "keep") == id(peer.task.resources) != id(current_resources())
    assert peer.call("task", "ping") == "/job:ps/task:0" == peer.name
    assert peer.call("task", "describe")["cluster"] == {**_CLUSTER}


def test_what_a_task_has_not_is_refused(peer: ThreadPeer) -> None:
    with pytest.raises(NotFoundError, match=r"/job:ps/task:0 at 127.0.0.1:2221 has no service 'nothing'; it has"):
        peer.call("nothing", "run")
    for method in ("_private", "begun", "missing"):
        with pytest.raises(NotFoundError, match=f"the service 'tests' of /job:ps/task:0 .* has no method '{method}'"):
            peer.call("tests", method)


def test_a_call_ends_by_its_deadline_and_by_the_end_of_its_task(peer: ThreadPeer) -> None:
    late = "the deadline of 0.01 s passed while waiting for"
    with pytest.raises(DeadlineExceededError, match=f"{late} the end of time"), gx.deadline(0.01):
        peer.call("tests", "wait")
    with pytest.raises(DeadlineExceededError, match=late), gx.deadline(0.01):
        peer.start("tests", "wait").result()
    peer.task.service("tests").begun.clear()
    pending = peer.start("tests", "wait")
    assert peer.task.service("tests").begun.wait(30)
    peer.stop("an accident")
    with pytest.raises(UnavailableError, match=r"/job:ps/task:0 at 127.0.0.1:2221 was stopped: an accident"):
        pending.result()
    with pytest.raises(UnavailableError, match="was stopped: an accident"):
        peer.call("tests", "double", 1)


def test_a_stalled_task_is_unavailable_after_the_heartbeat_timeout(peer: ThreadPeer) -> None:
    peer.task.stall()
    silent = pytest.raises(UnavailableError, match=r"/job:ps/task:0 .* has not answered for 0.01 s")
    with gx.config.scope(heartbeat_timeout=0.01), silent:
        peer.call("tests", "double", 1)
    pending = peer.start("tests", "double", 1)
    peer.task.resume()
    assert pending.result() == 2


def test_a_server_tells_its_target_and_can_be_made_of_its_plain_form(peer: ThreadPeer) -> None:
    server = gx.Server(_CLUSTER, job_name="worker", task_index=1, start=False)
    assert server.target == "grpc://127.0.0.1:2223"
    same = gx.Server(server.server_def, start=False)
    assert (same.target, same.server_def) == (server.target, server.server_def)
    assert repr(same) == "<gx.Server 127.0.0.1:2223 /job:worker/task:1, threads>"
    with pytest.raises(NotFoundError, match=r"there is no task at '127.0.0.1:2223'"):
        find(server.target)
    same.start()
    same.start()
    assert find(server.target).name == "/job:worker/task:1"
    with pytest.raises(AlreadyExistsError, match=r"is running at 127.0.0.1:2223 already; stop\(\) its gx.Server first"):
        server.start()
    waiting = threading.Thread(target=same.join)
    waiting.start()
    same.stop()
    waiting.join(30)
    assert not waiting.is_alive()
    server.start()
    server.stop()


def test_a_local_server_is_a_cluster_of_its_own() -> None:
    first, second = gx.Server.create_local_server(), gx.Server.create_local_server()
    assert first.target != second.target
    assert find(first.target).call("task", "ping") == "/job:local/task:0"
    first.stop()
    second.stop()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((_CLUSTER,), r"gx.Server: name the task of this server with .* 'worker': \[0, 1\]"),
        ((_CLUSTER, "worker"), "name the task of this server"),
        ((_CLUSTER, "chief", 0), "gx.Server: No such job in cluster: 'chief'"),
        ((_CLUSTER, "ps", 4), "gx.Server: No task with index 4 in job 'ps'"),
        ((_CLUSTER, "ps", 0, "carrier pigeon"), "there is no protocol 'carrier pigeon'; there are 'threads', 'ray'"),
    ],
)
def test_a_server_of_no_task_is_refused(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        gx.Server(*arguments)


def test_the_heartbeat_timeout_is_a_positive_number() -> None:
    with pytest.raises(InvalidArgumentError, match="heartbeat_timeout"):
        gx.config.heartbeat_timeout = 0
