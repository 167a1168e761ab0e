"""Interpreter: runs a graph node by node.

Evaluation, lowering and analysis share one interpreter: a subclass overrides :meth:`Interpreter.run_node` to give nodes
its meaning. Values are released after their last use.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from graphc.compiler.base import errors
from graphc.compiler.ir.graph import Graph, Node, Value
from graphc.compiler.ir.printer import print_node

__all__ = ["Interpreter"]


class Interpreter:
    """Evaluates a graph by calling the ``impl`` of each op.

    Args:
      graph: the graph to run; it is not verified here.

    Example:
      >>> import numpy as np
      >>> from graphc.compiler.ir import CONSTANT, Attrs, GraphBuilder, Literal
      >>> builder = GraphBuilder()
      >>> node = builder.append(CONSTANT, (), Attrs(value=Literal(np.float32(42))))
      >>> [value.item() for value in Interpreter(builder.build(node.outputs)).run()]
      [42.0]
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._dying = _last_uses(graph)

    def run(self, *inputs: Any) -> tuple[Any, ...]:
        """Runs the graph.

        Args:
          *inputs: one value for each input of the graph.

        Returns:
          One value for each output of the graph.

        Raises:
          InvalidArgumentError: the number of inputs is wrong.
          Exception: the error of a node, with a note that has the printed node and the user's line.
        """
        graph = self.graph
        if len(inputs) != len(graph.inputs):
            raise errors.InvalidArgumentError(
                f"the graph {graph.name!r} takes {len(graph.inputs)} inputs, got {len(inputs)}"
            )
        environment: dict[Value, Any] = dict(zip(graph.inputs, inputs, strict=True))
        del inputs
        node = None
        try:
            for node, dying in zip(graph.nodes, self._dying, strict=True):
                results = self.run_node(node, [environment[value] for value in node.inputs])
                outputs = node.outputs
                if len(outputs) == 1 and len(results) == 1:
                    environment[outputs[0]] = results[0]
                else:
                    environment.update(zip(outputs, _checked(node, results), strict=True))
                for value in dying:
                    del environment[value]
        except Exception as error:
            if node is not None:
                error.add_note(_note(graph, node))
            raise
        return tuple([environment[value] for value in graph.outputs])

    def run_node(self, node: Node, inputs: list[Any]) -> Sequence[Any]:
        """Evaluates a node; subclasses override it to give nodes another meaning.

        Args:
          node: the node.
          inputs: one value for each input of the node.

        Returns:
          One value for each output of the node.
        """
        if node.regions:
            regions = node.op.region_keywords([self.region(graph) for graph in node.regions])
            result = node.op.impl(*inputs, **node.attrs, **regions)
        else:
            result = node.op.impl(*inputs, **node.attrs)
        if isinstance(result, (tuple, list)):
            return result  # pyright: ignore[reportUnknownVariableType]
        return () if result is None and not node.outputs else (result,)

    def region(self, graph: Graph) -> Callable[..., tuple[Any, ...]]:
        """Returns a function that runs a region of one of the graph's nodes: ``(*values) -> tuple``.

        A subclass whose constructor takes further arguments overrides this and passes them on.
        """
        return type(self)(graph).run


def _last_uses(graph: Graph) -> list[tuple[Value, ...]]:
    """Returns, for each node, the values that are not needed after it, including its unused outputs."""
    dying: list[tuple[Value, ...]] = []
    seen: set[Value] = set(graph.outputs)
    for node in reversed(graph.nodes):
        last: list[Value] = []
        for value in (*node.outputs, *node.inputs):
            if value not in seen:
                seen.add(value)
                last.append(value)
        dying.append(tuple(last))
    dying.reverse()
    return dying


def _checked(node: Node, results: Sequence[Any]) -> Sequence[Any]:
    if len(results) != len(node.outputs):
        raise errors.InternalError(
            f"the op {node.op.name!r} returned {len(results)} values for {len(node.outputs)} outputs"
        )
    return results


def _note(graph: Graph, node: Node) -> str:
    place = f"\n  {node.location}" if node.location is not None else ""
    return f"in the graph {graph.name!r}, node {print_node(node, locations=False)}{place}"
