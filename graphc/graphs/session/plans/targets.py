"""Targets: they run the plans of a Session that is not local. The cluster layer provides them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

from graphc.compiler.base import ABOVE
from graphc.compiler.ir import Node, Value
from graphc.compiler.runtime import Execution, Observer, Plan
from graphc.graphs.session.graphs.graph import Graph
from graphc.graphs.session.options import ConfigProto

__all__ = ["SessionDevice", "Target", "Targets", "targets"]


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


class Target(ABC):
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
    def connect(self, target: str, graph: Graph, config: ConfigProto, note_compiled: Callable[[str], None]) -> Target:
        """Opens a Session at a target.

        Raises:
          NotFoundError: the target does not exist.
        """

    @abstractmethod
    def reset(self, target: str, containers: Sequence[str], filters: Sequence[str]) -> None:
        """Drops the resources in containers, in all of them if none are named, and ends the Sessions of a target.

        Args:
          target: the name of the target.
          containers: their names.
          filters: the tasks; see :attr:`ConfigProto.device_filters`.
        """


def targets() -> Targets:
    """Returns the clusters that Sessions know by URL; imports the layer that has them."""
    return ABOVE["session_targets"]
