"""Graphs: inputs, nodes in an order that respects every edge, and outputs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from graphc.compiler.base import Registry
from graphc.compiler.base.errors import InvalidTypeError, ParseError
from graphc.compiler.ir.effects import Effect
from graphc.compiler.ir.node import Node, Value

__all__ = ["VIEWS", "Graph"]

VIEWS: Registry[Callable[..., Any]] = Registry("view of a graph")
"""The views of graphs that a higher layer registers: ``draw`` writes a file, ``notebook`` returns HTML."""


class Graph:
    """A computation as data; immutable: a pass takes a graph and returns a new one.

    Two graphs are equal when they are the same computation written the same way: equal ops, attributes, edges,
    control edges, devices, regions and types, in the same order. Names and source lines do not count.

    Attributes:
      name: the name shown to users.
      inputs: the tensors that the graph takes.
      nodes: the nodes, each after all those that it depends on.
      outputs: the tensors that it returns.
      caches: data that higher layers cache for this graph; not part of the computation.
    """

    __slots__ = ("__weakref__", "_hash", "caches", "inputs", "name", "nodes", "outputs")

    def __init__(
        self, inputs: Sequence[Value], nodes: Sequence[Node], outputs: Sequence[Value], name: str = "graph"
    ) -> None:
        put = object.__setattr__
        put(self, "name", name)
        put(self, "inputs", tuple(inputs))
        put(self, "nodes", tuple(nodes))
        put(self, "outputs", tuple(outputs))
        put(self, "caches", {})
        put(self, "_hash", None)

    name: str
    inputs: tuple[Value, ...]
    nodes: tuple[Node, ...]
    outputs: tuple[Value, ...]
    caches: dict[Any, Any]
    _hash: int | None

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(
            f"a Graph is frozen: cannot set {name!r}; build a new graph (graphc.compiler.ir.GraphBuilder)"
        )

    def __copy__(self) -> Graph:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Graph:
        return self

    def __reduce__(self) -> Any:
        from graphc.compiler.ir.parser import parse_graph

        text = str(self)
        try:
            parse_graph(text)
        except ParseError as error:
            raise InvalidTypeError(
                f"the graph {self.name!r} cannot be pickled, since its text does not parse back: {error}"
            ) from error
        return parse_graph, (text,)

    def users(self) -> dict[Value, list[Node]]:
        """Returns the users of each value, computed anew; unused values are absent."""
        index: dict[Value, list[Node]] = {}
        for node in self.nodes:
            for value in dict.fromkeys(node.inputs):
                index.setdefault(value, []).append(node)
        return index

    def walk(self) -> Iterator[Node]:
        """Yields all nodes, with those of regions after the node that holds them."""
        for node in self.nodes:
            yield node
            for region in node.regions:
                yield from region.walk()

    @property
    def effects(self) -> tuple[Effect, ...]:
        """Returns the graph's effects, each once, in order of first appearance."""
        return tuple(dict.fromkeys(effect for node in self.nodes for effect in node.effects))

    def draw(self, path: str | os.PathLike[str], *, limit: int | None = 150) -> Path:
        """Draws the graph into a file: nodes as boxes, with the bodies of loops and branches inside.

        Solid lines are values, dashed ones the order of effects. An HTML page can be zoomed, and shows details of each
        node.

        Args:
          path: the file; its suffix sets the format: ``.svg``, ``.html``, or ``.png``, ``.pdf`` and ``.jpg``, which
            need matplotlib.
          limit: the maximum number of nodes in a picture, including those of bodies; None for all. In a larger graph,
            large bodies and groups of nodes become single boxes, which an HTML page can open.

        Returns:
          The path.

        Raises:
          InvalidArgumentError: the suffix is not supported.
          FailedPreconditionError: matplotlib is not installed.

        Example:
          >>> import tempfile
          >>> import graphc as gx
          >>> graph = gx.function(lambda x: gx.sin(x) + 1).graph(gx.ones(3))
          >>> graph.draw(tempfile.mkdtemp() + "/graph.svg").name
          'graph.svg'
        """
        return VIEWS["draw"](self, path, limit=limit)

    def _repr_html_(self) -> str:
        return VIEWS["notebook"](self)

    def _key(self) -> tuple[Any, ...]:
        numbers: dict[Value, int] = {}
        for value in self.inputs:
            numbers[value] = len(numbers)
        positions: dict[Node, int] = {}
        rows: list[tuple[Any, ...]] = []
        for position, node in enumerate(self.nodes):
            positions[node] = position
            rows.append(
                (
                    node.op.name,
                    tuple(numbers[value] for value in node.inputs),
                    node.attrs,
                    tuple(output.type for output in node.outputs),
                    node.regions,
                    tuple(sorted(positions[control] for control in node.control_inputs)),
                    node.device,
                )
            )
            for output in node.outputs:
                numbers[output] = len(numbers)
        return tuple(value.type for value in self.inputs), tuple(rows), tuple(numbers[value] for value in self.outputs)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Graph):
            return NotImplemented
        return self is other or (len(self.nodes) == len(other.nodes) and self._key() == other._key())

    def __hash__(self) -> int:
        if self._hash is None:
            object.__setattr__(self, "_hash", hash(self._key()))
        assert self._hash is not None
        return self._hash

    def __str__(self) -> str:
        from graphc.compiler.ir.printer import print_graph

        return print_graph(self)

    def __repr__(self) -> str:
        types = ", ".join(str(value.type) for value in self.outputs)
        return f"<Graph {self.name}: {len(self.inputs)} inputs, {len(self.nodes)} nodes -> {types}>"
