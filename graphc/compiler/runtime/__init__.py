"""Layer 7: runs graphs over several devices: placement, partition into steps, and scheduling."""

from graphc.compiler.runtime.clusters import Cluster, Clustering
from graphc.compiler.runtime.executor import Execution, Observer
from graphc.compiler.runtime.extracting import extract
from graphc.compiler.runtime.future import Future
from graphc.compiler.runtime.placer import Placement, place, place_all
from graphc.compiler.runtime.plan import HOST, Plan, Step
from graphc.compiler.runtime.pool import inter_op_pool
from graphc.compiler.runtime.program import PlacedProgram, compile_graph, run_plan
from graphc.compiler.runtime.retry import RetryPolicy
from graphc.compiler.runtime.stateless import Stateless
from graphc.compiler.runtime.steps import Transfer
from graphc.compiler.runtime.submit import submit
from graphc.compiler.runtime.timeline import BARRIER, Event, Timeline, observer, profile, read_timeline

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
