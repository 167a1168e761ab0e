"""Data parallelism over the devices of this process, or of all processes that run the program."""

from functools import partial

from graphc.compiler.base import ABOVE, hint_missing, lazy_names
from graphc.training.distribute.accumulate import mean_gradients
from graphc.training.distribute.collectives import (
    all_gather,
    all_mean,
    all_sum,
    all_to_all,
    axis_index,
    axis_size,
    pmax,
    pmean,
    pmin,
    ppermute,
    psum,
    replica_index,
    row_weights,
)
from graphc.training.distribute.data_parallel import DataParallel, ParallelFunction
from graphc.training.distribute.pipeline import Pipeline
from graphc.training.distribute.processes import (
    current_job,
    initialize,
    launch,
    process_count,
    process_index,
    synchronized,
)
from graphc.training.distribute.replica import PerReplica, pmap
from graphc.training.distribute.report import DeviceReport, RankReport, StepReport
from graphc.training.distribute.sharding import Sharding, shard
from graphc.training.distribute.trials import free_device

__all__ = [
    "DataParallel", "DeviceReport", "ParallelFunction", "PerReplica", "Pipeline", "RankReport", "Sharding",
    "StepReport", "all_gather", "all_mean", "all_sum", "all_to_all", "axis_index", "axis_size", "current_job",
    "free_device", "initialize", "launch", "mean_gradients", "pmap", "pmax", "pmean", "pmin", "ppermute",
    "process_count", "process_index", "psum", "replica_index", "row_weights", "shard", "synchronized",
]  # fmt: skip

# Users look for these here; their modules are in layers above.
lazy_names(globals(), {name: partial(ABOVE.__getitem__, name) for name in ("ParameterServer", "Replicas", "staleness")})

hint_missing(globals(), "gx.distribute")
