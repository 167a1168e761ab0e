"""Parameter servers: workers pull Variables from servers and push gradients to them; every push counts at most once."""

from graphc.cluster.parameters.keeper import Durability, Keeper
from graphc.cluster.parameters.ledger import Entry, Ledger
from graphc.cluster.parameters.schedule import Schedule
from graphc.cluster.parameters.shard import Body, Push, Shard
from graphc.cluster.parameters.simulated import SimulatedTraining
from graphc.cluster.parameters.staleness import Moment, Policy, drop, gap_aware, scale, warm_up
from graphc.cluster.parameters.training import ParameterServer

__all__ = [
    "Body",
    "Durability",
    "Entry",
    "Keeper",
    "Ledger",
    "Moment",
    "ParameterServer",
    "Policy",
    "Push",
    "Schedule",
    "Shard",
    "SimulatedTraining",
    "drop",
    "gap_aware",
    "scale",
    "warm_up",
]
