"""Loops that run backwards over arrays, instead of over copies of them that are reversed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from graphc.compiler.base import Registry
from graphc.compiler.ir.graph import Graph, Node, Value
from graphc.compiler.ir.interpreter import Rewriter
from graphc.compiler.ir.opdef import OpDef
from graphc.compiler.ir.passes.loop_nodes import Loop, controlled
from graphc.compiler.ir.passes.loop_pass import LoopPass
from graphc.compiler.ir.types import Attrs

__all__ = ["Turn"]

_FLIPPED = Attrs(index=((None, None, -1),))


@dataclass(frozen=True)
class Turn(LoopPass):
    """Lets a ``scan`` take and collect rows from the last to the first, where this spares reversed copies.

    ``for row in reversed(x)`` gives the loop the reversed array, and ``returns[::-1]`` or an array that is filled from
    its end reverses what the loop has collected. ``jax.lax.scan(..., reverse=True)`` does both in place.

    Before: a valid graph. After: the same graph, except that a ``scan`` has the opposite direction if fewer bytes are
    reversed then: the arrays that it takes are those before their reversal, and its users get what it collects without
    theirs. Arrays that were not reversed before are reversed now. Differentiated loops stay.
    """

    name: ClassVar[str] = "turn"
    needs: ClassVar[frozenset[str]] = frozenset(("scan", "vjp"))

    def replaced(self, graph: Graph, loops: Mapping[Node, Loop], whole: set[Node]) -> Graph:
        """Returns the graph with loops turned, and without the reversals that this spares."""
        scans = [loop for node, loop in loops.items() if node not in whole and _has_rows(loop)]
        if not scans:
            return graph
        uses = _Uses(graph)
        turned: dict[Node, Loop] = {}
        for loop in scans:
            # A reversal between two loops is spared by turning one of them.
            between = any(
                (source := uses.reversed_of(array)) is not None and source.node in turned for array in _arrays(loop)
            )
            if not between and _spared(loop, uses) > 0:
                turned[loop.node] = loop
        return _Turning(graph, turned, uses, self.ops).graph() if turned else graph


def _has_rows(loop: Loop) -> bool:
    rows = loop.num_rows + loop.attrs.get("num_ys", 0)
    return loop.node.op.name == "scan" and rows > 0 and loop.attrs["length"] > 1


class _Uses:
    """The users of the values of a graph."""

    def __init__(self, graph: Graph) -> None:
        self._users: dict[Value, list[Node]] = {}
        for node in graph.nodes:
            for value in node.inputs:
                self._users.setdefault(value, []).append(node)
        self._results = {*graph.outputs}
        self._waiting = controlled(graph)

    def reversed_of(self, value: Value) -> Value | None:
        """Returns the array whose reverse along the first axis a value is; None if it is not a reverse."""
        node = value.node
        if node is None or len(node.inputs) != 1 or node in self._waiting or node.device:
            return None
        (array,) = node.inputs
        return array if not array.type.is_open and array.type.shape and _reverses(node, array.type.shape[0]) else None

    def flips(self, value: Value) -> list[Node]:
        """Returns the users of an array that reverse it."""
        users = [node for node in self._users.get(value, ()) if node.outputs]  # an assignment has none
        return [node for node in users if self.reversed_of(node.outputs[0]) is value]

    def only_reversed(self, value: Value) -> bool:
        """Returns True if all users of an array reverse it."""
        return value not in self._results and len(self.flips(value)) == len(self._users.get(value, ()))

    def is_used_once(self, value: Value) -> bool:
        """Returns True if a value has one user."""
        return value not in self._results and len(self._users.get(value, ())) == 1


def _reverses(node: Node, size: int) -> bool:
    if node.op.name == "flip":
        return node.attrs.get("axis") in (0, (0,))
    index = node.attrs.get("index")
    return node.op.name == "get_item" and index in [((first, None, -1),) for first in (None, -1, size - 1)]


def _arrays(loop: Loop) -> Sequence[Value]:
    return loop.operands[loop.num_carry : loop.num_carry + loop.num_rows]


def _collected(loop: Loop) -> Sequence[Value]:
    return loop.node.outputs[loop.num_carry :]


def _spared(loop: Loop, uses: _Uses) -> int:
    """Returns how many bytes fewer are reversed if a loop is turned."""
    spared = 0
    for array in dict.fromkeys(_arrays(loop)):
        if uses.reversed_of(array) is None:
            spared -= _size(array)
        elif uses.is_used_once(array):
            spared += _size(array)
    for rows in _collected(loop):
        before, after = bool(uses.flips(rows)), not uses.only_reversed(rows)
        spared += (before - after) * _size(rows)
    return spared


def _size(value: Value) -> int:
    return value.type.size * value.type.dtype.itemsize


@dataclass(frozen=True)
class _Turning:
    """A graph in which some loops are turned."""

    old: Graph
    turned: Mapping[Node, Loop]
    uses: _Uses
    ops: Registry[OpDef]

    def graph(self) -> Graph:
        """Returns the new graph."""
        rewriter, gone = Rewriter(self.old), set[Node]()
        for node in self.old.nodes:
            if node in self.turned:
                self._turn(self.turned[node], rewriter)
                gone.update(flip for rows in _collected(self.turned[node]) for flip in self.uses.flips(rows))
            elif node not in gone:
                rewriter.keep(node)
        return rewriter.finish()

    def _turn(self, loop: Loop, rewriter: Rewriter) -> None:
        node, attrs = loop.node, dict(loop.attrs)
        start, step, length = attrs.get("start", 0), attrs.get("step", 1), attrs["length"]
        # The index belongs to the row: the first row is now that of the last iteration.
        attrs.update(start=start + step * (length - 1), step=-step, reverse=not attrs.get("reverse"))
        for name, default in (("start", 0), ("step", 1), ("reverse", False)):
            if attrs[name] == default:
                del attrs[name]
        inputs, first = list(rewriter.inputs(node)), loop.num_carry
        for place, array in enumerate(_arrays(loop), first):
            source = self.uses.reversed_of(array)
            inputs[place] = self._flip(inputs[place], node, rewriter) if source is None else rewriter.value(source)
        new = rewriter.replace(node, node.op, inputs, Attrs(attrs), regions=node.regions)
        for old, rows in zip(_collected(loop), new.outputs[first:], strict=True):
            for flip in self.uses.flips(old):
                rewriter.substitute(flip.outputs, [rows])
            if not self.uses.only_reversed(old):
                rewriter.substitute([old], [self._flip(rows, node, rewriter)])

    def _flip(self, array: Value, like: Node, rewriter: Rewriter) -> Value:
        """Returns the reverse of an array."""
        return rewriter.insert(self.ops["get_item"], [array], _FLIPPED, array.type, like)
