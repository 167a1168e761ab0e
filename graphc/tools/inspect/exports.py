"""Graphs in the forms that other tools read: Graphviz, TensorBoard, Model Explorer, JAX."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax

from graphc.compiler.core import Variable
from graphc.compiler.ir import Graph, Node, TensorType, Value, print_value
from graphc.compiler.lowering import lower
from graphc.library.formats import message, shape_message, tensorboard
from graphc.tools.drawing import colours_of, kind_of

# A graph without nesting: a row for each node, input and output, bodies in scopes, for tools that know no bodies.

_LONG = 200
"""So many characters of an attribute are told."""


@dataclass(frozen=True)
class ListedNode:
    """A node, an input of a graph or an output of the whole."""

    name: str  # unique: scopes and its own name, with slashes between; a node with bodies is in its own scope
    op: str
    inputs: tuple[tuple[str, int], ...]  # the rows that it takes values of, each with the number of the output
    controls: tuple[str, ...]  # the rows that run first
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


def rows_of(graph: Graph) -> list[ListedNode]:
    """Returns the rows of a graph; each comes after those that it takes values of, loops counted once."""
    rows = list(_rows(graph, "", {}))
    for index, value in enumerate(graph.outputs):
        names = {id(row.node): row.name for row in rows if row.node is not None}
        rows.append(ListedNode(f"return_{index}", "output", (_source(value, "", names),), (), (value.type,)))
    return rows


def _rows(graph: Graph, scope: str, sources: dict[int, tuple[str, int]]) -> Iterator[ListedNode]:
    """Yields the rows of a graph whose inputs, by their places, are values of other rows."""
    for value in graph.inputs:
        source = sources.get(value.index)
        yield ListedNode(_input_name(value, scope), "input", (source,) if source else (), (), (value.type,))
    names: dict[int, str] = {}
    for node in graph.nodes:
        inputs = [_source(value, scope, names) for value in node.inputs]
        controls = tuple(names[id(control)] for control in node.control_inputs)
        types = tuple(value.type for value in node.outputs)
        if not node.regions:
            names[id(node)] = node.path(scope)
            yield ListedNode(names[id(node)], node.op.name, tuple(inputs), controls, types, node)
            continue
        names[id(node)] = f"{node.path(scope)}/{node.op.name}"
        taken: set[int] = set()
        results: list[tuple[str, int]] = []
        for index, entries in enumerate(_entries(node)):
            inner = f"{node.path(scope, index)}/"
            mapped = {number: entry for number, entry in enumerate(entries) if entry is not None}
            taken |= set(mapped.values())
            body = list(_rows(node.regions[index], inner, {number: inputs[at] for number, at in mapped.items()}))
            yield from body
            inside = {id(row.node): row.name for row in body if row.node is not None}
            results += [_source(value, inner, inside) for value in node.regions[index].outputs]
        rest = [source for entry, source in enumerate(inputs) if entry not in taken]
        yield ListedNode(names[id(node)], node.op.name, (*rest, *results), controls, types, node)


def _entries(node: Node) -> list[Sequence[int | None]]:
    """For each region the places of the op's inputs that its inputs are."""
    if node.op.name in ("scan", "while"):  # what they carry comes from their inputs, too, in the first iteration
        skipped: list[int | None] = [None] * (node.op.name == "scan")  # the index
        return [[*skipped, *range(len(node.inputs))] for _ in node.regions]
    if node.op.entries is None:
        return [[None] * len(region.inputs) for region in node.regions]
    regions = node.op.entries([value.type for value in node.inputs], node.attrs, node.regions)
    return [[target for _, target in entries] for entries in regions]


def _source(value: Value, scope: str, names: dict[int, str]) -> tuple[str, int]:
    if value.node is None:
        return _input_name(value, scope), 0
    return names[id(value.node)], value.index


def _input_name(value: Value, scope: str) -> str:
    return f"{scope}{value.name or f'arg{value.index}'}.in"


# Graphs in the language of Graphviz.


def to_dot(graph: Graph) -> str:
    r"""Returns a graph in Graphviz's language, bodies of loops and branches as clusters; ``dot -Tsvg`` draws it."""
    rows = rows_of(graph)
    return "\n".join([f"digraph {json.dumps(graph.name)} {{", *_body(rows), "}"])


def _body(rows: list[ListedNode]) -> Iterator[str]:
    yield '  node [shape=box, style="rounded,filled", fontname="monospace", fontsize=10];'
    scopes: dict[str, list[ListedNode]] = {}
    for row in rows:
        scopes.setdefault(row.scope, []).append(row)
    for scope in list(scopes):  # those that hold nothing but others
        parts = scope.split("/")
        for end in range(1, len(parts)):
            scopes.setdefault("/".join(parts[:end]), [])
    yield from _scope("", scopes, "  ")
    for row in rows:
        for name, _ in dict.fromkeys(row.inputs):
            yield f"  {json.dumps(name)} -> {json.dumps(row.name)};"
        for name in row.controls:
            yield f'  {json.dumps(name)} -> {json.dumps(row.name)} [style=dashed, color="#d97706"];'


def _scope(scope: str, scopes: dict[str, list[ListedNode]], indent: str) -> Iterator[str]:
    for row in scopes.get(scope, ()):
        fill, edge = colours_of(row.op if row.node is None else kind_of(row.node))
        text = "\n".join([row.label.removesuffix(".in"), ", ".join(map(str, row.types))]).strip()
        yield f'{indent}{json.dumps(row.name)} [label={json.dumps(text)}, fillcolor="{fill}", color="{edge}"];'
    for inner in scopes:
        if inner and inner.rpartition("/")[0] == scope:
            yield f"{indent}subgraph {json.dumps(f'cluster_{inner}')} {{"
            yield f'{indent}  label={json.dumps(inner.rpartition("/")[2])}; color="#9333ea"; style=rounded;'
            yield from _scope(inner, scopes, indent + "  ")
            yield f"{indent}}}"


# Graphs for Model Explorer (https://github.com/google-ai-edge/model-explorer).


def to_model_explorer(graph: Graph) -> str:
    """Returns a graph as a collection of Model Explorer's, in JSON; bodies of loops and branches are its layers."""
    nodes = [_node(row) for row in rows_of(graph)]
    return json.dumps({"label": graph.name, "graphs": [{"id": graph.name, "nodes": nodes}]}, indent=1)


def _node(row: ListedNode) -> dict[str, Any]:
    edges = [
        {"sourceNodeId": name, "sourceNodeOutputId": str(output), "targetNodeInputId": str(number)}
        for number, (name, output) in enumerate(row.inputs)
    ]
    edges += [
        {"sourceNodeId": name, "sourceNodeOutputId": "control", "targetNodeInputId": f"control {number}"}
        for number, name in enumerate(row.controls)
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


# The programs that JAX and XLA get for a graph.


def to_jaxpr(graph: Graph, variables: dict[str, Variable]) -> str:
    """Returns JAX's program for a graph as a jaxpr; values of Variables come first."""
    function, shapes = _program(graph, variables)
    return str(jax.make_jaxpr(function)(*shapes))


def to_stablehlo(graph: Graph, variables: dict[str, Variable]) -> str:
    """Returns the StableHLO module that XLA compiles for a graph; see :func:`to_jaxpr`."""
    function, shapes = _program(graph, variables)
    named: Any = jax.jit(function)
    return named.lower(*shapes).as_text()


def _program(graph: Graph, variables: dict[str, Variable]) -> tuple[Any, list[Any]]:
    lowered = lower(graph)
    types = [variables[name].type for name in lowered.variables] + [value.type for value in graph.inputs]
    return lowered.function, [jax.ShapeDtypeStruct(type.shape, type.dtype, weak_type=type.weak) for type in types]


# Graphs for TensorBoard's graph dashboard.

_UNSAFE = re.compile(r"[^A-Za-z0-9_.\\/-]")


def write_tensorboard(graph: Graph, folder: Path) -> Path:
    """Writes an event file with a graph, for ``tensorboard --logdir FOLDER``; bodies are name scopes."""
    writer = tensorboard("summary.writer.event_file_writer").EventFileWriter(str(folder))
    writer.add_event(message("Event")(wall_time=time.time(), graph_def=graph_def(graph).SerializeToString()))
    writer.close()
    return folder


def graph_def(graph: Graph) -> Any:
    """Returns a graph as TensorBoard's message."""
    return message("GraphDef")(node=[_tensorboard_node(row) for row in rows_of(graph)])


def _tensorboard_node(row: ListedNode) -> Any:
    inputs = [f"{_safe(name)}:{output}" if output else _safe(name) for name, output in row.inputs]
    inputs += [f"^{_safe(name)}" for name in row.controls]
    device = "" if row.node is None else row.node.device
    definition = message("NodeDef")(name=_safe(row.name), op=row.op, input=inputs, device=device)
    definition.attr["_output_shapes"].list.shape.extend([shape_message(type) for type in row.types])
    for name, text in (*row.facts(), ("types", ", ".join(map(str, row.types)))):
        definition.attr[name].s = text.encode()
    return definition


def _safe(name: str) -> str:
    """Returns a name of the characters that TensorBoard takes."""
    return _UNSAFE.sub("_", name)
