"""Sessions over tasks in processes of their own, on Ray."""

from __future__ import annotations

import os
import signal
import threading
import uuid
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.cluster.carriers import find
from graphc.compiler.base.errors import DeadlineExceededError, InvalidArgumentError, OutOfRangeError, UnavailableError
from graphc.graphs.session import global_variables_initializer, py_func

pytestmark = pytest.mark.multiprocess


@pytest.fixture(scope="module")
def servers(ray_here: str) -> Iterator[dict[str, gx.Server]]:
    host = f"host-{uuid.uuid4().hex[:8]}"
    cluster = gx.ClusterSpec({"ps": [f"{host}:1", f"{host}:2"], "worker": [f"{host}:3"]})
    found = {f"{job}{index}": gx.Server(cluster, job, index, "ray") for job, index in
             (("ps", 0), ("ps", 1), ("worker", 0))}  # fmt: skip
    yield found
    for server in found.values():
        server.stop()


def test_a_graph_runs_over_processes(servers: dict[str, gx.Server]) -> None:
    with gx.Graph().as_default() as graph:
        x = gx.placeholder("float32", (None,))
        with gx.device("/job:ps/task:1"):
            v = gx.Variable(2.0, name="v")
            y = x * v
        with gx.device("/job:worker"):
            total = gx.sum(y)
        more: Any = v.assign_add(1.0)
        init = global_variables_initializer()
        drawn = gx.random.normal((2,))
    metadata, options = gx.RunMetadata(), gx.RunOptions(trace_level=gx.RunOptions.FULL_TRACE)
    with gx.Session(servers["worker0"].target, graph=graph) as session:
        session.run(init)
        assert session.run(total, {x: [1.0, 2.0]}) == 6.0
        assert session.run(total, {x: np.ones(100_000, np.float32)}) == 200_000.0  # y goes from task to task
        assert session.run(more) == 3.0
        assert np.any(session.run(drawn) != session.run(drawn))
        assert session.run(total, {x: [1.0, 2.0]}, options, metadata) == 9.0
        assert len(session.list_devices()) >= 3
    assert metadata.timeline is not None
    lanes = {event.track for event in metadata.timeline.events}
    assert {"/job:ps/task:1/device:CPU:0", "/job:worker/task:0/device:CPU:0"} <= lanes
    with gx.Session(servers["ps0"].target, graph=graph) as session:
        assert session.run(v) == 3.0


def test_errors_and_deadlines_name_the_operation_and_the_task(servers: dict[str, gx.Server]) -> None:
    with gx.Graph().as_default() as graph, gx.device("/job:ps/task:1"):
        queue: Any = gx.queues.FIFOQueue(2, "float32", shapes=[[]], name="q")
        item, close = queue.dequeue(), queue.close()
        four = py_func(lambda: np.float32(4.0), [], "float32", name="four")
    with gx.Session(servers["worker0"].target, graph=graph) as session:
        with pytest.raises(DeadlineExceededError, match="/job:ps/task:1") as late:
            session.run(item, options=gx.RunOptions(timeout_in_ms=50))
        session.run(close)
        with pytest.raises(OutOfRangeError, match=r"closed.*\[operation 'q_Dequeue'\] \(at /job:ps/task:1\)") as ended:
            session.run(item)
        assert late.value.op == ended.value.op == item.op
        with pytest.raises(InvalidArgumentError, match=r"'four' \(py_func\) uses Python objects of this process"):
            session.run(four)


def test_a_task_that_is_killed_in_a_run_is_named_and_the_others_live(servers: dict[str, gx.Server]) -> None:
    with gx.Graph().as_default() as graph:
        with gx.device("/job:ps"):
            v = gx.Variable(5.0, name="survivor")
        with gx.device("/job:ps/task:1"):
            queue: Any = gx.queues.FIFOQueue(2, "float32", shapes=[[]], name="waited_for")
            item: Any = queue.dequeue() + v
            size = queue.size()
    session = gx.Session(servers["worker0"].target, graph=graph)
    session.run(v.initializer)
    peer = find(servers["ps1"].target)
    peer.call("task", "host", "probe", "tests.cluster.services:Probe")
    pid = peer.call("probe", "process")["pid"]
    errors: list[BaseException] = []

    def work() -> None:
        try:
            session.run(item)
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    assert session.run(size) == 0
    os.kill(pid, signal.SIGKILL)
    thread.join(60)
    assert isinstance(errors[0], UnavailableError)
    assert "/job:ps/task:1 at" in str(errors[0])
    assert session.run(v) == 5.0
