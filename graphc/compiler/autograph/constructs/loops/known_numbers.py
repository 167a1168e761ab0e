"""Numbers of a graph that depend on no tensor whose values are unknown, so that they can be told before it runs.

``for step in range(60): ... if step >= 40: kept.append(x)`` is traced once for all steps, and that trace cannot tell
whether the list grows. After the loop one can: how many items there are was computed of constants alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import jax
import numpy as np
from jax import lax as _lax

from graphc.compiler.core import SymbolicTensor
from graphc.compiler.ir import Graph, Node, Value
from graphc.compiler.ops import COND, SCAN, WHILE
from graphc.compiler.tracing import Trace, trace_of

lax: Any = _lax  # its functions are only partly annotated

__all__ = ["known_numbers"]

Given = Callable[[Value], Any]


def known_numbers(tensor: Any) -> int | None:
    """The value of an integer scalar of the graph that is being traced; None where it depends on what tensors hold.

    Loops and branches are followed as far as the number needs them.
    """
    if not isinstance(tensor, SymbolicTensor):
        return int(tensor)
    try:
        return int(_in_trace(trace_of(tensor), tensor.raw))
    except _Unknown:
        return None


class _Unknown(Exception):
    """A number depends on what tensors hold."""


def _in_trace(trace: Trace, value: Value) -> Any:
    """Returns a scalar of a trace that is not finished yet."""
    outer = {argument.raw: given for given, argument in trace.captures.values()}
    found: dict[Value, Any] = {}
    for needed in _inputs_of([value]):
        given = outer.get(needed)
        if not isinstance(given, SymbolicTensor):
            raise _Unknown
        found[needed] = _in_trace(trace_of(given), given.raw)
    return _values([value], found.__getitem__)[0]


# --- what a number is computed of


def _inputs_of(values: Iterable[Value]) -> list[Value]:
    """Returns the inputs of a graph that some of its scalars need."""
    seen: dict[Value, None] = {}
    waiting = list(values)
    while waiting:
        value = waiting.pop()
        if value in seen:
            continue
        if value.type.shape and not _is_table(value):
            raise _Unknown
        seen[value] = None
        if value.node is not None:
            waiting += _operands(value.node, value.index)
    return [value for value in seen if value.node is None]


def _is_table(value: Value) -> bool:
    """Returns True for an array whose values are known, as those that Python has computed for all iterations are."""
    return value.node is not None and value.node.op.name == "constant"


def _operands(node: Node, place: int) -> list[Value]:
    """Returns what one output of a node needs of the node's inputs."""
    if node.op is COND:
        places = {given for graph in node.regions for given in _places(graph, [place])}
        return [node.inputs[0], *(node.inputs[1 + given] for given in places)]
    if node.op in (SCAN, WHILE):
        loop = _Loop(node, place)
        return [node.inputs[place] for place in (*loop.carried, *loop.rows, *loop.invariant)]
    if node.regions or node.effects or len(node.outputs) > 1:
        raise _Unknown
    return list(node.inputs)


def _places(graph: Graph, outputs: Sequence[int]) -> list[int]:
    """Returns the places of the inputs that some outputs of a graph need."""
    needed = _inputs_of([graph.outputs[place] for place in outputs])
    return sorted(graph.inputs.index(value) for value in needed)


class _Loop:
    """The part of a loop that one of the values it carries needs.

    Args:
      node: a scan or a while.
      place: which output.

    Attributes:
      carried: the places of the carried values among the node's inputs.
      rows: the places there of the tables of which each iteration takes a row.
      invariant: the places there of what is the same in every iteration.
    """

    def __init__(self, node: Node, place: int) -> None:
        num_carry = node.attrs["num_carry"]
        if place >= num_carry:
            raise _Unknown
        self.node = node
        self.body = node.regions[-1]
        self.offset = 1 if node.op is SCAN else 0  # the index comes first
        self.carried = [place]
        # How often a while runs decides about each of its results.
        test = [] if node.op is SCAN else _places(node.regions[0], [0])
        # To a fixpoint: a carried value that is needed may need others.
        while True:
            needed = {place - self.offset for place in _places(self.body, self.carried)} | set(test)
            needed.discard(-1)  # the index of a scan, which is no input of the node
            new = [place for place in sorted(needed) if place < num_carry and place not in self.carried]
            if not new:
                break
            self.carried += new
        others = sorted(place for place in needed if place >= num_carry)
        first = num_carry + node.attrs.get("num_xs", 0)
        self.rows = [place for place in others if place < first]
        self.invariant = [place for place in others if place >= first]

    def run(self, of: Given) -> Any:
        """Returns the first of the carried values after the loop."""
        node = self.node
        first = [node.inputs[place] for place in self.carried]
        start = tuple([jax.numpy.asarray(of(value), value.type.dtype) for value in first])
        fixed = [of(node.inputs[place]) for place in self.invariant]

        def part(graph: Graph, offset: int, outputs: Sequence[int], values: Sequence[Any], index: Any) -> list[Any]:
            given = dict(zip((*self.carried, *self.invariant), (*values, *fixed), strict=True))
            if offset:
                given.update(zip(self.rows, index[1:], strict=True))
            inputs = {graph.inputs[place + offset]: value for place, value in given.items()}
            if offset:
                inputs[graph.inputs[0]] = index[0]
            return _values([graph.outputs[place] for place in outputs], inputs.__getitem__)

        def going_on(values: Any) -> Any:
            return part(node.regions[0], 0, [0], values, None)[0]

        def step(values: Any, index: Any = None) -> Any:
            return tuple(part(self.body, self.offset, self.carried, values, index))

        if node.op is WHILE:
            return lax.while_loop(going_on, step, start)[0]
        attrs = node.attrs
        order = attrs.get("start", 0) + attrs.get("step", 1) * np.arange(attrs["length"], dtype=np.int32)

        def iteration(values: Any, index: Any) -> Any:
            return step(values, index), None

        xs = (order, *[of(node.inputs[place]) for place in self.rows])
        return lax.scan(iteration, start, xs, reverse=attrs.get("reverse", False))[0][0]


# --- its value


def _values(wanted: Sequence[Value], given: Given) -> list[Any]:
    """Scalars of a graph, of which :func:`_inputs_of` has said that nothing unknown is needed."""
    known: dict[Value, Any] = {}

    def of(value: Value) -> Any:
        if value not in known:
            known[value] = given(value) if value.node is None else _output(value.node, value.index, of)
        return known[value]

    return [jax.numpy.asarray(of(value), value.type.dtype) for value in wanted]


def _output(node: Node, place: int, of: Given) -> Any:
    if node.op in (SCAN, WHILE):
        return _Loop(node, place).run(of)
    if node.op is not COND:
        return node.op.impl(*map(of, node.inputs), **node.attrs)

    def side(graph: Graph) -> Callable[[], Any]:
        inputs = {graph.inputs[given]: of(node.inputs[1 + given]) for given in _places(graph, [place])}
        return lambda: _values([graph.outputs[place]], inputs.__getitem__)[0]

    return lax.cond(of(node.inputs[0]), *map(side, node.regions))
