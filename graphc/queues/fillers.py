"""Who is to fill a queue, so that a wait for what never comes says so."""

from __future__ import annotations

import weakref
from typing import Any

from graphc.base.errors import FailedPreconditionError

__all__ = ["EAGER", "Fillers", "expect"]


class _EagerCode:
    """Stands for the graph of queues that are part of none."""


EAGER = _EagerCode()

_expected: weakref.WeakKeyDictionary[object, dict[str, weakref.WeakSet[Any]]] = weakref.WeakKeyDictionary()


def expect(graph: object | None, handle: str, runner: object) -> None:
    """Notes that a runner is to fill a queue, in every Session in which it is started.

    Args:
      graph: of the queue; None for one of eager code.
      handle: of the queue.
      runner: it may say in its ``remedy`` what starts it; it is forgotten with its last user.
    """
    runners = _expected.setdefault(EAGER if graph is None else graph, {})
    runners.setdefault(handle, weakref.WeakSet()).add(runner)


class Fillers:
    """What is known of those who fill one queue.

    Args:
      graph: of the queue; :data:`EAGER` for one of eager code, None if that is not known.
      handle: of the queue.

    Attributes:
      is_fed: whether anything was ever enqueued.
      failure: the exception that ended a runner, if one did; the consumers' error has it as its cause.
      patience: seconds after which a wait looks whether anything can end it.
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
        """Notes that a runner of the queue has started, or somebody else who will fill it."""
        self._started = True

    def fail(self, error: BaseException) -> None:
        """Notes what ended a runner; the first exception counts."""
        if self.failure is None:
            self.failure = error

    @property
    def _expected(self) -> list[Any]:
        graph = None if self._graph is None else self._graph()
        return [] if graph is None else list(_expected.get(graph, {}).get(self._handle, ()))

    @property
    def is_missing(self) -> bool:
        """Returns True if runners are to fill the queue, none was started, and nobody else has filled it."""
        return not (self._started or self.is_fed) and bool(self._expected)

    def complaint(self, label: str, waited_for: str) -> FailedPreconditionError:
        """Returns the error of a dequeue that would wait for ever."""
        runner = next(iter(self._expected), None)
        remedy = getattr(runner, "remedy", None) or "call gx.start_queue_runners(sess, coord) before the first dequeue"
        return FailedPreconditionError(
            f"nothing fills {label}: its QueueRunner was never started, and {waited_for} cannot come; {remedy}"
        )
