"""gx.distribute.ParameterServer over real processes: killed, suspended, and with eight workers at once."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.cluster.carriers import Peer
from graphc.cluster.parameters import ParameterServer
from graphc.compiler.base.errors import UnavailableError

pytestmark = [pytest.mark.multiprocess, pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.fixture(scope="module", autouse=True)
def _ray() -> Iterator[None]:
    connect: Any = pytest.importorskip("graphc.cluster.carriers.rays").connect
    connect(num_cpus=2, object_store_memory=200 * 2**20)
    yield
    import ray

    ray.shutdown()


def _peer(server: ParameterServer, job: str, index: int) -> Peer:
    return server._coordinator._tasks.peer(job, index)  # pyright: ignore[reportPrivateUsage]


def _signal(server: ParameterServer, job: str, index: int, number: int) -> None:
    peer = _peer(server, job, index)
    peer.call("task", "host", "probe", "tests.cluster.services:Probe")
    os.kill(peer.call("probe", "process")["pid"], number)


def _counting(server: ParameterServer) -> tuple[Any, Any, Any]:
    """A step that adds to a sum by an optimizer, and counts."""
    with server.scope():
        total, count = gx.Variable(gx.zeros((8,))), gx.Variable(0, trainable=False)
    optimizer = gx.optim.SGD(1.0)

    def step(x: Any) -> None:
        optimizer.apply_gradients([(gx.zeros((8,)) - x, total)])
        count.assign_add(1)

    return step, total, count


def test_workers_and_servers_are_killed_and_suspended_and_each_step_counts_once(tmp_path: Path) -> None:
    with (
        gx.config.scope(heartbeat_timeout=2.0),
        gx.deadline(250),
        ParameterServer(
            servers=2, workers=2, protocol="ray", folder=tmp_path, durability="sync", checkpoint_every=20, timeout=20.0
        ) as server,
    ):
        step, total, count = _counting(server)
        times = 0

        def do(number: int) -> None:
            nonlocal times
            times += number
            for _ in range(number):
                server.schedule(step, args=(np.float32(1),))

        do(1)
        server.join()
        for job, index, how in (
            ("worker", 0, signal.SIGKILL),
            ("ps", 0, signal.SIGKILL),
            ("worker", 1, signal.SIGSTOP),
            ("ps", 1, signal.SIGSTOP),
        ):
            do(40)
            _signal(server, job, index, how)
            do(40)
            server.join()
            assert count.item() == times, (job, how)
        np.testing.assert_array_equal(total.numpy(), np.full(8, float(times)))
        report = server.report()
        assert [found.count("applied") for found in report.servers] == [times, times]
        assert [found.count("lost") for found in report.servers] == [0, 0]
        assert sum(worker.failures for worker in report.workers) >= 2


def test_8_workers_push_1000_asynchronous_updates_each_and_the_sum_is_exact() -> None:
    with gx.deadline(280), ParameterServer(servers=2, workers=8, protocol="ray") as server:
        step, total, count = _counting(server)
        for _ in range(8000):
            server.schedule(step, args=(np.float32(1),))
        server.join()
        assert count.item() == 8000
        np.testing.assert_array_equal(total.numpy(), np.full(8, 8000.0))


def test_a_killed_server_that_has_written_nothing_is_an_error_that_names_it() -> None:
    with gx.config.scope(heartbeat_timeout=1.0), ParameterServer(workers=1, protocol="ray", timeout=5.0) as server:
        step, _, _ = _counting(server)
        server.run(step, np.float32(1))
        _signal(server, "ps", 0, signal.SIGKILL)
        with pytest.raises(UnavailableError, match="/job:ps/task:0 is gone"), gx.deadline(10):
            server.run(step, np.float32(1))
