"""The verifier: checks that a graph follows the rules of the intermediate representation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any
from weakref import WeakSet

import numpy as np

from graphc.compiler.base import errors
from graphc.compiler.ir.device import DeviceSpec
from graphc.compiler.ir.graph import Graph, Node, Value
from graphc.compiler.ir.opdef import Effect, infer_types
from graphc.compiler.ir.printer import print_node
from graphc.compiler.ir.types import OPEN, TensorType

_MOST_BYTES = 2**63 - 1
"""Maximum number of addressable bytes."""


def verify(graph: Graph) -> None:
    """Checks a graph and its regions.

    A valid graph has these properties: every value is defined once, in this graph, before it is used; regions see only
    their own inputs; control inputs come earlier in the order; node names are unique; each node has the inputs, regions
    and output types of its op's row, with the types checked by inference; resources that it reads and writes have
    names; its device is well formed; known sizes are nonnegative, and tensors small enough to be addressable.

    Raises:
      VerificationError: a rule is broken; the message has the graph, the printed node and the user's line.
    """
    if verify not in graph.caches:
        _GraphCheck(graph).run()
        graph.caches[verify] = True


# Nodes and graphs are immutable, and passes keep most of them: each is checked once.
_checked: WeakSet[Node] = WeakSet()


class _GraphCheck:
    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._defined: set[Value] = set()
        self._done: set[Node] = set()
        self._names: set[str] = set()

    def run(self) -> None:
        graph = self._graph
        for index, value in enumerate(graph.inputs):
            if value.node is not None or value.index != index:
                raise self._error(f"input {index} is {value!r}, not an input of the graph with this index")
            self._define(value, None)
        for node in graph.nodes:
            self._check_edges(node)
            if node not in _checked:
                _check_op(self._graph, node)
                _checked.add(node)
            for region in node.regions:
                verify(region)
            if node.name in self._names:
                raise self._error(f"two nodes are named {node.name!r}", node)
            self._names.add(node.name)
            self._done.add(node)
            for index, output in enumerate(node.outputs):
                if output.node is not node or output.index != index:
                    raise self._error(f"output {index} claims to be {output!r}", node)
                self._define(output, node)
        for index, value in enumerate(graph.outputs):
            if value not in self._defined:
                raise self._error(f"output {index}, {value!r}, is not defined in this graph")

    def _define(self, value: Value, node: Node | None) -> None:
        # A value is not defined twice: its node appears once, by name, and holds the value's index.
        problem = _type_problem(value.type)
        if problem:
            raise self._error(f"{value!r} has {problem}", node)
        self._defined.add(value)

    def _check_edges(self, node: Node) -> None:
        for index, value in enumerate(node.inputs):
            if value not in self._defined:
                raise self._error(f"input {index}, {value!r}, is not defined before it is used in this graph", node)
        for control in node.control_inputs:
            if control not in self._done:
                raise self._error(f"the control input {control.name!r} does not come earlier in this graph", node)

    def _error(self, problem: str, node: Node | None = None) -> errors.VerificationError:
        return _error(self._graph, problem, node)


def _check_op(graph: Graph, node: Node) -> None:
    op = node.op
    problem = _count_problem("inputs", op.params, len(node.inputs))
    problem = problem or _count_problem("regions", op.regions, len(node.regions))
    if problem:
        raise _error(graph, problem, node)
    types = [value.type for value in node.inputs]
    try:
        inferred = infer_types(op, types, node.attrs, node.regions)
        problem = op.verify(node) if op.verify is not None else None
        effects = op.effects(node.attrs)
    except Exception as error:
        raise _error(graph, f"the op's own check fails: {type(error).__name__}: {error}", node) from error
    actual = tuple(output.type for output in node.outputs)
    if inferred != actual:
        raise _error(graph, f"the outputs are {_list(actual)}, but inference returns {_list(inferred)}", node)
    problem = problem or _name_problem(effects) or _device_problem(node.device)
    if problem:
        raise _error(graph, problem, node)


def _name_problem(effects: Sequence[Effect]) -> str | None:
    for effect in effects:
        if not isinstance(effect.resource, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            return f"a resource that it reads or writes is named {effect.resource!r:.60}, which is not a string"
    return None


def _device_problem(device: str) -> str | None:
    try:
        DeviceSpec.parse(device)
    except errors.InvalidArgumentError as error:
        return str(error).partition("\n")[0]
    return None


def _count_problem(what: str, names: Sequence[str], count: int) -> str | None:
    least = sum(not name.startswith("*") for name in names)
    if count == least or (count > least and least < len(names)):
        return None
    return f"the op takes {what} ({', '.join(names)}), but the node has {count}"


def _type_problem(type: Any) -> str | None:
    if not isinstance(type, TensorType):
        return f"the type {type!r}, which is not a TensorType"
    if not isinstance(type.dtype, np.dtype):  # pyright: ignore[reportUnnecessaryIsInstance]
        return f"the dtype {type.dtype!r}, which is not a NumPy dtype"
    if not all(isinstance(size, int) and (size >= 0 or size == OPEN) for size in type.shape):  # pyright: ignore[reportUnnecessaryIsInstance]
        return f"the shape {type.shape!r}, whose sizes are not all nonnegative integers or open"
    if not type.ranked and type.shape:
        return f"the shape {type.shape!r}, but its number of axes is marked unknown"
    if math.prod([size for size in type.shape if size != OPEN]) * type.dtype.itemsize > _MOST_BYTES:
        return f"the type {type}, which is larger than any memory"
    return None


def _list(types: Sequence[TensorType]) -> str:
    return f"({', '.join(map(str, types))})"


def _error(graph: Graph, problem: str, node: Node | None) -> errors.VerificationError:
    if node is None:
        return errors.VerificationError(f"the graph {graph.name!r} is not valid: {problem}")
    line = print_node(node, locations=False)
    message = f"the graph {graph.name!r} is not valid: {problem}\n  in {line}"
    return errors.VerificationError(message).at(node.location)
