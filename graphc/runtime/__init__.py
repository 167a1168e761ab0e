"""Layer 5: runs graphs over several devices: where each op runs, in which steps, and who waits for whom."""

from graphc.runtime.placer import Placement, place
from graphc.runtime.plan import HOST, Plan, Step
from graphc.runtime.pool import inter_op_pool
from graphc.runtime.program import PlacedProgram, compile_graph
from graphc.runtime.timeline import Event, Timeline, observer, profile, read_timeline

__all__ = [
    "HOST",
    "Event",
    "PlacedProgram",
    "Placement",
    "Plan",
    "Step",
    "Timeline",
    "compile_graph",
    "inter_op_pool",
    "observer",
    "place",
    "profile",
    "read_timeline",
]
