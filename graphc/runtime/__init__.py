"""Layer 7: runs graphs over several devices: placement, partition into steps, and scheduling."""

from graphc.runtime.clusters import Cluster, Clustering
from graphc.runtime.executor import Execution, Observer
from graphc.runtime.extracting import extract
from graphc.runtime.future import Future
from graphc.runtime.placer import Placement, place, place_all
from graphc.runtime.plan import HOST, Plan, Step
from graphc.runtime.pool import inter_op_pool
from graphc.runtime.program import PlacedProgram, compile_graph, run_plan
from graphc.runtime.retry import RetryPolicy
from graphc.runtime.stateless import Stateless
from graphc.runtime.steps import Transfer
from graphc.runtime.submit import submit
from graphc.runtime.timeline import BARRIER, Event, Timeline, observer, profile, read_timeline

__all__ = [
    "BARRIER",
    "HOST",
    "Cluster",
    "Clustering",
    "Event",
    "Execution",
    "Future",
    "Observer",
    "PlacedProgram",
    "Placement",
    "Plan",
    "RetryPolicy",
    "Stateless",
    "Step",
    "Timeline",
    "Transfer",
    "compile_graph",
    "extract",
    "inter_op_pool",
    "observer",
    "place",
    "place_all",
    "profile",
    "read_timeline",
    "run_plan",
    "submit",
]
