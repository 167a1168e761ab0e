"""Layer 10: optimizers, which are optax transformations whose state lives in Variables."""

from graphc.base import hint_missing
from graphc.optim.algorithms import SGD, Adam, AdamW, RMSprop
from graphc.optim.averages import ExponentialMovingAverage
from graphc.optim.named import Options
from graphc.optim.optimizer import Optimizer
from graphc.optim.remade import remade

__all__ = ["SGD", "Adam", "AdamW", "ExponentialMovingAverage", "Optimizer", "Options", "RMSprop", "remade"]

hint_missing(globals(), "gx.optim")
