"""Steps of ops whose bodies span several devices: loops, branches, calls, gradients, tangents and maps.

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
from graphc.compiler.ir import OPS, Attrs, Graph, Node, OpDef, TensorType
from graphc.compiler.lowering import lower
from graphc.compiler.ops import CALL, COND, JVP, SCAN, SWITCH, VJP, VMAP, WHILE, linearize, replaying
from graphc.compiler.runtime.executor import Execution
from graphc.compiler.runtime.following import TracedExecution
from graphc.compiler.runtime.partition import partition
from graphc.compiler.runtime.placer import Placement
from graphc.compiler.runtime.plan import HOST, Plan, Step
from graphc.compiler.runtime.steps import DeviceValue, PlacedFunction

# Driven steps: ops whose bodies span several devices and run as plans.

Slots = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class DrivenLoop(Step):
    """A step that runs plans for the bodies of an op, one for each."""

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


def drive(placement: Placement, node: Node, inputs: Slots, outputs: Slots, after: Slots) -> Step:
    """Returns the step of an op whose bodies span several devices, after the slots in ``after`` are computed."""
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
) -> DrivenLoop:  # fmt: skip
    """Returns a step made from its parts; a step outside any plan has no slots."""
    driver = _DRIVERS[op.name]
    return driver(
        name, HOST, inputs, outputs, after, op=op, attrs=attrs, regions=regions, plans=plans, location=location
    )


# Control flow, which the runtime executes part by part.


class _Controlled(DrivenLoop):
    """A step that runs the same way whether or not JAX follows it: the execution handles the kinds of values."""

    def follow(self, values: Sequence[DeviceValue], execution: TracedExecution) -> Sequence[DeviceValue]:
        """As :meth:`run`."""
        return self.run(values, execution)


class _Call(_Controlled):
    def run(self, arrays: Sequence[Any], execution: Execution) -> Sequence[Any]:
        """Runs the body."""
        return execution.run(self.plans[0], arrays)


class _Branch(_Controlled):
    def run(self, arrays: Sequence[Any], execution: Execution) -> Sequence[Any]:
        """Runs the chosen branch; if rows choose differently, runs all branches and selects for each row."""
        # By branch number: the first region of a condition is the one for True.
        cases = self.plans[::-1] if self.op is COND else self.plans
        choice = execution.number(arrays[0])
        if choice is None:
            return execution.select(arrays[0], [execution.run(plan, arrays[1:]) for plan in cases])
        return execution.run(cases[min(max(choice, 0), len(cases) - 1)], arrays[1:])


class _While(_Controlled):
    def run(self, arrays: Sequence[Any], execution: Execution) -> Sequence[Any]:
        """Runs the body while the test is true; if it is true for some rows only, the others keep their values."""
        test, body = self.plans
        num_carry = self.attrs["num_carry"]
        carry, invariant = arrays[:num_carry], arrays[num_carry:]
        while execution.holds(going := execution.run(test, (*carry, *invariant))[0]):
            results = execution.run(body, (*_detached(self, carry, execution), *invariant))
            carry = results if execution.number(going) else execution.select(going, [carry, results])
        return carry


class _Scan(_Controlled):
    def run(self, arrays: Sequence[Any], execution: Execution) -> Sequence[Any]:
        """Runs the body for each row."""
        (body,) = self.plans
        attrs = self.attrs
        num_carry, num_xs, length = attrs["num_carry"], attrs["num_xs"], attrs["length"]
        carry, invariant = arrays[:num_carry], arrays[num_carry + num_xs :]
        xs = [execution.rows(array, length) for array in arrays[num_carry : num_carry + num_xs]]
        types = [value.type for value in self.regions[0].outputs[num_carry:]]
        stacks = [execution.stack(TensorType((length, *type.shape), type.dtype)) for type in types]
        for row in reversed(range(length)) if attrs.get("reverse") else range(length):
            index = execution.constant(attrs.get("start", 0) + attrs.get("step", 1) * row)
            carried = _detached(self, carry, execution)
            results = execution.run(body, (index, *carried, *(rows[row] for rows in xs), *invariant))
            carry = results[:num_carry]
            for stack, result in zip(stacks, results[num_carry:], strict=True):
                stack.put(result, row)
        return [*carry, *(stack.array() for stack in stacks)]


def _detached(loop: DrivenLoop, carry: Sequence[Any], execution: Execution) -> Sequence[Any]:
    """Returns the carried values with the variables, which come last, cut off from gradients, as assignment does."""
    count = len(carry) - len(loop.attrs.get("assigned", ()))
    return (*carry[:count], *execution.detached(carry[count:]))


# Transforms, which JAX traces.

jax: Any = _jax  # its functions are only partly annotated


class _Transform(DrivenLoop):
    """A step that JAX always traces."""

    kind: ClassVar[str] = "transform"

    def run(self, arrays: Sequence[Any], execution: Execution) -> Sequence[Any]:
        """Runs the step on arrays."""
        return [value.value for value in self.follow(list(map(DeviceValue.of, arrays)), TracedExecution(execution))]


def _followed(plan: Plan, values: Sequence[DeviceValue], execution: TracedExecution) -> PlacedFunction:
    """Returns a plan as a function of arrays on the devices of these values."""
    return PlacedFunction(partial(execution.run, plan), [value.device for value in values])


class _Vjp(_Transform):
    def follow(self, values: Sequence[DeviceValue], execution: TracedExecution) -> Sequence[DeviceValue]:
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
        return [
            DeviceValue(gradient, primals[position].device) for position, gradient in zip(wrt, gradients, strict=True)
        ]


class _Jvp(_Transform):
    def follow(self, values: Sequence[DeviceValue], execution: TracedExecution) -> Sequence[DeviceValue]:
        """Runs the body and pushes the tangents through it."""
        count = self.attrs["num_primals"]
        primals = [value.somewhere() for value in values[:count]]
        tangents = [value.to(primal.device) for value, primal in zip(values[count : 2 * count], primals, strict=True)]
        rest = values[2 * count :]
        body = _followed(self.plans[0], [*primals, *rest], execution)
        inputs = [value.value for value in (*primals, *tangents, *rest)]
        outputs = self.op.impl(*inputs, **self.attrs, body=body)
        return list(map(DeviceValue, outputs, [*body.results, *body.results[: self.attrs["num_tangents"]]]))


class _Vmap(_Transform):
    def follow(self, values: Sequence[DeviceValue], execution: TracedExecution) -> Sequence[DeviceValue]:
        """Runs the body for all rows at once; loops continue until no row needs them."""
        axis = f"rows_{len(execution.axes)}"
        body = _followed(self.plans[0], values, TracedExecution(execution, (*execution.axes, axis)))
        mapped = jax.vmap(
            body, self.attrs["in_axes"], self.attrs["out_axes"], axis_name=axis, axis_size=self.attrs["size"]
        )
        return list(map(DeviceValue, mapped(*[value.value for value in values]), body.results))


class _CustomGradient(_Transform):
    def run(self, arrays: Sequence[Any], execution: Execution) -> Sequence[Any]:
        """Runs the function without its gradient."""
        return execution.run(self.plans[0], arrays)[: self.attrs["num_outputs"]]

    def follow(self, values: Sequence[DeviceValue], execution: TracedExecution) -> Sequence[DeviceValue]:
        """Runs the function, whose gradient JAX takes from the user's gradient function."""
        outputs, states, primals = (self.attrs[name] for name in ("num_outputs", "num_states", "num_primals"))
        values = [value.somewhere() for value in values]
        forward = _followed(self.plans[0], values, execution)

        def pull(cotangents: Sequence[DeviceValue]) -> Sequence[DeviceValue]:
            results = execution.run(self.plans[1], cotangents)
            return [gradient.to(value.device) for gradient, value in zip(results, values[:primals], strict=True)]

        def places() -> Sequence[Device | None]:  # the devices of the residuals, and of the outputs' cotangents
            return [*forward.results[outputs:], *forward.results[: outputs - states]]

        results = self.op.impl(
            *[value.value for value in values], **self.attrs, forward=forward, backward=PlacedFunction(pull, places)
        )
        return list(map(DeviceValue, results, forward.results))


_DRIVERS: Mapping[str, type[DrivenLoop]] = {
    CALL.name: _Call,
    COND.name: _Branch,
    SWITCH.name: _Branch,
    WHILE.name: _While,
    SCAN.name: _Scan,
    VJP.name: _Vjp,
    JVP.name: _Jvp,
    VMAP.name: _Vmap,
    "custom_gradient": _CustomGradient,
}
"""The class of the steps of each op."""
