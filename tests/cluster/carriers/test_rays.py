"""Tasks on Ray: what happens when processes are suspended, killed, late or strangers. All processes are real."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import graphc as gx
from graphc.cluster.carriers import CARRIERS, Peer, Rays, find
from graphc.cluster.carriers.rays import connect, environment
from graphc.compiler.base.errors import FailedPreconditionError, InvalidTypeError, NotFoundError, UnavailableError
from graphc.compiler.devices import device_name, devices
from tests.cluster.conftest import started

pytestmark = [pytest.mark.multiprocess, pytest.mark.usefixtures("warm_python"), pytest.mark.timeout(180)]

_STRANGER = """
from graphc.compiler.base.errors import UnauthenticatedError
from graphc.cluster.carriers import find
try:
    find("host:1")
except UnauthenticatedError as error:
    print(error)
"""


@pytest.fixture(scope="module")
def _peer(ray_here: str) -> Iterator[Peer]:
    server, peer = started("ray")
    yield peer
    server.stop()


@pytest.fixture
def peer(_peer: Peer) -> Peer:
    return _peer


@contextmanager
def _program(text: str, *arguments: str, **environ: str) -> Iterator[subprocess.Popen[str]]:
    """Runs a program in a process of its own, which is killed at the end."""
    paths = {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", f"import sys\nimport graphc as gx\n{text}", *arguments]
    process = subprocess.Popen(
        command, env={**os.environ, **paths, **environ}, stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def _said(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def test_a_task_runs_in_a_process_of_its_own_with_the_settings_of_who_started_it(peer: Peer) -> None:
    found = peer.call("probe", "process")
    assert found["pid"] != os.getpid()
    assert found["devices"] == [device_name(device) for device in devices()]
    assert not found["x64"]
    with gx.config.scope(enable_x64=True, heartbeat_timeout=3.0):
        told = environment(0)
    assert (told["GRAPHC_ENABLE_X64"], told["GRAPHC_HEARTBEAT_TIMEOUT"], told["JAX_PLATFORMS"]) == ("1", "3.0", "cpu")
    assert environment(1)["JAX_PLATFORMS"] == ""


def test_what_cannot_be_sent_is_refused(peer: Peer) -> None:
    with pytest.raises(InvalidTypeError, match=r"an argument cannot be sent to another process: .*calls take nests"):
        peer.call("probe", "echo", threading.Lock())


def test_a_suspended_task_is_unavailable_and_answers_again_later(peer: Peer) -> None:
    process = peer.call("probe", "process")["pid"]
    silent = pytest.raises(UnavailableError, match=f"{peer.name} at {peer.address} on .* has not answered for 2 s")
    with gx.config.scope(heartbeat_timeout=2.0):
        os.kill(process, signal.SIGSTOP)
        try:
            with silent:  # which does not wait for it: it goes on below
                peer.call("probe", "double", 1)
        finally:
            os.kill(process, signal.SIGCONT)
    assert peer.call("probe", "double", 1) == 2


_WAITING = """
from graphc.cluster.carriers import find
peer = find(sys.argv[1])
gx.config.heartbeat_timeout = 0.5  # which tells the task how long this process may be silent
while True:
    try:
        peer.call("probe", "wait")
    except gx.errors.UnavailableError:  # of a machine so busy that the task is silent as long
        pass
"""


def test_the_calls_of_a_client_that_is_killed_end_and_the_task_lives(peer: Peer) -> None:
    total = peer.call("probe", "add", 5)
    with _program(_WAITING, peer.address) as process:
        assert peer.call("probe", "wait_for_waiter")
        process.kill()
    assert peer.call("probe", "nobody_waits")
    assert peer.call("probe", "add", 0) == total


def test_a_killed_task_is_unavailable_at_once_and_its_address_is_free(ray_here: str) -> None:
    server, peer = started("ray")
    pending = peer.start("probe", "wait")
    assert peer.call("probe", "wait_for_waiter")
    os.kill(peer.call("probe", "process")["pid"], signal.SIGKILL)
    with pytest.raises(UnavailableError, match=f"{peer.name} at {peer.address} on .* has ended"):
        pending.result()
    server.join()
    with pytest.raises(UnavailableError, match="has ended"):
        peer.call("probe", "double", 1)
    waiting = pytest.raises(NotFoundError, match=f"there is no task at '{peer.address}'")
    with waiting, gx.config.scope(heartbeat_timeout=0.2):
        find(server.target)

    late: list[Any] = []

    def seek() -> None:
        with gx.deadline(100):
            late.append(find(server.target).call("task", "ping"))

    seeker = threading.Thread(target=seek)
    seeker.start()  # before there is a task: tasks start in any order
    again = gx.Server(server.server_def)
    seeker.join(100)
    assert late == [peer.name]
    again.stop()


def test_the_wait_for_ray_to_forget_a_task_has_an_end(ray_here: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphc.cluster.carriers.rays_peer.start_peer", lambda *_: None)
    monkeypatch.setattr(Rays, "find", lambda *_: None)
    told = r"Ray has not forgotten the task that was at h:1 within 0.1 s: .* give /job:ps/task:0 another address"
    with pytest.raises(UnavailableError, match=told), gx.config.scope(heartbeat_timeout=0.05):
        gx.Server({"ps": ["h:1"]}, protocol="ray")


def test_a_process_with_a_wrong_token_is_refused(ray_here: str) -> None:
    with _program(_STRANGER, RAY_AUTH_TOKEN="0" * 64) as process:
        assert "does not take this process's token: set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN" in _said(process)


def test_where_there_is_no_ray_a_server_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(FailedPreconditionError, match=r"which is not installed: pip install 'graphc\[cluster\]'"):
        connect()


def test_an_address_where_nobody_listens_is_told_at_once(ray_here: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import ray

    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    told = r"no Ray cluster at RAY_ADDRESS=127.0.0.1:1: nothing listens at 127.0.0.1:1\n.*`graphc cluster up`"
    with pytest.raises(UnavailableError, match=told):
        Rays().find("host:1")


@pytest.mark.slow
def test_the_task_of_a_server_whose_process_is_killed_ends(ray_here: str) -> None:
    program = "print(gx.Server({'ps': [sys.argv[1]]}).target, flush=True)\nsys.stdin.read()"
    with _program(program, "host-of-child:1") as process:
        assert _said(process) == "grpc://host-of-child:1"
        peer = find("host-of-child:1")
        process.kill()
        process.wait()
    end = time.monotonic() + 60
    while not peer.lost:
        assert time.monotonic() < end
        time.sleep(0.1)
    with pytest.raises(UnavailableError):
        peer.call("task", "ping")


@pytest.mark.slow
def test_a_server_where_no_ray_runs_starts_one_on_loopback_that_asks_for_a_token(ray_address: str) -> None:
    program = """
from graphc.cluster.carriers.rays import listens_at
import threading
servers = []
for number in (1, 2):  # Ray goes on where the thread that started it ends
    thread = threading.Thread(target=lambda: servers.append(gx.Server({'ps': [f'host:{number}']}, protocol='ray')))
    thread.start()
    thread.join(60)
assert len(servers) == 2
print(listens_at(), flush=True)
sys.stdin.read()
"""
    with _program(program, RAY_ADDRESS="") as process:
        address = _said(process)
        assert address.startswith("127.0.0.1:")
        with _program(_STRANGER, RAY_ADDRESS=address, RAY_AUTH_TOKEN="1" * 64) as other:
            assert "does not take this process's token" in _said(other)


@pytest.mark.slow
def test_eight_workers_count_to_eight_thousand(peer: Peer) -> None:
    total = peer.call("probe", "add", 0)
    servers = [started("ray", "worker") for _ in range(8)]
    pending = [worker.start("probe", "add_at", peer.address, 1000) for _, worker in servers]
    for each in pending:
        each.result()
    assert peer.call("probe", "add", 0) == total + 8000
    for server, _ in servers:
        server.stop()


def test_ray_is_one_of_the_carriers() -> None:
    assert [*CARRIERS] == ["threads", "ray"]
