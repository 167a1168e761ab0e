"""Optimizers, which are optax transformations whose state lives in Variables."""

from collections.abc import Callable

from graphc.compiler.base import hint_missing
from graphc.training.optim.averages import ExponentialMovingAverage
from graphc.training.optim.by_name import SGD, Adam, AdamW, RMSprop, class_of, remade
from graphc.training.optim.named import Options
from graphc.training.optim.optimizer import Optimizer

__all__ = ["SGD", "Adam", "AdamW", "ExponentialMovingAverage", "Optimizer", "Options", "RMSprop", "remade"]


def __getattr__(name: str) -> Callable[..., Optimizer]:
    """Returns the optimizer of optax that has this name, as ``optax.lion`` of ``Lion`` or ``lion``."""
    if name.startswith("__") or (optimizer := class_of(name)) is None:
        raise AttributeError(name)
    return optimizer


hint_missing(globals(), "gx.optim")
