"""What a pass is, and the base of those that insert nodes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Protocol

from graphc.compiler.base import Registry
from graphc.compiler.ir.graph import Graph
from graphc.compiler.ir.opdef import OPS, OpDef

__all__ = ["OpsPass", "Pass"]


class Pass(Protocol):
    """A named function from a valid graph to a valid graph."""

    name: ClassVar[str]
    """The name in messages and on the command line."""

    def __call__(self, graph: Graph) -> Graph:
        """Returns the new graph, or the same object if there is nothing to do."""
        ...


@dataclass(frozen=True)
class OpsPass:
    """A pass that inserts nodes, or looks at the ops that a ``vjp`` differentiates.

    Attributes:
      ops: the registry of these ops.
    """

    ops: Registry[OpDef] = field(default_factory=lambda: OPS, repr=False, compare=False)
