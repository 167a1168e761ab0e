"""Plan runs that JAX traces, to differentiate them or to map them over rows.

JAX's transformations also work outside compiled programs. There they follow the computation step by step: a segment is
a function whose derivative JAX knows, a transfer to another device has cotangents that come back, and loops and
branches run as the values decide. A plan is therefore as differentiable as a program of one device, to any order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax as _lax

from graphc.compiler.ir import TensorType
from graphc.compiler.runtime.executor import Execution
from graphc.compiler.runtime.plan import Plan
from graphc.compiler.runtime.stacks import FollowedRows, FollowedStack, Rows, Stack
from graphc.compiler.runtime.steps import Placed

__all__ = ["Following"]

lax: Any = _lax  # its functions are only partly annotated


class Following(Execution):
    """A run whose values are :class:`Placed`.

    It stays in one thread, as JAX's transformations require.
    """

    def __init__(self, around: Execution, axes: Sequence[str] = ()) -> None:
        super().__init__(around.name)
        self.axes = tuple(axes)
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
        """Raises the first error, if there was one."""
        self._around.check()

    def number(self, value: Placed) -> int | None:
        """Returns a condition or a branch number as a Python number; None if it differs by row."""
        try:
            return int(value.value)
        except jax.errors.ConcretizationTypeError:
            return None

    def holds(self, condition: Placed) -> bool:
        """Returns True if a condition is true, for at least one row."""
        number = self.number(condition)
        if number is None:
            of_all = lax.convert_element_type(condition.value, np.int32)
            for axis in self.axes:
                of_all = lax.pmax(of_all, axis)
            number = int(of_all)
        return bool(number)

    def select(self, choice: Placed, cases: Sequence[Sequence[Placed]]) -> list[Placed]:
        """Selects, for each row, from lists of values by a number."""
        selected: list[Placed] = []
        for values in zip(*cases, strict=True):
            device = next((value.device for value in reversed(values) if value.device is not None), None)
            number = choice.to(device).value
            if number.dtype != bool:
                number = lax.clamp(0, number, len(cases) - 1)
            selected.append(
                Placed(lax.select_n(number, *[jnp.asarray(value.to(device).value) for value in values]), device)
            )
        return selected

    def constant(self, number: int) -> Placed:
        """Returns a Python number as a value."""
        return Placed(number)

    def rows(self, array: Placed, count: int) -> Rows:
        """Returns the rows of an array that a loop iterates over."""
        return FollowedRows(array, count)

    def stack(self, type: TensorType) -> Stack:
        """Returns the buffer in which a loop collects rows."""
        return FollowedStack(type)

    def detached(self, values: Sequence[Placed]) -> list[Placed]:
        """Returns the values without gradients."""
        return [Placed(lax.stop_gradient(value.value), value.device) for value in values]
