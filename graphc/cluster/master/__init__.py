"""The master of a Session at a cluster: it cuts graphs into parts, each one call of one task."""

from graphc.cluster.master.master import Master, session_targets
from graphc.cluster.master.service import GraphService

__all__ = ["GraphService", "Master", "session_targets"]
