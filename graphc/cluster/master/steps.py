"""The step of a plan that makes a task run a part of a graph."""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from graphc.cluster.master.kept import Takers, place_of
from graphc.cluster.master.partition import Part, may_block
from graphc.compiler.base import CancellationToken, at
from graphc.compiler.base.errors import CancelledError, DeadlineExceededError, GraphcError, InternalError
from graphc.compiler.runtime import Execution, Observer, Plan, Step, observer

if TYPE_CHECKING:
    from graphc.cluster.master.master import Master

__all__ = ["Message", "PartExecution", "PartStep", "with_task"]

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
      part: the part.
      message: the description of the part that the task received: a key, the graph, and further facts.
      master: the master, which has the part run.
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
