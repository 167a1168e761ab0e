"""Gradients, tangents and maps of computations on several devices.

Each transform is that of the op, with bodies that run plans in place of programs: JAX traces them (see
:mod:`graphc.compiler.runtime.following`). A gradient repeats the forward pass, and keeps the residuals of each step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import jax as _jax

from graphc.compiler.base import Location
from graphc.compiler.devices import Device
from graphc.compiler.ir import OPS, Attrs, Graph, Node, OpDef
from graphc.compiler.lowering import lower
from graphc.compiler.ops import JVP, VJP, VMAP, linearize, replaying
from graphc.compiler.runtime.executor import Execution
from graphc.compiler.runtime.following import Following
from graphc.compiler.runtime.partition import partition
from graphc.compiler.runtime.placer import Placement
from graphc.compiler.runtime.plan import HOST, Plan, Step
from graphc.compiler.runtime.steps import Placed, PlacedFunction

__all__ = ["TRANSFORMS", "Driven", "drive", "make_driven", "plan_region", "register_drivers"]

# Driven steps: ops whose bodies span several devices and run as plans.

Slots = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Driven(Step):
    """A step that runs plans for the bodies of an op.

    Attributes:
      plans: a plan for each body.
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


jax: Any = _jax  # its functions are only partly annotated


class _Transform(Driven):
    """A step that JAX always traces."""

    kind: ClassVar[str] = "transform"

    def run(self, arrays: Sequence[Any], execution: Execution) -> Sequence[Any]:
        """Runs the step on arrays."""
        return [value.value for value in self.follow(list(map(Placed.of, arrays)), Following(execution))]


def _followed(plan: Plan, values: Sequence[Placed], execution: Following) -> PlacedFunction:
    """Returns a plan as a function of arrays on the devices of these values."""
    return PlacedFunction(partial(execution.run, plan), [value.device for value in values])


class _Vjp(_Transform):
    def follow(self, values: Sequence[Placed], execution: Following) -> Sequence[Placed]:
        """Runs the forward pass again, and then the backward pass."""
        wrt: Sequence[int]
        mask: Sequence[bool]
        wrt, mask = self.attrs["wrt"], self.attrs["cotangents"]
        count = len(values) - sum(mask)
        primals = [value.somewhere() if position in wrt else value for position, value in enumerate(values[:count])]
        op, attrs = OPS[self.attrs["op"]], Attrs(dict(self.attrs["attrs"]))
        forward = make_driven(op, attrs, self.regions, self.plans, self.name, self.location)
        function = PlacedFunction(
            lambda placements: forward.follow(placements, execution), [primal.device for primal in primals]
        )
        with replaying():  # the forward pass has already had its side effects
            _, pullback = linearize(function, [primal.value for primal in primals], wrt, mask)
            placements = [position for position, wanted in zip(function.results, mask, strict=True) if wanted]
            cotangents = [value.to(position).value for value, position in zip(values[count:], placements, strict=True)]
            gradients = pullback(cotangents)
        return [Placed(gradient, primals[position].device) for position, gradient in zip(wrt, gradients, strict=True)]


class _Jvp(_Transform):
    def follow(self, values: Sequence[Placed], execution: Following) -> Sequence[Placed]:
        """Runs the body and pushes the tangents through it."""
        count = self.attrs["num_primals"]
        primals = [value.somewhere() for value in values[:count]]
        tangents = [value.to(primal.device) for value, primal in zip(values[count : 2 * count], primals, strict=True)]
        rest = values[2 * count :]
        body = _followed(self.plans[0], [*primals, *rest], execution)
        inputs = [value.value for value in (*primals, *tangents, *rest)]
        outputs = self.op.impl(*inputs, **self.attrs, body=body)
        return list(map(Placed, outputs, [*body.results, *body.results[: self.attrs["num_tangents"]]]))


class _Vmap(_Transform):
    def follow(self, values: Sequence[Placed], execution: Following) -> Sequence[Placed]:
        """Runs the body for all rows at once; loops continue until no row needs them."""
        axis = f"rows_{len(execution.axes)}"
        body = _followed(self.plans[0], values, Following(execution, (*execution.axes, axis)))
        mapped = jax.vmap(
            body, self.attrs["in_axes"], self.attrs["out_axes"], axis_name=axis, axis_size=self.attrs["size"]
        )
        return list(map(Placed, mapped(*[value.value for value in values]), body.results))


class _CustomGradient(_Transform):
    def run(self, arrays: Sequence[Any], execution: Execution) -> Sequence[Any]:
        """Runs the function without its gradient."""
        return execution.run(self.plans[0], arrays)[: self.attrs["num_outputs"]]

    def follow(self, values: Sequence[Placed], execution: Following) -> Sequence[Placed]:
        """Runs the function, whose gradient JAX takes from the user's gradient function."""
        outputs, states, primals = (self.attrs[name] for name in ("num_outputs", "num_states", "num_primals"))
        values = [value.somewhere() for value in values]
        forward = _followed(self.plans[0], values, execution)

        def pull(cotangents: Sequence[Placed]) -> Sequence[Placed]:
            results = execution.run(self.plans[1], cotangents)
            return [gradient.to(value.device) for gradient, value in zip(results, values[:primals], strict=True)]

        def places() -> Sequence[Device | None]:  # the devices of the residuals, and of the outputs' cotangents
            return [*forward.results[outputs:], *forward.results[: outputs - states]]

        results = self.op.impl(
            *[value.value for value in values], **self.attrs, forward=forward, backward=PlacedFunction(pull, places)
        )
        return list(map(Placed, results, forward.results))


TRANSFORMS: Mapping[str, type[Driven]] = {
    VJP.name: _Vjp,
    JVP.name: _Jvp,
    VMAP.name: _Vmap,
    "custom_gradient": _CustomGradient,
}
"""The ops that JAX traces, with their step classes."""
