"""Steps in flight: dispatched, and not yet computed."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from graphc.base import nest
from graphc.base.errors import CancelledError, DeadlineExceededError
from graphc.core import describe, register_turns, wait_for

__all__ = ["InFlight", "in_flight"]


_LOOKED_AT = 8
"""Of so many arrays that a program computes, the first ones, one is waited for: to ask all takes long."""


class InFlight:
    """The steps that were dispatched and may not be computed yet, the oldest first."""

    def __init__(self) -> None:
        self._steps: deque[tuple[str, Any]] = deque()
        self._lock = threading.Lock()
        self._launching = threading.Lock()

    def launch(self, name: str, program: Callable[[], Any], limit: int = 1) -> Any:
        """Launches a program once fewer than ``limit`` steps are in flight, and notes what it computes."""
        with self._launching:
            self.make_room(limit)
            results = program()
            self.add(name, nest.as_tuple(results)[:_LOOKED_AT])
        return results

    def make_room(self, limit: int) -> None:
        """Waits until fewer than so many steps are in flight.

        Raises:
          DeadlineExceededError: the deadline in force passed first.
          CancelledError: a token in force was cancelled first.
          Exception: what went wrong when a step was computed; it is raised once.
        """
        while len(self._steps) >= limit:
            with self._lock:
                step = self._oldest()
            if step is None:
                return
            name, array = step
            try:
                wait_for((array,), lambda name=name, array=array: f"room for another step: {name!r}, {describe(array)}")
            except (CancelledError, DeadlineExceededError):
                raise  # it is still in flight
            except Exception:
                self._remove(step)
                if not array.is_deleted():  # by another thread, whose step has taken it as its own
                    raise
            else:
                self._remove(step)

    def _remove(self, step: tuple[str, Any]) -> None:
        with self._lock:
            if self._steps and self._steps[0] is step:
                self._steps.popleft()

    def add(self, name: str, arrays: Sequence[Any]) -> None:
        """Notes a step that was dispatched, by the smallest of the arrays that it computes."""
        alive = [array for array in arrays if not array.is_deleted()]
        if alive:
            with self._lock:
                self._steps.append((name, min(alive, key=lambda array: array.nbytes)))

    def _oldest(self) -> tuple[str, Any] | None:
        """A step to wait for: the oldest, or if what it computed was donated to a later one, the next after it."""
        while self._steps and self._steps[0][1].is_deleted():
            self._steps.popleft()
        return self._steps[0] if self._steps else None

    def __len__(self) -> int:
        return len(self._steps)


in_flight = InFlight()
"""Those of this process."""


register_turns(in_flight.launch)
