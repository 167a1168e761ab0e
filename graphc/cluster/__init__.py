"""Layer 11: clusters. Tasks host services; carriers bring them calls, inside a process or between processes."""

from graphc.cluster import master as _master  # noqa: F401  makes targets and the service of graphs known
from graphc.cluster.server import Server, ServerDef
from graphc.cluster.setter import GreedyLoadBalancingStrategy, byte_size_load_fn, replica_device_setter
from graphc.cluster.spec import ClusterDef, ClusterSpec, JobDef
from graphc.cluster.sync_replicas import SyncReplicasOptimizer

__all__ = [
    "ClusterDef",
    "ClusterSpec",
    "GreedyLoadBalancingStrategy",
    "JobDef",
    "Server",
    "ServerDef",
    "SyncReplicasOptimizer",
    "byte_size_load_fn",
    "replica_device_setter",
]
