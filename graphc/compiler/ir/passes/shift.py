"""Strength reduction: divisions by powers of two become shifts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from graphc.compiler.ir.graph import Graph, Node
from graphc.compiler.ir.interpreter import Rewriter, map_regions
from graphc.compiler.ir.opdef import CONSTANT, constant_attrs
from graphc.compiler.ir.passes.base import OpsPass
from graphc.compiler.ir.passes.loop_pass import ENTERED, controlled, differentiated
from graphc.compiler.ir.types import Attrs


@dataclass(frozen=True)
class Shift(OpsPass):
    """Replaces ``//`` and ``%`` of signed ints by a constant power of two by a shift, and by a bitwise and.

    Both round towards minus infinity as Python does. XLA divides towards zero, then corrects the result where the signs
    differ: a loop that halves a number took 1.5 times as long.

    Before: a valid graph. After: the same graph, except that such a ``floor_divide`` is a ``bitwise_right_shift``, and
      such a ``remainder`` is a ``bitwise_and``.
    """

    name: ClassVar[str] = "shift"
    needs: ClassVar[frozenset[str]] = frozenset(("floor_divide", "remainder"))

    def __call__(self, graph: Graph) -> Graph:
        """Replaces the divisions."""
        rewriter, fixed = Rewriter(graph), {*controlled(graph), *differentiated(graph)}
        for node in graph.nodes:
            replacement = None if node in fixed else _replacement(node)
            if replacement is None:
                entered = node.op.name in ENTERED and node not in fixed
                rewriter.keep(node, regions=map_regions(node, self) if entered else None)
                continue
            name, number = replacement
            type = node.inputs[1].type
            constant = rewriter.insert(CONSTANT, (), constant_attrs(number, type), type, node)
            rewriter.replace(node, self.ops[name], (rewriter.inputs(node)[0], constant), Attrs())
        return rewriter.finish()


def _replacement(node: Node) -> tuple[str, int] | None:
    """Returns the op that replaces a division, and its second operand; None if the node is something else."""
    if node.op.name not in ("floor_divide", "remainder"):
        return None
    dtypes, source = {value.type.dtype for value in (*node.inputs, *node.outputs)}, node.inputs[1].node
    if len(dtypes) > 1 or dtypes.pop().kind != "i" or source is None or source.op is not CONSTANT:
        return None
    array = source.attrs["value"].array
    divisor = 0 if array.shape else int(array)
    if divisor <= 0 or divisor & (divisor - 1):
        return None
    if node.op.name == "remainder":
        return "bitwise_and", divisor - 1
    return "bitwise_right_shift", divisor.bit_length() - 1
