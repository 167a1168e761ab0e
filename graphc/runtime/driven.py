"""Steps that run plans: ops of which the bodies lie on several devices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar

from graphc.base import Location
from graphc.ir import Attrs, Graph, Node, OpDef
from graphc.lowering import lower
from graphc.runtime.partition import partition
from graphc.runtime.placer import Placement
from graphc.runtime.plan import HOST, Plan, Step

__all__ = ["Driven", "drive", "make_driven", "plan_region", "register_drivers"]

Slots = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Driven(Step):
    """A step that runs the plans of an op's bodies.

    Attributes:
      op: the op.
      attrs: its attributes.
      regions: its bodies.
      plans: one for each of them.
      location: the user's line.
    """

    op: OpDef = field(kw_only=True)
    attrs: Attrs = field(kw_only=True)
    regions: tuple[Graph, ...] = field(kw_only=True)
    plans: tuple[Plan, ...] = field(kw_only=True)
    location: Location | None = field(kw_only=True, default=None)
    kind: ClassVar[str] = "control flow"

    @property
    def blocks(self) -> bool:
        """It waits for conditions, or for what its plans wait for."""
        return True

    @property
    def inner(self) -> tuple[Plan, ...]:
        """The plans that it runs."""
        return self.plans

    @property
    def note(self) -> str:
        """Why it is no one program."""
        used = dict.fromkeys(name for plan in self.plans for name in plan.devices)
        return f"step by step, since its body lies on {', '.join(used)}"


_drivers: dict[str, type[Driven]] = {}


def register_drivers(drivers: Mapping[str, type[Driven]]) -> None:
    """Says which class drives an op of which name; one driver may need another, that of the op it differentiates."""
    _drivers.update(drivers)


def drive(placement: Placement, node: Node, inputs: Slots, outputs: Slots, after: Slots) -> Step:
    """Returns the step of an op whose bodies lie on several devices.

    Args:
      placement: where the nodes of the bodies run.
      node: the op, in its graph.
      inputs: the slots that it takes.
      outputs: the slots that it fills.
      after: the slots that must be computed before.
    """
    plans = tuple(plan_region(region, placement) for region in node.regions)
    slots = {"inputs": inputs, "outputs": outputs, "after": after}
    return make_driven(node.op, node.attrs, node.regions, plans, node.name, node.location, **slots)


def plan_region(region: Graph, placement: Placement) -> Plan:
    """The plan of a body; it takes the variables that the body touches first, and gives those that it writes last."""
    lowered = lower(region)
    return partition(region, placement, partial(drive, placement), lowered.variables, lowered.written)


def make_driven(
    op: OpDef, attrs: Attrs, regions: tuple[Graph, ...], plans: tuple[Plan, ...], name: str,
    location: Location | None = None, *, inputs: Slots = (), outputs: Slots = (), after: Slots = (),
) -> Driven:  # fmt: skip
    """Returns a step from its parts; one that is no part of a plan has no slots."""
    driver = _drivers[op.name]
    return driver(
        name, HOST, inputs, outputs, after, op=op, attrs=attrs, regions=regions, plans=plans, location=location
    )
