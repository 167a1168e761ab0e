"""Parser for the text that the printer writes; :mod:`graphc.compiler.ir.printer` documents the grammar."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graphc.compiler.base import Location, deep_recursion
from graphc.compiler.ir.graph import Graph
from graphc.compiler.ir.lexer import Reader
from graphc.compiler.ir.node import Node, Value
from graphc.compiler.ir.opdef import OPS, OpDef
from graphc.compiler.ir.types import Attrs

__all__ = ["parse_graph"]


def parse_graph(text: str, ops: Mapping[str, OpDef] = OPS, literals: Mapping[str, Any] | None = None) -> Graph:
    """Returns the graph that a text describes; ``parse_graph(print_graph(g)) == g``.

    Types are taken from the text, not inferred again: :func:`graphc.compiler.ir.verify` does that.

    Args:
      text: the text of one graph, in the printer's grammar.
      ops: the known ops by name.
      literals: the arrays stored beside the text, by name.

    Raises:
      ParseError: the text does not follow the grammar, or names an op or value that does not exist; the message has the
        line, the column and the expected token.

    Example:
      >>> graph = parse_graph("graph same(%x: f32[2]) -> (f32[2]) { return %x }")
      >>> graph
      <Graph same: 1 inputs, 0 nodes -> f32[2]>
    """
    reader = Reader(text, literals or {})
    reader.word("graph")
    with deep_recursion():
        graph = _GraphParser(reader, ops).graph(reader.name())
    reader.end()
    return graph


class _GraphParser:
    """A parser for one graph; a region has its own, because it sees only its own inputs."""

    def __init__(self, reader: Reader, ops: Mapping[str, OpDef]) -> None:
        self._reader = reader
        self._ops = ops
        self._inputs: dict[str, Value] = {}
        self._nodes: dict[str, Node] = {}

    def graph(self, name: str) -> Graph:
        """Returns a graph with this name, from its signature, nodes and outputs."""
        reader = self._reader
        reader.word("(")
        reader.list(")", self._input)
        reader.word("->")
        place = reader.place
        types = reader.types()
        reader.word("{")
        while reader.peek() == "%":
            self._node()
        reader.word("return")
        outputs: list[Value] = []
        if reader.peek() == "%":
            outputs.append(self._use())
            while reader.accept(","):
                outputs.append(self._use())
        reader.word("}")
        found = [value.type for value in outputs]
        if found != types:
            reader.fail(f"the types of the graph's outputs, ({', '.join(map(str, found))})", place, "other types")
        return Graph(list(self._inputs.values()), list(self._nodes.values()), outputs, name)

    def _input(self) -> None:
        name = self._new_name()
        self._reader.word(":")
        self._inputs[name] = Value(self._reader.type(), None, len(self._inputs), name)

    def _new_name(self) -> str:
        self._reader.word("%")
        place = self._reader.place
        name = self._reader.name()
        if name in self._inputs or name in self._nodes:
            self._reader.fail("a name that is not taken", place)
        return name

    def _node(self) -> None:
        reader = self._reader
        name = self._new_name()
        reader.word(":")
        types = reader.types()
        reader.word("=")
        op = self._op()
        reader.word("(")
        inputs = reader.list(")", self._use)
        # "{" opens attributes or regions: "=" follows an attribute's name.
        attrs = self._attrs() if reader.peek() == "{" and reader.peek(2) == "=" else Attrs()
        device = reader.string() if reader.accept("@") else ""
        controls = self._controls() if reader.accept("after") else ()
        location = self._location() if reader.accept("loc") else None
        self._nodes[name] = Node(
            op,
            inputs,
            attrs,
            types,
            regions=self._regions(op) if reader.accept("{") else (),
            control_inputs=controls,
            device=device,
            name=name,
            location=location,
        )

    def _op(self) -> OpDef:
        place = self._reader.place
        name = self._reader.name()
        if name not in self._ops:
            self._reader.fail(f"the name of one of the {len(self._ops)} ops", place)
        return self._ops[name]

    def _use(self) -> Value:
        reader = self._reader
        reader.word("%")
        place = reader.place
        name = reader.name()
        if name in self._inputs:
            return self._inputs[name]
        node = self._nodes.get(name)
        if node is None:
            reader.fail("the name of an input or of a node above", place)
        if not reader.accept("#"):
            if len(node.outputs) != 1:
                reader.fail(f"'#' and which of the {len(node.outputs)} outputs of %{name}")
            return node.outputs[0]
        place = reader.place
        index = reader.integer()
        if not 0 <= index < len(node.outputs):
            reader.fail(f"an output of %{name}, which has {len(node.outputs)}", place)
        return node.outputs[index]

    def _attrs(self) -> Attrs:
        items: dict[str, Any] = {}

        def item() -> None:
            place = self._reader.place
            name = self._reader.name()
            if name in items:
                self._reader.fail("a new attribute name", place)
            self._reader.word("=")
            items[name] = self._reader.value()

        self._reader.word("{")
        self._reader.list("}", item)
        return Attrs(items)

    def _controls(self) -> Sequence[Node]:
        def control() -> Node:
            self._reader.word("%")
            place = self._reader.place
            node = self._nodes.get(self._reader.name())
            if node is None:
                self._reader.fail("the name of a node above", place)
            return node

        self._reader.word("(")
        return self._reader.list(")", control)

    def _location(self) -> Location:
        reader = self._reader
        reader.word("(")
        if reader.peek() != ":" or not reader.file:  # without a file it is that of the location before
            reader.file = reader.string()
        file = reader.file
        reader.word(":")
        line = reader.line()
        location = Location(file, line, reader.string()) if reader.accept("in") else Location(file, line)
        reader.word(")")
        return location

    def _regions(self, op: OpDef) -> list[Graph]:
        reader = self._reader
        regions: list[Graph] = []
        while not reader.accept("}"):
            place = reader.place
            label = reader.name()
            if label != op.region_label(len(regions)):
                reader.fail(f"the op's regions ({', '.join(op.regions)}) in order", place)
            name = reader.name() if reader.accept(":") else label
            with reader.inside():
                regions.append(_GraphParser(reader, self._ops).graph(name))
        return regions
