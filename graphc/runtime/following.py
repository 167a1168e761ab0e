"""Runs of plans that JAX follows, to differentiate them or to map them over rows.

JAX's transformations work outside of compiled programs too. There they follow what is computed step by step: a segment
is a function whose derivative JAX knows, what goes to another device has cotangents that come back, and loops and
branches are run as the values say. So a plan is as differentiable as a program of one device, to any order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
from jax import lax

from graphc.ir import TensorType
from graphc.runtime.executor import Execution
from graphc.runtime.placed import Placed
from graphc.runtime.plan import Plan
from graphc.runtime.stacks import FollowedRows, FollowedStack, Rows, Stack

__all__ = ["BatchedValueError", "Following"]


class BatchedValueError(Exception):
    """What decides where a program goes has a value for each row that it is mapped over.

    Attributes:
      value: it.
    """

    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value


class Following(Execution):
    """A run of which values are :class:`Placed` ones.

    All of it happens in one thread, as JAX's transformations do.

    Args:
      around: the run that it is part of.
    """

    def __init__(self, around: Execution) -> None:
        super().__init__(around.name)
        self._around = around

    def run(self, plan: Plan, arrays: Sequence[Placed]) -> list[Placed]:
        """Runs a plan."""
        self.check()
        slots: list[Any] = [None] * plan.num_slots
        slots[: plan.num_inputs] = arrays
        for slot, constant in plan.constants:
            slots[slot] = Placed(constant)
        for step, dying in zip(plan.steps, plan.last_uses, strict=True):
            results = step.follow([slots[slot] for slot in step.inputs], self)
            for slot, value in zip(step.outputs, results, strict=True):
                slots[slot] = value
            for slot in dying:
                slots[slot] = None
        return [slots[slot] for slot in plan.outputs]

    def check(self) -> None:
        """Raises the first error if nothing else of the program is to begin."""
        self._around.check()

    def number(self, value: Placed) -> int:
        """A condition or the number of a branch, as a Python number.

        Raises:
          BatchedValueError: it is another one from row to row.
        """
        try:
            return int(value.value)
        except jax.errors.ConcretizationTypeError:
            raise BatchedValueError(value.value) from None

    def constant(self, number: int) -> Placed:
        """A Python number as a value."""
        return Placed(number)

    def rows(self, array: Placed, count: int) -> Rows:
        """The rows of an array that a loop goes through."""
        return FollowedRows(array, count)

    def stack(self, type: TensorType) -> Stack:
        """What a loop collects rows in."""
        return FollowedStack(type)

    def detached(self, values: Sequence[Placed]) -> list[Placed]:
        """Values that no gradient flows through."""
        return [Placed(lax.stop_gradient(value.value), value.device) for value in values]
