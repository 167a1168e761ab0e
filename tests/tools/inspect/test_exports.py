"""Graphs in the forms of other tools."""

from __future__ import annotations

import shutil
import subprocess
from typing import Any

import pytest

import graphc as gx
from graphc.compiler.ir import Graph
from graphc.tools.inspect import to_dot, to_jaxpr, to_stablehlo

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


def test_jax_gets_a_program(graph: Graph) -> None:
    variables = {V.name: V}  # which another Variable may have numbered
    assert "scan[" in to_jaxpr(graph, variables)
    text = to_stablehlo(graph, variables)
    assert text.startswith("module @jit_step")
    assert "stablehlo.while" in text
