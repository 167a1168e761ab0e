"""Layer 10: checkpoints, and a loop that trains."""

from graphc.train.checkpoint import Checkpoint, Processes

__all__ = ["Checkpoint", "Processes"]
