"""Clusters. Tasks host services; carriers bring them calls, inside a process or between processes."""

from graphc.cluster.carriers import Peer, Rays, ray_in_use
from graphc.cluster.master import Master
from graphc.cluster.server import Server, ServerDef, replica_device_setter
from graphc.cluster.spec import ClusterDef, ClusterSpec, JobDef
from graphc.cluster.sync_replicas import SyncReplicasOptimizer

__all__ = [
    "ClusterDef", "ClusterSpec", "JobDef", "Master", "Peer", "Rays", "Server", "ServerDef", "SyncReplicasOptimizer",
    "ray_in_use", "replica_device_setter",
]  # fmt: skip
