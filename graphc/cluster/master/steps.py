"""The step of a plan that makes a task run a part of a graph."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, cast

from graphc.cluster.carriers import find
from graphc.cluster.master.partition import Part, may_block
from graphc.cluster.spec import task_name
from graphc.cluster.task import Task
from graphc.compiler.base import CancellationToken, at, holding
from graphc.compiler.base.errors import AbortedError, CancelledError, DeadlineExceededError, GraphcError, InternalError
from graphc.compiler.runtime import Execution, Observer, Plan, Step, observer

if TYPE_CHECKING:
    from graphc.cluster.master.master import Master

__all__ = ["Kept", "Message", "PartExecution", "PartStep", "Takers", "place_of", "with_task"]

# Large values that stay where a part made them, until the tasks that need them fetch them.
#
# The client of a run learns where such a value is, and tells the tasks of the parts that take it: so the value goes
# from task to task, once to each, and not through the client.

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


Message = tuple[str, Any, Mapping[str, Any]]
"""The description of a part that a task receives: key, graph and further facts; see :meth:`GraphService.prepare`."""
_numbers = itertools.count()


class PartExecution(Execution):
    """A run over several tasks: if one part fails, the others are cancelled.

    Attributes:
      run_id: the name of the run within its Session.
    """

    def __init__(self, master: Master, observer: Observer | None) -> None:
        super().__init__("session.run", observer)
        self._master = master
        self._keeping: set[str] = set()
        self.run_id = str(next(_numbers))
        self._token = CancellationToken()
        self._first: GraphcError | None = None

    def run(self, plan: Plan, arrays: Sequence[Any]) -> list[Any]:
        """Runs a plan; see :meth:`Execution.run`."""
        try:
            with self._token:
                return super().run(plan, arrays)
        except BaseException as error:
            self._master.drop(self.run_id, self._keeping)
            if self._first is None or not isinstance(error, CancelledError):
                raise
            raise self._first from self._first.__cause__

    def note(self, task: str, values: Sequence[Any]) -> None:
        """Records which tasks keep values that a part at a task returns or takes."""
        kept = [str(place["task"]) for place in map(place_of, values) if place is not None]
        if kept:
            self._keeping.update((task, *kept))

    def end(self, error: GraphcError) -> None:
        """Cancels the other parts after one has failed."""
        if self._first is None and not self._token.cancelled:
            self._first = error
        self._token.cancel(f"another part of the run has failed: {error.message.partition(chr(10))[0]}")


@dataclass(frozen=True, eq=False)
class PartStep(Step):
    """A part of a graph that a task runs.

    Attributes:
      message: the description of the part that the task received: a key, the graph, and further facts.
      count: the number of inputs that it uses; the others only order it.
      takers: for each value that it returns, the tasks that need it; empty where the client passes all values on.
    """

    part: Part = field(kw_only=True)
    message: Message = field(kw_only=True)
    master: Master = field(kw_only=True)
    count: int = field(kw_only=True)
    takers: Sequence[Takers] = field(kw_only=True)
    kind: ClassVar[str] = "part"

    @property
    def blocks(self) -> bool:
        """It waits for the task."""
        return True

    def run(self, arrays: Sequence[Any], execution: Any) -> Sequence[Any]:
        """Makes the task run the part.

        Raises:
          GraphcError: the error of an operation, with the operation as its ``op``, and the task in the message.
          UnavailableError: the task is gone.
        """
        timeline, start = observer(), time.perf_counter()
        execution.note(self.part.task, arrays)
        try:
            outputs, events = self.master.run(self, arrays[: self.count], execution.run_id, timeline is not None)
        except GraphcError as error:
            located = self._located(error)
            execution.end(located)
            raise located from error.__cause__
        execution.note(self.part.task, outputs)
        if timeline is not None:
            timeline.include(events, start, self.part.task)
        return [*outputs, None]

    def _located(self, error: GraphcError) -> GraphcError:
        """Returns an error with the user's operation, and with the task in its message."""
        node = self.part.nodes.get(error.op) if isinstance(error.op, str) else None
        if error.op is None and isinstance(error, CancelledError | DeadlineExceededError):
            waiting = [one for one in self.part.nodes.values() if may_block(one)]
            node = waiting[0] if len(waiting) == 1 else None  # the task itself can no longer tell
        if node is not None:
            error.op = self.master.graph.operation_of(node)
        found = with_task(error, self.part.task)
        return found if node is None else at(found, node.location)

    def follow(self, values: Any, execution: Any) -> NoReturn:
        """Never called: a run cannot be differentiated."""
        raise InternalError("a run of a Session is not followed")


def with_task(error: GraphcError, task: str) -> GraphcError:
    """Adds the task to an error's message, if the message does not name it."""
    message, separator, place = error.message.partition("\n  at ")
    if task not in message:
        error.args = (f"{message} (at {task}){separator}{place}",)
    return error
