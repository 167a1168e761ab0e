"""Carriers: how calls reach tasks, and what a task looks like to those who call it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from graphc.base import Registry
from graphc.base.errors import NotFoundError
from graphc.cluster.spec import ClusterSpec

__all__ = ["CARRIERS", "Carrier", "Peer", "Pending", "address_of", "find"]


class Pending(ABC):
    """A call whose answer has not been taken yet."""

    @abstractmethod
    def result(self) -> Any:
        """Waits for the answer, within the deadline in force; a token that is cancelled meanwhile cancels the call.

        Raises:
          GraphcError: what the service raised.
          UnavailableError: the task is gone, or has not answered for ``gx.config.heartbeat_timeout`` seconds.
        """


class Peer(ABC):
    """A task as those see it who call it.

    Attributes:
      name: of the task, such as ``/job:ps/task:0``.
      address: of the task.
    """

    name: str
    address: str

    @abstractmethod
    def start(self, service: str, method: str, *arguments: Any) -> Pending:
        """Begins a call of a service's method. The deadline and the tokens that are in force hold for the call, too.

        Args:
          service: the name of the service.
          method: the name of a public method.
          *arguments: nests of NumPy or JAX arrays, numbers, strings and bytes, which must not be changed any more.
        """

    def call(self, service: str, method: str, *arguments: Any) -> Any:
        """Calls a service's method and waits for the answer; see :meth:`start` and :meth:`Pending.result`."""
        return self.start(service, method, *arguments).result()

    @abstractmethod
    def stop(self, reason: str) -> None:
        """Ends the task."""


class Carrier(ABC):
    """Starts tasks, finds them by their address, and brings them calls."""

    name: ClassVar[str]

    @abstractmethod
    def start(self, cluster: ClusterSpec, job: str, index: int) -> Peer:
        """Starts a task.

        Raises:
          AlreadyExistsError: its address is taken.
        """

    @abstractmethod
    def find(self, address: str) -> Peer | None:
        """Returns the task with an address; None if this carrier has none there."""


CARRIERS = Registry[Carrier]("carrier")
"""The carriers, in the order in which an address is looked up."""


def address_of(target: str) -> str:
    """Returns the address in a target: without the ``grpc://`` that TensorFlow writes before it."""
    return target.partition("://")[2] or target


def find(target: str) -> Peer:
    """Returns the task with an address.

    Args:
      target: ``host:port``, or ``grpc://host:port``.

    Raises:
      NotFoundError: no carrier knows a task there.
    """
    address = address_of(target)
    for carrier in [*CARRIERS.values()]:
        found = carrier.find(address)
        if found is not None:
            return found
    raise NotFoundError(
        f"there is no task at {address!r}: start a gx.Server with that address in this process, or start the cluster "
        "with `graphc cluster up` and set RAY_ADDRESS"
    )
