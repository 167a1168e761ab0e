"""Dropout."""

from __future__ import annotations

from numbers import Real
from typing import Any

from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.core import ArrayLike
from graphc.compiler.ops import as_numbers, random, where
from graphc.training.layers.layer import TensorLayer

__all__ = ["Dropout"]


class Dropout(TensorLayer):
    """Sets numbers to zero at random while training, and scales up the others, so that the mean stays.

    The draws are those of ``gx.random``: fresh at each call, compiled or not, and repeatable by its seed. From
    Srivastava and others, 2014.

    Args:
      rate: the probability of zero: 0 <= rate < 1.
      name: for people.

    Raises:
      InvalidArgumentError: ``rate`` is none.

    Example:
      >>> import graphc as gx
      >>> dropout = gx.layers.Dropout(0.5)
      >>> dropout([1.0, 2.0]).numpy()
      array([1., 2.], dtype=float32)
      >>> sorted({*dropout(gx.ones(100), training=True).tolist()})
      [0.0, 2.0]
    """

    __graphc_reads__ = ("rate", "built", "_compute_dtype")

    def __init__(self, rate: float, name: str | None = None) -> None:
        super().__init__(name)
        if not (isinstance(rate, Real) and 0 <= rate < 1):
            error = InvalidArgumentError(f"Dropout: rate must be a number with 0 <= rate < 1, got {rate!r:.60}")
            raise at(error, user_location())
        self.rate = float(rate)

    def call(self, x: ArrayLike, training: bool = False) -> Any:
        """Returns the tensor as it is, or with numbers dropped if ``training``."""
        value = as_numbers(x)
        if not training or not self.rate:
            return value
        keep = 1.0 - self.rate
        return where(random.bernoulli(keep, value.shape), value / keep, 0)
