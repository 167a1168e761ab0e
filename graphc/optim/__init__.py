"""Layer 10: optimizers, which are optax transformations whose state lives in Variables."""

from collections.abc import Callable

from graphc.base import hint_missing
from graphc.optim.algorithms import SGD, Adam, AdamW, RMSprop
from graphc.optim.averages import ExponentialMovingAverage
from graphc.optim.by_name import class_of
from graphc.optim.named import Options
from graphc.optim.optimizer import Optimizer
from graphc.optim.remade import remade

__all__ = ["SGD", "Adam", "AdamW", "ExponentialMovingAverage", "Optimizer", "Options", "RMSprop", "remade"]


def __getattr__(name: str) -> Callable[..., Optimizer]:
    """Returns the optimizer of optax that has this name, as ``optax.lion`` of ``Lion`` or ``lion``."""
    if name.startswith("__") or (found := class_of(name)) is None:
        raise AttributeError(name)
    return found


hint_missing(globals(), "gx.optim")
