"""Backpressure: a bound on the steps that are dispatched but not yet computed."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from graphc.compiler.base import nest
from graphc.compiler.base.errors import CancelledError, DeadlineExceededError
from graphc.compiler.core import describe, register_turns, wait_for

__all__ = ["InFlight", "in_flight"]


_LOOKED_AT = 8
"""Number of a program's outputs, from the first, among which the one to wait for is chosen; checking all takes long."""


class InFlight:
    """The steps that were dispatched and may not be computed yet, the oldest first."""

    def __init__(self) -> None:
        self._steps: deque[tuple[str, Any]] = deque()
        self._lock = threading.Lock()
        self._launching = threading.Lock()

    def launch(self, name: str, program: Callable[[], Any], limit: int = 1) -> Any:
        """Launches a program once fewer than ``limit`` steps are in flight, and records its outputs."""
        with self._launching:
            self.make_room(limit)
            results = program()
            self.add(name, nest.as_tuple(results)[:_LOOKED_AT])
        return results

    def make_room(self, limit: int) -> None:
        """Waits until fewer than ``limit`` steps are in flight.

        Raises:
          DeadlineExceededError: the deadline in force passed first.
          CancelledError: a token in force was cancelled first.
          Exception: the error of a step's computation, which is raised once.
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
                raise  # still in flight
            except Exception:
                self._remove(step)
                if not array.is_deleted():  # deleted if another thread's step was given its memory
                    raise
            else:
                self._remove(step)

    def _remove(self, step: tuple[str, Any]) -> None:
        with self._lock:
            if self._steps and self._steps[0] is step:
                self._steps.popleft()

    def add(self, name: str, arrays: Sequence[Any]) -> None:
        """Records a dispatched step, by the smallest of its output arrays."""
        alive = [array for array in arrays if not array.is_deleted()]
        if alive:
            with self._lock:
                self._steps.append((name, min(alive, key=lambda array: array.nbytes)))

    def _oldest(self) -> tuple[str, Any] | None:
        """Returns the oldest step to wait for; skips steps whose outputs were donated to a later one."""
        while self._steps and self._steps[0][1].is_deleted():
            self._steps.popleft()
        return self._steps[0] if self._steps else None

    def __len__(self) -> int:
        return len(self._steps)


in_flight = InFlight()
"""The steps in flight of this process."""


register_turns(in_flight.launch)
