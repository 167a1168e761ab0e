"""Training: data, layers, losses, metrics, optimizers, checkpoints, many devices and processes."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graphc.training import data, distribute, layers, losses, metrics, optim, train

__all__ = ["data", "distribute", "layers", "losses", "metrics", "optim", "train"]
