"""A graph without nesting: a row for each node, input and output, bodies in scopes, for tools that know no bodies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from graphc.compiler.ir import Graph, Node, TensorType, Value, print_value
from graphc.tools.drawing import path_of

__all__ = ["Row", "rows_of"]

_LONG = 200
"""So many characters of an attribute are told."""


@dataclass(frozen=True)
class Row:
    """A node, an input of a graph or an output of the whole.

    Attributes:
      name: unique: scopes and its own name, with slashes between. A node that has bodies is in its own scope.
      op: what it is, ``input`` and ``output`` included.
      inputs: the rows that it takes values of, each with the number of the output.
      controls: the names of rows that run first.
      types: of its outputs.
      node: the node; None for inputs and outputs.
    """

    name: str
    op: str
    inputs: tuple[tuple[str, int], ...]
    controls: tuple[str, ...]
    types: tuple[TensorType, ...]
    node: Node | None = None

    @property
    def scope(self) -> str:
        """Returns what its name begins with, without the last slash."""
        return self.name.rpartition("/")[0]

    @property
    def label(self) -> str:
        """The last part of its name."""
        return self.name.rpartition("/")[2]

    def facts(self) -> Iterator[tuple[str, str]]:
        """Yields what else there is to say: attributes, device, line."""
        if self.node is None:
            return
        for name, value in self.node.attrs.items():
            text = print_value(value)
            yield name, text if len(text) <= _LONG else f"{text[:_LONG]}…"
        if self.node.device:
            yield "device", self.node.device
        if self.node.location is not None:
            yield "line", f"{self.node.location.short} in {self.node.location.function}"


def rows_of(graph: Graph) -> list[Row]:
    """Returns the rows of a graph; each comes after those that it takes values of, loops counted once."""
    found = list(_rows(graph, "", {}))
    for index, value in enumerate(graph.outputs):
        names = {id(row.node): row.name for row in found if row.node is not None}
        found.append(Row(f"return_{index}", "output", (_source(value, "", names),), (), (value.type,)))
    return found


def _rows(graph: Graph, scope: str, given: dict[int, tuple[str, int]]) -> Iterator[Row]:
    """Yields the rows of a graph whose inputs, by their places, are values of other rows."""
    for value in graph.inputs:
        source = given.get(value.index)
        yield Row(_input_name(value, scope), "input", (source,) if source else (), (), (value.type,))
    names: dict[int, str] = {}
    for node in graph.nodes:
        inputs = [_source(value, scope, names) for value in node.inputs]
        controls = tuple(names[id(control)] for control in node.control_inputs)
        types = tuple(value.type for value in node.outputs)
        if not node.regions:
            names[id(node)] = path_of(scope, node)
            yield Row(names[id(node)], node.op.name, tuple(inputs), controls, types, node)
            continue
        names[id(node)] = f"{path_of(scope, node)}/{node.op.name}"
        taken: set[int] = set()
        results: list[tuple[str, int]] = []
        for index, entries in enumerate(_entries(node)):
            inner = f"{path_of(scope, node, index)}/"
            places = {number: place for number, place in enumerate(entries) if place is not None}
            taken |= set(places.values())
            body = list(_rows(node.regions[index], inner, {number: inputs[at] for number, at in places.items()}))
            yield from body
            inside = {id(row.node): row.name for row in body if row.node is not None}
            results += [_source(value, inner, inside) for value in node.regions[index].outputs]
        rest = [source for place, source in enumerate(inputs) if place not in taken]
        yield Row(names[id(node)], node.op.name, (*rest, *results), controls, types, node)


def _entries(node: Node) -> list[Sequence[int | None]]:
    """For each region the places of the op's inputs that its inputs are."""
    if node.op.name in ("scan", "while"):  # what they carry comes from their inputs, too, in the first iteration
        skipped: list[int | None] = [None] * (node.op.name == "scan")  # the index
        return [[*skipped, *range(len(node.inputs))] for _ in node.regions]
    if node.op.entries is None:
        return [[None] * len(region.inputs) for region in node.regions]
    found = node.op.entries([value.type for value in node.inputs], node.attrs, node.regions)
    return [[place for _, place in entries] for entries in found]


def _source(value: Value, scope: str, names: dict[int, str]) -> tuple[str, int]:
    if value.node is None:
        return _input_name(value, scope), 0
    return names[id(value.node)], value.index


def _input_name(value: Value, scope: str) -> str:
    return f"{scope}{value.name or f'arg{value.index}'}.in"
