"""Driven steps: ops whose bodies span several devices and run as plans."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar

from graphc.compiler.base import Location
from graphc.compiler.ir import Attrs, Graph, Node, OpDef
from graphc.compiler.lowering import lower
from graphc.compiler.runtime.partition import partition
from graphc.compiler.runtime.placer import Placement
from graphc.compiler.runtime.plan import HOST, Plan, Step

__all__ = ["Driven", "drive", "make_driven", "plan_region", "register_drivers"]

Slots = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Driven(Step):
    """A step that runs plans for the bodies of an op.

    Attributes:
      op: the op.
      attrs: the op's attributes.
      regions: the op's bodies.
      plans: a plan for each body.
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
        """True: it waits for conditions, or for the waits of its plans."""
        return True

    @property
    def inner(self) -> tuple[Plan, ...]:
        """The plans that it runs."""
        return self.plans

    @property
    def note(self) -> str:
        """The reason why it is not a single program."""
        used = dict.fromkeys(name for plan in self.plans for name in plan.devices)
        return f"step by step, since its body lies on {', '.join(used)}"


_drivers: dict[str, type[Driven]] = {}


def register_drivers(drivers: Mapping[str, type[Driven]]) -> None:
    """Sets the driver class of each op name; a driver may use another one, such as that of a differentiated op."""
    _drivers.update(drivers)


def drive(placement: Placement, node: Node, inputs: Slots, outputs: Slots, after: Slots) -> Step:
    """Returns the step of an op whose bodies span several devices.

    Args:
      placement: the devices of the bodies' nodes.
      node: the op, in its graph.
      inputs: the slots that it reads.
      outputs: the slots that it fills.
      after: the slots that must be computed first.
    """
    plans = tuple(plan_region(region, placement) for region in node.regions)
    slots = {"inputs": inputs, "outputs": outputs, "after": after}
    return make_driven(node.op, node.attrs, node.regions, plans, node.name, node.location, **slots)


def plan_region(region: Graph, placement: Placement) -> Plan:
    """Returns the plan of a body, whose inputs begin with its variables and whose outputs end with the written ones."""
    lowered = lower(region)
    return partition(region, placement, partial(drive, placement), lowered.variables, lowered.written)


def make_driven(
    op: OpDef, attrs: Attrs, regions: tuple[Graph, ...], plans: tuple[Plan, ...], name: str,
    location: Location | None = None, *, inputs: Slots = (), outputs: Slots = (), after: Slots = (),
) -> Driven:  # fmt: skip
    """Returns a step made from its parts; a step outside any plan has no slots."""
    driver = _drivers[op.name]
    return driver(
        name, HOST, inputs, outputs, after, op=op, attrs=attrs, regions=regions, plans=plans, location=location
    )
