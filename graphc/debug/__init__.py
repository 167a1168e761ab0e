"""Layer 9: looking into compiled functions while they run: NaN by their first op, node by node, breakpoints."""

from graphc.debug.breakpoints import breakpoint
from graphc.debug.numerics import nan
from graphc.debug.stepper import Step, Stepper, step

__all__ = ["Step", "Stepper", "breakpoint", "nan", "step"]
