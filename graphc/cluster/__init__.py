"""Layer 11: clusters. Tasks host services; carriers bring them calls, inside a process or between processes."""

from graphc.cluster.master import Master
from graphc.cluster.server import Server, ServerDef
from graphc.cluster.setter import GreedyLoadBalancingStrategy, byte_size_load_fn, replica_device_setter
from graphc.cluster.spec import ClusterDef, ClusterSpec, JobDef
from graphc.cluster.sync_replicas import SyncReplicasOptimizer

__all__ = [
    "ClusterDef",
    "ClusterSpec",
    "GreedyLoadBalancingStrategy",
    "JobDef",
    "Master",
    "Server",
    "ServerDef",
    "SyncReplicasOptimizer",
    "byte_size_load_fn",
    "replica_device_setter",
]
