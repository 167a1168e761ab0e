"""Strength reduction: divisions by powers of two become shifts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from graphc.base import Registry, UniqueNames
from graphc.ir.graph import Graph
from graphc.ir.node import Node
from graphc.ir.opdef import CONSTANT, OPS, OpDef
from graphc.ir.passes.loop_nodes import ENTERED, controlled, differentiated
from graphc.ir.rewrite import Rewriter, map_regions
from graphc.ir.types import Attrs, Literal

__all__ = ["Shift"]


@dataclass(frozen=True)
class Shift:
    """Replaces ``//`` and ``%`` of signed ints by a constant power of two by a shift, and by a bitwise and.

    Both round towards minus infinity as Python does. XLA divides towards zero, then corrects the result where the signs
    differ: a loop that halves a number took 1.5 times as long.

    Before: a valid graph. After: the same graph, except that such a ``floor_divide`` is a ``bitwise_right_shift``, and
      such a ``remainder`` is a ``bitwise_and``.

    Attributes:
      ops: the registry with these ops.
    """

    ops: Registry[OpDef] = field(default_factory=lambda: OPS, repr=False, compare=False)
    name: ClassVar[str] = "shift"

    def __call__(self, graph: Graph) -> Graph:
        """Replaces the divisions."""
        rewriter, names = Rewriter(graph), UniqueNames()
        fixed = {*controlled(graph), *differentiated(graph)}
        for node in graph.nodes:
            names(node.name)
        for node in graph.nodes:
            replacement = None if node in fixed else _replacement(node)
            if replacement is None:
                entered = node.op.name in ENTERED and node not in fixed
                rewriter.keep(node, regions=map_regions(node, self) if entered else None)
                continue
            name, number = replacement
            type = node.inputs[1].type
            literal = Literal(np.asarray(number, type.dtype))
            attrs = Attrs(value=literal, weak=True) if type.weak else Attrs(value=literal)
            constant = Node(CONSTANT, (), attrs, [type], device=node.device, name=names("constant"))
            rewriter.add(constant)
            rewriter.replace(node, self.ops[name], (rewriter.inputs(node)[0], constant.outputs[0]), Attrs())
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
