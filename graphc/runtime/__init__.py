"""Layer 5: runs graphs over several devices: where each op runs, in which steps, and who waits for whom."""

from graphc.runtime.extracting import extract
from graphc.runtime.future import Future
from graphc.runtime.placer import Placement, place
from graphc.runtime.plan import HOST, Plan, Step
from graphc.runtime.pool import inter_op_pool
from graphc.runtime.program import PlacedProgram, compile_graph, run_plan
from graphc.runtime.retry import RetryPolicy
from graphc.runtime.stateless import Stateless
from graphc.runtime.submit import submit
from graphc.runtime.timeline import Event, Timeline, observer, profile, read_timeline

__all__ = [
    "HOST",
    "Event",
    "Future",
    "PlacedProgram",
    "Placement",
    "Plan",
    "RetryPolicy",
    "Stateless",
    "Step",
    "Timeline",
    "compile_graph",
    "extract",
    "inter_op_pool",
    "observer",
    "place",
    "profile",
    "read_timeline",
    "run_plan",
    "submit",
]
