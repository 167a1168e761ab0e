"""Hooks that watch the global step: stop at one, wait for one, or measure its speed."""

from __future__ import annotations

import logging
from typing import Any

from graphc.compiler.base import at, pause, user_location
from graphc.compiler.base.errors import InvalidArgumentError
from graphc.graphs.session.event_protos import message
from graphc.graphs.session.monitored.hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
    global_step_of,
)
from graphc.graphs.session.monitored.timer import SecondOrStepTimer
from graphc.graphs.session.monitored.writers import FileWriterCache

__all__ = ["GlobalStepWaiterHook", "StepCounterHook", "StopAtStepHook"]

_logger = logging.getLogger("graphc.monitored")


class StopAtStepHook(SessionRunHook):
    """Requests a stop at a global step.

    Args:
      num_steps: the number of steps to run from where the Session starts.
      last_step: the global step to stop at; one of both is given.

    Raises:
      InvalidArgumentError: both are given, or none.

    Example:
      >>> import graphc as gx
      >>> from graphc.graphs.session import get_or_create_global_step
      >>> from graphc.graphs.session.monitored import MonitoredSession, StopAtStepHook
      >>> with gx.Graph().as_default():
      ...     train = get_or_create_global_step().assign_add(1)
      ...     with MonitoredSession(hooks=[StopAtStepHook(last_step=3)]) as session:
      ...         while not session.should_stop():
      ...             print(session.run(train))
      1
      2
      3
    """

    def __init__(self, num_steps: int | None = None, last_step: int | None = None) -> None:
        if (num_steps is None) == (last_step is None):
            problem = f"StopAtStepHook: give num_steps or last_step, got num_steps={num_steps}, last_step={last_step}"
            raise at(InvalidArgumentError(problem), user_location())
        self._num_steps, self._last_step = num_steps, last_step

    def begin(self) -> None:
        """Looks up the global step."""
        self._global_step = global_step_of(self)

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Sets the last step; if it was set before a Session was lost, it stays."""
        del coord
        if self._last_step is None:
            assert self._num_steps is not None
            self._last_step = int(session.run(self._global_step)) + self._num_steps

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Fetches the global step."""
        del run_context
        return SessionRunArgs(self._global_step)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Requests a stop if this run, or another worker in the meantime, has made the last step."""
        last: Any = self._last_step
        if run_values.results + 1 >= last and run_context.session.run(self._global_step) >= last:
            run_context.request_stop()


class GlobalStepWaiterHook(SessionRunHook):
    """Delays a worker until a global step, so that workers start one after the other.

    Args:
      wait_until_step: the global step to wait for.
    """

    def __init__(self, wait_until_step: int) -> None:
        self._wait_until_step = wait_until_step

    def begin(self) -> None:
        """Looks up the global step."""
        self._started = self._wait_until_step <= 0
        self._global_step = global_step_of(self)

    def before_run(self, run_context: SessionRunContext) -> None:
        """Waits before the first run, within the deadline in force."""
        while not self._started:
            step = int(run_context.session.run(self._global_step))
            self._started = step >= self._wait_until_step
            if not self._started:
                pause(0.05, f"global step {self._wait_until_step} to start at; it is {step}")


class StepCounterHook(SessionRunHook):
    """Measures the global steps per second, for the log and TensorBoard.

    Args:
      every_n_steps: steps between measurements.
      every_n_secs: seconds between measurements; pass one of the two.
      output_dir: the folder of the event file; None for none.
      summary_writer: the writer; a FileWriter of ``output_dir`` if None.

    Raises:
      InvalidArgumentError: both intervals are given, or none.
    """

    def __init__(
        self, every_n_steps: int | None = 100, every_n_secs: float | None = None, output_dir: str | None = None,
        summary_writer: Any = None,
    ) -> None:  # fmt: skip
        self._timer = SecondOrStepTimer(every_n_secs, every_n_steps)
        self._output_dir, self._writer = output_dir, summary_writer

    def begin(self) -> None:
        """Looks up the global step, and opens the file."""
        if self._writer is None and self._output_dir:
            self._writer = FileWriterCache.get(self._output_dir)
        self._global_step = global_step_of(self)
        self._tag = f"{self._global_step.op.name}/sec"

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Fetches the global step."""
        del run_context
        return SessionRunArgs(self._global_step)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Measures the speed, if it is due."""
        if not self._timer.should_trigger_for_step(int(run_values.results) + 1):
            return
        step = int(run_context.session.run(self._global_step))
        if self._timer.should_trigger_for_step(step):
            seconds, steps = self._timer.update_last_triggered_step(step)
            if seconds and steps is not None:
                self._tell(steps / seconds, step)

    def _tell(self, per_second: float, step: int) -> None:
        if self._writer is not None:
            summary = message("Summary")
            self._writer.add_summary(summary(value=[summary.Value(tag=self._tag, simple_value=per_second)]), step)
        _logger.info("%s: %g", self._tag, per_second)
