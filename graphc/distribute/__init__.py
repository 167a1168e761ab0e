"""Layer 8: data parallelism over the devices of this process."""

from graphc.distribute.constraint import shard
from graphc.distribute.data_parallel import DataParallel, ParallelFunction
from graphc.distribute.replica import PerReplica, all_mean, all_sum, replica_index
from graphc.distribute.sharding import Sharding

__all__ = [
    "DataParallel",
    "ParallelFunction",
    "PerReplica",
    "Sharding",
    "all_mean",
    "all_sum",
    "replica_index",
    "shard",
]
