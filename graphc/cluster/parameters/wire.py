"""Encodings of values and gradients on the wire: exact, bfloat16, or 8-bit with error feedback.

Error feedback adds the rounding error of a worker's gradient to its next one, so that the sum of all gradients is
missing only the last remainder (Seide et al. 2014, 1-Bit Stochastic Gradient Descent; Karimireddy et al. 2019, Error
Feedback Fixes SignSGD).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

import jax as _jax
import jax.numpy as jnp
import numpy as np

from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import InvalidArgumentError

__all__ = ["BLOCK", "Wire", "checked_wire", "decoded", "encoded", "pulled_as", "size_of"]

jax: Any = _jax  # its functions are only partly annotated

Wire = Literal["exact", "bfloat16", "int8"]

BLOCK = 1024
"""Number of elements that share a scale."""

_LEVELS = 127.0


def checked_wire(use: str, wire: Any) -> Wire:
    """Returns a user's format name; None stands for ``"exact"``."""
    wire = "exact" if wire is None else wire
    if wire not in get_args(Wire):
        error = InvalidArgumentError(f"{use}: wire must be 'exact', 'bfloat16' or 'int8', got {wire!r:.60}")
        raise at(error, user_location())
    return wire


def pulled_as(wire: Wire) -> Wire:
    """Returns the format of values when gradients use ``wire``: 8-bit values would lose small updates."""
    return "bfloat16" if wire == "int8" else wire


def encoded(wire: Wire, flat: Any, remainder: Any = None) -> tuple[Any, Any]:
    """Encodes a flat array as a message.

    Args:
      wire: the format. Arrays that are not of a floating dtype of more than 16 bits travel as they are.
      flat: the array.
      remainder: the rounding error of the last gradient, added to this one; None for the first, and for values.

    Returns:
      The message, and the rounding error: None if the format keeps none.
    """
    if wire == "exact" or not jnp.issubdtype(flat.dtype, jnp.floating) or flat.dtype.itemsize <= 2 or not flat.size:
        return np.asarray(flat), None
    if remainder is None:
        remainder = np.zeros(flat.shape, flat.dtype)
    if wire == "bfloat16":
        values, left = _halved(flat, remainder)
        return np.asarray(values), left
    levels, scales, left = _levels(flat, remainder)
    return {"levels": np.asarray(levels), "scales": np.asarray(scales)}, left


def decoded(message: Any, dtype: Any) -> Any:
    """Decodes a message to a flat array.

    Args:
      message: a message from :func:`encoded`.
      dtype: the dtype of the array.
    """
    if isinstance(message, Mapping):
        return _restored(message["levels"], message["scales"]).astype(dtype)
    return message if message.dtype == dtype else jnp.asarray(message).astype(dtype)


def size_of(message: Any) -> int:
    """Returns the size of the arrays in a message, in bytes; a message is any nested structure."""
    return sum(leaf.nbytes for leaf in jax.tree.leaves(message) if hasattr(leaf, "nbytes"))


@jax.jit
def _halved(flat: Any, remainder: Any) -> tuple[Any, Any]:
    whole = flat + remainder
    values = whole.astype(jnp.bfloat16)
    return values, whole - values.astype(flat.dtype)


@jax.jit
def _levels(flat: Any, remainder: Any) -> tuple[Any, Any, Any]:
    whole = flat + remainder
    blocks = jnp.pad(whole, (0, -whole.size % BLOCK)).reshape(-1, BLOCK)
    scales = jnp.max(jnp.abs(blocks), axis=1) / _LEVELS
    levels = jnp.round(blocks / jnp.where(scales > 0, scales, 1.0)[:, None]).astype(jnp.int8).reshape(-1)[: whole.size]
    return levels, scales, whole - _restored(levels, scales)


@jax.jit
def _restored(levels: Any, scales: Any) -> Any:
    blocks = jnp.pad(levels, (0, -levels.size % BLOCK)).reshape(-1, BLOCK)
    return (blocks.astype(scales.dtype) * scales[:, None]).reshape(-1)[: levels.size]
