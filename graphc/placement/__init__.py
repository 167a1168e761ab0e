"""Layer 10: cost-based placement; ``gx.placement.auto`` proposes devices for the parts of a function."""

from graphc.placement.auto import auto
from graphc.placement.proposal import PlacedUnit, Proposal, Timing

__all__ = ["PlacedUnit", "Proposal", "Timing", "auto"]
