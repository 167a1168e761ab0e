"""The user's handles on a training: the result of a scheduled step, and the data of each worker."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from graphc.compiler.base import Signal
from graphc.compiler.base.errors import OutOfRangeError

__all__ = ["PerWorker", "Scheduled"]


class Scheduled:
    """A step that was scheduled (TensorFlow: ``RemoteValue``); made by :meth:`ParameterServer.schedule`."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._done = Signal()
        self._value: Any = None
        self._error: BaseException | None = None

    def finish(self, value: Any, error: BaseException | None = None) -> None:
        """Sets the step's result or error."""
        self._value, self._error = value, error
        self._done.set()

    def done(self) -> bool:
        """Returns True if the step is done or has failed."""
        return self._done.is_set

    def result(self) -> Any:
        """Waits for the step's result.

        Raises:
          DeadlineExceededError: the deadline in force has passed.
          Exception: the step's error, or the reason why it could not be computed.
        """
        self._done.wait(lambda: f"the step {self._name!r}")
        if self._error is not None:
            raise self._error
        return self._value

    fetch = result

    def __repr__(self) -> str:
        state = "done" if self.done() else "not done"
        return f"<step {self._name!r}, {state}>"


class PerWorker:
    """Data with a separate part for each worker; made by :meth:`ParameterServer.dataset`.

    Args:
      make: a function from the index of a worker and the number of workers to its data.
      count: the number of workers.
    """

    def __init__(self, make: Callable[[int, int], Iterable[Any]], count: int) -> None:
        self._make, self._count = make, count
        self._iterators: dict[int, Iterator[Any]] = {}
        self._locks = [threading.Lock() for _ in range(count)]

    def next(self, worker: int) -> Any:
        """Returns the next batch of a worker; after the last one, its data start again.

        Args:
          worker: the worker's index.

        Raises:
          OutOfRangeError: the worker has no data.
        """
        with self._locks[worker]:
            for _ in range(2):
                if worker not in self._iterators:
                    self._iterators[worker] = iter(self._make(worker, self._count))
                try:
                    return next(self._iterators[worker])
                except StopIteration:
                    del self._iterators[worker]
        raise OutOfRangeError(f"ParameterServer: the data of worker {worker} are empty")

    def __iter__(self) -> PerWorker:
        return self
