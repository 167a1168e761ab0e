"""The service of a task that runs parts of graphs, on the task's devices and its resources."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, cast

from graphc.cluster.carriers import find
from graphc.cluster.master.partition import TaskPart, may_block
from graphc.cluster.spec import task_name
from graphc.cluster.task import Task, hosts
from graphc.compiler.base import CancellationToken, holding, interruption
from graphc.compiler.base.errors import AbortedError, CancelledError, DeadlineExceededError, GraphcError
from graphc.compiler.ir import Graph, parse_graph
from graphc.compiler.runtime import Execution, Observer, Plan, Timeline, observer
from graphc.graphs.session import Graph as SessionGraph
from graphc.graphs.session import SessionState, SessionStep, Single, local_plan, placing, reason_of

if TYPE_CHECKING:
    from graphc.cluster.master.master import Master

# The step of a plan that makes a task run a part of a graph.

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


class StoredValues:
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
            self._keep(f"{run}/{part}/{index}", value, users)
            if users and getattr(value, "nbytes", 0) >= _KEPT_BYTES
            else value
            for index, (value, users) in enumerate(zip(values, takers, strict=True))
        ]

    def _keep(self, key: str, value: Any, takers: Mapping[str, int]) -> Mapping[str, Any]:
        here = self._task.name
        entry = _Held(sum(count if task == here else 1 for task, count in takers.items()), value, is_there=True)
        with self._lock:
            self._held[key] = entry
            while len(self._held) > _VALUES_KEPT:
                del self._held[next(iter(self._held))]
        return {"kept": key, "task": here, "takers": takers}

    def values(self, inputs: Sequence[Any]) -> Sequence[Any]:
        """Returns a part's inputs; fetches those that are elsewhere."""
        return [value if (location := place_of(value)) is None else self._value(location) for value in inputs]

    def _value(self, where: Mapping[str, Any]) -> Any:
        key, home = where["kept"], where["task"]
        if home == self._task.name:
            return self.take(key)
        with self._lock:
            entry = self._held.setdefault(key, _Held(where["takers"][self._task.name]))
        with holding(entry.lock, f"a value of {home} that another part is fetching"):
            if not entry.is_there:
                entry.value, entry.is_there = find(self._addresses[home]).call("graph", "take", key), True
        return self._used(key, entry)

    def take(self, key: str) -> Any:
        """Returns a value that is kept here, to a task that needs it."""
        entry = self._held.get(key)
        if entry is None:
            raise AbortedError(f"{self._task.name} has dropped a value of this run; run it again")
        return self._used(key, entry)

    def _used(self, key: str, entry: _Held) -> Any:
        with self._lock:
            entry.left -= 1
            if entry.left <= 0:
                self._held.pop(key, None)
        return entry.value

    def drop(self, run: str) -> None:
        """Drops the values of a run that has failed."""
        with self._lock:
            for key in [key for key in self._held if key.startswith(f"{run}/")]:
                del self._held[key]


Message = tuple[str, Any, Mapping[str, Any]]
"""The description of a part that a task receives: key, graph and further facts; see :meth:`GraphService.prepare`."""
_numbers = itertools.count()


class PartExecution(Execution):
    """A run over several tasks: if one part fails, the others are cancelled."""

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
        owners = [str(location["task"]) for location in map(place_of, values) if location is not None]
        if owners:
            self._keeping.update((task, *owners))

    def end(self, error: GraphcError) -> None:
        """Cancels the other parts after one has failed."""
        if self._first is None and not self._token.cancelled:
            self._first = error
        self._token.cancel(f"another part of the run has failed: {error.message.partition(chr(10))[0]}")


@dataclass(frozen=True, eq=False)
class PartStep(SessionStep):
    """A part of a graph that a task runs.

    Attributes:
      count: the number of inputs that it uses; the others only order it.
      takers: for each value that it returns, the tasks that need it; empty where the client passes all values on.
    """

    part: TaskPart = field(kw_only=True)
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
        """Makes the task run the part."""
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
        located = with_task(error, self.part.task)
        return located if node is None else located.at(node.location)


def with_task(error: GraphcError, task: str) -> GraphcError:
    """Adds the task to an error's message, if the message does not name it."""
    message, separator, location = error.message.partition("\n  at ")
    if task not in message:
        error.args = (f"{message} (at {task}){separator}{location}",)
    return error


_PARTS_KEPT = 512
"""Maximum number of parts whose programs a task keeps."""
_SESSIONS_KEPT = 1024
"""Maximum number of reset Sessions that a task remembers."""


@dataclass(frozen=True)
class _Prepared:
    """A part that is compiled, or will be at its first run."""

    name: str
    plan: Plan
    single: Single | None
    notes: list[str]  # the reasons of compilations that no caller has been told yet


@hosts("graph")
class GraphService:
    """Runs parts of graphs at a task, for any number of concurrent clients."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._parts: dict[str, _Prepared] = {}
        self._placements: dict[str, Mapping[str, str]] = {}
        self._running: dict[str, set[CancellationToken]] = {}
        self._reset: dict[str, None] = {}
        self._opened: dict[str, None] = {}
        self._kept = StoredValues(task)
        self._lock = threading.RLock()

    def open(self, session: str) -> None:
        """Records a Session whose master is this task."""
        self._opened[session] = None

    def prepare(self, key: str, graph: str | Graph, facts: Mapping[str, Any]) -> Mapping[str, str]:
        """Makes the plan of a part, if there is none yet.

        Args:
          key: the name of the part, equal for equal graphs and facts.
          facts: ``session`` and ``seed`` for random ops, the Variables of ``open`` shapes, and ``soft`` placement.
        """
        with holding(self._lock, "a part of a graph that another client prepares"):
            if key not in self._parts:
                while len(self._parts) >= _PARTS_KEPT:
                    oldest = next(iter(self._parts))
                    del self._parts[oldest], self._placements[oldest]
                parsed = parse_graph(graph) if isinstance(graph, str) else graph
                self._parts[key], self._placements[key] = self._planned(parsed, facts)
            return self._placements[key]

    def _planned(self, graph: Graph, facts: Mapping[str, Any]) -> tuple[_Prepared, Mapping[str, str]]:
        around = SessionGraph()
        around.seed = facts["seed"]
        around.trace.open_variables.update(facts["open"])
        state = SessionState(around, self._task.resources, facts["session"])
        notes: list[str] = []
        where = self._task.name

        def note(segment: Any, types: Any, values: Any) -> None:
            notes.append(reason_of(segment, types, values, where))

        with placing(soft=facts["soft"], log=False):
            plan, placement = local_plan(around, graph.nodes, graph.inputs, graph.outputs, state, note)
        devices = {node.name: placement.devices.get(node, placement.default) for node in graph.nodes}
        return _Prepared(graph.name, plan, Single.of(plan), notes), devices

    def run(
        self, key: str, session: str, arrays: Sequence[Any], traced: bool, run: str = "", takers: Sequence[Takers] = ()
    ) -> Sequence[Any] | None:
        """Runs a part.

        Args:
          takers: for each value that it returns, the tasks that need it: they fetch large values from here; empty to
            give all to the caller.

        Returns:
          The part's results, the reasons of compilations, and the timeline; None if the part is unknown or dropped.
        """
        part = self._parts.get(key)
        if part is None:
            return None
        timeline = Timeline() if traced else None
        token = self._begin(session)
        try:
            outputs = _executed(part, self._kept.values(arrays), timeline)
        except GraphcError as error:
            error.op = getattr(error.op, "name", error.op)
            raise
        finally:
            self._end(session, token)
        if timeline is not None:
            timeline.close()
        with self._lock:  # of concurrent callers, only one gets the notes; another run may add some meanwhile
            notes = part.notes[:]
            del part.notes[: len(notes)]
        return self._kept.left_out(run, key, outputs, takers), notes, () if timeline is None else timeline.events

    def _begin(self, session: str) -> CancellationToken:
        """Returns the token that cancels the starting call when the Session is reset."""
        call = interruption()
        assert call is not None  # a task runs each call under a token
        token = call.tokens[-1]
        with self._lock:
            if session in self._reset:
                raise AbortedError("the Session was ended by a reset of its target; open another one")
            self._running.setdefault(session, set()).add(token)
        return token

    def _end(self, session: str, token: CancellationToken) -> None:
        with self._lock:
            running = self._running.get(session, set())
            running.discard(token)
            if not running:
                self._running.pop(session, None)

    def take(self, key: str) -> Any:
        """Returns a value that a part has left here to another task; see :class:`Kept`."""
        return self._kept.take(key)

    def drop(self, run: str) -> None:
        """Drops the values that parts of a failed run have left here."""
        self._kept.drop(run)

    def sessions(self) -> Sequence[str]:
        """Returns the Sessions whose master is this task."""
        return list(self._opened)

    def reset(self, containers: Sequence[str], sessions: Sequence[str]) -> None:
        """Drops the resources in containers, in all of them if none are named, and ends Sessions."""
        for session in sessions:
            with self._lock:
                self._reset[session] = None
                self._opened.pop(session, None)
                running = list(self._running.get(session, ()))
                while len(self._reset) > _SESSIONS_KEPT:
                    del self._reset[next(iter(self._reset))]
            for token in running:
                token.cancel("the Session was ended by a reset of its target")
        self._task.give_up(containers)

    def close(self, session: str) -> None:
        """Drops the resources that belong only to a Session."""
        with self._lock:
            self._opened.pop(session, None)
            self._running.pop(session, None)
        self._task.resources.reset([session])


def _executed(part: _Prepared, arrays: Sequence[Any], timeline: Timeline | None) -> Sequence[Any]:
    plan = part.plan
    if part.single is not None and timeline is None:
        return part.single.run(arrays)
    if not plan.steps:
        slots = {**dict(enumerate(arrays)), **dict(plan.constants)}
        return [slots[slot] for slot in plan.outputs]
    return Execution(part.name, timeline).run(plan, arrays)
