"""Passes: each takes a valid graph and returns a valid graph; one pass a file."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graphc.ir.passes.accumulate import Accumulate
    from graphc.ir.passes.base import Pass
    from graphc.ir.passes.bounds import Bounds
    from graphc.ir.passes.collect import Collect
    from graphc.ir.passes.cse import CSE
    from graphc.ir.passes.dce import DCE
    from graphc.ir.passes.defer import Defer
    from graphc.ir.passes.flatten import Flatten
    from graphc.ir.passes.fold import Fold
    from graphc.ir.passes.hoist import Hoist
    from graphc.ir.passes.if_convert import IfConvert
    from graphc.ir.passes.loops import Loops
    from graphc.ir.passes.order import Order
    from graphc.ir.passes.pipeline import DEFAULT, LATE, run_passes
    from graphc.ir.passes.predictive import PredictiveCommoning
    from graphc.ir.passes.pretest import Pretest
    from graphc.ir.passes.promote import Promote
    from graphc.ir.passes.prune import Prune
    from graphc.ir.passes.reduce_strength import ReduceStrength
    from graphc.ir.passes.shift import Shift
    from graphc.ir.passes.sink import Sink
    from graphc.ir.passes.specialization import Evaluate, NotSpecializedError, is_open, shape_inputs, specialize
    from graphc.ir.passes.speculate import Speculate
    from graphc.ir.passes.take_rows import TakeRows
    from graphc.ir.passes.turn import Turn
    from graphc.ir.passes.unroll import Unroll
else:
    from graphc.base import imported_names, lazy_names

    _HOMES = {
        "graphc.ir.passes.accumulate": "Accumulate",
        "graphc.ir.passes.base": "Pass",
        "graphc.ir.passes.bounds": "Bounds",
        "graphc.ir.passes.collect": "Collect",
        "graphc.ir.passes.cse": "CSE",
        "graphc.ir.passes.dce": "DCE",
        "graphc.ir.passes.defer": "Defer",
        "graphc.ir.passes.flatten": "Flatten",
        "graphc.ir.passes.fold": "Fold",
        "graphc.ir.passes.hoist": "Hoist",
        "graphc.ir.passes.if_convert": "IfConvert",
        "graphc.ir.passes.loops": "Loops",
        "graphc.ir.passes.order": "Order",
        "graphc.ir.passes.pipeline": "DEFAULT LATE run_passes",
        "graphc.ir.passes.predictive": "PredictiveCommoning",
        "graphc.ir.passes.pretest": "Pretest",
        "graphc.ir.passes.promote": "Promote",
        "graphc.ir.passes.prune": "Prune",
        "graphc.ir.passes.reduce_strength": "ReduceStrength",
        "graphc.ir.passes.shift": "Shift",
        "graphc.ir.passes.sink": "Sink",
        "graphc.ir.passes.specialization": "Evaluate NotSpecializedError is_open shape_inputs specialize",
        "graphc.ir.passes.speculate": "Speculate",
        "graphc.ir.passes.take_rows": "TakeRows",
        "graphc.ir.passes.turn": "Turn",
        "graphc.ir.passes.unroll": "Unroll",
    }
    lazy_names(globals(), imported_names(_HOMES))  # a program that only defines functions needs no pass

__all__ = [
    "CSE",
    "DCE",
    "DEFAULT",
    "LATE",
    "Accumulate",
    "Bounds",
    "Collect",
    "Defer",
    "Evaluate",
    "Flatten",
    "Fold",
    "Hoist",
    "IfConvert",
    "Loops",
    "NotSpecializedError",
    "Order",
    "Pass",
    "PredictiveCommoning",
    "Pretest",
    "Promote",
    "Prune",
    "ReduceStrength",
    "Shift",
    "Sink",
    "Speculate",
    "TakeRows",
    "Turn",
    "Unroll",
    "is_open",
    "run_passes",
    "shape_inputs",
    "specialize",
]
