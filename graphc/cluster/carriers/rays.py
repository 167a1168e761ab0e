"""The carrier across processes and machines: each task is a Ray actor. Only this file works without Ray."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, Any, ClassVar

from graphc.cluster.carriers.carrier import Carrier
from graphc.cluster.spec import ClusterSpec
from graphc.compiler.base import config, pause
from graphc.compiler.base.errors import AlreadyExistsError, UnavailableError

if TYPE_CHECKING:
    from graphc.cluster.carriers.rays_peer import RayPeer

__all__ = ["Rays", "ray_in_use"]

_LOOK_SECONDS = 0.05


def ray_in_use() -> bool:
    """Returns True if ``RAY_ADDRESS`` is set, or Ray is running in this process."""
    ray = sys.modules.get("ray")
    return bool(os.environ.get("RAY_ADDRESS")) or (ray is not None and ray.is_initialized())


class Rays(Carrier):
    """The tasks of a Ray cluster: each is an actor in its own process, named by its address.

    An actor ends with the process that started it.
    """

    name: ClassVar[str] = "ray"

    def __init__(self) -> None:
        self._peers: dict[str, RayPeer] = {}

    @property
    def patient(self) -> bool:
        """True if Ray is in use."""
        return ray_in_use()

    def start(self, cluster: ClusterSpec, job: str, index: int, **resources: float) -> RayPeer:
        """Starts a task on Ray; starts Ray on this machine if ``RAY_ADDRESS`` is not set.

        Args:
          cluster: the cluster.
          job: the job of the task.
          index: its index in that job.
          **resources: the resources that Ray reserves for it: ``num_cpus``, ``num_gpus``, ``memory``, or resources of
            its own. A task without ``num_gpus`` computes on the CPU.

        Raises:
          AlreadyExistsError: the address is in use.
          UnavailableError: there is no Ray at ``RAY_ADDRESS``, Ray cannot start the task, or Ray does not release an
            earlier one at its address within twice the heartbeat timeout.
          UnauthenticatedError: Ray rejects the token.
          FailedPreconditionError: Ray is not installed.
        """
        from graphc.cluster.carriers.rays_connect import connect

        connect()
        from graphc.cluster.carriers.rays_peer import start_peer  # which imports Ray: connect() sets what that reads

        address = cluster.task_address(job, index)
        limit = 2 * config.heartbeat_timeout
        until = time.monotonic() + limit
        while (peer := start_peer(cluster, job, index, self._forget, resources)) is None:
            taker = self.find(address)
            if taker is not None:
                raise AlreadyExistsError(
                    f"{taker.name} is running at {address} on this Ray cluster already; stop its gx.Server first, or "
                    f"give /job:{job}/task:{index} another address"
                )
            if time.monotonic() > until:
                raise UnavailableError(
                    f"Ray has not forgotten the task that was at {address} within {limit:g} s: try again later, give "
                    f"/job:{job}/task:{index} another address, or start Ray anew"
                )
            pause(_LOOK_SECONDS, f"Ray to forget the task that was at {address}")
        # Ray ends an actor without references: this keeps one, until the task is stopped or the process ends.
        self._peers[address] = peer
        return peer

    def find(self, address: str) -> RayPeer | None:
        """Returns the task at an address; searches only if Ray is in use, and connects to ``RAY_ADDRESS`` if necessary.

        Raises:
          UnavailableError: there is no Ray at ``RAY_ADDRESS``, or the task does not answer.
          UnauthenticatedError: Ray rejects the token.
        """
        if not ray_in_use():
            return None
        from graphc.cluster.carriers.rays_connect import connect

        connect()
        from graphc.cluster.carriers.rays_peer import find_peer

        known = self._peers.get(address)
        if known is not None and not known.lost:
            return known
        found = find_peer(address, self._forget)
        if found is not None:
            self._peers[address] = found
        return found

    @staticmethod
    def listens_at() -> str:
        """Returns the address of the Ray cluster that this process is connected to: a value for ``RAY_ADDRESS``."""
        from graphc.cluster.carriers.rays_connect import listens_at

        return listens_at()

    def _forget(self, peer: Any) -> None:
        if self._peers.get(peer.address) is peer:
            del self._peers[peer.address]
