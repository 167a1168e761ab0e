"""Passes: each takes a valid graph and returns a valid graph; one pass a file."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graphc.compiler.ir.passes.accumulate import Accumulate
    from graphc.compiler.ir.passes.base import Pass
    from graphc.compiler.ir.passes.bounds import Bounds
    from graphc.compiler.ir.passes.collect import Collect
    from graphc.compiler.ir.passes.flatten import Flatten
    from graphc.compiler.ir.passes.hoist import Hoist, Pretest, Speculate
    from graphc.compiler.ir.passes.if_convert import IfConvert
    from graphc.compiler.ir.passes.order import Order
    from graphc.compiler.ir.passes.pipeline import DEFAULT, LATE, Loops, run_passes
    from graphc.compiler.ir.passes.predictive import PredictiveCommoning
    from graphc.compiler.ir.passes.promote import Promote
    from graphc.compiler.ir.passes.shift import Shift
    from graphc.compiler.ir.passes.simplify import CSE, DCE, Fold
    from graphc.compiler.ir.passes.sink import Sink
    from graphc.compiler.ir.passes.specialization import (
        Evaluate,
        NotSpecializedError,
        is_open,
        shape_inputs,
        specialize,
    )
    from graphc.compiler.ir.passes.take_rows import TakeRows, Turn
    from graphc.compiler.ir.passes.unroll import Unroll
else:
    from graphc.compiler.base import imported_names, lazy_names

    _HOMES = {
        "graphc.compiler.ir.passes.accumulate": "Accumulate",
        "graphc.compiler.ir.passes.base": "Pass",
        "graphc.compiler.ir.passes.bounds": "Bounds",
        "graphc.compiler.ir.passes.collect": "Collect",
        "graphc.compiler.ir.passes.flatten": "Flatten",
        "graphc.compiler.ir.passes.hoist": "Hoist Pretest Speculate",
        "graphc.compiler.ir.passes.if_convert": "IfConvert",
        "graphc.compiler.ir.passes.order": "Order",
        "graphc.compiler.ir.passes.pipeline": "DEFAULT LATE Loops run_passes",
        "graphc.compiler.ir.passes.predictive": "PredictiveCommoning",
        "graphc.compiler.ir.passes.promote": "Promote",
        "graphc.compiler.ir.passes.shift": "Shift",
        "graphc.compiler.ir.passes.simplify": "CSE DCE Fold",
        "graphc.compiler.ir.passes.sink": "Sink",
        "graphc.compiler.ir.passes.specialization": "Evaluate NotSpecializedError is_open shape_inputs specialize",
        "graphc.compiler.ir.passes.take_rows": "TakeRows Turn",
        "graphc.compiler.ir.passes.unroll": "Unroll",
    }
    lazy_names(globals(), imported_names(_HOMES))  # a program that only defines functions needs no pass

__all__ = [
    "CSE", "DCE", "DEFAULT", "LATE", "Accumulate", "Bounds", "Collect", "Evaluate", "Flatten", "Fold", "Hoist",
    "IfConvert", "Loops", "NotSpecializedError", "Order", "Pass", "PredictiveCommoning", "Pretest", "Promote", "Shift",
    "Sink", "Speculate", "TakeRows", "Turn", "Unroll", "is_open", "run_passes", "shape_inputs", "specialize",
]  # fmt: skip
