"""The optimizers that most programs want, by name; the rules are optax's."""

from __future__ import annotations

from typing import Unpack

import optax

from graphc.training.optim.named import LearningRate, Named, Options

__all__ = ["SGD", "Adam", "AdamW", "RMSprop"]


class SGD(Named):
    """Gradient descent: ``w - learning_rate * gradient``, with momentum if asked for (``optax.sgd``).

    Args:
      learning_rate: a number, or an optax schedule: a function of the number of updates so far.
      momentum: how much of the last step is kept, from 0 to 1; None for none, and no state.
      nesterov: whether the momentum is applied before the gradient is (Nesterov 1983).
      weight_decay: how much of each weight, times the learning rate, is taken off at each step; None for nothing.
      **options: clipping and loss scale, see :class:`graphc.optim.Options`.

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
        self,
        learning_rate: LearningRate = 0.01,
        momentum: float | None = None,
        nesterov: bool = False,
        *,
        weight_decay: float | None = None,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(
            optax.sgd, learning_rate, options, weight_decay=weight_decay, momentum=momentum, nesterov=nesterov
        )


class Adam(Named):
    """Adam: steps scaled by running means of the gradient and its square (Kingma and Ba 2014; ``optax.adam``).

    Args:
      learning_rate: a number, or an optax schedule: a function of the number of updates so far.
      b1: the decay of the mean of the gradients.
      b2: the decay of the mean of their squares.
      eps: added to the root of the mean square.
      weight_decay: how much of each weight, times the learning rate, is taken off at each step; None for nothing.
      **options: clipping and loss scale, see :class:`graphc.optim.Options`.

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
        self,
        learning_rate: LearningRate = 0.001,
        b1: float = 0.9,
        b2: float = 0.999,
        eps: float = 1e-8,
        *,
        weight_decay: float | None = None,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(optax.adam, learning_rate, options, weight_decay=weight_decay, b1=b1, b2=b2, eps=eps)


class AdamW(Named):
    """Adam with weight decay apart from the gradient (Loshchilov and Hutter 2017; ``optax.adamw``).

    Args:
      learning_rate: a number, or an optax schedule: a function of the number of updates so far.
      b1: the decay of the mean of the gradients.
      b2: the decay of the mean of their squares.
      eps: added to the root of the mean square.
      weight_decay: how much of each weight, times the learning rate, is taken off at each step.
      **options: clipping and loss scale, see :class:`graphc.optim.Options`.

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
        **options: Unpack[Options],
    ) -> None:
        super().__init__(optax.adam, learning_rate, options, weight_decay=weight_decay, b1=b1, b2=b2, eps=eps)


class RMSprop(Named):
    """Steps scaled by a running mean of the gradient's square (Tieleman and Hinton 2012; ``optax.rmsprop``).

    Args:
      learning_rate: a number, or an optax schedule: a function of the number of updates so far.
      decay: the decay of the mean of the squares.
      eps: added to the mean square, under the root.
      centered: whether the square of the gradient's mean is taken off.
      momentum: how much of the last step is kept, from 0 to 1; None for none.
      weight_decay: how much of each weight, times the learning rate, is taken off at each step.
      **options: clipping and loss scale, see :class:`graphc.optim.Options`.

    Raises:
      InvalidTypeError: one of them is no number.

    Example:
      >>> import graphc as gx
      >>> w = gx.Variable(1.0)
      >>> gx.optim.RMSprop(0.1, decay=0.75).apply_gradients([(gx.asarray(7.0), w)])
      >>> f"{w.item():.3f}"
      '0.800'
    """

    def __init__(
        self,
        learning_rate: LearningRate = 0.001,
        decay: float = 0.9,
        eps: float = 1e-7,
        centered: bool = False,
        momentum: float | None = None,
        *,
        weight_decay: float | None = None,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(
            optax.rmsprop, learning_rate, options, weight_decay=weight_decay, decay=decay, eps=eps, centered=centered,
            momentum=momentum,
        )  # fmt: skip
