"""A graph with open sizes, made from traces for several sizes.

Python code computes with ``x.shape``: it reshapes, pads, divides by the number of rows. So a function is traced for
fixed sizes, three times, and the graphs may differ only in what depends on the sizes: types get open sizes, and
attributes become numbers that the graph computes from the shapes of its arguments. So do Python's ints in the result
and in texts. If anything else differs, or a further trace for other sizes does not match, the function is refused.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from graphc.compiler.base.errors import InvalidArgumentError, VerificationError
from graphc.compiler.core import NO_ATTRS
from graphc.compiler.ir import (
    CONSTANT,
    LATE_MARK,
    OPS,
    SHAPE_OF,
    Attrs,
    Graph,
    GraphBuilder,
    Literal,
    Node,
    Rewriter,
    TensorType,
    Value,
    compatible_shapes,
    constant_attrs,
    has_text,
    known_ints,
    late_attrs,
    late_op,
    typed_key,
    widen,
)
from graphc.compiler.ir.passes import CSE, DCE, specialize
from graphc.compiler.lowering import evaluate
from graphc.compiler.ops import AS_NUMBER
from graphc.saving.signature import Expression, Sizes, Tree, expressions, is_same

SIZE_NODE = "size"
"""Prefix of the names of nodes that compute a number of sizes."""

_INT = np.dtype(np.int32)
_INT_IN_TEXT = re.compile("([0-9]+)")


def opened(graphs: Sequence[Graph], sizes: Sequence[Sizes]) -> tuple[Graph, Mapping[Value, Sequence[TensorType]]]:
    """Returns the graph that becomes each of these graphs for some sizes, and its values' types in these cases."""
    rows: dict[Value, Sequence[TensorType]] = {}
    return _Opened(graphs, sizes, rows).graph(), rows


def opened_tree(trees: Sequence[Tree], sizes: Sequence[Sizes]) -> Tree:
    """Returns the value, as JSON, that becomes each of these for some sizes; see :func:`sized`."""
    first = trees[0]
    kinds = {cast("type[Any]", type(tree)) for tree in trees}
    if all(is_same(first, tree) for tree in trees):
        return first
    if kinds == {int} and (expression := next(expressions(trees, sizes), None)) is not None:
        return expression.tree
    if kinds == {str} and all(map(_INT_IN_TEXT.search, trees)):
        parts = [_INT_IN_TEXT.split(tree) for tree in trees]
        columns = [[int(part) if index % 2 else part for index, part in enumerate(row)] for row in parts]
        return {"text": opened_tree(columns, sizes)}
    if kinds == {list} and len(set(map(len, trees))) == 1:
        return [opened_tree(row, sizes) for row in zip(*trees, strict=True)]
    if kinds == {dict} and len({tuple(tree) for tree in trees}) == 1:
        rows = {key: [tree[key] for tree in trees] for key in first}
        if all(type(row[0]) is list or all(is_same(row[0], part) for part in row) for row in rows.values()):
            return {key: opened_tree(row, sizes) for key, row in rows.items()}
    shown = ", ".join(f"{tree!r:.40}" for tree in trees)
    raise InvalidArgumentError(f"a Python value that it returns depends on the open size ({shown})")


class _Opened:
    """An open graph, or body, under construction."""

    def __init__(
        self, graphs: Sequence[Graph], sizes: Sequence[Sizes], rows: dict[Value, Sequence[TensorType]]
    ) -> None:
        self._graphs = graphs
        self._rows = rows
        self._sizes = sizes
        self._builder = GraphBuilder(graphs[0].name)
        self._values: dict[Value, tuple[Value, tuple[Value, ...]]] = {}
        self._numbers: dict[Value, int] = {}
        self._nodes: dict[Node, Node] = {}
        self._known: dict[Any, Value] = {}

    def graph(self) -> Graph:
        """Returns the open graph."""
        first = self._graphs[0]
        if len({len(graph.inputs) for graph in self._graphs}) > 1:
            raise InvalidArgumentError("it takes more tensors for some sizes than for others")
        for row in zip(*[graph.inputs for graph in self._graphs], strict=True):
            graph_input = self._builder.input(_common(row), row[0].name)
            self._note(row, graph_input)
        lengths = [len(graph.nodes) for graph in self._graphs]
        for row in zip(*[graph.nodes for graph in self._graphs], strict=False):
            self._node(row)
        if len(set(lengths)) > 1:
            longest = max(self._graphs, key=lambda graph: len(graph.nodes))
            raise InvalidArgumentError(f"it has {min(lengths)} steps for some sizes and {max(lengths)} for others").at(
                longest.nodes[min(lengths)].location
            )
        outputs = [self._values[value][0] for value in first.outputs]
        rows = zip(*[[self._number(value) for value in graph.outputs] for graph in self._graphs], strict=False)
        if any(len(set(row)) > 1 for row in rows) or len({len(graph.outputs) for graph in self._graphs}) > 1:
            raise InvalidArgumentError("it returns other tensors for some sizes than for others")
        return self._builder.build(outputs)

    def _note(self, row: Sequence[Value], opened_value: Value) -> None:
        number = len(self._values)
        self._values[row[0]] = opened_value, tuple(row)
        self._rows[opened_value] = [value.type for value in row]
        self._numbers.update(dict.fromkeys(row, number))

    def _number(self, value: Value) -> int:
        return self._numbers[value]

    def _node(self, row: Sequence[Node]) -> None:
        first = row[0]
        same = all(self._same(first, other) for other in row[1:])
        if not same:
            ops = " and ".join(dict.fromkeys(node.op.name for node in row))
            raise InvalidArgumentError(f"the steps are others for other sizes ({ops})").at(first.location)
        try:
            self._append(row)
        except InvalidArgumentError as error:
            raise error.at(first.location) from None

    def _same(self, first: Node, other: Node) -> bool:
        return (
            first.op is other.op
            and first.device == other.device
            and len(first.regions) == len(other.regions)
            and len(first.outputs) == len(other.outputs)
            and [self._number(value) for value in first.inputs] == [self._number(value) for value in other.inputs]
            and first.attrs.keys() == other.attrs.keys()
        )

    def _append(self, row: Sequence[Node]) -> None:
        first = row[0]
        inputs = [self._values[value][0] for value in first.inputs]
        op, attrs = first.op, first.attrs
        if op is CONSTANT and not _equal([node.attrs["value"] for node in row]):
            self._replace(row, self._constant(row))
            return
        if not all(_equal([node.attrs[name] for node in row]) for name in attrs):
            if op.name == "vjp":
                op, attrs, inputs = self._late_gradient(row, inputs)
            else:
                attributes = [dict(node.attrs) for node in row]
                attrs, numbers = self._late(op, attributes)
                inputs = [*inputs, *numbers]
                op = late_op(op) if numbers else op
        bodies = zip(*[node.regions for node in row], strict=True)
        regions = [_Opened(region, self._sizes, self._rows).graph() for region in bodies]
        types = [_common(outputs) for outputs in zip(*[node.outputs for node in row], strict=True)]
        node = self._builder.append(
            op, inputs, attrs, types=types,
            regions=regions, control_inputs=[self._nodes[control] for control in first.control_inputs],
            device=first.device, name=first.name, location=first.location,
        )  # fmt: skip
        self._nodes[first] = node
        for outputs, output in zip(zip(*[node.outputs for node in row], strict=True), node.outputs, strict=True):
            self._note(outputs, output)

    def _replace(self, row: Sequence[Node], value: Value) -> None:
        assert value.node is not None
        self._nodes[row[0]] = value.node
        self._note([node.outputs[0] for node in row], value)

    def _constant(self, row: Sequence[Node]) -> Value:
        """Returns a Python number that is computed from sizes."""
        arrays = [node.attrs["value"].array for node in row]
        whole = all(array.size == 1 and array.dtype.kind in "iuf" and float(array) % 1 == 0 for array in arrays)
        number = self._computed([int(array) for array in arrays]) if whole else None
        if number is None:
            values = ", ".join(str(array.tolist()) if array.size == 1 else str(array.shape) for array in arrays)
            raise InvalidArgumentError(
                f"an array of Python's depends on the open size ({values}); compute it of gx.shape(x) or of tensors"
            )
        first = row[0]
        type = first.outputs[0].type
        if first.attrs.get("weak"):
            kind = "float" if type.dtype.kind == "f" else "int"
            op, attrs = AS_NUMBER, Attrs(kind=kind)
        else:
            op, attrs = OPS["astype"], Attrs(dtype=type.dtype)
        constant = self._builder.append(op, [number], attrs, types=[type], name=SIZE_NODE, location=first.location)
        return constant.outputs[0]

    def _late(self, op: Any, rows: Sequence[Mapping[str, Any]]) -> tuple[Attrs, list[Value]]:
        """Returns the attributes of a late node, and the additional numbers that it takes."""
        late: list[str] = []
        numbers: list[Value] = []
        marked: dict[str, Any] = {}
        # In the order in which the numbers are taken out again, which is that of the names.
        for name in sorted(rows[0]):
            before = len(numbers)
            marked[name] = self._marked([attrs[name] for attrs in rows], numbers, f"{op.name}: {name}")
            late += [name] if len(numbers) > before else []
        if not numbers:
            return Attrs(marked), []
        return late_attrs(op, Attrs(marked), late, [(None,)] * len(numbers)), numbers

    def _late_gradient(self, row: Sequence[Node], inputs: Sequence[Value]) -> tuple[Any, Attrs, list[Value]]:
        first = row[0]
        forward = OPS[first.attrs["op"]]
        inner, numbers = self._late(forward, [dict(node.attrs["attrs"]) for node in row])
        count = len(inputs) - sum(first.attrs["cotangents"])
        others = [{**node.attrs, "attrs": ()} for node in row]
        if not _equal([Attrs(one) for one in others]) or not numbers:
            raise InvalidArgumentError(f"the gradient of {forward.name} is another for other sizes")
        attrs = Attrs({**first.attrs, "op": late_op(forward).name, "attrs": tuple(sorted(inner.items()))})
        return first.op, attrs, [*inputs[:count], *numbers, *inputs[count:]]

    def _marked(self, values: Sequence[Any], numbers: list[Value], what: str) -> Any:
        """Returns an attribute with a mark for each number in it that depends on sizes."""
        if _equal(values):
            return values[0]
        if all(isinstance(value, tuple) for value in values):
            columns = list(zip(*values, strict=False))
            if all(len(value) == len(columns) for value in values):
                return tuple([self._marked(items, numbers, what) for items in columns])
        if all(type(value) is int for value in values) and (number := self._computed(values)) is not None:
            numbers.append(number)
            return LATE_MARK
        shown = ", ".join([f"{value!r:.40}" for value in values])
        raise InvalidArgumentError(f"{what} depends on the open size in a way that is not understood ({shown})")

    def _computed(self, numbers: Sequence[int]) -> Value | None:
        """Returns the node that computes a number from the known sizes; None if there is none."""
        for expression in expressions(numbers, self._sizes):
            parts = [self._symbol(symbol) for symbol in expression.symbols]
            if None not in parts:
                return self._expressed(expression, [part for part in parts if part is not None])
        return None

    def _expressed(self, expression: Expression, parts: Sequence[Value]) -> Value:
        if expression not in self._known:
            value = parts[0]
            for part in parts[1:]:
                value = self._size_node(OPS["multiply"], [value, part])
            for name, number in (("multiply", expression.factor), ("add", expression.offset)):
                if number != (1 if name == "multiply" else 0):
                    value = self._size_node(OPS[name], [value, self._literal(number)])
            if expression.divisor > 1:
                value = self._size_node(OPS["floor_divide"], [value, self._literal(expression.divisor)])
            self._known[expression] = value
        return self._known[expression]

    def _symbol(self, symbol: str) -> Value | None:
        """Returns a size, taken from the shape of a tensor."""
        if symbol not in self._known:
            sizes = tuple(one[symbol] for one in self._sizes)
            for tensor, row in self._values.values():
                columns = list(zip(*[value.type.shape for value in row], strict=True))
                if tensor.type.ranked and sizes in columns:
                    shape = self._size_node(SHAPE_OF, [tensor])
                    self._known[symbol] = self._size_node(
                        OPS["get_item"], [shape], Attrs(index=(columns.index(sizes),)), TensorType((), _INT)
                    )
                    break
        return self._known.get(symbol)

    def _literal(self, number: int) -> Value:
        return self._size_node(CONSTANT, [], Attrs(value=Literal(np.array(number, _INT))))

    def _size_node(
        self, op: Any, inputs: Sequence[Value], attrs: Attrs = NO_ATTRS, type: TensorType | None = None
    ) -> Value:
        types = None if type is None else [type]
        return self._builder.append(op, inputs, attrs, types=types, name=SIZE_NODE).outputs[0]


def _common(row: Sequence[Value]) -> TensorType:
    types = [value.type for value in row]
    if len({len(type.shape) for type in types}) > 1 or len({(type.dtype, type.weak) for type in types}) > 1:
        raise InvalidArgumentError(f"a tensor is {', '.join(map(str, types))} for different sizes")
    return widen(types)


def _equal(values: Sequence[Any]) -> bool:
    first = values[0]
    if hasattr(first, "is_like"):  # a function of JAX, which each trace holds anew
        return all(map(first.is_like, values[1:]))
    return all(typed_key(value) == typed_key(first) for value in values[1:])


def checked_case(graph: Graph, case: Graph, what: str = "the sizes of a trace") -> None:
    """Raises an error if an open graph does not match ``case``, the function traced for some sizes."""
    concrete = specialize(graph, [value.type for value in case.inputs], evaluate)
    try:
        check_types(graph, concrete)
    except VerificationError as error:
        raise InvalidArgumentError(f"for {what}, {error.args[0]}").at(getattr(error, "location", None)) from None
    concrete = plain(concrete)
    concrete, case = (
        CSE()(DCE()(_masked(one))) for one in (concrete, case)
    )  # a size may be another number of the program
    if concrete == case:
        return
    pairs = zip(concrete.nodes, case.nodes, strict=False)
    location = next((two.location for one, two in pairs if one.op is not two.op or one.attrs != two.attrs), None)
    error = InvalidArgumentError(f"what it does depends on the size itself: for {what} the steps are others")
    raise error if location is None else error.at(location)


def check_types(declared: Graph, inferred: Graph) -> None:
    """Refuses a graph whose types are not those that the file says."""
    for one, other in zip(declared.nodes, inferred.nodes, strict=True):
        for old, new in zip(one.outputs, other.outputs, strict=True):
            if old.type.dtype != new.type.dtype or not compatible_shapes(old.type, new.type):
                message = f"{one.op.name}, the node {one.name!r}, is said to give {old.type}, and gives {new.type}"
                raise VerificationError(message).at(one.location)
        for old_body, new_body in zip(one.regions, other.regions, strict=True):
            check_types(old_body, new_body)


_EXACT: dict[str, Callable[[int, int], int]] = {
    "add": operator.add,
    "multiply": operator.mul,
    "floor_divide": operator.floordiv,
}


def _exact(value: Value) -> int | None:
    """Returns a number of sizes as Python has it, where the node's int32 would wrap around; None if it is unknown."""
    node = value.node
    if node is not None and node.name.startswith(SIZE_NODE) and node.op.name in _EXACT:
        one, other = [_exact(part) for part in node.inputs]
        return None if one is None or other is None else _EXACT[node.op.name](one, other)
    ints = known_ints(value)
    return None if ints is None or ints.size != 1 else ints.item()


def plain(graph: Graph) -> Graph:
    """Returns the graph with constants in place of numbers computed from sizes."""
    rewriter = Rewriter(graph)
    for node in graph.nodes:
        is_number = node.name.startswith(SIZE_NODE) and node.op.name in ("as_number", "astype")
        number = _exact(node.inputs[0]) if is_number else None
        if number is None:
            rewriter.keep(node, regions=[plain(region) for region in node.regions])
            continue
        type = node.outputs[0].type
        try:
            attrs = constant_attrs(number, type)
        except OverflowError as error:
            text = f"{number}, computed from the sizes of arguments, does not fit {type.dtype}"
            raise InvalidArgumentError(text).at(node.location) from error
        rewriter.replace(node, CONSTANT, (), attrs)
    return rewriter.finish()


def _masked(graph: Graph) -> Graph:
    """Returns the graph with a word in place of each attribute that is a Python object, for comparison."""
    copies: dict[Value, Value] = {value: value for value in graph.inputs}
    nodes: dict[Node, Node] = {}
    for node in graph.nodes:
        attrs = {name: value if has_text(value) else "an object" for name, value in node.attrs.items()}
        new = nodes[node] = Node(
            node.op, [copies[value] for value in node.inputs], Attrs(attrs), [output.type for output in node.outputs],
            regions=[_masked(region) for region in node.regions],
            control_inputs=[nodes[control] for control in node.control_inputs], device=node.device, name=node.name,
            location=node.location,
        )  # fmt: skip
        copies.update(zip(node.outputs, new.outputs, strict=True))
    return Graph(graph.inputs, list(nodes.values()), [copies[value] for value in graph.outputs], graph.name)
