"""Loop-invariant code motion out of the tests of loops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from graphc.compiler.ir.graph import Node
from graphc.compiler.ir.passes.hoist import Move
from graphc.compiler.ir.passes.loop_nodes import ENTERED, Loop, is_light
from graphc.compiler.ir.passes.loop_pass import LateLoopPass

__all__ = ["Pretest"]


@dataclass(frozen=True)
class Pretest(LateLoopPass):
    """Moves invariant computations out of the test of a ``while``.

    XLA moves what is invariant out of a loop's body, but not out of its test. ``while level < gx.max(levels)`` found
    the maximum before each iteration (300 iterations over 100,000 levels: 3.7 ms, now 0.03 ms).

    Before: a valid graph. After: the same graph, except that nodes of a test that depend on nothing that changes in the
      loop, have no effects, and are not light or compute a number from a tensor, stand before the loop, with the nodes
      that they need. The test runs at least once, so that they run no more often than before.
    """

    name: ClassVar[str] = "pretest"
    needs: ClassVar[frozenset[str]] = frozenset(("while", "vjp"))

    def plan(self, loop: Loop) -> Move | None:
        """Returns what leaves the test of a loop, and the loop."""
        test = loop.test
        if test is None or loop.node.op.name not in ENTERED:
            return None
        places = [*range(loop.num_carry, len(loop.operands)), *loop.unchanged()]
        free = loop.free([test.inputs[place] for place in places], self.ops, test)
        movable = (node for node in test.nodes if node.outputs and free.issuperset(node.outputs))
        chosen = [node for node in movable if not is_light(node, self.ops) or _condenses(node)]
        return Move(loop, self.ops, test, chosen) if chosen else None


def _condenses(node: Node) -> bool:
    """Returns True if a node computes a number from more than numbers: it reads an item, or sums them up."""
    return node.outputs[0].type.shape == () and any(value.type.shape != () for value in node.inputs)
