"""What weights start with."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from graphc.base import at, user_location
from graphc.base.errors import InvalidArgumentError
from graphc.core import ArrayLike
from graphc.ops import ones, random, zeros

__all__ = ["Initializer", "initializer"]

Initializer = Callable[..., ArrayLike]
"""A function of shape and dtype."""


def _uniform(variance: Callable[[int, int], float]) -> Initializer:
    def initial(shape: tuple[int, int], dtype: Any) -> ArrayLike:
        limit = math.sqrt(3.0 * variance(*shape))
        return random.uniform(shape, dtype, -limit, limit)

    return initial


def _normal(variance: Callable[[int, int], float]) -> Initializer:
    def initial(shape: tuple[int, int], dtype: Any) -> ArrayLike:
        return random.normal(shape, dtype, scale=math.sqrt(variance(*shape)))

    return initial


def _glorot(inputs: int, outputs: int) -> float:
    """The variance that keeps that of activations and gradients alike through layers (Glorot and Bengio, 2010)."""
    return 2.0 / max(inputs + outputs, 1)


def _he(inputs: int, outputs: int) -> float:
    """The variance that keeps that of activations through layers of ReLU (He and others, 2015)."""
    del outputs
    return 2.0 / max(inputs, 1)


def _lecun(inputs: int, outputs: int) -> float:
    """The variance that keeps that of activations through linear layers (LeCun and others, 1998)."""
    del outputs
    return 1.0 / max(inputs, 1)


_INITIALIZERS: dict[str, Initializer] = {
    "glorot_normal": _normal(_glorot),
    "glorot_uniform": _uniform(_glorot),
    "he_normal": _normal(_he),
    "he_uniform": _uniform(_he),
    "lecun_normal": _normal(_lecun),
    "lecun_uniform": _uniform(_lecun),
    "ones": ones,
    "zeros": zeros,
}


def initializer(given: str | Initializer, argument: str) -> Initializer:
    """An initializer by name, or the function itself.

    Args:
      given: a name, or a function of a shape and a dtype.
      argument: what the user's argument is called, for the message.

    Raises:
      InvalidArgumentError: there is none of this name.
    """
    if callable(given):
        return given
    found = _INITIALIZERS.get(given) if isinstance(given, str) else None  # pyright: ignore[reportUnnecessaryIsInstance]
    if found is None:
        error = InvalidArgumentError(
            f"{argument} must be a function of shape and dtype, or one of {', '.join(map(repr, _INITIALIZERS))}; got "
            f"{given!r:.60}"
        )
        raise at(error, user_location())
    return found
