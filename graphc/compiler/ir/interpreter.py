"""Walks over nodes: the interpreter evaluates a graph, the rewriter copies one with changes."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

from graphc.compiler.base import UniqueNames, errors
from graphc.compiler.ir.graph import Graph, Node, Value
from graphc.compiler.ir.opdef import OpDef
from graphc.compiler.ir.printer import print_node
from graphc.compiler.ir.types import Attrs, TensorType


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
    where = f"\n  {node.location}" if node.location is not None else ""
    return f"in the graph {graph.name!r}, node {print_node(node, locations=False)}{where}"


# Rewriting of a graph by a pass.


class Rewriter:
    """Collects the nodes of a new graph while it visits those of the old graph in order.

    Each node of the old graph is kept, replaced by a new node, merged into an earlier one, or dropped (by calling
    nothing for it).

    Args:
      graph: the graph to rewrite.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._nodes: list[Node] = []
        self._values: dict[Value, Value] = {}
        self._replaced: dict[Node, Node] = {}

    @cached_property
    def names(self) -> UniqueNames:
        """Provides names that no node of the old graph has."""
        return free_names(self._graph)

    def inputs(self, node: Node) -> tuple[Value, ...]:
        """Returns the new values for the inputs of an old node."""
        values = self._values
        if not values:
            return node.inputs
        return tuple([values.get(value, value) for value in node.inputs])

    def value(self, value: Value) -> Value:
        """Returns the new value for an old one."""
        return self._values.get(value, value)

    def controls(self, node: Node) -> tuple[Node, ...]:
        """Returns the new nodes for the control inputs of an old node, each once."""
        if not node.control_inputs or not self._replaced:
            return node.control_inputs
        return tuple(dict.fromkeys(self._replaced.get(control, control) for control in node.control_inputs))

    def current(self, node: Node) -> Node:
        """Returns the new node for an old one."""
        return self._replaced.get(node, node)

    def add(self, node: Node) -> None:
        """Appends a node that has no counterpart in the old graph."""
        self._nodes.append(node)

    def insert(
        self, op: OpDef, inputs: Sequence[Value], attrs: Attrs, type: TensorType, like: Node, name: str | None = None
    ) -> Value:
        """Appends a new node with one output, with the location and the device of an old node.

        Args:
          op: the op.
          inputs: values of the new graph.
          attrs: the attributes.
          type: of the output.
          like: the old node.
          name: the name that the node gets if it is free; the op's by default.

        Returns:
          The output.
        """
        new = Node(
            op, inputs, attrs, [type], device=like.device, name=self.names(name or op.name), location=like.location
        )
        self._nodes.append(new)
        return new.outputs[0]

    def keep(
        self, node: Node, *, regions: Sequence[Graph] | None = None, control_inputs: Iterable[Node] | None = None
    ) -> Node:
        """Appends a node with its inputs mapped.

        Args:
          node: a node of the old graph.
          regions: new regions in place of its own.
          control_inputs: nodes of the new graph, in place of its own control inputs.

        Returns:
          The node of the new graph: the same object if it did not change.
        """
        inputs = self.inputs(node)
        controls = self.controls(node) if control_inputs is None else tuple(control_inputs)
        bodies = node.regions if regions is None else tuple(regions)
        if inputs == node.inputs and controls == node.control_inputs and _same(bodies, node.regions):
            self._nodes.append(node)
            return node
        return self.replace(node, node.op, inputs, node.attrs, regions=bodies, control_inputs=controls)

    def replace(
        self,
        node: Node,
        op: OpDef,
        inputs: Sequence[Value],
        attrs: Attrs,
        *,
        regions: Sequence[Graph] = (),
        control_inputs: Iterable[Node] = (),
        device: str | None = None,
    ) -> Node:
        """Appends a new node in place of an old one, with its output types, name, location and device as defaults."""
        new = Node(
            op,
            inputs,
            attrs,
            [output.type for output in node.outputs],
            regions=regions,
            control_inputs=tuple(control_inputs),
            device=node.device if device is None else device,
            name=node.name,
            location=node.location,
        )
        self._nodes.append(new)
        self.merge(node, new)
        return new

    def merge(self, node: Node, into: Node) -> None:
        """Maps an old node to a node of the new graph, and appends nothing."""
        self._replaced[node] = into
        self._values.update(zip(node.outputs, into.outputs, strict=True))

    def substitute(self, values: Sequence[Value], new: Sequence[Value | None]) -> None:
        """Maps the outputs of an old node, which is not appended, to new values; None for unused outputs."""
        self._values.update({old: value for old, value in zip(values, new, strict=True) if value is not None})

    def finish(self) -> Graph:
        """Returns the new graph: the old one itself if nothing changed."""
        old = self._graph
        values = tuple([self._values.get(value, value) for value in old.outputs])
        if values == old.outputs and _same(self._nodes, old.nodes):
            return old
        return Graph(old.inputs, self._nodes, values, old.name)


def free_names(graph: Graph) -> UniqueNames:
    """Returns a source of names that no node of a graph has."""
    names = UniqueNames()
    for node in graph.nodes:
        names(node.name)
    return names


def map_regions(node: Node, function: Callable[[Graph], Graph]) -> tuple[Graph, ...]:
    """Returns the regions of a node, transformed by a function."""
    return tuple([function(region) for region in node.regions]) if node.regions else ()


def map_inside(graph: Graph, function: Callable[[Graph], Graph]) -> Graph:
    """Returns the graph with the regions of its nodes transformed by a function."""
    if not any(node.regions for node in graph.nodes):
        return graph
    rewriter = Rewriter(graph)
    for node in graph.nodes:
        rewriter.keep(node, regions=map_regions(node, function))
    return rewriter.finish()


def _same(first: Sequence[object], second: Sequence[object]) -> bool:
    return first is second or (len(first) == len(second) and all(map(operator.is_, first, second)))
