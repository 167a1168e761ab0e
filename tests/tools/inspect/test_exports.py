"""Graphs in the forms of other tools."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import graphc as gx
from graphc.compiler.ir import Graph
from graphc.tools.inspect import to_dot, to_jaxpr, to_model_explorer, to_stablehlo, write_tensorboard

V = gx.Variable(gx.ones((2, 2)), name="weights")


def step(x: Any) -> Any:
    for _ in range(50):
        x = gx.tanh(x @ V)
    if gx.sum(x) > 3:
        x = -x
    y = V.value()
    V.assign(x)
    with gx.control_dependencies([y]):
        return gx.sin(x)


@pytest.fixture(scope="module")
def graph() -> Graph:
    return gx.function(step).graph(gx.ones((2, 2)))


def test_model_explorer_gets_every_node_and_only_edges_between_them(graph: Graph) -> None:
    found = json.loads(to_model_explorer(graph))
    nodes = {node["id"]: node for node in found["graphs"][0]["nodes"]}
    assert sum(node["label"] not in ("input", "output") for node in nodes.values()) == len(list(graph.walk()))
    edges = [edge["sourceNodeId"] for node in nodes.values() for edge in node["incomingEdges"]]
    assert set(edges) <= set(nodes)
    product = nodes["scan/body/matmul"]
    assert product["namespace"] == "scan/body"
    assert product["outputsMetadata"][0]["attrs"] == [{"key": "tensor_shape", "value": "f32[2,2]"}]
    # The loop takes its values in by its body's inputs, and gives what the body gives.
    assert nodes["scan/body/carry_0.in"]["incomingEdges"][0]["sourceNodeId"] == "x.in"
    assert {edge["sourceNodeId"] for edge in nodes["scan/scan"]["incomingEdges"]} == {"scan/body/tanh"}


_TEXTS = {"id", "label", "namespace", "key", "value", "sourceNodeId", "sourceNodeOutputId", "targetNodeInputId"}
_LISTS = {
    "graphs": {"id", "nodes"},
    "nodes": {"id", "label", "namespace", "attrs", "incomingEdges", "outputsMetadata"},
    "attrs": {"key", "value"},
    "incomingEdges": {"sourceNodeId", "sourceNodeOutputId", "targetNodeInputId"},
    "outputsMetadata": {"id", "attrs"},
}
"""The fields of Model Explorer's format that a graph of ours has: texts, and lists of objects with these fields."""


def test_model_explorer_gets_the_fields_that_its_reader_knows(graph: Graph) -> None:
    def check(found: dict[str, Any], fields: set[str]) -> None:
        assert set(found) == fields
        for name, value in found.items():
            if name in _TEXTS:
                assert type(value) is str
            else:
                for part in value:
                    check(part, _LISTS[name])

    found = json.loads(to_model_explorer(graph))
    check(found, {"label", "graphs"})
    (drawn,) = found["graphs"]
    assert len({node["id"] for node in drawn["nodes"]}) == len(drawn["nodes"])
    outputs = {(node["id"], output["id"]) for node in drawn["nodes"] for output in node["outputsMetadata"]}
    used = {
        (edge["sourceNodeId"], edge["sourceNodeOutputId"]) for node in drawn["nodes"] for edge in node["incomingEdges"]
    }
    assert {name for name in used - outputs if name[1] != "control"} == set()


def test_dot_has_clusters_and_control_edges(graph: Graph) -> None:
    text = to_dot(graph)
    assert 'subgraph "cluster_scan/body"' in text
    assert text.count("{") == text.count("}")
    assert "[style=dashed" in text


@pytest.mark.multiprocess
@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
def test_graphviz_reads_dot(graph: Graph) -> None:
    done = subprocess.run(["dot", "-Tsvg"], input=to_dot(graph), capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "<svg" in done.stdout


def test_tensorboard_reads_the_event_file(graph: Graph, tmp_path: Path) -> None:
    loader: Any = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    write_tensorboard(graph, tmp_path)
    events = loader.EventAccumulator(str(tmp_path))
    events.Reload()
    nodes = {node.name: node for node in events.Graph().node}
    assert nodes["scan/body/matmul"].op == "matmul"
    inputs = [name.partition(":")[0].lstrip("^") for node in nodes.values() for name in node.input]
    assert set(inputs) <= set(nodes)
    assert any(name.startswith("^") for node in nodes.values() for name in node.input)


def test_jax_gets_a_program(graph: Graph) -> None:
    variables = {V.name: V}  # which another Variable may have numbered
    assert "scan[" in to_jaxpr(graph, variables)
    text = to_stablehlo(graph, variables)
    assert text.startswith("module @jit_step")
    assert "stablehlo.while" in text
