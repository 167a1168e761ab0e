"""Layer 7: optimizers, which are optax transformations whose state lives in Variables."""

from graphc.optim.algorithms import SGD, Adam, AdamW
from graphc.optim.optimizer import Optimizer

__all__ = ["SGD", "Adam", "AdamW", "Optimizer"]
