"""Layer 8: data parallelism over the devices of this process."""

from graphc.distribute.data_parallel import DataParallel, ParallelFunction
from graphc.distribute.replica import PerReplica, all_mean, all_sum, replica_index

__all__ = [
    "DataParallel",
    "ParallelFunction",
    "PerReplica",
    "all_mean",
    "all_sum",
    "replica_index",
]
