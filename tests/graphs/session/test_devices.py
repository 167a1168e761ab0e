"""Devices of graphs: they are looked for when a Session runs the graph, and not before."""

from __future__ import annotations

from typing import Any

import pytest

import graphc as gx
from graphc.compiler.base.errors import InvalidArgumentError
from graphc.graphs import session

Variable: Any = gx.Variable
"""What it makes in a graph has more methods than in eager code."""


@pytest.fixture
def graph() -> Any:
    with gx.Graph().as_default() as graph:
        yield graph


def test_a_device_that_is_not_there_is_refused_by_the_run_that_needs_it(graph: gx.Graph) -> None:
    with gx.device("/gpu:63"):
        count = Variable(3, name="count")
    other = session.constant(1.0) + 2.0
    assert count.device == "/device:GPU:63"
    with gx.Session(graph=graph) as run:
        assert run.run(other) == 3.0
        with pytest.raises(
            InvalidArgumentError, match=r"Cannot assign a device to node 'count'.*no device /device:GPU:63"
        ):
            run.run(count.initializer)


def test_soft_placement_takes_the_cpu(graph: gx.Graph) -> None:
    with gx.device("/gpu:63"):
        count = Variable(3, name="count")
        more = count + session.constant([1, 2])
    with gx.Session(graph=graph, config=gx.ConfigProto(allow_soft_placement=True)) as run:
        run.run(count.initializer)
        assert run.run(more).tolist() == [4, 5]


def test_functions_that_choose_devices(graph: gx.Graph) -> None:
    asked: list[str] = []

    def choose(node: Any) -> str:
        asked.append(f"{node.type} {node.name}")
        return "/cpu:1" if node.type == "Variable" else "/gpu:63"

    with graph.device(choose):
        v = Variable(1.0, name="v")
        doubled = v * 2.0
    assert "Variable v" in asked
    assert (v.device, doubled.op.device) == ("/device:CPU:1", "/device:GPU:63")
    with gx.Session(graph=graph) as run:
        run.run(v.initializer)
        assert run.run(v) == 1.0


def test_pins_to_tasks_of_a_cluster_stay_as_they_are_and_scopes_merge(graph: gx.Graph) -> None:
    asked: list[str] = []

    def choose(node: Any) -> str:
        asked.append(f"{node.type} in {node.device!r}")
        return "/job:worker/task:3"

    with gx.device("/job:ps"):
        v = Variable(1.0, name="v")
        with gx.device("/task:1/cpu:0"):
            product = v * 2.0
    with gx.device(choose):
        queue = gx.queues.FIFOQueue(2, "float32", shapes=[[]])
        with gx.device("/job:other/gpu:1"):
            total = v + 1.0
        with graph.colocate_with(v):
            beside = v - 1.0
    assert (v.device, v.initializer.device, product.op.device) == ("/job:ps", "/job:ps", "/job:ps/task:1/device:CPU:0")
    assert total.op.device == "/job:other/task:3/device:GPU:1"
    assert queue.dequeue().op.device == ""
    assert graph.get_operation_by_name(queue.name).device == "/job:worker/task:3"
    assert beside.op.device == "/job:ps"
    assert asked == ["Handle in ''", "AddV2 in '/job:other/device:GPU:1'"]
    with (
        gx.Session(graph=graph) as run,
        pytest.raises(InvalidArgumentError, match=r"Cannot assign a device to node 'v'.*no device /job:ps"),
    ):
        run.run(v.initializer)


def test_eager_code_is_refused_at_once_as_ever() -> None:
    with pytest.raises(gx.errors.NotFoundError, match="no device"), gx.device("/gpu:63"):
        pass
