"""Passes: each takes a valid graph and returns a valid graph; one pass a file."""

from graphc.ir.passes.accumulate import Accumulate
from graphc.ir.passes.base import Pass
from graphc.ir.passes.bounds import Bounds
from graphc.ir.passes.collect import Collect
from graphc.ir.passes.cse import CSE
from graphc.ir.passes.dce import DCE
from graphc.ir.passes.flatten import Flatten
from graphc.ir.passes.fold import Fold
from graphc.ir.passes.hoist import Hoist
from graphc.ir.passes.if_convert import IfConvert
from graphc.ir.passes.induct import Induct
from graphc.ir.passes.loops import Loops
from graphc.ir.passes.order import Order
from graphc.ir.passes.pipeline import DEFAULT, LATE, run_passes
from graphc.ir.passes.predictive import PredictiveCommoning
from graphc.ir.passes.promote import Promote
from graphc.ir.passes.prune import Prune
from graphc.ir.passes.shift import Shift
from graphc.ir.passes.sink import Sink
from graphc.ir.passes.specialize import Evaluate, NotSpecializedError, is_open, shape_inputs, specialize
from graphc.ir.passes.speculate import Speculate
from graphc.ir.passes.take_rows import TakeRows
from graphc.ir.passes.turn import Turn

__all__ = [
    "CSE",
    "DCE",
    "DEFAULT",
    "LATE",
    "Accumulate",
    "Bounds",
    "Collect",
    "Evaluate",
    "Flatten",
    "Fold",
    "Hoist",
    "IfConvert",
    "Induct",
    "Loops",
    "NotSpecializedError",
    "Order",
    "Pass",
    "PredictiveCommoning",
    "Promote",
    "Prune",
    "Shift",
    "Sink",
    "Speculate",
    "TakeRows",
    "Turn",
    "is_open",
    "run_passes",
    "shape_inputs",
    "specialize",
]
