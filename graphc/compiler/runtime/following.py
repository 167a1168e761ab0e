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
from graphc.compiler.runtime.stacks import ArrayRows, FollowedRows, FollowedStack, RowStack
from graphc.compiler.runtime.steps import DeviceValue

lax: Any = _lax  # its functions are only partly annotated


class TracedExecution(Execution):
    """A run whose values are :class:`DeviceValue`, in one thread, as JAX's transformations require."""

    def __init__(self, around: Execution, axes: Sequence[str] = ()) -> None:
        super().__init__(around.name)
        self.axes = tuple(axes)
        self._around = around

    def run(self, plan: Plan, arrays: Sequence[DeviceValue]) -> list[DeviceValue]:
        """Runs a plan."""
        self.check()
        slots: list[Any] = [None] * plan.num_slots
        slots[: plan.num_inputs] = arrays
        for slot, constant in plan.constants:
            slots[slot] = DeviceValue(constant)
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

    def number(self, value: DeviceValue) -> int | None:
        """Returns a condition or a branch number as a Python number; None if it differs by row."""
        try:
            return int(value.value)
        except jax.errors.ConcretizationTypeError:
            return None

    def holds(self, condition: DeviceValue) -> bool:
        """Returns True if a condition is true, for at least one row."""
        number = self.number(condition)
        if number is None:
            of_all = lax.convert_element_type(condition.value, np.int32)
            for axis in self.axes:
                of_all = lax.pmax(of_all, axis)
            number = int(of_all)
        return bool(number)

    def select(self, choice: DeviceValue, cases: Sequence[Sequence[DeviceValue]]) -> list[DeviceValue]:
        """Selects, for each row, from lists of values by a number."""
        selected: list[DeviceValue] = []
        for values in zip(*cases, strict=True):
            device = next((value.device for value in reversed(values) if value.device is not None), None)
            number = choice.to(device).value
            if number.dtype != bool:
                number = lax.clamp(0, number, len(cases) - 1)
            selected.append(
                DeviceValue(lax.select_n(number, *[jnp.asarray(value.to(device).value) for value in values]), device)
            )
        return selected

    def constant(self, number: int) -> DeviceValue:
        """Returns a Python number as a value."""
        return DeviceValue(number)

    def rows(self, array: DeviceValue, count: int) -> ArrayRows:
        """Returns the rows of an array that a loop iterates over."""
        return FollowedRows(array, count)

    def stack(self, type: TensorType) -> RowStack:
        """Returns the buffer in which a loop collects rows."""
        return FollowedStack(type)

    def detached(self, values: Sequence[DeviceValue]) -> list[DeviceValue]:
        """Returns the values without gradients."""
        return [DeviceValue(lax.stop_gradient(value.value), value.device) for value in values]
