"""Plans: the steps that run a graph over several devices.

A plan is a list of steps. Values are in numbered slots; a step reads some slots and fills others. A value has one slot
for each device that needs it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from graphc.compiler.runtime.executor import Execution
    from graphc.compiler.runtime.following import TracedExecution
    from graphc.compiler.runtime.steps import DeviceValue

HOST = "host"
"""The device name of a step that runs on the host."""


@dataclass(frozen=True, eq=False)
class Step(ABC):
    """A unit of work that runs as soon as its inputs are ready."""

    name: str  # a name for people: the ops of a segment, the value of a transfer
    device: str  # the name of the device that it runs on, or :data:`HOST`
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    after: tuple[int, ...] = ()  # the slots that must be computed first, for ordering only

    kind: ClassVar[str] = "step"
    """The kind: ``segment``, ``transfer``, ``host call``, ``control flow`` or ``transform``."""

    @property
    def blocks(self) -> bool:
        """True if its thread waits while it runs; other steps only dispatch work to a device."""
        return bool(self.after)

    @property
    def inner(self) -> tuple[Plan, ...]:
        """The plans that it runs."""
        return ()

    @property
    def note(self) -> str:
        """A further remark for people; empty for none."""
        return ""

    @abstractmethod
    def run(self, arrays: Sequence[Any], execution: Execution) -> Sequence[Any]:
        """Runs the step; devices may still be computing the arrays that it is given, and those that it returns."""

    @abstractmethod
    def follow(self, values: Sequence[DeviceValue], execution: TracedExecution) -> Sequence[DeviceValue]:
        """Runs the step in a run that JAX traces; see :meth:`run`."""


@dataclass(frozen=True, eq=False)
class Plan:
    """Steps in an order that respects their dependencies."""

    name: str
    steps: tuple[Step, ...]
    num_inputs: int  # the number of slots, from the first, that are filled from outside
    num_slots: int
    outputs: tuple[int, ...]
    constants: tuple[tuple[int, Any], ...] = ()
    dependents: tuple[tuple[int, ...], ...] = field(init=False)
    """For each step, the steps that depend on it."""
    waits_for: tuple[int, ...] = field(init=False)
    """For each step, the number of steps that it depends on."""
    last_uses: tuple[tuple[int, ...], ...] = field(init=False)
    """For each step, the slots that are not needed after it, in plan order."""
    uses: tuple[int, ...] = field(init=False)
    """For each slot, the number of steps that read it, plus one if it is a result."""

    def __post_init__(self) -> None:
        maker = {slot: number for number, step in enumerate(self.steps) for slot in step.outputs}
        dependents: list[list[int]] = [[] for _ in self.steps]
        waits_for: list[int] = []
        uses = [0] * self.num_slots
        last: dict[int, int] = {}
        for number, step in enumerate(self.steps):
            needed = (*step.inputs, *step.after)
            makers = {maker[slot] for slot in needed if slot in maker}
            waits_for.append(len(makers))
            for other in makers:
                dependents[other].append(number)
            for slot in set(needed):
                uses[slot] += 1
            last.update(dict.fromkeys((*step.outputs, *needed), number))
        for slot in set(self.outputs):
            uses[slot] += 1
            last.pop(slot, None)
        dying: list[list[int]] = [[] for _ in self.steps]
        for slot, number in last.items():
            dying[number].append(slot)
        put = object.__setattr__
        put(self, "dependents", tuple(map(tuple, dependents)))
        put(self, "waits_for", tuple(waits_for))
        put(self, "last_uses", tuple(map(tuple, dying)))
        put(self, "uses", tuple(uses))

    @cached_property
    def followers(self) -> tuple[int, ...]:
        """For each step, the steps that cannot begin before it is done, as one bit each."""
        masks = [0] * len(self.steps)
        for number in reversed(range(len(self.steps))):
            for other in self.dependents[number]:
                masks[number] |= 1 << other | masks[other]
        return tuple(masks)

    @cached_property
    def is_chain(self) -> bool:
        """True if each step needs the one before it, so that no two run at a time."""
        if any(step.after for step in self.steps):
            return False
        return all(number + 1 in self.dependents[number] for number in range(len(self.steps) - 1))

    @property
    def devices(self) -> tuple[str, ...]:
        """The devices that it runs on, including those of loops and branches, in order of first use."""
        inner = (name for step in self.steps for plan in step.inner for name in plan.devices)
        own = (step.device for step in self.steps if step.device != HOST)
        return tuple(dict.fromkeys((*own, *inner)))

    @property
    def blocks(self) -> bool:
        """True if its thread waits while it runs."""
        return any(step.blocks for step in self.steps)

    def __str__(self) -> str:
        rows = [f"plan {self.name}: {self.num_inputs} inputs, {len(self.steps)} steps"]
        for number, step in enumerate(self.steps):
            after = f" after {_slots(step.after)}" if step.after else ""
            rows.append(
                f"  {number}: {step.kind} {step.name} on {step.device}: "
                f"{_slots(step.inputs)} -> {_slots(step.outputs)}{after}"
            )
        return "\n".join([*rows, f"  return {_slots(self.outputs)}"])


def _slots(slots: Sequence[int]) -> str:
    return f"({', '.join(f'${slot}' for slot in slots)})"
