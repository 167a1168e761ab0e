"""Graphs for TensorBoard's graph dashboard."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

from graphc.compiler.ir import OPEN, Graph, TensorType
from graphc.graphs.session import FileWriter, message
from graphc.tools.inspect.exports.rows import Row, rows_of

__all__ = ["graph_def", "write_tensorboard"]

_UNSAFE = re.compile(r"[^A-Za-z0-9_.\\/-]")


def write_tensorboard(graph: Graph, folder: Path) -> Path:
    """Writes an event file with a graph, for ``tensorboard --logdir FOLDER``; bodies are name scopes.

    Args:
      graph: what to write.
      folder: where to; it is made.

    Returns:
      The folder.

    Raises:
      NotFoundError: TensorBoard is not installed.
    """
    with FileWriter(str(folder)) as writer:
        event = message("Event")(wall_time=time.time(), graph_def=graph_def(graph).SerializeToString())
        writer.add_event(event)
    return folder


def graph_def(graph: Graph) -> Any:
    """Returns a graph as TensorBoard's message."""
    return message("GraphDef")(node=[_node(row) for row in rows_of(graph)])


def _node(row: Row) -> Any:
    inputs = [f"{_safe(name)}:{output}" if output else _safe(name) for name, output in row.inputs]
    inputs += [f"^{_safe(name)}" for name in row.controls]
    device = "" if row.node is None else row.node.device
    found = message("NodeDef")(name=_safe(row.name), op=row.op, input=inputs, device=device)
    found.attr["_output_shapes"].list.shape.extend([_shape(type) for type in row.types])
    for name, text in (*row.facts(), ("types", ", ".join(map(str, row.types)))):
        found.attr[name].s = text.encode()
    return found


def _safe(name: str) -> str:
    """Returns a name of the characters that TensorBoard takes."""
    return _UNSAFE.sub("_", name)


def _shape(type: TensorType) -> Any:
    kind = message("TensorShapeProto")
    if not type.ranked:
        return kind(unknown_rank=True)
    return kind(dim=[kind.Dim(size=-1 if size == OPEN else size) for size in type.shape])
