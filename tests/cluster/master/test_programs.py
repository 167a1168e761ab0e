"""The cluster programs that the project grew from, in graphc's words, over tasks of this process."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.graphs.session import constant
from tests.cluster.master.conftest import Cluster


def test_a_local_server_runs_a_graph() -> None:
    server = gx.Server.create_local_server()
    with gx.Graph().as_default():
        c = constant("Hello distributed graphs!")
        with gx.Session(server.target) as session:
            assert session.run(c) == b"Hello distributed graphs!"
            assert session.list_devices()[0] == "/job:local/replica:0/task:0/device:CPU:0"
    server.stop()


def test_what_is_not_pinned_runs_at_the_master(cluster: Cluster, calls: Any) -> None:
    with gx.Graph().as_default():
        a = gx.placeholder_with_default(np.float32(1.0), ())
        b = a + 2
        c = b * 3
        with gx.Session(cluster.target("worker1")):
            assert c.eval() == 9.0
    assert calls == [("/job:worker/task:1", 0)]


def test_operations_are_pinned_across_tasks(cluster: Cluster, calls: Any) -> None:
    with gx.Graph().as_default():
        with gx.device("/job:ps"):
            a = gx.Variable(1.0, name="a")
        with gx.device("/job:worker"):
            b = a + 2
        with gx.device("/job:worker/task:1"):
            c = a + b
        with gx.Session(cluster.target("ps0")) as session:
            session.run(a.initializer)
            calls.clear()
            assert c.eval() == 4.0
    # each part is one call, and the variable's value goes once to each task that uses it
    assert calls == [("/job:ps/task:0", 0), ("/job:worker/task:0", 1), ("/job:worker/task:1", 2)]


def test_a_device_setter_spreads_variables_over_servers(cluster: Cluster, caplog: Any) -> None:
    with gx.Graph().as_default():
        setter: Any = gx.cluster.replica_device_setter(ps_tasks=2, ps_device="/job:ps", worker_device="/job:worker")
        with gx.device(setter):
            v1, v2, v3 = (gx.Variable(float(i), name=f"v{i}") for i in (1, 2, 3))
            s = v1 + v2 + 0.0 * v1
            with gx.device("/task:1"):
                p1 = 2 * s
                with gx.device("/cpu:0"):
                    p2 = 3 * s
        config = gx.ConfigProto(log_device_placement=True)
        with gx.Session(cluster.target("ps0"), config=config) as session, caplog.at_level("INFO", "graphc.placement"):
            session.run([v.initializer for v in (v1, v2, v3)])
            assert session.run([p1, p2, v3]) == [6.0, 9.0, 3.0]
    placed = {line.split(":")[0]: line.split("placed on ")[1].split(" (")[0] for line in caplog.messages}
    assert placed["assign_variable 'v2/Assign'"] == "/job:ps/replica:0/task:1/device:CPU:0"
    assert placed["add"] == "/job:worker/replica:0/task:0/device:CPU:0"
    assert placed["multiply 'mul_1'"] == "/job:worker/replica:0/task:1/device:CPU:0"


def _simple_client(target: str, *, init: bool) -> float:
    with gx.Graph().as_default():
        x = gx.Variable(0.0, name="x")
        increment: Any = x.assign(x + 1)
        with gx.Session(target) as session:
            if init:
                session.run(x.initializer)
            session.run(increment)
            return x.eval()


def test_clients_of_different_servers_share_variables_by_name(cluster: Cluster) -> None:
    assert _simple_client(cluster.target("worker0"), init=True) == 1.0
    assert _simple_client(cluster.target("worker1"), init=False) == 2.0


def test_a_container_keeps_problems_apart_and_is_reset_alone(cluster: Cluster) -> None:
    def client(container: str, *, init: bool) -> float:
        with gx.Graph().as_default() as graph, graph.container(container), gx.device("/job:ps/task:1"):
            return _simple_client_in(graph, init=init)

    def _simple_client_in(graph: gx.Graph, *, init: bool) -> float:
        x = gx.Variable(0.0, name="x")
        increment: Any = x.assign_add(1.0)
        with gx.Session(cluster.target("worker0"), graph=graph) as session:
            if init:
                session.run(x.initializer)
            return session.run(increment)

    assert (client("", init=True), client("my_problem_1", init=True)) == (1.0, 1.0)
    assert (client("", init=False), client("my_problem_1", init=False)) == (2.0, 2.0)
    gx.Session.reset(cluster.target("ps0"), ["my_problem_1"])
    assert client("", init=False) == 3.0
    assert client("my_problem_1", init=True) == 1.0


def test_a_queue_carries_tuples_from_one_client_to_another(cluster: Cluster) -> None:
    def queue() -> Any:
        return gx.queues.FIFOQueue(
            10, ["int32", "float32"], shapes=[[], [3, 2]], name="q", shared_name="shared_q"
        )  # fmt: skip

    rows = [(10 + i, np.full((3, 2), i, np.float32)) for i in range(4)]
    with gx.Graph().as_default():
        a, b = gx.placeholder("int32", ()), gx.placeholder("float32", (3, 2))
        q = queue()
        enqueue, close = q.enqueue((a, b)), q.close()
        with gx.Session(cluster.target("worker0")) as session:
            for x, y in rows:
                session.run(enqueue, {a: x, b: y})
            session.run(close)
    with gx.Graph().as_default():
        q = queue()
        size, (ones, pairs) = q.size(), q.dequeue_many(2)
        with gx.Session(cluster.target("worker2")) as session:
            assert session.run(size) == 4
            for place in (0, 2):
                found = session.run([ones, pairs])
                np.testing.assert_array_equal(found[0], [10 + place, 11 + place])
                np.testing.assert_array_equal(found[1], np.stack([rows[place][1], rows[place + 1][1]]))
            with pytest.raises(gx.errors.OutOfRangeError, match=r"\(at /job:ps/task:0\)") as raised:
                session.run(ones)
            assert raised.value.op == ones.op
