"""Loops that run backwards over arrays, instead of over copies of them that are reversed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from graphc.compiler.ir.graph import Graph, Node, Value
from graphc.compiler.ir.interpreter import Rewriter
from graphc.compiler.ir.passes.loop_pass import Loop, LoopPass, controlled
from graphc.compiler.ir.types import Attrs


@dataclass(frozen=True)
class Turn(LoopPass):
    """Lets a ``scan`` take and collect rows from the last to the first, where this spares reversed copies.

    ``for row in reversed(x)`` gives the loop the reversed array, and ``returns[::-1]`` or an array that is filled from
    its end reverses what the loop has collected. ``jax.lax.scan(..., reverse=True)`` does both in place. Discounted
    returns took 1.12 times as long without it, their first call 1.2 times, and twice the memory.

    Before: a valid graph. After: the same graph, except that a ``scan`` has the opposite direction if all arrays that
    it takes are reversals, and all uses of those that it collects: it takes what was reversed, and its users get what
    it collects. Differentiated loops stay.
    """

    name: ClassVar[str] = "turn"
    needs: ClassVar[frozenset[str]] = frozenset(("scan", "vjp"))

    def replaced(self, graph: Graph, loops: Mapping[Node, Loop], whole: set[Node]) -> Graph:
        """Returns the graph with loops turned, and without the reversals that this spares."""
        users, waiting = graph.users(), controlled(graph)
        flips = {node for node in graph.nodes if node not in waiting and _reverses(node)}
        rewriter, gone = Rewriter(graph), set[Node]()
        for node in graph.nodes:
            loop = loops.get(node) if node.op.name == "scan" and node not in whole else None
            found = None if loop is None else _reversals(loop, graph, users, flips)
            if loop is None or found is None:
                if node not in gone:
                    rewriter.keep(node)
                continue
            taken, read = found
            inputs, first = list(rewriter.inputs(node)), loop.num_carry
            inputs[first : first + loop.num_rows] = [rewriter.value(flip.inputs[0]) for flip in taken]
            new = rewriter.replace(node, node.op, inputs, _turned(loop), regions=node.regions)
            for flip in read:
                rewriter.substitute(flip.outputs, [new.outputs[flip.inputs[0].index]])
            gone.update(read)
            flips.difference_update(read)  # a reversal between two loops is spared by turning one of them
        return rewriter.finish()


def _reversals(
    loop: Loop, graph: Graph, users: Mapping[Value, Sequence[Node]], flips: set[Node]
) -> tuple[list[Node], list[Node]] | None:
    """Returns the reversals of what a loop takes and collects; None if something is not reversed, or nothing is."""
    collected = loop.node.outputs[loop.num_carry :]
    taken = [array.node for array in loop.operands[loop.num_carry : loop.num_carry + loop.num_rows]]
    read = [user for rows in collected for user in users.get(rows, ())]
    if loop.attrs["length"] < 2 or not (taken or read) or not flips.issuperset((*taken, *read)):
        return None
    used = any(rows in graph.outputs for rows in collected)
    return None if used else ([node for node in taken if node is not None], read)


def _turned(loop: Loop) -> Attrs:
    """Returns the attributes of a loop in the opposite direction."""
    attrs = dict(loop.attrs)
    start, step = attrs.get("start", 0), attrs.get("step", 1)
    # The index belongs to the row: the first row is now that of the last iteration.
    attrs.update(start=start + step * (attrs["length"] - 1), step=-step, reverse=not attrs.get("reverse"))
    defaults = {"start": 0, "step": 1, "reverse": False}
    return Attrs({name: value for name, value in attrs.items() if name not in defaults or value != defaults[name]})


def _reverses(node: Node) -> bool:
    """Returns True if a node reverses an array along its first axis."""
    if len(node.inputs) != 1 or node.device or not (type := node.inputs[0].type).shape or type.is_open:
        return False
    if node.op.name == "flip":
        return node.attrs.get("axis") in (0, (0,))
    starts = (None, -1, type.shape[0] - 1)
    return node.op.name == "get_item" and node.attrs.get("index") in [((start, None, -1),) for start in starts]
