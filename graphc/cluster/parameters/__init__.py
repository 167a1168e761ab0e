"""Parameter servers: workers pull Variables from servers and push gradients to them; every push counts at most once."""

from graphc.cluster.parameters.durable_shard import Durability, Keeper
from graphc.cluster.parameters.schedule import StepSchedule
from graphc.cluster.parameters.shard import Body, Ledger, Push, PushEntry, Shard
from graphc.cluster.parameters.staleness import Moment, Policy, drop, scale, warm_up
from graphc.cluster.parameters.tasks import PerWorker, Scheduled
from graphc.cluster.parameters.training import ParameterReport, ParameterServer, ServerReport, WorkerReport

__all__ = [
    "Body", "Durability", "Keeper", "Ledger", "Moment", "ParameterReport", "ParameterServer", "PerWorker", "Policy",
    "Push", "PushEntry", "Scheduled", "ServerReport", "Shard", "StepSchedule", "WorkerReport", "drop", "scale",
    "warm_up",
]  # fmt: skip
