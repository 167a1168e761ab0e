"""If-conversion: selects in place of branches that cost less than the branching."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from graphc.compiler.base import Registry, UniqueNames
from graphc.compiler.ir.graph import Graph, Node, Value
from graphc.compiler.ir.interpreter import Rewriter, map_regions
from graphc.compiler.ir.opdef import CONSTANT, OpDef, constant_attrs
from graphc.compiler.ir.passes.base import OpsPass
from graphc.compiler.ir.passes.loop_pass import ENTERED, controlled, differentiated
from graphc.compiler.ir.types import Attrs, TensorType

_MAX_ELEMENTS = 64
"""Maximum number of elements of a value that is selected, or computed unnecessarily."""

_MAX_NODES = 32
"""Maximum number of nodes in both branches, including the selects."""

_Known = dict[tuple[OpDef, Attrs, tuple[Value, ...], str], Node]


@dataclass(frozen=True)
class IfConvert(OpsPass):
    """Replaces a light ``cond`` by both branches and a select.

    In XLA a conditional costs more than some scalar arithmetic, prevents the fusion of its surroundings, and copies a
    large array that passes through it, once in each branch and once behind it: a table that two branches fill item by
    item took 200 times as long.

    Before: a valid graph. After: the same graph, except that a ``cond`` whose branches are a few light nodes without
      effects, on small values, becomes the nodes of both, with a ``where`` for each output that differs. Branches may
      change items of a large tensor once, both the same items, or only one branch: then the new items are selected and
      assigned after the select. A branch that leaves them unchanged assigns the existing items, or adds 0. Two
      assignments would be slower than the branch, since XLA copies the tensor in between.

    Differentiated conds stay: the gradient through a ``where`` is NaN if the branch not taken has an infinite
    derivative.
    """

    name: ClassVar[str] = "if-convert"
    needs: ClassVar[frozenset[str]] = frozenset(("cond", "switch"))

    def __call__(self, graph: Graph) -> Graph:
        """Replaces the conds."""
        if not any(node.regions for node in graph.nodes):
            return graph
        fixed = {*controlled(graph), *differentiated(graph)}
        rewriter = Rewriter(graph)
        nodes: _Known = {}
        for node in graph.nodes:
            if node in fixed or node.op.name not in ENTERED:
                copy = rewriter.keep(node)
                if node.op.light and not node.control_inputs and node not in fixed:
                    nodes.setdefault((copy.op, copy.attrs, copy.inputs, copy.device), copy)
                continue
            regions = map_regions(node, self)
            selects = None
            if node.op.name == "cond":
                selects = _Selects(node, rewriter.inputs(node), self.ops, rewriter.names, nodes).made(regions)
            if selects is None:
                rewriter.keep(node, regions=regions)
                continue
            for new in selects[0]:
                rewriter.add(new)
                nodes[new.op, new.attrs, new.inputs, new.device] = new
            rewriter.substitute(node.outputs, selects[1])
        return rewriter.finish()


@dataclass(frozen=True)
class _Update:
    """An assignment to items of a large tensor."""

    node: Node
    values: Value
    index: tuple[Value, ...]

    def matches(self, other: _Update) -> bool:
        """Returns True if another update assigns the same items."""
        return (self.node.attrs, self.index) == (other.node.attrs, other.index)


class _Branch:
    """One branch, inlined in place of the cond."""

    def __init__(self, region: Graph, operands: Sequence[Value]) -> None:
        self.values = dict(zip(region.inputs, operands, strict=True))
        self.updates: dict[Value, _Update] = {}  # the item assignment of each large tensor, by the tensor outside

    def update(self, node: Node) -> bool:
        """Records an item assignment; returns False if it is not the only one to its tensor."""
        if not all(value in self.values for value in node.inputs):
            return False
        tensor, values, *index = [self.values[value] for value in node.inputs]
        update = _Update(node, values, tuple(index))
        return self.updates.setdefault(tensor, update) is update

    def tensor(self, value: Value) -> Value | None:
        """Returns the tensor that an output is, or an item update of; None if the branch computes it."""
        updated = next((tensor for tensor, update in self.updates.items() if update.node.outputs[0] is value), None)
        unchanged = self.values.get(value)
        return unchanged if updated is None and unchanged not in self.updates else updated


class _Selects:
    """A cond rewritten as the nodes of both branches."""

    def __init__(
        self, cond: Node, inputs: Sequence[Value], ops: Registry[OpDef], names: UniqueNames, earlier: _Known
    ) -> None:
        self._cond, self._ops, self._names = cond, ops, names
        self._test, *self._operands = inputs
        self._before = earlier
        self._known: _Known = {}

    def made(self, regions: Sequence[Graph]) -> tuple[Sequence[Node], Sequence[Value]] | None:
        """Returns the nodes of both branches and the replacement of each output; None if the cond should stay."""
        if not _are_light(regions):
            return None
        branches = [_Branch(region, self._operands) for region in regions]
        for branch, region in zip(branches, regions, strict=True):
            if not all(self._take(branch, node) for node in region.nodes):
                return None
        changed = self._changed(branches)
        if changed is None:
            return None
        outputs: list[Value] = []
        for pair in zip(*(region.outputs for region in regions), strict=True):
            replacement = self._output(branches, changed, pair)
            if replacement is None:
                return None
            outputs.append(replacement)
        return [*self._known.values()], outputs

    def _take(self, branch: _Branch, node: Node) -> bool:
        """Inlines a node of a branch; returns False if it costs too much."""
        if node.op.name == "update_item" and not _is_small(node.outputs[0]):
            return branch.update(node)
        sized = node.inputs[1:] if node.op.name == "get_item" else node.inputs
        if not all(map(_is_small, (*sized, *node.outputs))) or any(value not in branch.values for value in node.inputs):
            return False
        inputs = [branch.values[value] for value in node.inputs]
        new = self._put(node.op, inputs, node.attrs, [output.type for output in node.outputs], node)
        branch.values.update(zip(node.outputs, new.outputs, strict=True))
        return True

    def _put(self, op: OpDef, inputs: Sequence[Value], attrs: Attrs, types: Sequence[TensorType], like: Node) -> Node:
        """Returns a new node, or the existing one if both branches compute the same."""
        key = (op, attrs, tuple(inputs), like.device)
        existing = self._before.get(key) or self._known.get(key)
        if existing is None:
            name = self._names(like.name if like.op is op else op.name)
            existing = Node(op, inputs, attrs, types, device=like.device, name=name, location=like.location)
            self._known[key] = existing
        return existing

    def _changed(self, branches: Sequence[_Branch]) -> Mapping[Value, Value] | None:
        """Assigns the selected items of large tensors; returns the new value of each tensor."""
        changed: dict[Value, Value] = {}
        for tensor in dict.fromkeys(tensor for branch in branches for tensor in branch.updates):
            new = self._assigned(tensor, *(branch.updates.get(tensor) for branch in branches))
            if new is None:
                return None
            changed[tensor] = new
        return changed

    def _assigned(self, tensor: Value, true: _Update | None, false: _Update | None) -> Value | None:
        """Returns a tensor with the taken branch's items assigned; None if these are many, or differ."""
        update = true or false
        assert update is not None
        there: Value | None = None
        how = update.node.attrs["how"]
        if (true is None or false is None) and how != "set":
            there = self._neutral(how, update)
            if there is None:
                return None
        elif true is None or false is None:
            attrs = Attrs({name: value for name, value in update.node.attrs.items() if name != "how"})
            get_item = self._ops["get_item"]
            types = get_item.infer([tensor.type, *(value.type for value in update.index)], attrs, ())
            there = self._put(get_item, [tensor, *update.index], attrs, types, update.node).outputs[0]
        elif not true.matches(false):
            return None
        chosen = self._select(*(there if one is None else one.values for one in (true, false)))
        if chosen is None:
            return None
        inputs = [tensor, chosen, *update.index]
        return self._put(update.node.op, inputs, update.node.attrs, [tensor.type], update.node).outputs[0]

    def _neutral(self, how: str, update: _Update) -> Value | None:
        """Returns the number that leaves items unchanged under an update mode; None if there is none."""
        type = TensorType((), update.node.outputs[0].type.dtype)
        if type.dtype.kind not in "iuf" or update.values.type.dtype != type.dtype:
            return None
        if how == "add":
            number: float = -0.0 if type.is_inexact else 0  # 0.0 would change the sign of -0.0
        elif how == "multiply":
            number = 1
        else:
            limits = (-np.inf, np.inf) if type.is_inexact else (np.iinfo(type.dtype).min, np.iinfo(type.dtype).max)
            number = limits[how == "min"]
        return self._put(CONSTANT, (), constant_attrs(number, type), [type], update.node).outputs[0]

    def _output(
        self, branches: Sequence[_Branch], changed: Mapping[Value, Value], pair: Sequence[Value]
    ) -> Value | None:
        """Returns the replacement of an output of the cond; None if it is large and differs."""
        tensors = [branch.tensor(value) for branch, value in zip(branches, pair, strict=True)]
        if tensors[0] is not None and tensors[0] is tensors[1]:
            return changed.get(tensors[0], tensors[0])
        values = [branch.values.get(value) for branch, value in zip(branches, pair, strict=True)]
        return self._select(*values)

    def _select(self, true: Value | None, false: Value | None) -> Value | None:
        """Returns a select between two values; None if they are large."""
        if true is None or false is None:
            return None
        if true is false:
            return true
        if not (_is_small(true) and _is_small(false)):
            return None
        inputs = [self._test, true, false]
        types = self._ops["where"].infer([value.type for value in inputs], Attrs(), ())
        return self._put(self._ops["where"], inputs, Attrs(), types, self._cond).outputs[0]


def _are_light(regions: Sequence[Graph]) -> bool:
    """Returns True if the branches are few light nodes."""
    nodes = [node for region in regions for node in region.nodes if node.op is not CONSTANT]
    if len(nodes) + len(regions[0].outputs) > _MAX_NODES:
        return False
    return not any(
        node.effects or node.regions or node.control_inputs or not (node.op.light or node.op.name == "update_item")
        for node in nodes
    )


def _is_small(value: Value) -> bool:
    return not value.type.is_open and value.type.size <= _MAX_ELEMENTS
