"""Gradients eager, compiled and from ``jax.grad``, side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import jax
import numpy as np

import graphc as gx
from graphc import Tensor


def f(*values: float) -> Tensor:
    """A float scalar, or a vector of several."""
    return gx.asarray(np.float32(values[0]) if len(values) == 1 else np.array(values, np.float32))


def assert_close(found: Any, expected: Any, tolerance: float = 1e-4) -> None:
    np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=tolerance, atol=tolerance)


def taped(function: Callable[..., Tensor]) -> Callable[..., list[Tensor]]:
    """The gradients with respect to all arguments, by a tape."""

    def gradients(*args: Tensor) -> list[Tensor]:
        with gx.GradientTape() as tape:
            tape.watch(list(args))
            result = function(*args)
        return tape.gradient(result, list(args), unconnected_gradients="zero")

    return gradients


def check(function: Callable[..., Tensor], reference: Callable[..., Any], *args: Tensor) -> list[np.ndarray[Any, Any]]:
    """Asserts that the gradients of a scalar function agree with JAX's, whoever is compiled.

    Args:
      function: of graphc; the tape runs eagerly, inside a compiled function, and around a compiled function.
      reference: the same function of JAX arrays.
      *args: floating tensors.

    Returns:
      The gradients that JAX gives.
    """
    expected = jax.grad(reference, argnums=tuple(range(len(args))))(*[arg.numpy() for arg in args])
    for way in _ways(function):
        for found, wanted in zip(way(*args), expected, strict=True):
            assert found.shape == wanted.shape
            assert found.dtype == wanted.dtype
            assert_close(found, wanted)
    return [np.asarray(value) for value in expected]


@lru_cache(maxsize=1)
def _ways(function: Callable[..., Tensor]) -> Sequence[Callable[..., list[Tensor]]]:
    """Kept from one check of a function to the next, for other inputs."""
    return (
        taped(function),
        gx.function(taped(function)),
        taped(gx.function(function)),
        gx.function(taped(gx.function(function))),
    )


def check_second_order(function: Callable[[Tensor], Tensor], reference: Callable[[Any], Any], x: Tensor) -> None:
    """Asserts the same of the gradient of the sum of the gradient."""

    def inner(value: Tensor) -> Tensor:
        (gradient,) = taped(function)(value)
        return gx.sum(gradient)

    check(inner, lambda value: jax.numpy.sum(jax.grad(reference)(value)), x)
