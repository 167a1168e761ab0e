"""The executor: runs plans.

Telling a device what to do takes microseconds, and the device does it later: so one thread goes through the steps, and
devices work side by side. Only what a thread must wait for, a Python function or a condition, goes to a pool of
threads, while steps that do not need it go on.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol

import jax
import numpy as np

from graphc.base import Work, check_interrupted, config, interruption, wait_until
from graphc.base.errors import CancelledError, DeadlineExceededError
from graphc.ir import TensorType
from graphc.runtime.plan import Plan, Step
from graphc.runtime.pool import inter_op_pool
from graphc.runtime.stacks import Rows, RowsInPlace, Stack, StackInPlace

__all__ = ["Execution", "Observer"]


class Observer(Protocol):
    """Looks on while steps run."""

    def run(self, step: Step, arrays: Sequence[Any], execution: Execution) -> Sequence[Any]:
        """Runs the step, and takes note of it."""
        ...


class Execution:
    """One run of a program, with all plans inside it.

    Args:
      name: of the program, for messages.
      observer: looks on, if given.
    """

    def __init__(self, name: str, observer: Observer | None = None) -> None:
        self.name = name
        self._observer = observer
        self._stopped = False

    def run(self, plan: Plan, arrays: Sequence[Any]) -> list[Any]:
        """Runs a plan.

        Args:
          plan: what to do.
          arrays: one for each of its inputs.

        Returns:
          One array for each of its outputs; devices may still compute them.

        Raises:
          DeadlineExceededError: the deadline in force has passed; the message names the steps that were waited for.
          CancelledError: a token in force was cancelled, or another part of the program has failed.
        """
        slots: list[Any] = [None] * plan.num_slots
        slots[: plan.num_inputs] = arrays
        for slot, constant in plan.constants:
            slots[slot] = constant
        if plan.blocks:
            _Schedule(self, plan, slots).run()
        else:
            self._run_in_order(plan, slots)
        return [slots[slot] for slot in plan.outputs]

    def _run_in_order(self, plan: Plan, slots: list[Any]) -> None:
        """As :meth:`run`, for plans of which no step blocks."""
        self.check(plan)
        for step, dying in zip(plan.steps, plan.last_uses, strict=True):
            results = self.do(step, [slots[slot] for slot in step.inputs])
            for slot, array in zip(step.outputs, results, strict=True):
                slots[slot] = array
            for slot in dying:
                slots[slot] = None

    def do(self, step: Step, arrays: Sequence[Any]) -> Sequence[Any]:
        """Runs one step."""
        if self._observer is not None:
            return self._observer.run(step, arrays, self)
        return step.run(arrays, self)

    def number(self, value: Any) -> int:
        """A condition or the number of a branch, as a Python number; waits for it."""
        return int(np.asarray(value))

    def constant(self, number: int) -> Any:
        """A Python number as a value."""
        return number

    def rows(self, array: Any, count: int) -> Rows:
        """The rows of an array that a loop goes through."""
        del count
        return RowsInPlace(array)

    def stack(self, type: TensorType) -> Stack:
        """What a loop collects rows in."""
        return StackInPlace(type)

    def detached(self, values: Sequence[Any]) -> Sequence[Any]:
        """Values that no gradient flows through."""
        return values

    def check(self, plan: Plan) -> None:
        """Raises if the program is not to go on."""
        if self._stopped:
            raise CancelledError(f"{self.name}: another part of the program has failed")
        check_interrupted(lambda: f"the steps of {plan.name!r} in the compiled function {self.name!r}")

    def stop(self) -> None:
        """Lets no further plan of the program begin."""
        self._stopped = True


@dataclass
class _Given:
    """A step that was given to the pool.

    Attributes:
      work: by which it can be taken back.
      results: of the step, once it is done.
      error: what it raised instead.
    """

    work: Work | None = None
    results: Sequence[Any] = ()
    error: BaseException | None = None


class _Schedule:
    """Runs the steps of a plan of which some block: each as soon as those that it waits for are done.

    Only the thread that runs the plan touches slots and counts; the pool hands it what is done.
    """

    def __init__(self, execution: Execution, plan: Plan, slots: list[Any]) -> None:
        self._execution = execution
        self._plan = plan
        self._slots = slots
        self._waits_for = list(plan.waits_for)
        self._uses = list(plan.uses)
        self._left = len(plan.steps)
        self._ready: deque[int] = deque()
        self._blocking: deque[int] = deque()
        self._running: dict[int, _Given] = {}
        self._done: deque[int] = deque()
        self._condition = threading.Condition()
        for number, count in enumerate(self._waits_for):
            if not count:
                self._add(number)

    def run(self) -> None:
        """Runs all steps.

        If one fails no other begins; those that run already are waited for, unless the deadline has passed.
        """
        try:
            while self._left:
                self._execution.check(self._plan)
                if self._ready:
                    number = self._ready.popleft()
                    self._finish(number, self._execution.do(self._plan.steps[number], self._arrays(number)))
                elif self._blocking:
                    self._start()
                else:
                    self._collect()
        except BaseException as error:
            self._execution.stop()
            if isinstance(error, Exception):  # after Ctrl-C nothing is waited for
                self._drain()
            raise

    def _add(self, number: int) -> None:
        (self._blocking if self._plan.steps[number].blocks else self._ready).append(number)

    def _arrays(self, number: int) -> list[Any]:
        return [self._slots[slot] for slot in self._plan.steps[number].inputs]

    def _finish(self, number: int, results: Sequence[Any]) -> None:
        step = self._plan.steps[number]
        for slot, array in zip(step.outputs, results, strict=True):
            self._slots[slot] = array if self._uses[slot] else None
        for slot in {*step.inputs, *step.after}:
            self._uses[slot] -= 1
            if not self._uses[slot]:
                self._slots[slot] = None
        self._left -= 1
        for other in self._plan.dependents[number]:
            self._waits_for[other] -= 1
            if not self._waits_for[other]:
                self._add(other)

    def _start(self) -> None:
        """Gives the steps that block to the pool; the last one this thread does itself, if nothing may interrupt it."""
        alone = interruption() is None
        while len(self._blocking) > alone:
            self._give(self._blocking.popleft())
        if self._blocking:
            self._do_here(self._blocking.popleft())

    def _give(self, number: int) -> None:
        given = self._running[number] = _Given()
        arrays, wide = self._arrays(number), config.enable_x64

        def run() -> None:
            try:
                with config.scope(enable_x64=wide):  # which is a matter of each thread
                    given.results = self._wait_and_do(number, arrays)
            except BaseException as error:
                given.error = error
            with self._condition:
                self._done.append(number)
                self._condition.notify_all()

        given.work = inter_op_pool.give(run, name=self._named(number))

    def _do_here(self, number: int) -> None:
        self._finish(number, self._wait_and_do(number, self._arrays(number)))

    def _wait_and_do(self, number: int, arrays: Sequence[Any]) -> Sequence[Any]:
        step = self._plan.steps[number]
        if step.after:
            jax.block_until_ready([self._slots[slot] for slot in step.after])
        return self._execution.do(step, arrays)

    def _collect(self) -> None:
        """Waits for a step that the pool runs; does one itself that no thread of the pool has come to."""
        if not self._done and interruption() is None:
            number = self._take_back()
            if number is not None:
                self._do_here(number)
                return
        with self._condition:
            wait_until(self._condition, lambda: bool(self._done), self._waited_for)
            number = self._done.popleft()
        given = self._running.pop(number)
        if given.error is not None:
            raise given.error
        self._finish(number, given.results)

    def _take_back(self) -> int | None:
        """A step that was given to the pool and has not begun."""
        for number, given in self._running.items():
            if given.work is not None and given.work.cancel():
                del self._running[number]
                return number
        return None

    def _drain(self) -> None:
        """Waits for what runs, after a failure, as long as the deadline allows."""
        while self._take_back() is not None:
            pass
        left = set(self._running)
        with self._condition, suppress(DeadlineExceededError, CancelledError):
            wait_until(self._condition, lambda: left <= set(self._done), self._waited_for)

    def _named(self, number: int) -> str:
        step = self._plan.steps[number]
        return f"the {step.kind} {step.name!r} on {step.device}"

    def _waited_for(self) -> str:
        return f"{', '.join(map(self._named, self._running))} of the compiled function {self._execution.name!r}"
