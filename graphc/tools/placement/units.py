"""Units: the parts of a graph that are placed together.

Each op that may take long is a separate unit; the small ones that follow it (an activation after a matrix product)
belong to it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from graphc.compiler.ir import CONSTANT, Node, Value
from graphc.compiler.ops import HOST_CALLS
from graphc.compiler.runtime import Placement, Stateless

__all__ = ["Part", "find_parts", "is_constant", "operands", "size_of"]

_SMALL = 4096
"""Maximum number of output elements of an op that joins the unit before it, whatever it computes."""


@dataclass(eq=False)
class Part:
    """Nodes that are placed together.

    Attributes:
      number: the number of the unit.
      nodes: the nodes, in program order.
      device: the device that the user pinned it to; empty for any.
      needs: the parts that it waits for, directly or indirectly, as one bit for each number.
    """

    number: int
    nodes: list[Node]
    device: str
    needs: int

    @property
    def name(self) -> str:
        """The names of the first and the last op."""
        first, last = self.nodes[0].name, self.nodes[-1].name
        return first if len(self.nodes) == 1 else f"{first}..{last}"


def find_parts(stateless: Stateless, placement: Placement) -> list[Part]:
    """Returns the parts of a graph, each after those that it waits for.

    Args:
      stateless: the graph.
      placement: the placement without a proposal, which shows the pins.
    """
    parts: list[Part] = []
    made_by: dict[Value, Part] = {}
    for node in stateless.nodes:
        values = [*map(stateless.resolve, node.inputs), *stateless.before(node)]
        sources = {made_by[value] for value in values if value in made_by}
        pin = placement.devices.get(node, "") if _is_pinned(node) else ""
        part = _joinable(node, sources, pin)
        if part is None:
            needs = 0
            for source in sources:
                needs |= source.needs | 1 << source.number
            part = Part(len(parts), [], pin, needs)
            parts.append(part)
        part.nodes.append(node)
        made_by.update(dict.fromkeys(node.outputs, part))
    return parts


def _is_pinned(node: Node) -> bool:
    return bool(node.device) or any(inner.device for region in node.regions for inner in region.walk())


def _joinable(node: Node, sources: set[Part], pin: str) -> Part | None:
    """Returns the part that a small op joins: its operands' part, if it waits for nothing else."""
    small = all(math.prod(output.type.shape) <= _SMALL for output in node.outputs)
    if not (node.op.light or small) or node.regions or node.op in HOST_CALLS or not sources:
        return None
    latest = max(sources, key=lambda part: part.number)
    others = (source for source in sources if source is not latest)
    fits = (
        latest.device == pin
        and latest.nodes[0].op not in HOST_CALLS
        and all(latest.needs >> other.number & 1 for other in others)
    )
    return latest if fits else None


def size_of(value: Value) -> int:
    """Returns the size of a value in bytes."""
    return math.prod(value.type.shape) * value.type.dtype.itemsize


def is_constant(value: Value) -> bool:
    """Returns True if a value is a constant, which is copied to where it is used at compile time."""
    return value.node is not None and value.node.op is CONSTANT


def operands(part: Part, stateless: Stateless) -> Sequence[Value]:
    """Returns the values from outside that a part uses, each once, without constants."""
    own = {output for node in part.nodes for output in node.outputs}
    values = (stateless.resolve(value) for node in part.nodes for value in node.inputs)
    return [value for value in dict.fromkeys(values) if value not in own and not is_constant(value)]
