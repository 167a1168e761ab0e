"""The cluster programs once more, over tasks in processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import graphc as gx
from tests.cluster.conftest import ray_here  # noqa: F401  a fixture
from tests.cluster.master import test_programs, test_sharing

pytestmark = [pytest.mark.multiprocess, pytest.mark.slow]

_CLIENT = """
import sys
import graphc as gx
with gx.Graph().as_default():
    x = gx.Variable(0.0, name="x")
    increment = x.assign(x + 1)
    with gx.Session(sys.argv[1]) as session:
        if sys.argv[2] == "init":
            session.run(x.initializer)
        session.run(increment)
        print(x.eval())
"""


class _Cluster:
    """Five tasks on Ray."""

    def __init__(self) -> None:
        jobs = {"ps": ["programs:1", "programs:2"], "worker": ["programs:11", "programs:12", "programs:13"]}
        tasks = [(job, index) for job, addresses in jobs.items() for index in range(len(addresses))]
        with ThreadPoolExecutor(2) as pool:
            servers = pool.map(lambda task: gx.Server(jobs, *task, "ray"), tasks)
            self.servers = {f"{job}{index}": server for (job, index), server in zip(tasks, servers, strict=True)}

    def target(self, name: str) -> str:
        return self.servers[name].target


@pytest.fixture(scope="module")
def _tasks(ray_here: str) -> Iterator[_Cluster]:  # noqa: F811
    found = _Cluster()
    yield found
    for server in found.servers.values():
        server.stop()


@pytest.fixture
def cluster(_tasks: _Cluster) -> _Cluster:
    gx.Session.reset(_tasks.target("ps0"))
    return _tasks


@pytest.mark.parametrize(
    "program",
    [
        test_programs.test_clients_of_different_servers_share_variables_by_name,
        test_programs.test_a_container_keeps_problems_apart_and_is_reset_alone,
        test_programs.test_a_queue_carries_tuples_from_one_client_to_another,
        test_sharing.test_a_dequeue_of_one_client_waits_for_another,
        test_sharing.test_what_has_no_value_is_told_by_all_tasks,
        test_sharing.test_closing_a_session_keeps_what_tasks_keep,
    ],
)
def test_a_program_runs_over_processes(cluster: Any, program: Callable[[Any], None]) -> None:
    program(cluster)


def test_operations_are_pinned_across_processes(cluster: _Cluster) -> None:
    with gx.Graph().as_default():
        with gx.device("/job:ps"):
            a = gx.Variable(np.arange(200_000, dtype=np.float32), name="a")
        with gx.device("/job:worker"):
            b = a + 2
        with gx.device("/job:worker/task:1"):
            c = a + b
        with gx.Session(cluster.target("ps0")) as session:
            session.run(a.initializer)
            np.testing.assert_array_equal(session.run(c), 2 * np.arange(200_000, dtype=np.float32) + 2)
            assert "/job:worker/replica:0/task:2/device:CPU:0" in session.list_devices()


def test_clients_in_processes_of_their_own_share_variables(cluster: _Cluster) -> None:
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    for name, init, expected in [("worker0", "init", "1.0"), ("worker1", "", "2.0")]:
        command = [sys.executable, "-c", _CLIENT, cluster.target(name), init]
        done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=120, check=True)
        assert done.stdout.strip() == expected
