"""Plans of runs on the devices of this process: the nodes that a run needs, their places, and plans of one program."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from graphc.compiler.base import ABOVE, config
from graphc.compiler.base.errors import GraphcError, InvalidArgumentError, NotFoundError
from graphc.compiler.devices import canonical_device, device_name, devices
from graphc.compiler.ir import DeviceSpec, Node, Value
from graphc.compiler.ir import Graph as GraphIR
from graphc.compiler.runtime import Execution, Observer, Placement, Plan, place
from graphc.graphs.refusals import user_error
from graphc.graphs.session.graphs.graph import Graph
from graphc.graphs.session.options import ConfigProto
from graphc.graphs.session.plans.planning import make_plan
from graphc.graphs.session.plans.steps import StateSegment
from graphc.graphs.session.state import SessionState


def needed_nodes(
    nodes: Sequence[Node], targets: Iterable[Value | Node], fed: Container[Value], carried: Container[Node] = ()
) -> list[Node]:
    """Returns the nodes that a run executes, in the order of the graph."""
    needed: set[Node] = set()
    waiting: list[Node] = []

    def need(node: Node | None) -> None:
        if node is not None and node not in needed:
            needed.add(node)
            waiting.append(node)

    for target in targets:
        if isinstance(target, Node):
            need(target)
        elif target not in fed:
            need(target.node)
    while waiting:
        node = waiting.pop()
        if node.op.name == "placeholder":
            if node.outputs[0] in fed:
                needed.discard(node)
                continue
            raise unfed(node)
        for value in node.inputs:
            if value not in fed:
                need(value.node)
        for control in node.control_inputs:
            if control.op.name != "placeholder":
                need(control)
    needed.update(node for node in nodes if node in carried and node.inputs[0].node in needed)
    return [node for node in nodes if node in needed]


def unfed(node: Node) -> InvalidArgumentError:
    """Makes the error for a placeholder that a run needs and that is not fed."""
    where = f" (made at {node.location.short})" if node.location is not None else ""
    return user_error(
        f"You must feed a value for placeholder tensor {node.name!r} of type {node.outputs[0].type}{where}: "
        "session.run(fetches, feed_dict={placeholder: value})"
    )


@dataclass(frozen=True)
class Single:
    """A plan of one program."""

    segment: StateSegment
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]

    @classmethod
    def of(cls, plan: Plan) -> Single | None:
        """Returns a plan as one call of a program; None if it is more than that."""
        step = plan.steps[0] if len(plan.steps) == 1 else None
        if not isinstance(step, StateSegment) or plan.constants or not set(plan.outputs) <= set(step.outputs):
            return None
        return cls(step, step.inputs, tuple(map(step.outputs.index, plan.outputs)))

    def run(self, arrays: Sequence[Any]) -> Sequence[Any]:
        """Runs the program with the feeds."""
        results = self.segment.program([arrays[index] for index in self.inputs])
        return [results[index] for index in self.outputs]


def local_plan(
    graph: Graph, nodes: Sequence[Node], fed: Sequence[Value], fetched: Sequence[Value], state: SessionState,
    note_compiled: Callable[..., None],
) -> tuple[Plan, Placement]:  # fmt: skip
    """Makes the plan of a run."""
    default = device_name(devices()[0])
    try:
        placement = place(GraphIR((), nodes, ()), {}, default)
    except NotFoundError as error:
        raise _unplaced(nodes, error) from None
    if placement.spanning:
        node = next(node for node in nodes if node in placement.spanning)
        raise InvalidArgumentError(
            f"{node.name!r} has a loop or branch that is pinned to several devices, which a Session does not run; "
            "pin the whole of it, or use gx.function"
        ).at(node.location)
    return make_plan(graph, nodes, fed, fetched, placement.devices, default, state, note_compiled), placement


def placing(*, soft: bool, log: bool) -> AbstractContextManager[None]:
    """Returns a scope that places nodes by a Session's options."""
    settings: dict[str, Any] = {}
    if soft:
        settings["soft_placement"] = True
    if log:
        settings["log_device_placement"] = True
    return config.scope(**settings) if settings else nullcontext()


def _unplaced(nodes: Sequence[Node], error: NotFoundError) -> GraphcError:
    for node in nodes:
        try:
            if node.device:
                canonical_device(node.device, node.location)
        except NotFoundError as missing:
            reason = missing.message.partition("\n")[0].partition(". With")[0]
            elsewhere = DeviceSpec.parse(node.device).job not in (None, "localhost")
            remedy = (
                "; open the Session at a task of the cluster: gx.Session(server.target)"
                if elsewhere
                else ". With gx.ConfigProto(allow_soft_placement=True) the CPU is used instead"
            )
            return InvalidArgumentError(
                f"Cannot assign a device to node {node.attrs.get('variable', node.name)!r}: Could not satisfy explicit "
                f"device specification {node.device!r}: {reason}{remedy}"
            ).at(node.location)
    return error


# Targets: they run the plans of a Session that is not local. The cluster layer provides them.


class SessionDevice(str):
    """The name of a device of a Session, such as ``/job:ps/replica:0/task:0/device:CPU:0``."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """The name."""
        return str(self)

    @property
    def device_type(self) -> str:
        """Its type, such as ``CPU``."""
        return self.rpartition("/device:")[2].partition(":")[0]


class SessionTarget(ABC):
    """A place that a Session runs at: this process, or a cluster."""

    @abstractmethod
    def plan(self, nodes: Sequence[Node], fed: Sequence[Value], fetched: Sequence[Value]) -> Plan:
        """Makes the plan of a run; see :func:`graphc.session.plans.local.local_plan`."""

    @abstractmethod
    def execution(self, observer: Observer | None) -> Execution:
        """Begins a run of a plan."""

    @abstractmethod
    def list_devices(self) -> list[str]:
        """Returns the names of all devices."""

    @abstractmethod
    def close(self) -> None:
        """Tells the target that the Session is closed."""


class Targets(ABC):
    """Finds targets by their names."""

    @abstractmethod
    def connect(
        self, target: str, graph: Graph, config: ConfigProto, note_compiled: Callable[[str], None]
    ) -> SessionTarget:
        """Opens a Session at a target."""

    @abstractmethod
    def reset(self, target: str, containers: Sequence[str], filters: Sequence[str]) -> None:
        """Drops the resources in containers, in all of them if none are named, and ends the Sessions of a target."""


def targets() -> Targets:
    """Returns the clusters that Sessions know by URL; imports the layer that has them."""
    return ABOVE["session_targets"]
