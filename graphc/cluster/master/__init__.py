"""The master of a Session at a cluster: cuts graphs into parts, one call of one task each."""

from graphc.cluster.master.master import Master
from graphc.cluster.master.service import GraphService

__all__ = ["GraphService", "Master"]
