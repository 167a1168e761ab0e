"""Layer 10: cost-based placement; ``gx.placement.auto`` proposes devices for the parts of a function."""

from graphc.tools.placement.auto import auto
from graphc.tools.placement.proposal import PlacedUnit, Proposal, Timing

__all__ = ["PlacedUnit", "Proposal", "Timing", "auto"]
