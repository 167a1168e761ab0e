"""Loops, branches and calls that span devices, which the runtime executes part by part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graphc.compiler.ir import TensorType
from graphc.compiler.ops import CALL, COND, SCAN, SWITCH, WHILE
from graphc.compiler.runtime.driven import Driven
from graphc.compiler.runtime.executor import Execution
from graphc.compiler.runtime.following import Following
from graphc.compiler.runtime.placed import Placed

__all__ = ["CONTROL_FLOW"]


class _Controlled(Driven):
    """A step that runs the same way whether or not JAX follows it: the execution handles the kinds of values."""

    def follow(self, values: Sequence[Placed], execution: Following) -> Sequence[Placed]:
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


def _detached(loop: Driven, carry: Sequence[Any], execution: Execution) -> Sequence[Any]:
    """Returns the carried values with the variables, which come last, cut off from gradients, as assignment does."""
    count = len(carry) - len(loop.attrs.get("assigned", ()))
    return (*carry[:count], *execution.detached(carry[count:]))


CONTROL_FLOW: Mapping[str, type[Driven]] = {
    CALL.name: _Call,
    COND.name: _Branch,
    SWITCH.name: _Branch,
    WHILE.name: _While,
    SCAN.name: _Scan,
}
"""The ops that the runtime executes part by part, with their step classes."""
