"""Layer 10: where the parts of a function should run, by what they cost. ``gx.placement.auto`` proposes it."""

from graphc.placement.auto import auto
from graphc.placement.proposal import PlacedUnit, Proposal, Timing

__all__ = ["PlacedUnit", "Proposal", "Timing", "auto"]
