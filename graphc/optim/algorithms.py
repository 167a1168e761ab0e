"""The optimizers that most programs want, by name; the rules are optax's."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any

import optax

from graphc.base import at, user_location
from graphc.base.errors import InvalidTypeError, UnimplementedError
from graphc.optim.optimizer import Optimizer
from graphc.optim.update import register

__all__ = ["SGD", "Adam", "AdamW"]

LearningRate = float | Callable[[Any], Any]


class _Named(Optimizer):
    """An optimizer that is one function of optax, told by numbers."""

    def __init__(self, rule: Callable[..., optax.GradientTransformation], learning_rate: Any, **numbers: Any) -> None:
        name = type(self).__name__.lower()
        scheduled = callable(learning_rate)
        if not scheduled:
            learning_rate = _number(f"{name}: learning_rate", learning_rate, " or an optax schedule")
        for argument, value in numbers.items():
            if value is not None and not isinstance(value, bool):
                numbers[argument] = _number(f"{name}: {argument}", value)
        transformation = rule(learning_rate, **numbers)
        given = {"learning_rate": learning_rate, **numbers}
        label = (
            f"{name}({', '.join(f'{argument}={value!r}' for argument, value in given.items() if value is not None)})"
        )
        if scheduled:
            token = register(transformation, name)
        else:
            token = _registered.get(label) or _registered.setdefault(label, register(transformation, label))
        self._start(name, token)
        self._learning_rate = learning_rate

    @property
    def learning_rate(self) -> Any:
        """The learning rate: a number or a schedule. It is part of the compiled update, and so cannot be set."""
        return self._learning_rate

    @learning_rate.setter
    def learning_rate(self, value: Any) -> None:
        error = UnimplementedError(
            f"{self.name}: the learning rate is part of the compiled update and cannot be set to {value!r:.40}; give a "
            "schedule, or make the rate a Variable: gx.optim.Optimizer(optax.inject_hyperparams(optax.sgd)(0.1))"
        )
        raise at(error, user_location())


_registered: dict[str, str] = {}
"""The registered names of the optimizers told by numbers: equal ones share a name, and so their compiled updates."""


def _number(what: str, value: Any, alternative: str = "") -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        error = InvalidTypeError(
            f"{what} must be a Python number{alternative}, got {type(value).__name__} {value!r:.60}"
        )
        raise at(error, user_location())
    return float(value)


class SGD(_Named):
    """Gradient descent: ``w - learning_rate * gradient``, with momentum if asked for (``optax.sgd``).

    Args:
      learning_rate: a number, or an optax schedule: a function of the number of updates so far.
      momentum: how much of the last step is kept, from 0 to 1; None for none, and no state.
      nesterov: whether the momentum is applied before the gradient is (Nesterov 1983).

    Raises:
      InvalidTypeError: ``learning_rate`` or ``momentum`` is no number.

    Example:
      >>> import graphc as gx
      >>> w = gx.Variable(1.0)
      >>> gx.optim.SGD(0.5).apply_gradients([(gx.asarray(1.0), w)])
      >>> w.item()
      0.5
    """

    def __init__(
        self, learning_rate: LearningRate = 0.01, momentum: float | None = None, nesterov: bool = False
    ) -> None:
        super().__init__(optax.sgd, learning_rate, momentum=momentum, nesterov=nesterov)


class Adam(_Named):
    """Adam: steps scaled by running means of the gradient and its square (Kingma and Ba 2014; ``optax.adam``).

    Args:
      learning_rate: a number, or an optax schedule: a function of the number of updates so far.
      b1: the decay of the mean of the gradients.
      b2: the decay of the mean of their squares.
      eps: added to the root of the mean square.

    Raises:
      InvalidTypeError: one of them is no number.

    Example:
      >>> import graphc as gx
      >>> w = gx.Variable(1.0)
      >>> gx.optim.Adam(0.1).apply_gradients([(gx.asarray(7.0), w)])
      >>> f"{w.item():.3f}"
      '0.900'
    """

    def __init__(
        self, learning_rate: LearningRate = 0.001, b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8
    ) -> None:
        super().__init__(optax.adam, learning_rate, b1=b1, b2=b2, eps=eps)


class AdamW(_Named):
    """Adam with weight decay apart from the gradient (Loshchilov and Hutter 2017; ``optax.adamw``).

    Args:
      learning_rate: a number, or an optax schedule: a function of the number of updates so far.
      b1: the decay of the mean of the gradients.
      b2: the decay of the mean of their squares.
      eps: added to the root of the mean square.
      weight_decay: how much of each weight, times the learning rate, is taken off at each step.

    Raises:
      InvalidTypeError: one of them is no number.

    Example:
      >>> import graphc as gx
      >>> w = gx.Variable(1.0)
      >>> gx.optim.AdamW(0.1, weight_decay=1.0).apply_gradients([(gx.asarray(0.0), w)])
      >>> f"{w.item():.3f}"
      '0.900'
    """

    def __init__(
        self,
        learning_rate: LearningRate = 0.001,
        b1: float = 0.9,
        b2: float = 0.999,
        eps: float = 1e-8,
        weight_decay: float = 1e-4,
    ) -> None:
        super().__init__(optax.adamw, learning_rate, b1=b1, b2=b2, eps=eps, weight_decay=weight_decay)
