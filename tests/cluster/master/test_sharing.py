"""Sessions that share what tasks keep, and what each has for itself."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.graphs.session import (
    AdamOptimizer,
    assert_variables_initialized,
    get_local_variable,
    global_variables_initializer,
    report_uninitialized_variables,
)
from tests.cluster.master.conftest import Cluster


def _queue() -> Any:
    return gx.queues.FIFOQueue(8, "float32", shapes=[[]], shared_name="numbers")


def test_a_dequeue_of_one_client_waits_for_another(cluster: Cluster) -> None:
    with gx.Graph().as_default() as graph:
        total: Any = _queue().dequeue_many(3) * 2.0
    found: list[Any] = []
    session = gx.Session(cluster.target("worker0"), graph=graph)
    taker = threading.Thread(target=lambda: found.append(session.run(total)))
    taker.start()
    with gx.Graph().as_default() as graph:
        x = gx.placeholder("float32", ())
        enqueue = _queue().enqueue(x)
    with gx.Session(cluster.target("worker1"), graph=graph) as other:
        for number in (1.0, 2.0, 3.0):
            other.run(enqueue, {x: number})
    taker.join(60)
    np.testing.assert_array_equal(found[0], [2.0, 4.0, 6.0])


def test_updates_of_many_clients_are_one_step_each(cluster: Cluster) -> None:
    with gx.Graph().as_default() as graph:
        with gx.device("/job:ps/task:1"):
            count = gx.Variable(0, name="count")
        with gx.device("/job:worker/task:2"):
            increment = count.assign_add(1)
        init = global_variables_initializer()
    first = gx.Session(cluster.target("worker0"), graph=graph)
    first.run(init)

    def work(name: str) -> None:
        session = gx.Session(cluster.target(name), graph=graph)
        for _ in range(50):
            session.run(increment)
        session.close()

    threads = [threading.Thread(target=work, args=(name,)) for name in ("worker0", "worker1", "ps0")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert first.run(count) == 150


def _training(pin: str, other: str) -> tuple[Any, ...]:
    with gx.Graph().as_default() as graph:
        with graph.device(pin or None):
            w = gx.Variable([1.0, 2.0], name="w")
        with graph.device(other or None):
            train = AdamOptimizer(0.25).minimize(gx.sum(gx.square(w)))
        return graph, global_variables_initializer(), train, w


def test_an_optimizer_updates_variables_where_they_are(cluster: Cluster, calls: Any) -> None:
    found: list[Any] = []
    for target, pins in (("", ("", "")), (cluster.target("worker0"), ("/job:ps/task:1", "/job:worker/task:1"))):
        graph, init, train, w = _training(*pins)
        with gx.Session(target, graph=graph) as session:
            session.run(init)
            calls.clear()
            for _ in range(2):
                session.run(train)
            assert [task for task, _ in calls] == [pins[0], pins[1], pins[0]] * 2 * bool(target)
            found.append(session.run(w))
    np.testing.assert_allclose(*found)


def test_what_has_no_value_is_told_by_all_tasks(cluster: Cluster) -> None:
    with gx.Graph().as_default() as graph:
        with gx.device("/job:ps"):
            a = gx.Variable(1.0, name="a")
        with gx.device("/job:ps/task:1"):
            b = gx.Variable(2.0, name="b")
        c = gx.Variable(3.0, name="c")
        get_local_variable("mine", initializer=4.0)
        missing, check = report_uninitialized_variables(), assert_variables_initialized([a, b])
        assert check is not None
    with gx.Session(cluster.target("worker0"), graph=graph) as session:
        assert set(session.run(missing)) == {b"a", b"b", b"c", b"mine"}
        session.run([a.initializer, c.initializer])
        with pytest.raises(gx.errors.FailedPreconditionError, match="uninitialized value b"):
            session.run(check)
    with gx.Session(cluster.target("worker1"), graph=graph) as session:
        assert set(session.run(missing)) == {b"b", b"mine"}
        session.run(b.initializer)
        session.run(check)


def test_random_ops_draw_for_each_session_anew(cluster: Cluster) -> None:
    with gx.Graph().as_default() as graph:
        graph.seed = 7
        with gx.device("/job:worker/task:1"):
            x = gx.random.normal((3,))
    with gx.Session(graph=_unpinned()) as local:
        wanted = [local.run("normal:0") for _ in range(2)]
    name = x.name
    for _ in range(2):
        with gx.Session(cluster.target("worker0"), graph=graph) as session:
            np.testing.assert_array_equal([session.run(name) for _ in range(2)], wanted)
    assert not cluster.task("worker1").resources.all(gx.Variable)


def _unpinned() -> Any:
    with gx.Graph().as_default() as graph:
        graph.seed = 7
        x = gx.random.normal((3,))
        gx.identity(x)
        graph.trace.builder.rename(x.raw.node, "normal")
    return graph


def test_closing_a_session_keeps_what_tasks_keep(cluster: Cluster) -> None:
    with gx.Graph().as_default() as graph:
        v = gx.Variable(5.0, name="v")
    session = gx.Session(cluster.target("worker0"), graph=graph)
    session.run(v.initializer)
    session.close()
    session.close()
    with pytest.raises(gx.errors.FailedPreconditionError, match="closed Session"):
        session.run(v)
    with gx.Session(cluster.target("ps1"), graph=graph) as session:
        assert session.run(v) == 5.0


def test_queue_runners_and_savers_work_over_tasks(cluster: Cluster, tmp_path: Any) -> None:
    with gx.Graph().as_default() as graph:
        with gx.device("/job:ps"):
            queue: Any = gx.queues.FIFOQueue(4, "int32", shapes=[[]], name="numbers")
            count = gx.Variable(0, name="count")
            runner = gx.QueueRunner(queue, [queue.enqueue(count.assign_add(1))])
        with gx.device("/job:worker"):
            batch = queue.dequeue_many(3)
        init, saver = global_variables_initializer(), gx.Saver()
    with gx.Session(cluster.target("worker0"), graph=graph) as session:
        session.run(init)
        coord = gx.Coordinator()
        threads = runner.create_threads(session, coord, start=True)
        assert [list(session.run(batch)) for _ in range(2)] == [[1, 2, 3], [4, 5, 6]]
        coord.request_stop()
        coord.join(threads, stop_grace_period_secs=60)
        kept = session.run(count)
        path = saver.save(session, str(tmp_path / "model"))
        session.run(init)
        saver.restore(session, path)
        assert session.run(count) == kept >= 6


def test_many_runs_at_once_need_no_more_threads_than_there_are(cluster: Cluster) -> None:
    with gx.Graph().as_default() as graph:
        with gx.device("/job:ps"):
            there: Any = gx.queues.FIFOQueue(8, "float32", shapes=[[]], name="there")
            item: Any = there.dequeue()
        with gx.device("/job:worker"):
            back: Any = gx.queues.FIFOQueue(8, "float32", shapes=[[]], name="back")
            answer = back.enqueue(item + 1.0)
        with gx.device("/job:ps/task:1"):
            put = there.enqueue(1.0)
            result: Any = back.dequeue()
            total = result * 2.0
    session = gx.Session(cluster.target("worker0"), graph=graph)
    found: list[Any] = []
    with gx.config.scope(inter_op_threads=1):
        fetches = [[answer, item], [total, result], [answer, item], [total, result], [put, put], [put]]
        threads = [threading.Thread(target=lambda fetch=fetch: found.append(session.run(fetch))) for fetch in fetches]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    assert len(found) == 6
    assert [item for item in found if item[0] == 4.0] == [[4.0, 2.0]] * 2


def test_a_variable_that_another_graph_made_with_another_type_is_refused(cluster: Cluster) -> None:
    with gx.Graph().as_default() as graph:
        d = gx.Variable(1.5, name="d")
        with gx.Session(cluster.target("worker0"), graph=graph) as session:
            session.run(d.initializer)
    with gx.Graph().as_default() as graph:
        x = gx.Variable([0, 1], name="d")
        uses: list[Any] = [x, x + 1, x.assign_add([1, 1]), x.initializer]
        with graph.container("mine"):
            mine = gx.Variable([0, 1], name="d")
    told = r"the Variable 'd' is f32\[\], .* declares i32\[2\]: give one .*graph.container.*reset\(target\)"
    with gx.Session(cluster.target("worker0"), graph=graph) as session:
        for use in uses:
            with pytest.raises(gx.errors.InvalidArgumentError, match=told):
                session.run(use)
        session.run(mine.initializer)
        gx.Session.reset(cluster.target("worker1"))
        session.run(x.initializer)
        assert session.run(x + 1).tolist() == [1, 2]


def test_filters_say_which_tasks_a_session_uses(cluster: Cluster) -> None:
    cluster.servers["worker1"].stop()
    settings = gx.ConfigProto(device_filters=["/job:ps", "/job:worker/task:2"])
    target = cluster.target("worker0")
    with gx.Graph().as_default() as graph:
        with gx.device("/job:worker/task:1"):
            there = gx.Variable(1.0)
        with gx.Session(target, graph=graph, config=settings) as session:
            found = session.list_devices()
            with pytest.raises(
                gx.errors.InvalidArgumentError, match=r"task:1, /job:worker/task:0, /job:worker/task:2\n"
            ):
                session.run(there)
    assert {device.name.split("/device")[0] for device in found} == {
        f"/job:{name}" for name in ("ps/replica:0/task:0", "ps/replica:0/task:1", "worker/replica:0/task:0",
                                    "worker/replica:0/task:2")
    }  # fmt: skip
    assert found[0].device_type == "CPU"
    gx.Session.reset(target, config=settings)
    with pytest.raises(gx.errors.InvalidArgumentError, match=r"isolate_session_state: .*graph.container\(name\)"):
        gx.Session(target, graph=graph, config=gx.ConfigProto(isolate_session_state=True))
    gx.Session(graph=graph, config=gx.ConfigProto(isolate_session_state=True)).close()


class _Notes(list[str]):
    """Notes that two runs find at the same time."""

    def __init__(self, notes: list[str]) -> None:
        super().__init__(notes)
        self.both = threading.Barrier(2)

    def __bool__(self) -> bool:
        found = len(self) > 0
        if found:
            self.both.wait(30)
        return found


@pytest.mark.timeout(120)
def test_two_runs_of_a_part_at_once_do_not_take_the_same_notes(cluster: Cluster) -> None:
    with gx.Graph().as_default() as graph, gx.device("/job:ps"):
        x = gx.placeholder("float32", ())
        y = x * 2.0
    with gx.Session(cluster.target("worker0"), graph=graph) as session:
        assert session.run(y, {x: 1.0}) == 2.0
        (part,) = cluster.task("ps0").service("graph")._parts.values()
        object.__setattr__(part, "notes", _Notes(["compiled anew"]))
        with ThreadPoolExecutor(2) as pool:
            runs = [pool.submit(session.run, y, {x: value}) for value in (2.0, 3.0)]
            assert [run.result(60) for run in runs] == [4.0, 6.0]
        assert len(part.notes) == 0
