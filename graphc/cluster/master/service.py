"""The service of a task that runs parts of graphs, on the task's devices and its resources."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graphc.cluster.master.steps import Kept, Takers
from graphc.cluster.task import Task, hosts
from graphc.compiler.base import CancellationToken, holding, interruption
from graphc.compiler.base.errors import AbortedError, GraphcError
from graphc.compiler.ir import Graph, parse_graph
from graphc.compiler.runtime import Execution, Plan, Timeline
from graphc.graphs.session import Graph as SessionGraph
from graphc.graphs.session import SessionState, Single, local_plan, placing, reason_of

__all__ = ["GraphService"]

_PARTS_KEPT = 512
"""Maximum number of parts whose programs a task keeps."""
_SESSIONS_KEPT = 1024
"""Maximum number of reset Sessions that a task remembers."""


@dataclass(frozen=True)
class _Prepared:
    """A part that is compiled, or will be at its first run.

    Attributes:
      single: the plan as one call of a program, if it is one; otherwise None.
      notes: the reasons of compilations that no caller has been told yet.
    """

    name: str
    plan: Plan
    single: Single | None
    notes: list[str]


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
        self._kept = Kept(task)
        self._lock = threading.RLock()

    def open(self, session: str) -> None:
        """Records a Session whose master is this task."""
        self._opened[session] = None

    def prepare(self, key: str, graph: str | Graph, facts: Mapping[str, Any]) -> Mapping[str, str]:
        """Makes the plan of a part, if there is none yet.

        Args:
          key: the name of the part, equal for equal graphs and facts.
          graph: the graph; as its text but within one process.
          facts: ``session`` and ``seed`` for random ops, the Variables of ``open`` shapes, and ``soft`` placement.

        Returns:
          The device of each node.

        Raises:
          InvalidArgumentError: a node is pinned to a device that the task has not.
        """
        with holding(self._lock, "a part of a graph that another client prepares"):
            if key not in self._parts:
                while len(self._parts) >= _PARTS_KEPT:
                    oldest = next(iter(self._parts))
                    del self._parts[oldest], self._placements[oldest]
                found = parse_graph(graph) if isinstance(graph, str) else graph
                self._parts[key], self._placements[key] = self._planned(found, facts)
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
          run: the name of the run that the part belongs to.
          takers: for each value that it returns, the tasks that need it: they fetch large values from here; empty to
            give all to the caller.

        Returns:
          The part's results, the reasons of compilations, and the timeline; None if the part is unknown or dropped.

        Raises:
          AbortedError: the Session was reset.
          GraphcError: the error of an op; its ``op`` is the name of the operation.
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
        notes = self._taken(part.notes) if part.notes else ()
        return self._kept.left_out(run, key, outputs, takers), notes, () if timeline is None else timeline.events

    def _taken(self, notes: list[str]) -> Sequence[str]:
        """Takes the notes; of concurrent callers, only one gets them."""
        with self._lock:
            found = notes[:]
            del notes[: len(found)]  # another run may have added some
        return found

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
