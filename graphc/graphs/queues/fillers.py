"""The producers of a queue, known so that a wait that nothing can end raises an error."""

from __future__ import annotations

import weakref
from typing import Any

from graphc.compiler.base.errors import FailedPreconditionError

__all__ = ["EAGER", "Fillers", "expect"]


class _EagerCode:
    """Stands for the graph of queues that belong to no graph."""


EAGER = _EagerCode()

_expected: weakref.WeakKeyDictionary[object, dict[str, weakref.WeakSet[Any]]] = weakref.WeakKeyDictionary()


def expect(graph: object | None, handle: str, runner: object) -> None:
    """Records that a runner is to fill a queue, in every Session in which it is started.

    Args:
      graph: the queue's graph; None for a queue of eager code.
      handle: the handle of the queue.
      runner: the runner; its ``remedy`` may say how to start it. Only a weak reference is kept.
    """
    runners = _expected.setdefault(EAGER if graph is None else graph, {})
    runners.setdefault(handle, weakref.WeakSet()).add(runner)


class Fillers:
    """The known producers of one queue.

    Args:
      graph: the queue's graph; :data:`EAGER` for a queue of eager code, None if unknown.
      handle: the queue's handle.

    Attributes:
      is_fed: whether anything was ever enqueued.
      failure: the exception that ended a runner, if any; it becomes the cause of the consumers' error.
      patience: seconds after which a waiting op checks whether anything can end its wait.
    """

    __slots__ = ("_graph", "_handle", "_started", "failure", "is_fed", "patience")

    def __init__(self, graph: object | None, handle: str) -> None:
        self._graph = None if graph is None else weakref.ref(graph)
        self._handle = handle
        self._started = False
        self.is_fed = False
        self.failure: BaseException | None = None
        self.patience = 5.0

    def start(self) -> None:
        """Records that a runner of the queue, or another producer, has started."""
        self._started = True

    def fail(self, error: BaseException) -> None:
        """Records the exception that ended a runner; the first one counts."""
        if self.failure is None:
            self.failure = error

    @property
    def _expected(self) -> list[Any]:
        graph = None if self._graph is None else self._graph()
        return [] if graph is None else list(_expected.get(graph, {}).get(self._handle, ()))

    @property
    def is_missing(self) -> bool:
        """True if runners should fill the queue, but none was started, and nothing else has filled it."""
        return not (self._started or self.is_fed) and bool(self._expected)

    def complaint(self, label: str, waited_for: str) -> FailedPreconditionError:
        """Returns the error of a dequeue that would wait forever."""
        runner = next(iter(self._expected), None)
        remedy = getattr(runner, "remedy", None) or "call gx.start_queue_runners(sess, coord) before the first dequeue"
        return FailedPreconditionError(
            f"nothing fills {label}: its QueueRunner was never started, so {waited_for} cannot come; {remedy}"
        )
