"""Operations of queues in graphs built by hand, and in compiled functions."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from graphc.compiler.core import apply
from graphc.compiler.ir import Attrs, OpDef
from graphc.compiler.tracing import current_trace, graph_by_hand

__all__ = ["GraphByHand", "emit", "graph_here"]


class GraphByHand(Protocol):
    """The interface of a graph built by hand that queues need; its class is in a layer above."""

    @property
    def current_container(self) -> str:
        """The current container."""
        ...

    def making(self, name: str | None) -> AbstractContextManager[None]:
        """Makes ops inside the scope under one name."""
        ...

    def named(self, result: Any, name: str | None) -> Any:
        """Gives the result itself the name."""
        ...

    def name_scope(self, name: str | None) -> AbstractContextManager[str]:
        """Adds a prefix to the names of ops made inside, and yields it."""
        ...

    def operation_of(self, node: Any) -> Any:
        """Returns the operation of a node."""
        ...


def graph_here() -> GraphByHand | None:
    """Returns the graph that is being built by hand here; None if there is none."""
    trace: Any = graph_by_hand()
    return None if trace is None else trace.graph


def emit(graph: GraphByHand | None, op: OpDef, inputs: Sequence[Any], attrs: Attrs, name: str) -> Any:
    """Applies an op, under its own name in a graph.

    Returns:
      The op's results; in a graph, an op without results returns its operation.
    """
    if graph is None:
        return apply(op, inputs, attrs)
    with graph.making(name):
        result = apply(op, inputs, attrs)
        if result is None:
            result = graph.operation_of(current_trace().builder.nodes[-1])
        return graph.named(result, name)
