"""The search space: lists, and distributions that sample with a seeded NumPy generator."""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any, cast

import numpy as np

from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import GraphcError, InvalidArgumentError, InvalidTypeError

__all__ = ["Config", "Distribution", "configurations", "integers", "log_uniform", "uniform"]

Config = dict[str, Any]


@dataclass(frozen=True)
class Distribution(ABC):
    """Numbers between two bounds that a search samples from.

    Attributes:
      low: the least.
      high: the greatest.
    """

    low: float
    high: float

    @abstractmethod
    def draw(self, rng: np.random.Generator) -> Any:
        """Returns a Python number."""


class Uniform(Distribution):
    def draw(self, rng: np.random.Generator) -> float:
        """Returns a number between the bounds."""
        return float(rng.uniform(self.low, self.high))


class LogUniform(Distribution):
    def draw(self, rng: np.random.Generator) -> float:
        """Returns a number whose logarithm is uniform."""
        return float(math.exp(rng.uniform(math.log(self.low), math.log(self.high))))


class Integers(Distribution):
    def draw(self, rng: np.random.Generator) -> int:
        """Returns an int between the bounds, inclusive."""
        return int(rng.integers(int(self.low), int(self.high), endpoint=True))


def uniform(low: float, high: float) -> Distribution:
    """Defines a uniform number between two bounds, for the space of a :func:`search`.

    Args:
      low: the least.
      high: the greatest.

    Raises:
      InvalidArgumentError: the bounds are no numbers, or not in order.

    Example:
      >>> import graphc as gx
      >>> gx.distribute.uniform(0, 0.5)
      Uniform(low=0, high=0.5)
    """
    return Uniform(*_bounds("uniform", low, high))


def log_uniform(low: float, high: float) -> Distribution:
    """Defines a positive number whose logarithm is uniform, such as a learning rate, for a :func:`search`.

    Args:
      low: the least, above 0.
      high: the greatest.

    Raises:
      InvalidArgumentError: the bounds are no positive numbers, or not in order.

    Example:
      >>> import graphc as gx
      >>> gx.distribute.log_uniform(1e-4, 1e-1)
      LogUniform(low=0.0001, high=0.1)
    """
    low, high = _bounds("log_uniform", low, high)
    if low <= 0:
        raise at(InvalidArgumentError(f"log_uniform: the bounds must be above 0, got {low!r}"), user_location())
    return LogUniform(low, high)


def integers(low: int, high: int) -> Distribution:
    """Defines an int between two bounds, inclusive, for the space of a :func:`search`.

    Args:
      low: the least.
      high: the greatest.

    Raises:
      InvalidArgumentError: the bounds are no ints, or not in order.

    Example:
      >>> import graphc as gx
      >>> gx.distribute.integers(1, 4)
      Integers(low=1, high=4)
    """
    if not (isinstance(low, int) and isinstance(high, int)):  # pyright: ignore[reportUnnecessaryIsInstance]
        error = InvalidArgumentError(f"integers: the bounds must be ints, got {low!r:.40} and {high!r:.40}")
        raise at(error, user_location())
    return Integers(*_bounds("integers", low, high))


def configurations(space: Mapping[str, Any], trials: int | None, seed: int) -> list[Config]:
    """Returns the configurations to try: all combinations of lists, or the requested number of samples.

    Args:
      space: for each name, a list or tuple to choose from, a distribution, a function of a ``np.random.Generator``, or
        a value that is the same in all.
      trials: the number of trials; None for all combinations.
      seed: the seed of the draws.

    Raises:
      InvalidTypeError: the space is no mapping.
      InvalidArgumentError: a list is empty, or there is a distribution without a number of trials.
    """
    if not isinstance(space, Mapping) or not space:  # pyright: ignore[reportUnnecessaryIsInstance]
        error: GraphcError = InvalidTypeError(f"search: the space must be a dict of what to choose, got {space!r:.60}")
        raise at(error, user_location())
    for name, choices in space.items():
        if isinstance(choices, list | tuple) and not choices:
            raise at(InvalidArgumentError(f"search: there is nothing to choose for {name!r}"), user_location())
        if trials is None and (isinstance(choices, Distribution) or callable(cast("Any", choices))):
            error = InvalidArgumentError(
                f"search: {name!r} is drawn from a distribution, so set the number of trials (trials=20); without "
                "it all combinations of lists are tried"
            )
            raise at(error, user_location())
    if trials is None:
        each = [_choices(choices) for choices in space.values()]
        return [dict(zip(space, found, strict=True)) for found in itertools.product(*each)]
    rng = np.random.default_rng(seed)
    return [{name: _drawn(choices, rng) for name, choices in space.items()} for _ in range(trials)]


def _choices(value: Any) -> list[Any]:
    return list(cast("list[Any]", value)) if isinstance(value, list | tuple) else [value]


def _drawn(value: Any, rng: np.random.Generator) -> Any:
    if isinstance(value, Distribution):
        return value.draw(rng)
    if callable(value):
        return cast("Callable[[np.random.Generator], Any]", value)(rng)
    choices = _choices(value)
    return choices[int(rng.integers(len(choices)))]


def _bounds(name: str, low: Any, high: Any) -> tuple[Any, Any]:
    for bound in (low, high):
        if isinstance(bound, bool) or not isinstance(bound, Real) or not math.isfinite(float(bound)):
            raise at(
                InvalidArgumentError(f"{name}: a bound must be a finite number, got {bound!r:.40}"), user_location()
            )
    if low > high:
        raise at(InvalidArgumentError(f"{name}: the bounds are not in order: {low!r} and {high!r}"), user_location())
    return low, high
