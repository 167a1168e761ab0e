"""Specialization of a graph with open types for the types of one run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphc.compiler.base import deep_recursion
from graphc.compiler.base.errors import GraphcError, InvalidArgumentError
from graphc.compiler.ir.graph import Graph, Node, Value
from graphc.compiler.ir.opdef import (
    CONSTANT,
    LATE,
    LATE_CONSTANT,
    OPS,
    Entry,
    OpDef,
    applied,
    infer_types,
    late_inputs,
    static_ints,
)
from graphc.compiler.ir.open_inference import compatible_shapes
from graphc.compiler.ir.shape_ops import SHAPE_FACTS, shape_fact
from graphc.compiler.ir.types import Attrs, Literal, TensorType

Evaluate = Callable[[OpDef, Sequence[np.ndarray[Any, Any]], Attrs], Sequence[Any]]
"""Runs an op on arrays."""

_LATE = (LATE, LATE_CONSTANT)


class NotSpecializedError(InvalidArgumentError):
    """Raised if a graph is not one program for a run's types: shapes change in it, or depend on computed values."""


def specialize(
    graph: Graph,
    input_types: Sequence[TensorType],
    evaluate: Evaluate,
    values: Mapping[int, np.ndarray[Any, Any]] | None = None,
    *,
    partial: bool = False,
) -> Graph:
    """Returns the graph for inputs of these types, with all other types inferred anew.

    Names, source lines, devices, control edges and bodies stay. Late nodes become ordinary nodes; nodes that compute
    shapes become constants.

    Args:
      graph: the graph to specialize.
      input_types: the type of each of its inputs.
      evaluate: runs an op on arrays, to compute the parts of shapes.
      values: the values of some inputs, by position; shapes may depend on these, see :func:`shape_inputs`.
      partial: whether types may stay open and nodes late, since only a part of the graph is known.

    Raises:
      InvalidArgumentError: a type does not fit its input, or shapes do not fit each other; the message has the line.
      NotSpecializedError: the values of a loop change their shapes, branches return different ones, or a shape depends
        on values that are not given.
    """
    if len(input_types) != len(graph.inputs):
        raise InvalidArgumentError(f"got {len(input_types)} types for the {len(graph.inputs)} inputs of {graph.name!r}")
    for value, type in zip(graph.inputs, input_types, strict=True):
        if not _is_dtype(type, value.type) or not compatible_shapes(type, value.type):
            raise InvalidArgumentError(f"the input {value.name or value.index} is {value.type}, got {type}")
    arrays = {index: np.asarray(array) for index, array in (values or {}).items()}
    with deep_recursion():
        return _Specialized(graph, input_types, evaluate, arrays, partial).graph()


def _is_dtype(actual: TensorType, wanted: TensorType) -> bool:
    """Returns True if a dtype is acceptable; the host provides 64 bits where devices may use 32."""
    one, other = actual.dtype, wanted.dtype
    return one == other or (one.kind == other.kind and one.kind in "iufc" and 2 * one.itemsize == other.itemsize >= 8)


def is_open(graph: Graph) -> bool:
    """Returns True if a graph must be specialized before it is compiled: a type is open, or a node late."""
    if any(value.type.is_open for value in graph.inputs):
        return True
    return any(
        _late_in(node.op, node.attrs) is not None or any(output.type.is_open for output in node.outputs)
        for node in graph.walk()
    )


def _late_in(op: OpDef, attrs: Attrs) -> tuple[Attrs, int] | None:
    """Returns a late node's attributes, also for its gradient, and the number of inputs after its own."""
    more = 0
    while op.name == "vjp":
        more += sum(attrs["cotangents"])
        op, attrs = OPS[attrs["op"]], Attrs(dict(attrs["attrs"]))
    return (attrs, more) if op in _LATE else None


def shape_inputs(graph: Graph) -> tuple[int, ...]:
    """Returns the positions of the graph's inputs on whose values, not only types, shapes depend."""
    wanted: set[Value] = set()
    for node in reversed(graph.nodes):
        if any(output in wanted for output in node.outputs) and node.op not in SHAPE_FACTS:
            wanted.update(node.inputs)
        wanted.update(_shape_values(node))
    return tuple([value.index for value in graph.inputs if value in wanted])


def _shape_values(node: Node) -> list[Value]:
    """Returns a node's inputs whose values determine shapes, also inside its bodies."""
    late = _late_in(node.op, node.attrs)
    inputs: list[Value] = []
    if late is not None:
        end = len(node.inputs) - late[1]
        inputs += node.inputs[end - late_inputs(late[0]) : end]
    types = [value.type for value in node.inputs]
    for region, entries in zip(node.regions, _entries(node, types, node.regions), strict=True):
        inputs += [node.inputs[source] for index in shape_inputs(region) if (source := entries[index][1]) is not None]
    return inputs


def _entries(node: Node, types: Sequence[TensorType], regions: Sequence[Graph]) -> Sequence[Sequence[Entry]]:
    """Returns the inputs of a node's bodies; see :class:`OpDef`."""
    if node.op.entries is not None:
        return node.op.entries(types, node.attrs, regions)
    return [[(value.type, None) for value in region.inputs] for region in node.regions]


def _unknown(node: Node, attrs: Attrs, value: Value) -> str:
    source = f"%{value.node.name}" if value.node is not None else f"the input {value.name or value.index}"
    names = " and ".join(attrs["late"])
    return (
        f"{attrs['op']}, the node {node.name!r}: {names} depends on values ({source}: {value.type}) that are not known "
        "before the graph runs; compute it from shapes, constants and what is fed"
    )


@dataclass(frozen=True)
class _Application:
    """The resolved application of a late node: an op, its attributes, and the node's inputs that it takes."""

    op: OpDef
    attrs: Attrs
    kept: Sequence[int]


class _Specialized:
    """One graph or body being specialized."""

    def __init__(
        self,
        graph: Graph,
        types: Sequence[TensorType],
        evaluate: Evaluate,
        earlier: Mapping[int, np.ndarray[Any, Any]],
        partial: bool,
    ) -> None:
        self._graph = graph
        self._evaluate = evaluate
        self._partial = partial
        self._values: dict[Value, Value] = {}
        self._nodes: dict[Node, Node] = {}
        self._arrays: dict[Value, np.ndarray[Any, Any] | None] = {}
        self._inputs = [
            Value(type, None, index, old.name)
            for index, (type, old) in enumerate(zip(types, graph.inputs, strict=True))
        ]
        for old, new in zip(graph.inputs, self._inputs, strict=True):
            self._values[old] = new
            self._arrays[new] = earlier.get(new.index)

    def graph(self) -> Graph:
        """Returns the specialised graph."""
        for node in self._graph.nodes:
            try:
                self._node(node)
            except GraphcError as error:
                raise error.at(node.location) from None
        outputs = [self._values[value] for value in self._graph.outputs]
        return Graph(self._inputs, list(self._nodes.values()), outputs, self._graph.name)

    def _node(self, node: Node) -> None:
        inputs = [self._values[value] for value in node.inputs]
        op, attrs = node.op, node.attrs
        if op in SHAPE_FACTS and (fact := shape_fact(op, inputs[0].type)) is not None:
            op, inputs, attrs = CONSTANT, [], Attrs(value=Literal(fact))
        elif (application := self._resolved(node, op, attrs, inputs)) is not None:
            op, inputs, attrs = application.op, [inputs[index] for index in application.kept], application.attrs
        types = [value.type for value in inputs]
        regions = self._regions(node, inputs) if node.regions else ()
        new = Node(
            op,
            inputs,
            attrs,
            self._infer(node, op, types, attrs, regions),
            regions=regions,
            control_inputs=[self._nodes[control] for control in node.control_inputs],
            device=node.device,
            name=node.name,
            location=node.location,
        )
        self._check(new)
        self._nodes[node] = new
        self._values.update(zip(node.outputs, new.outputs, strict=True))

    def _check(self, node: Node) -> None:
        """Raises for bodies that fit only with unknown shapes, and for shapes that are still unknown."""
        problem = node.op.verify(node) if node.regions and node.op.verify is not None else None
        if problem:
            raise NotSpecializedError(
                f"{node.op.name}, the node {node.name!r}, with the shapes of this run: {problem}; values need the same "
                "shape in all branches and iterations"
            )
        for output in node.outputs:
            if output.type.is_open and not self._partial:
                raise NotSpecializedError(
                    f"{node.op.name}, the node {node.name!r}: the shape of {output.type} is not known before the graph "
                    "runs"
                )

    def _infer(
        self, node: Node, op: OpDef, types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]
    ) -> Sequence[TensorType]:
        try:
            return infer_types(op, types, attrs, regions)
        except GraphcError:
            raise
        except Exception as error:
            refused = None if op.explain is None else op.explain(types, attrs)
            reason = str(error if refused is None else refused).split("\n")[0]
            arguments = ", ".join(map(str, types))
            raise InvalidArgumentError(f"{op.name}({arguments}), the node {node.name!r}: {reason}") from error

    def _regions(self, node: Node, inputs: Sequence[Value]) -> list[Graph]:
        """Returns the specialized bodies."""
        bodies: list[Graph] = []
        types = [value.type for value in inputs]
        for index, region in enumerate(node.regions):
            # The inputs of a body may be the outputs of an earlier one.
            entries = _entries(node, types, [*bodies, *node.regions[index:]])[index]
            sources = {index: source for index, (_, source) in enumerate(entries) if source is not None}
            arrays = {index: self._array(inputs[source]) for index, source in sources.items()}
            constants = {index: array for index, array in arrays.items() if array is not None}
            bodies.append(
                _Specialized(region, [type for type, _ in entries], self._evaluate, constants, self._partial).graph()
            )
        return bodies

    def _resolved(self, node: Node, op: OpDef, attrs: Attrs, inputs: Sequence[Value]) -> _Application | None:
        """Returns the application of a late node or of its gradient; None if it is unknown, or the node is neither."""
        if op.name == "vjp":
            return self._resolved_gradient(node, op, attrs, inputs)
        if op not in _LATE:
            return None
        count = len(inputs) - late_inputs(attrs)
        numbers: list[Any] = []
        for value in inputs[count:]:
            array = self._array(value)
            if array is None:
                if self._partial:
                    return None
                raise NotSpecializedError(_unknown(node, attrs, value))
            numbers.append(static_ints(array))
        real, settings = applied(attrs, numbers)
        return _Application(real, settings, range(count))

    def _resolved_gradient(self, node: Node, op: OpDef, attrs: Attrs, inputs: Sequence[Value]) -> _Application | None:
        count = len(inputs) - sum(attrs["cotangents"])
        forward = self._resolved(node, OPS[attrs["op"]], Attrs(dict(attrs["attrs"])), inputs[:count])
        if forward is None:
            return None
        moved = {old: new for new, old in enumerate(forward.kept)}
        wrt = tuple([moved[position] for position in attrs["wrt"]])
        inner = tuple(sorted(forward.attrs.items()))
        remaining = [*forward.kept, *range(count, len(inputs))]
        return _Application(op, Attrs({**attrs, "op": forward.op.name, "attrs": inner, "wrt": wrt}), remaining)

    def _array(self, value: Value) -> np.ndarray[Any, Any] | None:
        """Returns the elements of a value of the new graph, computed if they do not depend on the run."""
        if value not in self._arrays:
            self._arrays[value] = None
            node = value.node
            assert node is not None
            for output, array in zip(node.outputs, self._computed(node) or (), strict=False):
                self._arrays[output] = array
        return self._arrays[value]

    def _computed(self, node: Node) -> list[np.ndarray[Any, Any]] | None:
        if node.op is CONSTANT:
            return [node.attrs["value"].array]
        if node.regions or node.effects or node.op.host or node.op.opaque or node.op in _LATE:
            return None
        arrays: list[np.ndarray[Any, Any]] = []
        for value in node.inputs:
            array = self._array(value)
            if array is None:
                return None
            arrays.append(array)
        return [np.asarray(result) for result in self._evaluate(node.op, arrays, node.attrs)]
