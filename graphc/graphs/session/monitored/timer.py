"""SecondOrStepTimer: decides when a hook acts again."""

from __future__ import annotations

import time
from typing import Any

from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import InvalidArgumentError

__all__ = ["SecondOrStepTimer"]


class SecondOrStepTimer:
    """Triggers at intervals of seconds or steps; the first time at once.

    Args:
      every_secs: the seconds between two times.
      every_steps: the steps between two times; one of both is given.

    Raises:
      InvalidArgumentError: both intervals are given, or none.

    Example:
      >>> timer = SecondOrStepTimer(every_steps=2)
      >>> for step in range(5):
      ...     if timer.should_trigger_for_step(step):
      ...         _ = timer.update_last_triggered_step(step)
      ...         print(step)
      0
      2
      4
    """

    def __init__(self, every_secs: float | None = None, every_steps: int | None = None) -> None:
        if (every_secs is None) == (every_steps is None):
            problem = (
                f"give either every_secs or every_steps, got every_secs={every_secs} and every_steps={every_steps}"
            )
            raise at(InvalidArgumentError(problem), user_location())
        self._every_secs, self._every_steps = every_secs, every_steps
        self.reset()

    def reset(self) -> None:
        """Forgets the last trigger."""
        self._last_step: Any = None
        self._last_time = 0.0

    def should_trigger_for_step(self, step: int) -> bool:
        """Returns True if it triggers at a step; once for each step."""
        if self._last_step is None or self._last_step == step:
            return self._last_step is None
        if self._every_secs is not None:
            return time.monotonic() >= self._last_time + self._every_secs
        return step >= self._last_step + self._every_steps

    def update_last_triggered_step(self, step: int) -> tuple[float | None, int | None]:
        """Records a trigger at a step; returns seconds and steps since the last one, None at the first."""
        now, before = time.monotonic(), (self._last_time, self._last_step)
        self._last_time, self._last_step = now, step
        return (None, None) if before[1] is None else (now - before[0], step - before[1])

    def last_triggered_step(self) -> int | None:
        """The step of the last trigger, or None."""
        return self._last_step
