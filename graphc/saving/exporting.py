"""Graphs without references to this process, for files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import PurePath
from typing import Any

from graphc.compiler.base import Location, user_location
from graphc.compiler.base.errors import GraphcError, UnimplementedError
from graphc.compiler.ir import OPS, Attrs, Graph, Node, OpDef, TensorType, Value, has_text
from graphc.compiler.ops import is_row
from graphc.saving.programs import JAX_PROGRAM, ExportedProgram, exported, program_of
from graphc.saving.signature import Sizes
from graphc.training.optim import remade

# A graph without references to this process: Python objects in its nodes become files, or are refused.

_CALL_JAX, _UPDATE = "call_jax", "optim.update"
_COMPUTING = frozenset({
    "constant", "late", "late.constant", "shape_of", "size_of", "rank_of", "get_item", "update_item", "as_number",
    "bad_values",
    "cond", "switch", "first_true", "while", "scan", "vmap", "call", "call_status", "no_op", "together",
    "vjp", "jvp", "custom_gradient", "remat",
    "read_variable", "assign_variable", "optim.update",
    "replicas", "psum", "pmean", "pmax", "pmin", "all_gather", "all_to_all", "ppermute", "axis_index", "fold_in_axis",
    "losses.mean_squared_error", "losses.mean_absolute_error", "losses.huber", "losses.hinge",
    "losses.sigmoid_cross_entropy", "losses.softmax_cross_entropy", "losses.sparse_softmax_cross_entropy",
    "losses.reduced",
    "metrics.weighted", "metrics.matches", "metrics.above", "metrics.confusion", "metrics.add",
    "metrics.total", "metrics.ratio", "metrics.total_ratio",
})  # fmt: skip
"""Ops outside the op table that only compute, or read and assign Variables."""


def allowed(op: OpDef) -> bool:
    """Returns True for an op that a saved graph may have: it computes, and has no effect on the world."""
    # The rows of the op table are JAX functions; other allowed ops are listed here.
    if op is JAX_PROGRAM:
        return True
    return op.name in OPS and OPS[op.name] is op and not op.host and (op.name in _COMPUTING or is_row(op.name))


class Portable:
    """Makes graphs portable. ``rows``: for each value with open sizes, its types in the traces."""

    def __init__(self, name: str, rows: Mapping[Value, Sequence[TensorType]], sizes: Sequence[Sizes]) -> None:
        self._name = name
        self._rows = rows
        self._sizes = sizes
        self.programs: dict[str, ExportedProgram] = {}

    def graph(self, graph: Graph) -> Graph:
        """Returns the graph without references to this process, and without the folders of its source files."""
        return mapped(graph, self._node, locate=_without_folder)

    def _node(self, node: Node) -> tuple[OpDef, Attrs]:
        op, attrs = node.op, node.attrs
        if op.name == "vjp":
            inner = self._applied(node, OPS[attrs["op"]], Attrs(dict(attrs["attrs"])))
            if inner is not None:
                return op, Attrs({**attrs, "op": inner[0].name, "attrs": tuple(sorted(inner[1].items()))})
        elif (applied := self._applied(node, op, attrs)) is not None:
            return applied
        inner_op = OPS[attrs["op"]] if op.name == "vjp" else op
        if not allowed(op) or not allowed(inner_op):
            raise self._refusal(node, f"{inner_op.name} is part of this process, or of the world around it")
        for name, value in attrs.items():
            if not has_text(value):
                raise self._refusal(node, f"the attribute {name!r} of {op.name} is a Python object ({value!r:.60})")
        return op, attrs

    def _applied(self, node: Node, op: OpDef, attrs: Attrs) -> tuple[OpDef, Attrs] | None:
        """Returns the replacement of a call of a JAX function; None for another op."""
        if op is JAX_PROGRAM:  # of a function that was loaded
            self.programs[attrs["program"]] = program_of(attrs["program"])
        if op.name == _CALL_JAX:
            return self._exported(node, attrs["function"], differentiable=True)
        if op.name == _UPDATE and remade(attrs["transformation"]) != attrs["transformation"]:
            return self._exported(node, partial(op.impl, **attrs), differentiable=False)
        return None

    def _exported(self, node: Node, function: Any, *, differentiable: bool) -> tuple[OpDef, Attrs]:
        count = len(node.inputs) - sum(node.attrs["cotangents"]) if node.op.name == "vjp" else len(node.inputs)
        rows = [self._rows.get(value, [value.type]) for value in node.inputs[:count]]
        longest = max(map(len, rows), default=1)
        rows = [row if len(row) == longest else [row[0]] * longest for row in rows]
        try:
            program = exported(function, rows, self._sizes if longest > 1 else (), differentiable=differentiable)
        except Exception as error:
            reason = str(error).partition("\n")[0]
            raise self._refusal(node, f"JAX does not export {getattr(function, '__qualname__', node.op.name)}: {reason}"
                                ) from error  # fmt: skip
        self.programs[program.name] = program
        return JAX_PROGRAM, Attrs(program=program.name)

    def _refusal(self, node: Node, why: str) -> GraphcError:
        return UnimplementedError(
            f"gx.save: {self._name} cannot be saved: {why}; a file holds only graphs and arrays. Move it out of the "
            "function, and do it outside of the call"
        ).at(node.location or user_location())


def _without_folder(location: Location | None) -> Location | None:
    return None if location is None else replace(location, file=PurePath(location.file).name)


def mapped(
    graph: Graph, change: Callable[[Node], tuple[OpDef, Attrs]], *, pinned: bool = True,
    locate: Callable[[Location | None], Location | None] = lambda location: location,
) -> Graph:  # fmt: skip
    """Returns a graph with other ops and attributes, also in its bodies; ``locate`` returns the new lines of nodes."""
    copies: dict[Value, Value] = {}
    nodes: dict[Node, Node] = {}
    inputs = [Value(value.type, None, value.index, value.name) for value in graph.inputs]
    copies.update(zip(graph.inputs, inputs, strict=True))
    for node in graph.nodes:
        op, attrs = change(node)
        new = nodes[node] = Node(
            op, [copies[value] for value in node.inputs], attrs, [output.type for output in node.outputs],
            regions=[mapped(region, change, pinned=pinned, locate=locate) for region in node.regions],
            control_inputs=[nodes[control] for control in node.control_inputs], device=node.device if pinned else "",
            name=node.name, location=locate(node.location),
        )  # fmt: skip
        copies.update(zip(node.outputs, new.outputs, strict=True))
    return Graph(inputs, list(nodes.values()), [copies[value] for value in graph.outputs], graph.name)


def renamed(graph: Graph, names: Mapping[str, str]) -> Graph:
    """Returns a graph with other names for its Variables."""

    def change(node: Node) -> tuple[OpDef, Attrs]:
        attrs = dict(node.attrs)
        if "variable" in attrs:
            attrs["variable"] = names[attrs["variable"]]
        if "assigned" in attrs:
            attrs["assigned"] = tuple([names.get(name, name) for name in attrs["assigned"]])
        return node.op, Attrs(attrs)

    return mapped(graph, change)
