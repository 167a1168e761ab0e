"""Graph operations that read, write and find files."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphc.compiler.base import File, files
from graphc.compiler.core import STRING, apply, apply_all, bytes_array
from graphc.compiler.ir import OPEN, OPS, Attrs, Effect, OpDef, TensorType, part_of_world, writes
from graphc.compiler.ir import Graph as GraphIR
from graphc.graphs.session.graphs.control_flow import convert_to_tensor
from graphc.graphs.session.graphs.graph import default_graph
from graphc.graphs.session.graphs.tensor import GraphTensor, Operation

__all__ = ["matching_files", "read_file", "timestamp", "write_file"]


def _op(name: str, impl: Callable[..., Any], types: tuple[TensorType, ...], params: tuple[str, ...], doc: str) -> OpDef:
    def infer(given: Sequence[TensorType], attrs: Attrs, regions: Sequence[GraphIR]) -> tuple[TensorType, ...]:
        del given, attrs, regions
        return types

    def effects(attrs: Any) -> tuple[Effect, ...]:
        del attrs
        return (writes(part_of_world("files")),)  # later operations read what is written

    found = OpDef(name, impl, infer, params, effects=effects, differentiable=False, takes_open=True, host=True, doc=doc)
    return OPS.add(name, found)


def _read(name: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.array(File(os.fsdecode(name.item()), "rb").read(), STRING)


def _write(name: np.ndarray[Any, Any], contents: np.ndarray[Any, Any]) -> tuple[()]:
    path = files.as_path(name.item())
    files.make_directories(str(path.parent))
    with File(str(path), "wb") as file:
        file.write(contents.item())
        file.flush()
    return ()


def _matching(pattern: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    found = sorted(files.glob([one.decode() for one in np.ravel(pattern)]))
    return bytes_array(found) if found else np.empty(0, STRING)


_TEXT = TensorType((), STRING)
_READ = _op("read_file", _read, (_TEXT,), ("filename",), "The bytes of a file.")
_WRITE = _op("write_file", _write, (), ("filename", "contents"), "Writes a file.")
_MATCHING = _op("matching_files", _matching, (TensorType((OPEN,), STRING),), ("pattern",), "Names of files, sorted.")
_TIME = _op(
    "timestamp", lambda: np.float64(time.time()), (TensorType((), np.dtype(np.float64)),), (), "Seconds since 1970."
)


def read_file(filename: Any, name: str | None = None) -> GraphTensor:
    """Makes an operation that returns the bytes of a file, as a string."""
    return _made("ReadFile", name, _READ, filename)


def write_file(filename: Any, contents: Any, name: str | None = None) -> Operation:
    """Makes an operation that writes a string to a file, and creates its folders."""
    graph = default_graph()
    with graph.making(name or "WriteFile"):
        apply_all(_WRITE, (convert_to_tensor(filename), convert_to_tensor(contents)))
        return graph.named(Operation(graph, graph.trace.builder.nodes[-1]), name or "WriteFile")


def matching_files(pattern: Any, name: str | None = None) -> GraphTensor:
    """Makes an operation that returns the sorted names of the files that match one or more patterns.

    Args:
      pattern: see :func:`graphc.compiler.base.files.glob`.
      name: the name of the operation.
    """
    return _made("MatchingFiles", name, _MATCHING, pattern)


def timestamp(name: str | None = None) -> GraphTensor:
    """Makes an operation that returns the seconds since 1970, as float64."""
    return _made("Timestamp", name, _TIME)


def _made(kind: str, name: str | None, op: OpDef, *inputs: Any) -> GraphTensor:
    graph = default_graph()
    with graph.making(name or kind):
        return graph.named(apply(op, [convert_to_tensor(item) for item in inputs]), name or kind)
