"""Layer 8: data parallelism over the devices of this process, or of all processes that run the program."""

from graphc.distribute.constraint import shard
from graphc.distribute.data_parallel import DataParallel, ParallelFunction
from graphc.distribute.pipeline import Pipeline
from graphc.distribute.processes import initialize, launch, process_count, process_index, synchronized
from graphc.distribute.replica import PerReplica, all_mean, all_sum, replica_index
from graphc.distribute.sharding import Sharding

__all__ = [
    "DataParallel",
    "ParallelFunction",
    "PerReplica",
    "Pipeline",
    "Sharding",
    "all_mean",
    "all_sum",
    "initialize",
    "launch",
    "process_count",
    "process_index",
    "replica_index",
    "shard",
    "synchronized",
]
