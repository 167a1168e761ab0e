"""Layer 8: data parallelism over the devices of this process."""

from graphc.distribute.data_parallel import DataParallel, ParallelFunction
from graphc.distribute.replica import PerReplica, all_mean, all_sum, replica_index
from graphc.distribute.replication import Replication, analyze_replication

__all__ = [
    "DataParallel",
    "ParallelFunction",
    "PerReplica",
    "Replication",
    "all_mean",
    "all_sum",
    "analyze_replication",
    "replica_index",
]
