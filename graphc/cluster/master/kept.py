"""Large values that stay where a part made them, until the tasks that need them fetch them.

The client of a run learns where such a value is, and tells the tasks of the parts that take it: so the value goes from
task to task, once to each, and not through the client.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from graphc.cluster.carriers import find
from graphc.cluster.spec import task_name
from graphc.cluster.task import Task
from graphc.compiler.base import holding
from graphc.compiler.base.errors import AbortedError

__all__ = ["Kept", "Takers", "place_of"]

Takers = Mapping[str, int] | None
"""The tasks that need a value, each with the number of its parts that do; None for a value that the client needs."""

_KEPT_BYTES = 65536
"""Minimum size in bytes of a value that stays at its task."""
_VALUES_KEPT = 1024
"""Maximum number of values that stay if nobody fetches them."""


def place_of(value: Any) -> Mapping[str, Any] | None:
    """Returns the location of a value, if a location stands in for it; None for a value itself."""
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else None


@dataclass
class _Held:
    """A value, and the number of times that it will be fetched."""

    left: int
    value: Any = None
    is_there: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)


class Kept:
    """The values that stay at a task, or that it has fetched."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._held: dict[str, _Held] = {}
        self._lock = threading.Lock()
        cluster = task.cluster
        self._addresses = {
            task_name(job, index): cluster.task_address(job, index)
            for job in cluster.jobs
            for index in cluster.task_indices(job)
        }

    def left_out(self, run: str, part: str, values: Sequence[Any], takers: Sequence[Takers]) -> Sequence[Any]:
        """Keeps the large values among a part's results, and returns their locations in their place."""
        if not takers:
            return values
        return [
            self._keep(f"{run}/{part}/{place}", value, users)
            if users and getattr(value, "nbytes", 0) >= _KEPT_BYTES
            else value
            for place, (value, users) in enumerate(zip(values, takers, strict=True))
        ]

    def _keep(self, key: str, value: Any, takers: Mapping[str, int]) -> Mapping[str, Any]:
        here = self._task.name
        held = _Held(sum(count if task == here else 1 for task, count in takers.items()), value, is_there=True)
        with self._lock:
            self._held[key] = held
            while len(self._held) > _VALUES_KEPT:
                del self._held[next(iter(self._held))]
        return {"kept": key, "task": here, "takers": takers}

    def values(self, given: Sequence[Any]) -> Sequence[Any]:
        """Returns a part's inputs; fetches those that are elsewhere.

        Raises:
          AbortedError: a value no longer exists.
          UnavailableError: its task is gone.
        """
        return [value if (place := place_of(value)) is None else self._value(place) for value in given]

    def _value(self, where: Mapping[str, Any]) -> Any:
        key, home = where["kept"], where["task"]
        if home == self._task.name:
            return self.take(key)
        with self._lock:
            held = self._held.setdefault(key, _Held(where["takers"][self._task.name]))
        with holding(held.lock, f"a value of {home} that another part is fetching"):
            if not held.is_there:
                held.value, held.is_there = find(self._addresses[home]).call("graph", "take", key), True
        return self._used(key, held)

    def take(self, key: str) -> Any:
        """Returns a value that is kept here, to a task that needs it.

        Raises:
          AbortedError: the value no longer exists.
        """
        held = self._held.get(key)
        if held is None:
            raise AbortedError(f"{self._task.name} has dropped a value of this run; run it again")
        return self._used(key, held)

    def _used(self, key: str, held: _Held) -> Any:
        with self._lock:
            held.left -= 1
            if held.left <= 0:
                self._held.pop(key, None)
        return held.value

    def drop(self, run: str) -> None:
        """Drops the values of a run that has failed."""
        with self._lock:
            for key in [key for key in self._held if key.startswith(f"{run}/")]:
                del self._held[key]
