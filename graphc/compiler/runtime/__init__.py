"""Runs graphs over several devices: placement, partition into steps, scheduling, and what programs cost."""

from typing import TYPE_CHECKING

from graphc.compiler.runtime.executor import Execution, Observer, inter_op_pool
from graphc.compiler.runtime.partition import Cluster, Clustering, Stateless, extract
from graphc.compiler.runtime.placer import Placement, place, place_all
from graphc.compiler.runtime.plan import HOST, Plan, Step
from graphc.compiler.runtime.program import PlacedProgram, compile_graph, region_kernel, run_plan
from graphc.compiler.runtime.steps import Transfer
from graphc.compiler.runtime.submit import Future, RetryPolicy, submit
from graphc.compiler.runtime.timeline import BARRIER, Event, Timeline, observer, profile, read_timeline

__all__ = [
    "BARRIER", "HOST", "Cluster", "Clustering", "Event", "Execution", "Future", "Observer", "PlacedProgram",
    "Placement", "Plan", "RetryPolicy", "Stateless", "Step", "Timeline", "Transfer", "compile_graph", "costs",
    "extract", "inter_op_pool", "observer", "place", "place_all", "profile", "read_timeline", "region_kernel",
    "run_plan", "submit",
]  # fmt: skip

if TYPE_CHECKING:
    from graphc.compiler.runtime import costs
