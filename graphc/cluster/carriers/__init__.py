"""Carriers bring calls to tasks: threads inside one process, Ray actors across processes."""

from graphc.cluster.carriers.carrier import CARRIERS, Carrier, Peer, Pending, address_of, find
from graphc.cluster.carriers.threads import ThreadPeer, Threads

__all__ = ["CARRIERS", "Carrier", "Peer", "Pending", "ThreadPeer", "Threads", "address_of", "find"]
