"""Simplifications that follow from the ranges of ints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, cast

from graphc.compiler.base import Registry
from graphc.compiler.ir.graph import Graph, Node, Value
from graphc.compiler.ir.interpreter import Rewriter
from graphc.compiler.ir.opdef import CONSTANT, OpDef, constant_attrs
from graphc.compiler.ir.passes.base import REGIONS, OpsPass
from graphc.compiler.ir.passes.intervals import Interval
from graphc.compiler.ir.passes.loop_pass import controlled, differentiated, underlying
from graphc.compiler.ir.passes.ranges import Facts, Known, Ranges
from graphc.compiler.ir.types import OPEN, Attrs


@dataclass(frozen=True)
class Bounds(OpsPass):
    """Simplifies ints in loops by their ranges: the index of a ``scan`` has bounds, and so do results computed from it.

    Python's ints are unbounded and its indices are checked, so a compiled program checks for overflow and range. A
    binary search checked a sum and an index in each iteration, and took 1.6 times as long.

    Before: a valid graph. After: the same graph, except that

    * an int or a bool with only one possible value is that constant;
    * a ``where`` or a ``logical_and`` with a known test is the chosen value;
    * the indices of ``get_item`` and ``update_item`` that lie inside the tensor are marked: ``inside = True``.

    The pass iterates over a loop until the bounds of its carried values no longer grow: first by an iteration's
    increment times the iterations, then up to those of the dtype. A test bounds the values in the code that it guards.
    """

    name: ClassVar[str] = "bounds"
    needs: ClassVar[frozenset[str]] = frozenset((REGIONS,))

    def __call__(self, graph: Graph) -> Graph:
        """Replaces nodes with known results."""
        if not any(node.regions for node in graph.nodes) or not any(map(_may_have_bounds, graph.walk())):
            return graph
        return _Step(Ranges(self.ops), self.ops).rewritten(graph, (None,) * len(graph.inputs))


def _may_have_bounds(node: Node) -> bool:
    """Returns True for a node with an int or a bool, or an index: of other graphs no ranges need be computed."""
    types = (output.type for output in node.outputs)
    whole = node.op is not CONSTANT and any(type.dtype.kind in "biu" and not type.shape for type in types)
    return whole or node.op.name in _INDEXED or node.attrs.get("op") in _INDEXED


class _Step:
    """One run of the pass."""

    def __init__(self, ranges: Ranges, ops: Registry[OpDef]) -> None:
        self._ranges, self._ops = ranges, ops
        self._done: dict[tuple[int, Known], tuple[Graph, Graph]] = {}

    def rewritten(self, graph: Graph, inputs: Known) -> Graph:
        """Returns a graph or region, simplified for inputs within some bounds."""
        key = (id(graph), inputs)
        entry = self._done.get(key)
        if entry is None:
            entry = self._done[key] = graph, self._rewrite(graph, inputs)
        return entry[1]

    def _rewrite(self, graph: Graph, inputs: Known) -> Graph:
        facts, rewriter = self._ranges.facts(graph, inputs), Rewriter(graph)
        used = {value for node in graph.nodes for value in node.inputs}
        results = {*used, *graph.outputs}
        fixed = {*controlled(graph), *differentiated(graph)}
        _put_constants([value for value in graph.inputs if value in used], "", facts, rewriter)
        for node in graph.nodes:
            if node in fixed or not _chosen(node, facts, rewriter):
                self._keep(node, facts, rewriter)
            if node.regions:
                outputs = [value for value in node.outputs if value in results]
                _put_constants(outputs, node.device, facts, rewriter)
        return rewriter.finish()

    def _keep(self, node: Node, facts: Facts, rewriter: Rewriter) -> None:
        """Keeps a node, with its regions simplified and its index marked."""
        if node.regions:
            entries = self._ranges.entries(node, facts)
            pairs = zip(node.regions, entries, strict=True)
            regions = [region if entry is None else self.rewritten(region, entry) for region, entry in pairs]
            rewriter.keep(node, regions=regions)
            return
        op, attrs, count = underlying(node, self._ops)
        if op.name in _INDEXED and "inside" not in attrs and _is_inside(node, attrs, count, _INDEXED[op.name], facts):
            inputs, controls = rewriter.inputs(node), rewriter.controls(node)
            rewriter.replace(node, node.op, inputs, _marked(node.attrs), control_inputs=controls)
        else:
            rewriter.keep(node)


_INDEXED = {"get_item": 1, "update_item": 2}
"""The ops that take indices, with the number of inputs before them."""


def _number(value: Value, facts: Facts) -> int | None:
    """Returns the only possible value of an int; None if there are several."""
    interval = facts.get(value)
    single = interval is not None and interval[0] == interval[1] and not value.type.shape and value.type.ranked
    return interval[0] if interval is not None and single else None


def _put_constants(values: Sequence[Value], device: str, facts: Facts, rewriter: Rewriter) -> None:
    """Replaces values with only one possible value by constants."""
    for value in values:
        number = _number(value, facts)
        if number is not None:
            attrs, name = constant_attrs(number, value.type), rewriter.names("constant")
            constant = Node(CONSTANT, (), attrs, [value.type], device=device, name=name)
            rewriter.add(constant)
            rewriter.substitute([value], constant.outputs)


def _chosen(node: Node, facts: Facts, rewriter: Rewriter) -> bool:
    """Replaces a node with one possible result by a constant or an input; returns False if there are several."""
    if node.op is CONSTANT or node.regions or len(node.outputs) != 1 or node.effects:
        return False
    (output,) = node.outputs
    number = _number(output, facts)
    if number is not None:
        rewriter.replace(node, CONSTANT, (), constant_attrs(number, output.type))
        return True
    position = _place(node, [_number(value, facts) for value in node.inputs])
    if position is None or node.inputs[position].type != output.type:
        return False
    rewriter.substitute([output], [rewriter.inputs(node)[position]])
    return True


def _place(node: Node, numbers: Sequence[int | None]) -> int | None:
    """Returns the index of the input that a node returns, if that is known."""
    name = node.op.name
    if name == "where" and numbers[0] is not None:
        return 1 if numbers[0] else 2
    if name in ("logical_and", "logical_or") and node.inputs[0].type.dtype.kind == "b":
        neutral = int(name == "logical_and")
        return 1 if numbers[0] == neutral else 0 if numbers[1] == neutral else None
    return None


def _is_inside(node: Node, attrs: Attrs, count: int, first: int, facts: Facts) -> bool:
    """Returns True if the indices contain tensors, and all of them are within their axes."""
    shape, index = node.inputs[0].type.shape, attrs["index"]
    tensors = iter(node.inputs[first:count])
    if node.inputs[0].type.is_open or first == count:
        return False
    axis = 0
    for position, item in enumerate(index):
        if item == "...":
            axis = len(shape) - sum(other is not None for other in index[position + 1 :])
            continue
        if isinstance(item, tuple) and isinstance(cast("tuple[object, ...]", item)[0], str):  # a window, or a mask
            return False
        if item == "tensor":
            value = next(tensors)
            interval: Interval | None = facts.get(value)
            if value.type.dtype.kind not in "iu" or value.type.shape or interval is None:
                return False
            if interval[0] < 0 or interval[1] >= shape[axis] or shape[axis] == OPEN:
                return False
        axis += item is not None
    return True


def _marked(attrs: Attrs) -> Attrs:
    """Returns the attributes with the mark that all indices are inside, also for a ``vjp`` of such a node."""
    if "op" not in attrs:
        return Attrs(attrs, inside=True)
    return Attrs(attrs, attrs=tuple(sorted(_marked(Attrs(dict(attrs["attrs"]))).items())))
