"""Layer 11: clusters. Tasks host services; carriers bring them calls, inside a process or between processes."""

from graphc.cluster.server import Server, ServerDef
from graphc.cluster.spec import ClusterDef, ClusterSpec, JobDef

__all__ = ["ClusterDef", "ClusterSpec", "JobDef", "Server", "ServerDef"]
