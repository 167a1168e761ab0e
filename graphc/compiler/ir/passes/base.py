"""What a pass is, and the base of those that insert nodes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Protocol

from graphc.compiler.base import Registry
from graphc.compiler.ir.graph import Graph
from graphc.compiler.ir.opdef import OPS, OpDef

__all__ = ["LOOPS", "REGIONS", "OpsPass", "Pass", "starts"]

LOOPS = frozenset(("scan", "while", "vjp"))
"""The ops of loops; a ``vjp`` may be that of a loop."""
REGIONS = "regions"
"""Stands among the needs of a pass for any op with regions."""


class Pass(Protocol):
    """A named function from a valid graph to a valid graph."""

    name: ClassVar[str]
    """The name in messages and on the command line."""
    needs: ClassVar[frozenset[str]]
    """The ops of which a graph must have one for the pass to start; empty for a pass that always starts."""

    def __call__(self, graph: Graph) -> Graph:
        """Returns the new graph, or the same object if there is nothing to do."""
        ...


def starts(step: Pass, graph: Graph) -> bool:
    """Returns True if a graph, or a region in it, has what a pass needs."""
    return not step.needs or any(
        node.op.name in step.needs or (bool(node.regions) and REGIONS in step.needs) for node in graph.walk()
    )


@dataclass(frozen=True)
class OpsPass:
    """A pass that inserts nodes, or looks at the ops that a ``vjp`` differentiates.

    Attributes:
      ops: the registry of these ops.
    """

    ops: Registry[OpDef] = field(default_factory=lambda: OPS, repr=False, compare=False)
