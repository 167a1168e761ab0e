"""Initial values of weights."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.core import ArrayLike
from graphc.compiler.ops import linalg, ones, permute_dims, random, reshape, sign, zeros

__all__ = ["Initializer", "initializer"]

Initializer = Callable[..., ArrayLike]
"""A function of shape and dtype."""


def glorot_uniform(shape: tuple[int, ...], dtype: Any) -> ArrayLike:
    """Uniform draws whose variance keeps that of activations and gradients alike (Glorot and Bengio, 2010)."""
    return _uniform(2.0 / max(sum(_fans(shape)), 1), shape, dtype)


def glorot_normal(shape: tuple[int, ...], dtype: Any) -> ArrayLike:
    """Normal draws of the same variance."""
    return _normal(2.0 / max(sum(_fans(shape)), 1), shape, dtype)


def he_uniform(shape: tuple[int, ...], dtype: Any) -> ArrayLike:
    """Uniform draws whose variance keeps that of activations through layers of ReLU (He and others, 2015)."""
    return _uniform(2.0 / max(_fans(shape)[0], 1), shape, dtype)


def he_normal(shape: tuple[int, ...], dtype: Any) -> ArrayLike:
    """Normal draws of the same variance."""
    return _normal(2.0 / max(_fans(shape)[0], 1), shape, dtype)


def lecun_uniform(shape: tuple[int, ...], dtype: Any) -> ArrayLike:
    """Uniform draws whose variance keeps that of activations through linear layers (LeCun and others, 1998)."""
    return _uniform(1.0 / max(_fans(shape)[0], 1), shape, dtype)


def lecun_normal(shape: tuple[int, ...], dtype: Any) -> ArrayLike:
    """Normal draws of the same variance."""
    return _normal(1.0 / max(_fans(shape)[0], 1), shape, dtype)


def uniform(shape: tuple[int, ...], dtype: Any) -> ArrayLike:
    """Uniform draws from -0.05 to 0.05."""
    return random.uniform(shape, dtype, -0.05, 0.05)


def normal(shape: tuple[int, ...], dtype: Any) -> ArrayLike:
    """Normal draws of standard deviation 0.05."""
    return random.normal(shape, dtype, scale=0.05)


def orthogonal(shape: tuple[int, ...], dtype: Any) -> ArrayLike:
    """A random matrix with orthonormal rows or columns (Saxe and others, 2014)."""
    rows, columns = math.prod(shape[:-1]), shape[-1]
    q, r = linalg.qr(random.normal((max(rows, columns), min(rows, columns)), dtype))
    q = q * sign(linalg.diagonal(r))  # else the matrix is not uniformly random
    return reshape(q if rows >= columns else permute_dims(q, (1, 0)), shape)


def _fans(shape: tuple[int, ...]) -> tuple[int, int]:
    """Returns the fan-in and fan-out of a matrix, or of a kernel ``(*space, in, out)``."""
    space = math.prod(shape[:-2])
    return space * shape[-2], space * shape[-1]


def _uniform(variance: float, shape: tuple[int, ...], dtype: Any) -> ArrayLike:
    limit = math.sqrt(3.0 * variance)
    return random.uniform(shape, dtype, -limit, limit)


def _normal(variance: float, shape: tuple[int, ...], dtype: Any) -> ArrayLike:
    return random.normal(shape, dtype, scale=math.sqrt(variance))


# Functions of the module, not closures: a layer that holds one can be pickled.
_INITIALIZERS: dict[str, Initializer] = {
    "glorot_normal": glorot_normal,
    "glorot_uniform": glorot_uniform,
    "he_normal": he_normal,
    "he_uniform": he_uniform,
    "lecun_normal": lecun_normal,
    "lecun_uniform": lecun_uniform,
    "normal": normal,
    "ones": ones,
    "orthogonal": orthogonal,
    "uniform": uniform,
    "zeros": zeros,
}


def initializer(given: str | Initializer, argument: str) -> Initializer:
    """Returns an initializer by name, or the function itself.

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
