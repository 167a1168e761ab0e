"""Large values between tasks of other processes: they go from task to task, once to each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.cluster.carriers import ThreadPeer
from graphc.cluster.master.service import StoredValues
from graphc.compiler.base.errors import AbortedError, InvalidArgumentError
from graphc.graphs.session import Assert
from tests.cluster.master.conftest import Cluster


@pytest.fixture
def takes(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Has tasks of this process do as if they were in others; notes who comes for values by which task has them."""
    monkeypatch.setattr("graphc.cluster.master.master.ThreadPeer", int)
    found: list[str] = []
    call = ThreadPeer.call

    def noted(self: ThreadPeer, service: str, method: str, *arguments: Any) -> Any:
        if method == "take":
            found.append(self.name)
        return call(self, service, method, *arguments)

    monkeypatch.setattr(ThreadPeer, "call", noted)
    return found


def _held(cluster: Cluster) -> list[int]:
    return [len(cluster.task(name).service("graph")._kept._held) for name in cluster.servers]


def test_a_large_value_goes_once_to_each_task(cluster: Cluster, takes: list[str], calls: Any) -> None:
    with gx.Graph().as_default() as graph:
        x = gx.placeholder("float32", (None,))
        with gx.device("/job:ps"):
            y = x * 2.0
        with gx.device("/job:worker"):
            first = gx.sum(y)
        with gx.device("/job:worker/task:1"):
            second = gx.sum(y) + first
        with gx.device("/job:worker"):
            third = second + gx.max(y)
        with gx.device("/job:ps"):
            fourth = third + gx.min(y)
    with gx.Session(cluster.target("worker2"), graph=graph) as session:
        for _ in range(2):
            assert session.run(fourth, {x: np.ones(20_000, np.float32)}) == 80_004.0
            assert [task for task, _ in calls].count("/job:worker/task:0") == 2  # two parts take the value
            assert takes == ["/job:ps/task:0"] * 2  # and each of two tasks came for it once
            calls.clear()
            takes.clear()
        assert session.run(fourth, {x: np.ones(10, np.float32)}) == 44.0
        assert not takes  # small ones go by way of the client
        assert session.run([y, first], {x: np.ones(20_000, np.float32)})[1] == 40_000.0
        assert not takes  # as do those that it wants
    assert _held(cluster) == [0] * 5


def test_a_run_that_fails_leaves_nothing(cluster: Cluster, takes: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ThreadPeer, "start", lambda self, *call: self.call(*call))  # so that it is done when it returns
    with gx.Graph().as_default() as graph:
        x = gx.placeholder("float32", (None,))
        with gx.device("/job:ps"):
            y = x * 2.0
        with gx.device("/job:worker"), graph.control_dependencies([Assert(gx.sum(y) < 0.0, ["no good"])]):
            z = gx.max(x)
        with gx.device("/job:worker/task:1"):
            w = gx.sum(y) + z
    session = gx.Session(cluster.target("worker2"), graph=graph)
    with pytest.raises(InvalidArgumentError, match=r"assertion failed.*\(at /job:worker/task:0\)"):
        session.run(w, {x: np.ones(20_000, np.float32)})
    assert _held(cluster) == [0] * 5
    with pytest.raises(AbortedError, match="/job:ps/task:0 has dropped a value of this run; run it again"):
        StoredValues(cluster.task("ps0")).take("nothing")
