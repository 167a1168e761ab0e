"""Loops and branches that span devices: the runtime goes from one part to the next itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax as _lax

from graphc.ir import Node, TensorType
from graphc.ops import COND, SCAN, SWITCH, WHILE
from graphc.runtime.partition import partition
from graphc.runtime.placer import Placement
from graphc.runtime.plan import HOST, Plan, Step

if TYPE_CHECKING:
    from graphc.runtime.executor import Execution

__all__ = ["drive"]

lax: Any = _lax  # its functions are only partly annotated

Slots = tuple[int, ...]


def drive(placement: Placement, node: Node, inputs: Slots, outputs: Slots, after: Slots) -> Step:
    """The step of a loop or branch whose bodies lie on several devices.

    Args:
      placement: where the nodes of the bodies run.
      node: the loop or branch.
      inputs: the slots that it takes.
      outputs: the slots that it fills.
      after: the slots that must be computed before.
    """
    plans = tuple(partition(region, placement, partial(drive, placement)) for region in node.regions)
    step = _STEPS[node.op.name]
    return step(node.name, HOST, inputs, outputs, after, node=node, plans=plans)


@dataclass(frozen=True, eq=False)
class _Driven(Step):
    """A step that runs plans.

    Attributes:
      node: the loop or branch.
      plans: one for each of its regions.
    """

    node: Node = field(kw_only=True)
    plans: tuple[Plan, ...] = field(kw_only=True)
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


class _Branch(_Driven):
    def run(self, arrays: Sequence[Any], execution: Execution) -> Sequence[Any]:
        """Runs the branch that is chosen."""
        choice = int(np.asarray(arrays[0]))
        if self.node.op is COND:
            choice = 0 if choice else 1  # the first region is the one for True
        plan = self.plans[min(max(choice, 0), len(self.plans) - 1)]
        return execution.run(plan, arrays[1:])


class _While(_Driven):
    def run(self, arrays: Sequence[Any], execution: Execution) -> Sequence[Any]:
        """Runs the body as long as the test holds."""
        test, body = self.plans
        num_carry = self.node.attrs["num_carry"]
        carry, invariant = arrays[:num_carry], arrays[num_carry:]
        while np.asarray(execution.run(test, (*carry, *invariant))[0]):
            carry = execution.run(body, (*carry, *invariant))
        return carry


class _Scan(_Driven):
    def run(self, arrays: Sequence[Any], execution: Execution) -> Sequence[Any]:
        """Runs the body for each row."""
        (body,) = self.plans
        attrs = self.node.attrs
        num_carry, num_xs, length = attrs["num_carry"], attrs["num_xs"], attrs["length"]
        carry, xs = arrays[:num_carry], arrays[num_carry : num_carry + num_xs]
        invariant = arrays[num_carry + num_xs :]
        types = [output.type for output in self.node.outputs[num_carry:]]
        stacks: list[Any] = [None] * len(types)
        for row in reversed(range(length)) if attrs.get("reverse") else range(length):
            index = attrs.get("start", 0) + attrs.get("step", 1) * row
            rows: list[Any] = [_row(array, row) for array in xs]
            results = execution.run(body, (index, *carry, *rows, *invariant))
            carry = results[:num_carry]
            stacks = [
                _with_row(_empty(type, value) if stack is None else stack, value, row)
                for stack, value, type in zip(stacks, results[num_carry:], types, strict=True)
            ]
        return [*carry, *(_empty(type) if stack is None else stack for stack, type in zip(stacks, types, strict=True))]


_STEPS = {COND.name: _Branch, SWITCH.name: _Branch, WHILE.name: _While, SCAN.name: _Scan}


@jax.jit
def _row(array: Any, index: Any) -> Any:
    return lax.dynamic_index_in_dim(array, index, keepdims=False)


@partial(jax.jit, donate_argnums=0)
def _with_row(stack: Any, row: Any, index: Any) -> Any:
    return lax.dynamic_update_index_in_dim(stack, row, index, 0)


def _empty(type: TensorType, like: Any = None) -> Any:
    """The array that rows are put into, on the device of a row."""
    return jnp.zeros(type.shape, type.dtype, device=getattr(like, "sharding", None))
