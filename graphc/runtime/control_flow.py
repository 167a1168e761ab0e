"""Loops, branches and calls that span devices: the runtime goes from one part to the next itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import jax.numpy as jnp
from jax import lax as _lax

from graphc.ir import TensorType
from graphc.ops import CALL, COND, SCAN, SWITCH, WHILE
from graphc.runtime.driven import Driven
from graphc.runtime.executor import Execution
from graphc.runtime.following import BatchedValueError, Following
from graphc.runtime.placed import Placed
from graphc.runtime.plan import Plan

__all__ = ["CONTROL_FLOW"]

lax: Any = _lax  # its functions are only partly annotated


class _Controlled(Driven):
    """What is run in the same way whether JAX follows it or not: the execution knows what values are."""

    def follow(self, values: Sequence[Placed], execution: Following) -> Sequence[Placed]:
        """As :meth:`run`."""
        return self.run(values, execution)


class _Call(_Controlled):
    def run(self, arrays: Sequence[Any], execution: Execution) -> Sequence[Any]:
        """Runs the body."""
        return execution.run(self.plans[0], arrays)


class _Branch(_Controlled):
    def run(self, arrays: Sequence[Any], execution: Execution) -> Sequence[Any]:
        """Runs the branch that is chosen."""
        choice = execution.number(arrays[0])
        return execution.run(self._cases[min(max(choice, 0), len(self.plans) - 1)], arrays[1:])

    def follow(self, values: Sequence[Placed], execution: Following) -> Sequence[Placed]:
        """As :meth:`run`; where rows choose different branches all of them, of which each row takes its own."""
        try:
            return self.run(values, execution)
        except BatchedValueError as error:
            if error.value is not values[0].value:
                raise
        cases = [execution.run(plan, values[1:]) for plan in self._cases]
        choice = values[0].value
        if self.op is SWITCH:
            choice = lax.clamp(0, choice, len(cases) - 1)
        return [_chosen(choice, results) for results in zip(*cases, strict=True)]

    @property
    def _cases(self) -> Sequence[Plan]:
        """The branches, by the number that chooses each: the first region of a condition is the one for True."""
        return self.plans[::-1] if self.op is COND else self.plans


class _While(_Controlled):
    def run(self, arrays: Sequence[Any], execution: Execution) -> Sequence[Any]:
        """Runs the body as long as the test holds."""
        test, body = self.plans
        num_carry = self.attrs["num_carry"]
        carry, invariant = arrays[:num_carry], arrays[num_carry:]
        while execution.number(execution.run(test, (*carry, *invariant))[0]):
            carry = execution.run(body, (*_detached(self, carry, execution), *invariant))
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


def _chosen(choice: Any, results: Sequence[Placed]) -> Placed:
    device = next((result.device for result in results if result.device is not None), None)
    values = [jnp.asarray(result.to(device).value) for result in results]
    return Placed(lax.select_n(Placed(choice).to(device).value, *values), device)


def _detached(loop: Driven, carry: Sequence[Any], execution: Execution) -> Sequence[Any]:
    """Carried values, the variables among them (the last ones) cut off from gradients, as assignment does."""
    count = len(carry) - len(loop.attrs.get("assigned", ()))
    return (*carry[:count], *execution.detached(carry[count:]))


CONTROL_FLOW: Mapping[str, type[Driven]] = {
    CALL.name: _Call,
    COND.name: _Branch,
    SWITCH.name: _Branch,
    WHILE.name: _While,
    SCAN.name: _Scan,
}
"""The ops that are run part by part, and how."""
