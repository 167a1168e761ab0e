"""Carriers bring calls to tasks: threads inside one process, Ray actors across processes."""

from graphc.cluster.carriers.carrier import (
    CARRIERS,
    Carrier,
    Peer,
    Pending,
    ThreadPeer,
    Threads,
    address_of,
    find,
    only_here,
)
from graphc.cluster.carriers.rays import Rays, ray_in_use

__all__ = [
    "CARRIERS", "Carrier", "Peer", "Pending", "Rays", "ThreadPeer", "Threads", "address_of", "find", "only_here",
    "ray_in_use",
]  # fmt: skip

CARRIERS.add(Threads.name, Threads())
CARRIERS.add(Rays.name, Rays())
