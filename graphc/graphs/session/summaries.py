"""Summaries: operations whose results a FileWriter writes for TensorBoard."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.core import STRING, apply
from graphc.compiler.ir import OPS, Attrs, OpDef, TensorType
from graphc.compiler.ir import Graph as GraphIR
from graphc.graphs.session.graphs.control_flow import convert_to_tensor
from graphc.graphs.session.graphs.graph import Graph, default_graph
from graphc.graphs.session.graphs.keys import GraphKeys
from graphc.graphs.session.graphs.tensor import GraphTensor
from graphc.library.formats import (
    histogram_message,
    merged,
    scalar_message,
)

__all__ = ["histogram", "merge", "merge_all", "scalar"]


def _one_string(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[GraphIR]) -> tuple[TensorType, ...]:
    del types, attrs, regions
    return (TensorType((), STRING),)


def _host_op(kind: str, function: Callable[..., bytes], params: tuple[str, ...], doc: str) -> OpDef:
    def implementation(*arrays: np.ndarray[Any, Any], **attrs: Any) -> np.ndarray[Any, Any]:
        return np.array(function(*arrays, **attrs), STRING)

    name = f"summary.{kind}"
    found = OpDef(name, implementation, _one_string, params, differentiable=False, takes_open=True, host=True, doc=doc)
    return OPS.add(name, found)


_SCALAR = _host_op("scalar", scalar_message, ("value",), "The summary of a number.")
_HISTOGRAM = _host_op("histogram", histogram_message, ("values",), "The summary of a distribution of values.")
_MERGE = _host_op("merge", merged, ("*summaries",), "One summary of several.")


def scalar(name: str, tensor: Any, collections: Sequence[str] | None = None, family: str | None = None) -> GraphTensor:
    """Makes an operation that returns the summary of a number.

    Args:
      name: the name of the operation; its full name is the tag in TensorBoard.
      tensor: the number.
      collections: the collections of the graph to add it to; ``GraphKeys.SUMMARIES`` if None.
      family: a prefix of the tag; TensorBoard groups the summaries of a family.

    Returns:
      A tensor of a string: the serialized message.

    Example:
      >>> from graphc.graphs.session import Graph, placeholder, summaries
      >>> with Graph().as_default():
      ...     loss = summaries.scalar("loss", placeholder("float32", (), name="x") * 2.0)
      >>> loss.name, loss.dtype
      ('loss:0', dtype('O'))
    """
    return _made(_SCALAR, name, tensor, collections, family)


def histogram(
    name: str, values: Any, collections: Sequence[str] | None = None, family: str | None = None
) -> GraphTensor:
    """Makes an operation that returns the summary of a distribution of values; see :func:`scalar`."""
    return _made(_HISTOGRAM, name, values, collections, family)


def _made(
    op: OpDef, name: str, tensor: Any, collections: Sequence[str] | None, family: str | None, **attrs: Any
) -> GraphTensor:
    graph = default_graph()
    with graph.making(f"{family}/{name}" if family else name):
        path = graph.trace.builder.scope.rstrip("/")
        tag = f"{family}/{path}" if family else path
        made: Any = graph.named(apply(op, (convert_to_tensor(tensor),), Attrs(tag=tag, **attrs)), name)
    graph.add_to_collections([GraphKeys.SUMMARIES] if collections is None else collections, made)
    return made


def merge(inputs: Sequence[Any], collections: Sequence[str] | None = None, name: str | None = None) -> GraphTensor:
    """Makes an operation that merges several summaries into one.

    Args:
      inputs: the tensors of their messages.
      collections: the collections of the graph to add it to; none if None.
      name: the name of the operation.

    Raises:
      InvalidArgumentError: there are none.
    """
    if not inputs:
        raise at(InvalidArgumentError("summary.merge: there are no summaries to merge"), user_location())
    graph = default_graph()
    with graph.making(name or "Merge/MergeSummary"):
        made: Any = graph.named(apply(_MERGE, tuple(inputs)), name or "Merge/MergeSummary")
    graph.add_to_collections(collections or [], made)
    return made


def merge_all(
    key: str = GraphKeys.SUMMARIES, scope: str | None = None, name: str | None = None, graph: Graph | None = None
) -> GraphTensor | None:
    """Makes an operation that merges all summaries in a collection of the graph; returns None if it is empty.

    Args:
      key: the collection.
      scope: a regular expression that their names begin with.
      name: the name of the operation.
      graph: the default graph if None.
    """
    found = (graph or default_graph()).get_collection(key, scope)
    return merge(found, name=name) if found else None
