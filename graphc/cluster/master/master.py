"""The client's side of a Session at a target: it cuts runs into parts, and makes tasks run them.

In TensorFlow, the target's own process does that. Here the client does: its runs take one hop less, and a client that
vanishes leaves behind only parts that end.
"""

from __future__ import annotations

import hashlib
import threading
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from graphc.cluster.carriers import Peer, Pending, ThreadPeer, find, only_here
from graphc.cluster.master.partition import TaskPart, partition
from graphc.cluster.master.placement import TaskPlacer
from graphc.cluster.master.service import Message, PartExecution, PartStep, Takers, with_task
from graphc.cluster.spec import ClusterSpec, task_name
from graphc.compiler.base import config, deadline
from graphc.compiler.base.errors import GraphcError, InvalidArgumentError, NotFoundError, UnavailableError
from graphc.compiler.core import log_placement
from graphc.compiler.ir import CONSTANT, DeviceSpec, Node, Value, has_text, print_graph
from graphc.compiler.ir import Graph as GraphIR
from graphc.compiler.ops import HOST_CALLS
from graphc.compiler.runtime import Observer, Plan, Step
from graphc.graphs.session import ConfigProto, Graph, SessionTarget, Targets, is_random_state

if TYPE_CHECKING:
    from graphc.cluster.master.partition import TaskPart


def parses_back(graph: GraphIR) -> bool:
    """Returns True for a graph whose text parses back."""
    return all(has_text(value) for node in graph.walk() for value in node.attrs.values())


def check_travels(part: TaskPart, tasks: Sequence[str]) -> None:
    """Raises an error if another task would run an op that needs Python objects of this process."""
    for node in part.graph.nodes:
        inner = [one for region in node.regions for one in region.walk()]
        if any(map(_is_bound, (node, *inner))):
            raise InvalidArgumentError(
                f"the operation {node.name!r} ({node.op.name}) uses Python objects of this process, and {part.task} "
                "runs in another one; run it in a Session of its own here and feed what it gives, or pin it to a "
                f"task of this process with gx.device (the cluster has {', '.join(tasks)})"
            ).at(node.location)


def _is_bound(node: Node) -> bool:
    attrs = node.attrs
    named = node.op in HOST_CALLS or node.op.name == "py_func" or attrs.get("dataset") or attrs.get("home") == "process"
    return bool(named) or not all(map(has_text, attrs.values()))


class ClusterTasks:
    """The tasks of the cluster that a given task belongs to.

    Args:
      filters: pins that select further tasks, such as ``/job:ps``; all tasks if there are none.
    """

    def __init__(self, target: str, filters: Sequence[str] = ()) -> None:
        peer = find(target)
        self.master = peer.name
        wanted = [*map(DeviceSpec.parse, (*filters, self.master))] if filters else [DeviceSpec()]
        self.cluster = _of_some(ClusterSpec(peer.call("task", "describe")["cluster"]), wanted)
        self._addresses = {
            task_name(job, index): self.cluster.task_address(job, index)
            for job in self.cluster.jobs
            for index in self.cluster.task_indices(job)
        }
        self.names = tuple(self._addresses)
        self._peers: dict[str, Peer] = {peer.name: peer}
        self._lock = threading.Lock()

    def peer(self, name: str) -> Peer:
        """Returns a task."""
        with self._lock:
            task = self._peers.get(name)
            if task is None:
                address = self._addresses[name]
                try:
                    task = self._peers[name] = find(address)
                except NotFoundError:
                    raise UnavailableError(
                        f"{name} at {address} does not run: start the gx.Server of that task{only_here()}"
                    ) from None
            return task

    def call(self, name: str, service: str, method: str, *arguments: Any) -> Any:
        """Calls a method of a task's service, and waits for the answer."""
        peer = self.peer(name)
        try:
            return peer.call(service, method, *arguments)
        except UnavailableError:
            with self._lock:
                if self._peers.get(name) is peer:
                    del self._peers[name]
            raise


def _of_some(cluster: ClusterSpec, wanted: Sequence[DeviceSpec]) -> ClusterSpec:
    tasks = {
        job: {
            index: cluster.task_address(job, index)
            for index in cluster.task_indices(job)
            if any(spec.job in (None, job) and spec.task in (None, index) for spec in wanted)
        }
        for job in cluster.jobs
    }
    return ClusterSpec({job: matching for job, matching in tasks.items() if matching})


_CLOSE_SECONDS = 1.0
"""Seconds that closing a Session waits for a task that does not answer."""


class Master(SessionTarget):
    """Runs the plans of one Session at the tasks of a cluster."""

    def __init__(self, target: str, graph: Graph, settings: ConfigProto, note_compiled: Callable[[str], None]) -> None:
        self.graph, self._settings, self._note_compiled = graph, settings, note_compiled
        self.session = f"session_{uuid.uuid4().hex}"
        self._tasks = ClusterTasks(target, settings.device_filters)
        if settings.isolate_session_state:
            problem = "isolate_session_state: Sessions at a cluster share what its tasks keep"
            remedy = "make Variables and queues in `with graph.container(name)`, with a name for each Session"
            raise InvalidArgumentError(f"{problem}; {remedy}")
        self._placer = TaskPlacer(self._tasks.cluster, self._tasks.master, graph)
        self._used = {self._tasks.master}
        self._tasks.call(self._tasks.master, "graph", "open", self.session)

    def plan(self, nodes: Sequence[Node], fed: Sequence[Value], fetched: Sequence[Value]) -> Plan:
        """Makes the plan of a run: a step for each part, and the values that pass between them."""
        tasks = self._placer.place(nodes)
        parts = partition(nodes, fed, fetched, tasks)
        messages = {part: self._prepared(part) for part in parts}
        return _Assembly(self, messages, fed, fetched).plan()

    def _prepared(self, part: TaskPart) -> Message:
        """Makes a task plan a part; returns the message that it was sent."""
        if self.keeps(part.task):
            check_travels(part, self._tasks.names)
        variables = {str(node.attrs.get("variable")) for node in part.graph.nodes}
        own = any(map(is_random_state, variables))
        facts = {
            "session": self.session if own else "",
            "seed": self.graph.seed if own else None,
            "open": sorted(self.graph.trace.open_variables & variables),
            "soft": self._settings.allow_soft_placement or config.soft_placement,
        }  # fmt: skip
        if parses_back(part.graph):
            graph: Any = print_graph(part.graph)
            key = hashlib.sha256(f"{graph}\n{facts}".encode(errors="surrogatepass")).hexdigest()
        else:
            graph, key = part.graph, f"object_{uuid.uuid4().hex}"
        if own:
            self._used.add(part.task)
        try:
            devices = self._tasks.call(part.task, "graph", "prepare", key, graph, facts)
        except GraphcError as error:
            raise with_task(error, part.task) from None
        if self._settings.log_device_placement or config.log_device_placement:
            _log_placements(part, devices)
        return key, graph, facts

    def run(self, step: PartStep, arrays: Sequence[Any], number: str, traced: bool) -> tuple[Sequence[Any], Any]:
        """Makes a task run a part; returns the part's results, or their locations, and the timeline."""
        task, run = step.part.task, f"{self.session}/{number}"
        message = step.message[0], self.session, arrays, traced, run, step.takers
        answer = self._tasks.call(task, "graph", "run", *message)
        while answer is None:  # the task was restarted, or has dropped the part
            self._tasks.call(task, "graph", "prepare", *step.message)
            answer = self._tasks.call(task, "graph", "run", *message)
        outputs, notes, events = answer
        for note in notes:
            self._note_compiled(note)
        return outputs, events

    def drop(self, number: str, tasks: Iterable[str]) -> None:
        """Tells tasks that a run has failed, and that they need not keep its values."""
        for task in tasks:
            with suppress(GraphcError):
                self._tasks.peer(task).start("graph", "drop", f"{self.session}/{number}")

    def keeps(self, task: str) -> bool:
        """True if large values stay at a task until others fetch them: if the task is in another process."""
        return not isinstance(self._tasks.peer(task), ThreadPeer)

    def execution(self, observer: Observer | None) -> PartExecution:
        """Begins a run of a plan."""
        return PartExecution(self, observer)

    def list_devices(self) -> list[str]:
        """Returns the full names of the devices of all tasks."""
        return [
            full_name(task, device)
            for task in self._tasks.names
            for device in self._tasks.call(task, "task", "describe")["devices"]
        ]

    def close(self) -> None:
        """Makes the tasks drop everything that belongs only to the Session; tasks that are gone have done so."""
        pending: list[Pending] = []
        for task in self._used:
            with suppress(GraphcError):
                pending.append(self._tasks.peer(task).start("graph", "close", self.session))
        for answer in pending:
            with suppress(GraphcError), deadline(_CLOSE_SECONDS):
                answer.result()


class _Assembly:
    """Builds the plan of parts, and numbers its slots."""

    def __init__(
        self, master: Master, parts: Mapping[TaskPart, Message], fed: Sequence[Value], fetched: Sequence[Value]
    ) -> None:
        self._master, self._parts, self._fed, self._fetched = master, parts, fed, fetched
        self._slots: dict[Value, int] = {}
        self._constants: dict[int, Any] = {}
        self._count = 0

    def plan(self) -> Plan:
        for value in self._fed:
            self._slots[value] = self._number()
        fed, done = set(self._fed), dict[TaskPart, int]()
        steps: list[Step] = []
        for part, message in self._parts.items():
            inputs = [self._slots[value] for value in part.takes]
            makers = {value.node for value in part.takes if value not in fed}
            after = [done[other] for other in part.after if not makers.intersection(other.nodes.values())]
            for value in part.gives:
                self._slots[value] = self._number()
            self._slots.update((value, self._slots[other]) for value, other in part.same.items())
            done[part] = self._number()
            outputs = (*[self._slots[value] for value in part.gives], done[part])
            steps.append(
                PartStep(
                    part.graph.name, part.task, (*inputs, *after), outputs, part=part, message=message,
                    master=self._master, count=len(inputs), takers=self._takers(part),
                )
            )  # fmt: skip
        results = tuple(map(self._result, self._fetched))
        constants = tuple(self._constants.items())
        return Plan("session.run", tuple(steps), len(self._fed), self._count, results, constants)

    def _takers(self, part: TaskPart) -> Sequence[Takers]:
        """Returns, for each result of a part, the tasks that need it, and how often; None where the client does."""
        if not self._master.keeps(part.task):
            return ()
        fetched = {other for value, other in part.same.items() if value in self._fetched}.union(self._fetched)
        takers: list[Takers] = []
        for value in part.gives:
            tasks = Counter(other.task for other in self._parts if value in other.takes)
            takers.append(None if value in fetched else dict(tasks))
        return takers

    def _result(self, value: Value) -> int:
        slot = self._slots.get(value)
        if slot is None:
            assert value.node is not None
            assert value.node.op is CONSTANT
            slot = self._slots[value] = self._number()
            self._constants[slot] = value.node.attrs["value"].array
        return slot

    def _number(self) -> int:
        self._count += 1
        return self._count - 1


class _Clusters(Targets):
    def connect(self, target: str, graph: Graph, config: ConfigProto, note_compiled: Callable[[str], None]) -> Master:
        return Master(target, graph, config, note_compiled)

    def reset(self, target: str, containers: Sequence[str], filters: Sequence[str]) -> None:
        tasks = ClusterTasks(target, filters)
        sessions = tasks.call(tasks.master, "graph", "sessions")
        errors: list[UnavailableError] = []
        for name in tasks.names:
            try:
                tasks.peer(name)
            except UnavailableError:
                continue  # it keeps nothing
            try:
                tasks.call(name, "graph", "reset", list(containers), sessions)
            except UnavailableError as error:
                errors.append(error)
        if errors:
            raise errors[0]


def _log_placements(part: TaskPart, devices: Mapping[str, str]) -> None:
    copied = {value.node: other.node for value, other in part.same.items()}
    with config.scope(log_device_placement=True):
        for node in part.nodes.values():
            device = full_name(part.task, devices[(copied.get(node) or node).name])
            log_placement(node.op.name, node.name, node.device, device, node.location)


def full_name(task: str, device: str) -> str:
    """Returns the name of a task's device, such as ``/job:ps/replica:0/task:0/device:CPU:0``."""
    return f"{task.replace('/task:', '/replica:0/task:')}{device}"


session_targets: Targets = _Clusters()
