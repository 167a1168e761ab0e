"""Graphs for Model Explorer (https://github.com/google-ai-edge/model-explorer)."""

from __future__ import annotations

import json
from typing import Any

from graphc.compiler.ir import Graph
from graphc.tools.inspect.exports.rows import Row, rows_of

__all__ = ["to_model_explorer"]


def to_model_explorer(graph: Graph) -> str:
    """Returns a graph as a collection of Model Explorer's, in JSON; bodies of loops and branches are its layers.

    Args:
      graph: what to write.

    Example:
      >>> import graphc as gx
      >>> found = json.loads(to_model_explorer(gx.function(lambda x: gx.sin(x)).graph(gx.ones(3))))
      >>> [node["label"] for node in found["graphs"][0]["nodes"]]
      ['input', 'sin', 'output']
    """
    nodes = [_node(row) for row in rows_of(graph)]
    return json.dumps({"label": graph.name, "graphs": [{"id": graph.name, "nodes": nodes}]}, indent=1)


def _node(row: Row) -> dict[str, Any]:
    edges = [
        {"sourceNodeId": name, "sourceNodeOutputId": str(output), "targetNodeInputId": str(place)}
        for place, (name, output) in enumerate(row.inputs)
    ]
    edges += [
        {"sourceNodeId": name, "sourceNodeOutputId": "control", "targetNodeInputId": f"control {place}"}
        for place, name in enumerate(row.controls)
    ]
    return {
        "id": row.name,
        "label": row.op,
        "namespace": row.scope,
        "incomingEdges": edges,
        "attrs": [{"key": key, "value": value} for key, value in (("name", row.label), *row.facts())],
        "outputsMetadata": [
            {"id": str(index), "attrs": [{"key": "tensor_shape", "value": str(type)}]}
            for index, type in enumerate(row.types)
        ],
    }
