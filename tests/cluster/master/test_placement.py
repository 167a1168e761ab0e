"""Which task each operation runs at, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.cluster.master.placement import TaskPlacer
from graphc.compiler.base.errors import InvalidArgumentError
from graphc.graphs.session import py_func, while_loop
from tests.cluster.master.conftest import Cluster

_SPEC = gx.ClusterSpec({"ps": ["a:1", "a:2"], "worker": {1: "b:1", 3: "b:3"}})


def _places(graph: gx.Graph, master: str = "/job:worker/task:3") -> dict[str, str]:
    nodes = graph.trace.builder.nodes
    return {node.name: task for node, task in TaskPlacer(_SPEC, master, graph).place(nodes).items()}


def test_pins_colocation_gradients_and_defaults() -> None:
    with gx.Graph().as_default() as graph:
        x = gx.placeholder_with_default(np.float32(1.0), ())
        with gx.device("/job:ps/task:1/cpu:0"):
            v = gx.Variable(2.0, name="v")
        w = gx.Variable(3.0, name="w")
        with gx.device("/job:worker"):
            y = gx.sin(x)
        with gx.device("/cpu:0"):
            z = gx.cos(x)
        with gx.device("/task:1"):
            u = gx.tan(x)
        (slope,) = graph.gradients(y, [x])
        v.assign_add(x, name="more")
        with gx.device("/job:ps"):
            w.assign_add(x, name="even_more")
        with graph.colocate_with(w):
            near = x + 1.0
    found = _places(graph)
    made = {"y": y, "z": z, "u": u, "slope": slope, "near": near}
    task = {name: found[tensor.op.name] for name, tensor in made.items()}
    assert task == {
        "y": "/job:worker/task:1",  # the job's first task
        "z": "/job:worker/task:3",  # the master
        "u": "/job:worker/task:1",  # the master's job
        "slope": "/job:worker/task:1",
        "near": "/job:ps/task:0",
    }
    assert {found[name] for name in found if name.startswith(("v", "more"))} == {"/job:ps/task:1"}
    assert {found[name] for name in found if name.startswith(("w", "even_more"))} == {"/job:ps/task:0"}


def test_what_works_on_a_queue_runs_where_it_was_made() -> None:
    with gx.Graph().as_default() as graph:
        with gx.device("/job:ps/task:1"):
            names = gx.queues.FIFOQueue(4, "string", shapes=[[]], name="names")
        with gx.device("/job:worker"):
            names.enqueue("a", name="put")
            reader = gx.queues.TextLineReader()
            key, _ = reader.read(names, name="read")
            free = gx.queues.FIFOQueue(4, "float32", name="free")
        size = reader.num_records_produced(name="produced")
        del key, size
        free.size(name="size")
    found = _places(graph)
    wanted = {
        "put": "/job:ps/task:1",
        "read": "/job:ps/task:1",
        "produced": "/job:ps/task:1",
        "size": "/job:worker/task:1",
    }
    assert {name: found[name] for name in wanted} == wanted


@pytest.mark.parametrize(
    ("pin", "message"),
    [
        (
            "/job:chief",
            r"node 'placeholder_with_default'.*: the cluster has /job:ps/task:0, /job:ps/task:1, /job:worker/task:1, ",
        ),
        ("/job:worker/task:0", "'/job:worker/task:0': the cluster has"),
        ("/job:ps/replica:1", "'/job:ps/replica:1': the cluster has"),
        ("/task:0", "'/task:0': the cluster has"),
    ],
)
def test_a_pin_to_no_task_of_the_cluster_is_refused(pin: str, message: str) -> None:
    with gx.Graph().as_default() as graph, gx.device(pin):
        gx.sin(gx.placeholder_with_default(np.float32(1.0), ()))
    with pytest.raises(InvalidArgumentError, match=f"Cannot assign a device.*{message}(.|\n)*test_placement"):
        _places(graph)


def test_what_needs_two_tasks_is_refused() -> None:
    with gx.Graph().as_default() as graph:
        x = gx.placeholder_with_default(np.float32(1.0), ())

        def branch(pin: str) -> Any:
            def make() -> Any:
                with gx.device(pin):
                    return gx.sin(x)

            return make

        gx.cond(x > 0.0, branch("/job:ps"), branch("/job:worker"))
    with pytest.raises(InvalidArgumentError, match=r"pinned to /job:ps/task:0 and /job:worker/task:1; pin the whole"):
        _places(graph)
    outside = gx.Variable(1.0)
    with gx.Graph().as_default() as graph:
        gx.sin(outside.value())
    with pytest.raises(InvalidArgumentError, match="a Variable of eager code is in this process alone; make it inside"):
        _places(graph)


def test_loops_and_branches_run_whole_at_one_task(cluster: Cluster, calls: Any) -> None:
    with gx.Graph().as_default() as graph:
        x = gx.placeholder("float32", ())
        with gx.device("/job:ps/task:1"):
            halved = while_loop(lambda i: i > 1.0, lambda i: i / 2.0, [x])
        with gx.device("/job:worker/cpu:0"):
            y = gx.cond(x > 3.0, lambda: x + 1.0, lambda: x - 1.0)
    with gx.Session(cluster.target("worker2"), graph=graph) as session:
        assert session.run([halved, y], {x: 8.0}) == [1.0, 9.0]
    assert set(calls) == {("/job:ps/task:1", 1), ("/job:worker/task:0", 1)}


def test_a_device_that_the_task_has_not_is_refused_or_softened(cluster: Cluster) -> None:
    with gx.Graph().as_default() as graph, gx.device("/job:ps/task:1/gpu:7"):
        y = gx.sin(gx.placeholder_with_default(np.float32(0.0), ()))
    wanted = r"device specification '/device:GPU:7': there is no device .*\(at /job:ps/task:1\)"
    with gx.Session(cluster.target("ps0"), graph=graph) as session, pytest.raises(InvalidArgumentError, match=wanted):
        session.run(y)
    with gx.Session(cluster.target("ps0"), graph=graph, config=gx.ConfigProto(allow_soft_placement=True)) as session:
        assert session.run(y) == 0.0
    elsewhere = r"'/job:ps/task:1/device:GPU:7'.*open the Session at a task of the cluster"
    with gx.Session(graph=graph) as session, pytest.raises(InvalidArgumentError, match=elsewhere):
        session.run(y)


def test_python_functions_run_at_tasks_of_this_process_only(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    with gx.Graph().as_default() as graph, gx.device("/job:ps"):
        y = py_func(lambda: np.float32(4.0), [], "float32", name="four")
    with gx.Session(cluster.target("worker0"), graph=graph) as session:
        assert session.run(y) == 4.0
    monkeypatch.setattr("graphc.cluster.master.master.ThreadPeer", int)  # as if all tasks were in other processes
    refused = (
        r"the operation 'four' \(py_func\) uses Python objects of this process, and /job:ps/task:0 runs in another"
    )
    with gx.Session(cluster.target("worker0"), graph=graph) as session, pytest.raises(
        InvalidArgumentError, match=refused
    ):  # fmt: skip
        session.run(y)
