"""Layer 9: looking into compiled functions while they run: NaN by their first op, node by node, breakpoints."""

from graphc.tools.debug.breakpoints import breakpoint
from graphc.tools.debug.numerics import nan
from graphc.tools.debug.stepper import Step, Stepper, step

__all__ = ["Step", "Stepper", "breakpoint", "nan", "step"]
