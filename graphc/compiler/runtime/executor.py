"""The executor, which runs plans.

Dispatching work to a device takes microseconds, and the device does it later: one thread can therefore go through the
steps while devices work in parallel. Only blocking steps, such as Python functions and conditions, go to a pool of
threads, while independent steps continue.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import jax
import numpy as np

from graphc.compiler.base import (
    Pool,
    Work,
    config,
    interruption,
    note_progress,
    run_on_thread,
    start_on_thread,
    wait_only_for,
    watched,
)
from graphc.compiler.base.errors import InternalError
from graphc.compiler.core import thread_settings
from graphc.compiler.ir import TensorType
from graphc.compiler.ops import with_calls
from graphc.compiler.runtime.plan import Plan, Step
from graphc.compiler.runtime.stacks import ArrayRows, RowsInPlace, RowStack, StackInPlace
from graphc.compiler.runtime.steps import HostCallFailed

# The shared thread pool of this process: calls of ``gx.submit``, and steps of graphs.


def _limit() -> int:
    return config.inter_op_threads or os.cpu_count() or 1


inter_op_pool = Pool("graphc.pool", _limit)
"""The pool, with at most ``gx.config.inter_op_threads`` threads."""


_T = TypeVar("_T")


class Observer(Protocol):
    """A hook that runs the steps of an execution."""

    def run(self, step: Step, arrays: Sequence[Any], execution: Execution) -> Sequence[Any]:
        """Runs and records a step."""
        ...


class Execution:
    """One run of a program, with all plans inside it."""

    # It does not check deadlines: its thread must be one that nobody needs before it is done. A caller that waits for
    # this thread and gives up calls :meth:`fail`, as :meth:`interruptible` does.

    def __init__(self, name: str, observer: Observer | None = None) -> None:
        self.name = name
        self.condition = threading.Condition()  # notified when a step is done or an error occurs
        # The call numbers of the segments that call Python; see :func:`graphc.compiler.ops.waited_for`.
        self.calls: dict[Step, int] = {}
        self._observer = observer
        self._failures: list[BaseException] = []
        self._runs: dict[_Run, None] = {}

    def run(self, plan: Plan, arrays: Sequence[Any]) -> list[Any]:
        """Runs a plan; devices may still be computing the arrays that it returns."""
        slots: list[Any] = [None] * plan.num_slots
        slots[: plan.num_inputs] = arrays
        for slot, constant in plan.constants:
            slots[slot] = constant
        run = (_Schedule if plan.blocks and not plan.is_chain else _Run)(self, plan, slots)
        self._runs[run] = None
        try:
            run.run()
        finally:
            del self._runs[run]
        return [slots[slot] for slot in plan.outputs]

    def interruptible(self, work: Callable[[], _T]) -> _T:
        """Runs work of the program, on a separate thread if a deadline or a token is in force."""
        if interruption() is None:
            return work()
        settings = thread_settings()

        def run() -> _T:
            with settings():
                return work()

        try:
            # A device may compute on the very thread that dispatches the work.
            return run_on_thread(run, self.waited_for, inherits=True)
        except BaseException as error:
            first = self.fail(error)
            if first is error:
                raise
        raise first  # there was an earlier error, and running work was awaited in vain

    def do(self, step: Step, arrays: Sequence[Any]) -> Sequence[Any]:
        """Runs one step."""
        if self._observer is not None:
            return self._observer.run(step, arrays, self)
        return step.run(arrays, self)

    def number(self, value: Any) -> int | None:
        """Returns a condition or a branch number as a Python number, after waiting; None if it differs by row."""
        return int(np.asarray(value))

    def holds(self, condition: Any) -> bool:
        """Returns True if a condition is true, for at least one row."""
        return bool(np.asarray(condition))

    def select(self, choice: Any, cases: Sequence[Sequence[Any]]) -> Sequence[Any]:
        """Selects, for each row, from lists of values by a number."""
        raise InternalError(f"{self.name}: {choice} is one for all rows, and {len(cases)} cases were run")

    def constant(self, number: int) -> Any:
        """Returns a Python number as a value."""
        return number

    def rows(self, array: Any, count: int) -> ArrayRows:
        """Returns the rows of an array that a loop iterates over."""
        del count
        return RowsInPlace(array)

    def stack(self, type: TensorType) -> RowStack:
        """Returns the buffer in which a loop collects rows."""
        return StackInPlace(type)

    def detached(self, values: Sequence[Any]) -> Sequence[Any]:
        """Returns the values without gradients."""
        return values

    def fail(self, error: BaseException) -> BaseException:
        """Stops the program from starting further steps; returns the first reason given."""
        self._failures.append(error)
        with self.condition:
            self.condition.notify_all()
        return self._failures[0]

    @property
    def has_failed(self) -> bool:
        """True if the program must not start further steps."""
        return bool(self._failures)

    def check(self) -> None:
        """Raises the first error, if there was one."""
        if self._failures:
            raise self._failures[0]

    def waited_for(self) -> str:
        """Returns the running steps for messages; callable from any thread."""
        steps = [step for run in list(self._runs) for step in run.begun]
        names = [
            with_calls(f"the {step.kind} {step.name!r} on {step.device}", self.calls.get(step, 0)) for step in steps
        ]
        return f"{', '.join(names)} of the compiled function {self.name!r}".removeprefix(" of ")


class _Run:
    """A run of a plan's steps in order: no step blocks, or each waits for the one before it."""

    def __init__(self, execution: Execution, plan: Plan, slots: list[Any]) -> None:
        self._execution = execution
        self._plan = plan
        self._slots = slots
        self._step: Step | None = None

    @property
    def begun(self) -> Sequence[Step]:
        """The running steps; readable from any thread."""
        step = self._step
        return () if step is None else (step,)

    def run(self) -> None:
        """Runs all steps."""
        slots = self._slots
        for step, dying in zip(self._plan.steps, self._plan.last_uses, strict=True):
            self._execution.check()
            self._step = step
            results = self._execution.do(step, [slots[slot] for slot in step.inputs])
            for slot, array in zip(step.outputs, results, strict=True):
                slots[slot] = array
            for slot in dying:
                slots[slot] = None
        note_progress()


@dataclass
class _Begun:
    """A step that was started."""

    work: Work | None = None  # the pool's work item, which can be cancelled; None if the plan's thread runs the step
    results: Sequence[Any] = ()
    error: BaseException | None = None


class _Schedule(_Run):
    """A run of a plan with blocking steps: each starts as soon as its inputs are ready."""

    # Only the plan's thread accesses slots and counts; the pool passes finished steps to it. It runs a blocking step
    # itself only if no other step could start meanwhile.

    def __init__(self, execution: Execution, plan: Plan, slots: list[Any]) -> None:
        super().__init__(execution, plan, slots)
        self._waits_for = list(plan.waits_for)
        self._uses = list(plan.uses)
        self._left = len(plan.steps)
        self._not_begun = (1 << self._left) - 1
        self._ready: deque[int] = deque()
        self._blocking: deque[int] = deque()
        self._begun: dict[int, _Begun] = {}
        self._helped: int | None = None
        self._done: deque[int] = deque()
        for number, count in enumerate(self._waits_for):
            if not count:
                self._add(number)

    @property
    def begun(self) -> Sequence[Step]:
        """The running steps; readable from any thread."""
        return [self._plan.steps[number] for number in list(self._begun)]

    def run(self) -> None:
        """Runs all steps; after an error no further step starts, and running ones are awaited."""
        # After an error no further step starts; running ones are awaited.
        try:
            while self._left:
                self._execution.check()
                if self._ready:
                    number = self._next(self._ready)
                    self._finish(number, self._execution.do(self._plan.steps[number], self._arrays(number)))
                elif self._blocking:
                    self._begin(self._next(self._blocking))
                else:
                    self._collect()
        except BaseException as error:
            first = self._execution.fail(error)
            self._drain(wait=not _is_interrupt(first))
            if first is error:
                raise
        else:
            return
        raise first  # this step failed only because of an earlier error elsewhere

    def _add(self, number: int) -> None:
        (self._blocking if self._plan.steps[number].blocks else self._ready).append(number)

    def _next(self, numbers: deque[int]) -> int:
        number = numbers.popleft()
        self._not_begun &= ~(1 << number)
        return number

    def _arrays(self, number: int) -> list[Any]:
        return [self._slots[slot] for slot in self._plan.steps[number].inputs]

    def _finish(self, number: int, results: Sequence[Any]) -> None:
        note_progress()
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

    def _begin(self, number: int) -> None:
        """Starts a blocking step, after all ready steps that do not block."""
        if self._blocking or self._not_begun & ~self._plan.followers[number]:
            self._give(number)
            return
        self._begun[number] = _Begun()
        try:
            results = self._wait_and_do(number, self._arrays(number))
        finally:
            del self._begun[number]
        self._finish(number, results)

    def _give(self, number: int) -> None:
        begun = _Begun()
        arrays, settings = self._arrays(number), thread_settings()

        def run() -> None:
            try:
                self._execution.check()
                with settings():
                    begun.results = self._wait_and_do(number, arrays)
            except BaseException as error:
                begun.error = error
            with self._execution.condition:
                self._done.append(number)
                self._execution.condition.notify_all()

        begun.work = inter_op_pool.give(run, name=f"a step of the compiled function {self._execution.name!r}")
        self._begun[number] = begun

    def _wait_and_do(self, number: int, arrays: Sequence[Any]) -> Sequence[Any]:
        step = self._plan.steps[number]
        if step.after:
            jax.block_until_ready([self._slots[slot] for slot in step.after])
        return self._execution.do(step, arrays)

    def _collect(self) -> None:
        """Waits for a step that the pool runs."""
        if not self._done and self._helped is None and inter_op_pool.is_busy:
            self._help()
        with watched(self._execution.waited_for), self._execution.condition:
            wait_only_for(self._execution.condition, lambda: bool(self._done) or self._execution.has_failed)
        self._execution.check()
        number = self._done.popleft()
        begun = self._begun.pop(number)
        if self._helped == number:
            self._helped = None
        if begun.error is not None:
            raise begun.error
        self._finish(number, begun.results)

    def _help(self) -> None:
        """Makes a thread that acts for this waiting one run a step that no pool thread picks up."""
        # All pool threads may wait for programs that wait for the pool, and this thread may be one of them.
        for number, begun in self._begun.items():
            if begun.work is not None and begun.work.take():
                self._helped = number
                start_on_thread(begun.work.run)
                return

    def _drain(self, *, wait: bool) -> None:
        """Cancels the pool's steps that have not started, and optionally waits for the others."""
        for number, begun in list(self._begun.items()):
            if begun.work is None or begun.work.cancel():
                del self._begun[number]
        if wait:
            with self._execution.condition:
                wait_only_for(self._execution.condition, lambda: self._begun.keys() <= set(self._done))


def _is_interrupt(error: BaseException) -> bool:
    """Returns True if an error ends all waits: Ctrl-C, possibly from within a Python function."""
    return not isinstance(error, Exception) or (isinstance(error, HostCallFailed) and error.is_interrupt)
