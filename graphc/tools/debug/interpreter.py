"""Runs a graph node by node on eager tensors, loops and branches included, and stops before each node.

A generator stands before the node that comes next; who advances it has the node run. So the stepper holds no thread,
and what it never runs costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import jax.numpy as jnp

from graphc.compiler.core import Tensor, apply_all, device_scope, unexamined
from graphc.compiler.ir import CONSTANT, Attrs, Graph, Node, Value
from graphc.compiler.lowering import lower
from graphc.compiler.ops import (
    ASSIGN_VARIABLE,
    CALL,
    COND,
    HOST_CALL,
    HOST_CALLS,
    READ_VARIABLE,
    SCAN,
    SWITCH,
    WHILE,
    host_function,
)
from graphc.tools.debug.names import Names

__all__ = ["Machine", "Run"]

Values = list[Any]
Stop = Generator["Run", None, Values]


@dataclass
class Run:
    """A node that is about to run, and then has run.

    Attributes:
      node: the node.
      path: the loops and branches around, from the outside: ``for[2]``, ``if true``.
      outputs: the results of the node; empty before it runs.
      has_run: whether it has.
    """

    node: Node
    path: tuple[str, ...]
    outputs: Sequence[Any] = ()
    has_run: bool = False


@dataclass
class Machine:
    """The state of a program that is run node by node.

    Attributes:
      names: the user's names of the values.
      state: the values of Variables, by name.
      nodes: the values of nodes and inputs, by name, those that were computed last.
      known: those of the variables of the user's code, likewise.
    """

    names: Names
    state: dict[str, Any]
    nodes: dict[str, Any] = field(default_factory=dict[str, Any])
    known: dict[str, Any] = field(default_factory=dict[str, Any])

    def run(self, graph: Graph, inputs: Sequence[Any], path: tuple[str, ...] = ()) -> Stop:
        """Runs a graph; yields each node before it runs, and returns the values of the outputs."""
        held: dict[Value, Any] = {}
        for value, given in zip(graph.inputs, inputs, strict=True):
            held[value] = given
            self._note(value, given)
        for node in graph.nodes:
            given = [held[value] for value in node.inputs]
            if node.op is CONSTANT:
                outputs: Values = [_constant(node.attrs)]
            else:
                run = Run(node, path)
                if node.location is not None:
                    yield run
                outputs = yield from self._outputs(node, given, path)
                run.outputs, run.has_run = outputs, True
            for value, output in zip(node.outputs, outputs, strict=True):
                held[value] = output
                self._note(value, output)
        return [held[value] for value in graph.outputs]

    def _note(self, value: Value, given: Any) -> None:
        if value.node is None:
            name = value.name
        else:
            name = f"{value.node.name}#{value.index}" if value.index else value.node.name
        self.nodes[name] = given
        for name in self.names.of(value):
            self.known[name] = given

    def _outputs(self, node: Node, given: Values, path: tuple[str, ...]) -> Stop:
        """Returns what a node gives; of one with bodies, node by node."""
        if node.op is READ_VARIABLE:
            return [self.state[node.attrs["variable"]]]
        if node.op is ASSIGN_VARIABLE:
            self.state[node.attrs["variable"]] = given[0]
            return []
        if node.op in HOST_CALLS:
            function = host_function(node.attrs["function"])
            called = function if node.op is HOST_CALL else function.run
            return [Tensor(jnp.asarray(value)) for value in called(*map(_raw, given))]
        inside = _INSIDE.get(node.op.name)
        if inside is not None:
            return (yield from inside(self, node, given, path))
        # No scope may be open while the generator waits: whoever advances it would be inside.
        with unexamined(), device_scope(node.device) if node.device else nullcontext():
            return list(apply_all(node.op, given, node.attrs, node.regions))

    def _call(self, node: Node, given: Values, path: tuple[str, ...]) -> Stop:
        (region,) = node.regions
        lowered = lower(region)
        outer, count = self.state, len(lowered.variables)
        self.state = dict(zip(lowered.variables, given, strict=False))
        try:
            outputs = yield from self.run(region, given[count:], (*path, region.name))
            return [*outputs, *(self.state[name] for name in lowered.written)]
        finally:
            self.state = outer

    def _branch(self, node: Node, given: Values, path: tuple[str, ...]) -> Stop:
        cases = node.regions[::-1] if node.op is COND else node.regions
        choice = min(max(int(given[0]), 0), len(cases) - 1)
        text = f"if {bool(choice)}".lower() if node.op is COND else f"case {choice}"
        return (yield from self.run(cases[choice], given[1:], (*path, text)))

    def _while(self, node: Node, given: Values, path: tuple[str, ...]) -> Stop:
        test, body = node.regions
        count = node.attrs["num_carry"]
        carry, invariant, number = given[:count], given[count:], 0
        while True:
            inside = (*path, f"while[{number}]")
            (going_on,) = yield from self.run(test, [*carry, *invariant], inside)
            if not going_on:
                return carry
            carry = yield from self.run(body, [*carry, *invariant], inside)
            number += 1

    def _scan(self, node: Node, given: Values, path: tuple[str, ...]) -> Stop:
        (body,), attrs = node.regions, node.attrs
        length, count = attrs["length"], attrs["num_carry"]
        rest = count + attrs["num_xs"]
        carry, xs, invariant = given[:count], list(map(_tensor, given[count:rest])), given[rest:]
        rows: dict[int, Values] = {}
        for row in range(length)[:: -1 if attrs.get("reverse") else 1]:
            index = attrs.get("start", 0) + attrs.get("step", 1) * row
            items = [Tensor(x.raw[row]) for x in xs]
            found = yield from self.run(body, [index, *carry, *items, *invariant], (*path, f"for[{row}]"))
            carry, rows[row] = found[:count], found[count:]
        types = [value.type for value in body.outputs[count:]]
        stacked = [
            Tensor(jnp.stack([_raw(rows[row][place]) for row in range(length)]))
            if length
            else Tensor(jnp.zeros((0, *type.shape), type.dtype))
            for place, type in enumerate(types)
        ]
        return [*carry, *stacked]


_Inside = Callable[[Machine, Node, Values, tuple[str, ...]], Stop]
_INSIDE: dict[str, _Inside] = {
    CALL.name: Machine._call,  # pyright: ignore[reportPrivateUsage]
    COND.name: Machine._branch,  # pyright: ignore[reportPrivateUsage]
    SWITCH.name: Machine._branch,  # pyright: ignore[reportPrivateUsage]
    WHILE.name: Machine._while,  # pyright: ignore[reportPrivateUsage]
    SCAN.name: Machine._scan,  # pyright: ignore[reportPrivateUsage]
}


def _constant(attrs: Attrs) -> Any:
    array = attrs["value"].array
    return array.item() if attrs.get("weak") else Tensor(jnp.asarray(array))


def _raw(value: Any) -> Any:
    return value.raw if isinstance(value, Tensor) else jnp.asarray(value)


def _tensor(value: Any) -> Tensor:
    return value if isinstance(value, Tensor) else Tensor(jnp.asarray(value))
