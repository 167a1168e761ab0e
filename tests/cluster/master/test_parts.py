"""How runs are cut into parts: what is one call, what goes where, and what ran when."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.graphs.session import global_variables_initializer
from tests.cluster.master.conftest import Cluster


def test_what_may_wait_holds_back_nothing_that_others_need(cluster: Cluster, calls: Any) -> None:
    with gx.Graph().as_default() as graph:
        x = gx.placeholder("float32", ())
        with gx.device("/job:ps"):
            queue: Any = gx.queues.FIFOQueue(1, "float32", shapes=[[]])
            doubled = x * 2.0
            item: Any = queue.dequeue()
        with gx.device("/job:worker"):
            tripled = doubled + x
        with gx.device("/job:ps"):
            put = queue.enqueue(tripled)
            after = item + 1.0
    with gx.Session(cluster.target("worker1"), graph=graph) as session, gx.deadline(60.0):
        assert session.run([after, put], {x: 5.0}) == [16.0, None]  # the dequeue waits for what the worker makes
    # the multiplication, the addition, the enqueue, and one call for the dequeue and what comes after it
    assert sorted(calls) == [
        ("/job:ps/task:0", 0),
        ("/job:ps/task:0", 1),
        ("/job:ps/task:0", 1),
        ("/job:worker/task:0", 2),
    ]


def test_a_chain_at_one_task_is_one_call(cluster: Cluster, calls: Any) -> None:
    with gx.Graph().as_default() as graph:
        queue: Any = gx.queues.FIFOQueue(4, "float32", shapes=[[]])
        put = queue.enqueue(1.0)
        with graph.control_dependencies([put]):
            first: Any = queue.dequeue()
        again = queue.enqueue(first + 1.0)
        with graph.control_dependencies([again]):
            second: Any = queue.dequeue() * 10.0
        v = gx.Variable(1.0)
        total = v + second
    with gx.Session(cluster.target("ps0"), graph=graph) as session:
        session.run(v.initializer)
        calls.clear()
        assert session.run([total, first]) == [21.0, 1.0]
        assert calls == [("/job:ps/task:0", 0)]


def test_values_go_once_to_each_task_and_parts_are_compiled_once(cluster: Cluster, calls: Any) -> None:
    with gx.Graph().as_default() as graph:
        x = gx.placeholder("float32", (None,))
        with gx.device("/job:ps"):
            v = gx.Variable(2.0, name="v")
            y = gx.sin(x * v)
        with gx.device("/job:worker"):
            found = [y + 1.0, y * v, v + 3.0, gx.cos(y)]
        init = global_variables_initializer()
    wanted = np.sin(2.0 * np.ones(3, np.float32))
    sessions = [gx.Session(cluster.target(name), graph=graph) for name in ("worker0", "ps1")]
    sessions[0].run(init)
    calls.clear()
    for session in sessions * 2:
        results = session.run(found, {x: np.ones(3, np.float32)})
        np.testing.assert_allclose(results[0], wanted + 1.0, rtol=1e-6)
        np.testing.assert_allclose(results[3], np.cos(wanted), rtol=1e-6)
    assert calls == [("/job:ps/task:0", 1), ("/job:worker/task:0", 2)] * 4  # y, and the value of v
    assert [len(session.compile_log) for session in sessions] == [3, 0]  # the initializer, and a program at each task
    assert "on /job:worker/task:0/device:CPU:0(" in sessions[0].compile_log[2]


def test_operations_that_only_order_cost_no_call(cluster: Cluster, calls: Any) -> None:
    with gx.Graph().as_default() as graph:
        variables: list[Any] = []
        for pin in ("/job:ps", "/job:ps/task:1"):
            with gx.device(pin):
                variables.append(gx.Variable(1.0))
        init = global_variables_initializer()
        with graph.control_dependencies([init]), gx.device("/job:worker"):
            value = variables[0] + variables[1]
    with gx.Session(cluster.target("worker1"), graph=graph) as session:
        session.run(init)
        assert sorted(calls) == [("/job:ps/task:0", 0), ("/job:ps/task:1", 0)]
        with graph.as_default():
            assert session.run(value) == 2.0


def test_callables_go_over_tasks(cluster: Cluster) -> None:
    with gx.Graph().as_default() as graph:
        a, b = gx.placeholder("float32", ()), gx.placeholder("float32", ())
        with gx.device("/job:ps"):
            first = a * 2.0
        with gx.device("/job:worker"):
            second = first + b
    with gx.InteractiveSession(cluster.target("worker1"), graph=graph) as session:
        call = session.make_callable(second, [a, b])
        assert (call(1.0, 2.0), call(2.0, 2.0)) == (4.0, 6.0)
        assert session.run(second, {first: 10.0, b: 1.0}) == 11.0


def test_a_timeline_has_a_lane_for_each_task(cluster: Cluster) -> None:
    with gx.Graph().as_default() as graph:
        with gx.device("/job:ps"):
            queue: Any = gx.queues.FIFOQueue(1, "float32", shapes=[[]], name="q")
            put = queue.enqueue(1.0)
            x: Any = queue.dequeue() * 2.0
        with gx.device("/job:worker/task:2"):
            y = x + 1.0
    metadata = gx.RunMetadata()
    with gx.Session(cluster.target("worker1"), graph=graph) as session:
        options = gx.RunOptions(trace_level=gx.RunOptions.FULL_TRACE)
        assert session.run([y, put], options=options, run_metadata=metadata)[0] == 3.0
    assert metadata.timeline is not None
    lanes = {event.track for event in metadata.timeline.events}
    assert {"/job:ps/task:0", "/job:worker/task:2", "/job:ps/task:0/device:CPU:0"} <= lanes
    host = next(event for event in metadata.timeline.events if event.name == "q_Dequeue")
    assert host.track.startswith("/job:ps/task:0 ")
    last = next(event for event in metadata.timeline.events if event.track == "/job:worker/task:2")
    assert last.kind == "part"
    assert host.start < last.start
    assert len(metadata.compiled) == 2


def test_a_part_that_a_task_has_forgotten_is_prepared_again(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphc.cluster.master.service._PARTS_KEPT", 1)
    with gx.Graph().as_default() as graph:
        x = gx.placeholder("float32", ())
        one, two = x + 1.0, x + 2.0
    with gx.Session(cluster.target("worker1"), graph=graph) as session:
        assert [session.run(fetch, {x: 1.0}) for fetch in (one, two, one)] == [2.0, 3.0, 2.0]


def test_a_variable_of_open_shape_is_read_where_it_is(cluster: Cluster) -> None:
    with gx.Graph().as_default() as graph:
        with gx.device("/job:ps/task:1"):
            v: Any = gx.Variable([1.0, 2.0], validate_shape=False)
        x = gx.placeholder("float32", (None,))
        assign = v.assign(x)
        total = gx.sum(v)
    with gx.Session(cluster.target("worker1"), graph=graph) as session:
        session.run(v.initializer)
        assert session.run(total) == 3.0
        session.run(assign, {x: [1.0, 2.0, 3.0]})
        assert session.run(total) == 6.0
