"""Gradients of gradients of loops and branches.

A graph has a loop ``f``, its gradient ``v = vjp(f)``, and the gradient ``vjp(v)`` of that. Evaluated by itself, the
last one would run the loop forwards and backwards again. Here they are evaluated as JAX nests them: the forward pass
returns the pullback of ``f``, whose residuals are arrays; ``v`` is a function of these and of its cotangents; and what
its pullback yields for the residuals goes through the pullback of the forward pass. A Hessian-vector product then has
four loops in place of six.

The last of these passes also takes the cotangents of the outputs of ``f``, if the graph adds up both gradients.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import jax as _jax
import jax.numpy as jnp

from graphc.compiler.ir import Graph, Node, Value
from graphc.compiler.ops import linearize_twice

jax: Any = _jax  # its functions are only partly annotated

Key = tuple[Any, ...]

_OPS = frozenset({"call", "cond", "scan", "switch", "while"})
"""The ops of which it is worth it; XLA merges what others compute twice."""


@dataclass
class _Inner:
    """A gradient that is itself differentiated."""

    node: Node
    given: tuple[bool, ...]  # for each of its outputs, whether a gradient of it has a cotangent for it
    # From cotangents of these to those of the residuals and of its own cotangents, once it was evaluated.
    pullback: Callable[..., Any] | None = None


@dataclass
class SecondOrder:
    """A loop or branch whose gradient is differentiated, while a graph is evaluated."""

    wrt: tuple[int, ...]  # the positions of the inputs that the second gradients are for
    inner: Mapping[Key, _Inner]
    carrier: Node | None  # the gradient whose backward pass takes along what flows into the residuals
    planned: tuple[tuple[int, ...], tuple[bool, ...]]  # the inputs, and the mask of the outputs, of all first ones
    _pullback: Any = None
    _back: Any = None
    _waiting: list[Any] = field(default_factory=list[Any])

    def forward(self, function: Callable[..., Any], inputs: Sequence[Any]) -> Any:
        """Evaluates the loop or branch; returns its outputs."""
        linearized = linearize_twice(function, inputs, *self.planned, self.wrt, with_outputs=self.carrier is not None)
        outputs, self._pullback, self._back = linearized
        return outputs

    def pull(self, node: Node, cotangents: Sequence[Any]) -> Sequence[Any]:
        """Evaluates a first gradient; returns one gradient for each planned position."""
        if node is self.carrier and self._waiting:
            pulled = self._back((tuple(cotangents), reduce(_added, self._waiting)))
            return [pulled[self.wrt.index(position)] if position in self.wrt else None for position in self.planned[0]]
        inner = self.inner.get(key_of(node))
        if inner is None:
            return self._pullback(tuple(cotangents))
        indices = [self.planned[0].index(node.attrs["wrt"][position]) for position in true_positions(inner.given)]

        def chosen(pullback: Any, cotangents: Any) -> Any:
            gradients = pullback(cotangents)
            return [gradients[position] for position in indices], gradients

        _, inner.pullback, gradients = jax.vjp(chosen, self._pullback, tuple(cotangents), has_aux=True)
        return gradients

    def pull_again(self, node: Node, cotangents: Sequence[Any]) -> Sequence[Any]:
        """Evaluates a second gradient, from the cotangents that the node has; returns its gradients."""
        inner = self.inner[forward_key(node)]
        assert inner.pullback is not None
        by_position = dict(zip(true_positions(node.attrs["cotangents"]), cotangents, strict=True))
        seeds: list[Any] = []
        for position in true_positions(inner.given):
            type = inner.node.outputs[position].type
            seeds.append(
                jnp.asarray(by_position[position], type.dtype)
                if position in by_position
                else jnp.zeros(type.shape, type.dtype)
            )
        residuals, of_cotangents = inner.pullback(seeds)
        count = num_primals(inner.node)
        own = true_positions(inner.node.attrs["cotangents"])
        planned = true_positions(self.planned[1])
        wrt: Sequence[int] = node.attrs["wrt"]
        pulled: Sequence[Any] = ()
        if any(position < count for position in wrt):
            if self.carrier is not None:
                self._waiting.append(residuals)
                types = [inner.node.inputs[position].type for position in self.wrt]
                pulled = [jnp.zeros(type.shape, type.dtype) for type in types]
            else:
                pulled = self._back(((), residuals))
        return [
            pulled[self.wrt.index(position)]
            if position < count
            else of_cotangents[planned.index(own[position - count])]
            for position in wrt
        ]


def _added(one: Any, other: Any) -> Any:
    """Returns the sums of residuals' cotangents; integers have none, which JAX writes as float0."""

    def both(one: Any, other: Any) -> Any:
        return one if one.dtype == jax.dtypes.float0 else one + other

    return jax.tree.map(both, one, other)


def twice_differentiated(
    graph: Graph, plan: Mapping[Key, tuple[tuple[int, ...], tuple[bool, ...]]]
) -> tuple[dict[Key, SecondOrder], dict[Node, SecondOrder]]:
    """Returns what evaluates loops and branches of a graph, not of its regions, whose gradients are differentiated."""
    # By the key of the loop or branch, and by the node of each second gradient.
    if not any(key[0] == "vjp" for key in plan):
        return {}, {}
    at = {node: index for index, node in enumerate(graph.nodes)}
    nodes = {key_of(node): node for node in reversed(graph.nodes)}
    seconds: dict[Key, list[Node]] = {}
    firsts: dict[Key, list[Node]] = {}
    for node in graph.nodes:
        if node.op.name == "vjp":
            key = forward_key(node)
            inner = nodes.get(key)
            if key[0] != "vjp":
                firsts.setdefault(key, []).append(node)
            elif inner is not None and at[inner] < at[node]:
                seconds.setdefault(forward_key(inner), []).append(node)
    twice_of: dict[Key, SecondOrder] = {}
    by_node: dict[Node, SecondOrder] = {}
    for key, again in seconds.items():
        node = nodes.get(key)
        if key[0] not in _OPS or node is None or not _is_pure(node) or at[node] > at[nodes[forward_key(again[0])]]:
            continue
        twice_of[key] = twice = _of(graph, firsts[key], again, nodes, at, plan)
        by_node.update(dict.fromkeys(again, twice))
    return twice_of, by_node


def _of(
    graph: Graph, firsts: Sequence[Node], again: Sequence[Node], nodes: Mapping[Key, Node], at: Mapping[Node, int],
    plan: Mapping[Key, tuple[tuple[int, ...], tuple[bool, ...]]],
) -> SecondOrder:  # fmt: skip
    inner: dict[Key, _Inner] = {}
    results: dict[int, list[Value]] = {}
    for node in again:
        key = forward_key(node)
        first, mask = nodes[key], node.attrs["cotangents"]
        if key in inner:
            mask = tuple(one or other for one, other in zip(inner[key].given, mask, strict=True))
        inner[key] = _Inner(first, mask)
        for position, value in zip(node.attrs["wrt"], node.outputs, strict=True):
            if position < num_primals(first):
                results.setdefault(position, []).append(value)
    wrt = tuple(sorted(results))
    last = max(at[node] for node in again)
    carriers = (node for node in firsts if at[node] > last and wrt and set(wrt) <= set(node.attrs["wrt"]))
    users = graph.users()
    carrier = next((node for node in carriers if _adds_all(node, results, users, graph)), None)
    if carrier is not None:
        wrt = tuple(sorted(carrier.attrs["wrt"]))
    return SecondOrder(wrt, inner, carrier, plan[forward_key(firsts[0])])


def _adds_all(
    carrier: Node, results: Mapping[int, Sequence[Value]], users: Mapping[Value, Sequence[Node]], graph: Graph
) -> bool:
    """Returns True if each second gradient is only added to what a first one yields for the same input."""
    for position, value in zip(carrier.attrs["wrt"], carrier.outputs, strict=True):
        sums = _sums(value, users, graph)
        if not all(sums & _sums(result, users, graph) for result in results.get(position, ())):
            return False
    return True


def _sums(value: Value, users: Mapping[Value, Sequence[Node]], graph: Graph) -> set[Value]:
    """Returns the sums that a value goes into, and nothing else does; each is an addend of the next."""
    sums: set[Value] = set()
    while value not in graph.outputs and len(reading := users.get(value, ())) == 1:
        (node,) = reading
        if node.op.name != "add" or node.control_inputs or node.inputs[0] is node.inputs[1]:
            break
        if node.outputs[0].type != value.type:
            break
        value = node.outputs[0]
        sums.add(value)
    return sums


def _is_pure(node: Node) -> bool:
    """Returns True if a node has no effects, not in its regions either, and waits for nothing."""
    inside = (inner for body in node.regions for inner in body.walk())
    return not node.control_inputs and not any(each.effects or each.op.opaque for each in (node, *inside))


def key_of(node: Node) -> Key:
    """Returns the key of a node: op, attributes, regions and inputs."""
    return (node.op.name, node.attrs, node.regions, *node.inputs)


def forward_key(node: Node) -> Key:
    """Returns the key of the node that a vjp differentiates: op, attributes, regions and inputs."""
    attrs = type(node.attrs)(dict(node.attrs["attrs"]))
    return (node.attrs["op"], attrs, node.regions, *node.inputs[: num_primals(node)])


def num_primals(node: Node) -> int:
    """Returns the number of inputs of a vjp that are not cotangents."""
    return len(node.inputs) - sum(node.attrs["cotangents"])


def true_positions(mask: Sequence[bool]) -> list[int]:
    """Returns the positions of a mask that are set."""
    return [position for position, flag in enumerate(mask) if flag]
