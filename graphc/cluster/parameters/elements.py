"""Parts of flat buffers: the elements that a message concerns, in a few numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import jax.numpy as jnp
import numpy as np

__all__ = ["Cover", "Elements", "add_at", "elements_of", "merged", "padded", "picked"]

Cover: TypeAlias = Sequence[tuple[Any, int]] | None
"""Pairs of an array of starts and the number of elements from each; None for a whole buffer."""

Elements: TypeAlias = Any
"""The indices of elements as an array, or None for all."""

_FEWEST = 16


def elements_of(cover: Cover) -> Elements:
    """Returns the indices of the elements that a cover names, in its order."""
    if cover is None:
        return None
    parts = [(np.asarray(starts)[:, None] + np.arange(width)).reshape(-1) for starts, width in cover]
    return np.concatenate(parts).astype(np.int32) if parts else np.zeros(0, np.int32)


def picked(buffer: Any, elements: Elements) -> Any:
    """Returns some elements of a buffer; values beyond its end do not matter."""
    return buffer if elements is None else jnp.take(buffer, elements, mode="clip")


def padded(elements: Elements, values: Any, size: int) -> tuple[Elements, Any]:
    """Pads indices and values to a power of two, so that only a few lengths are compiled.

    Args:
      elements: the indices; None for all, which stay as they are.
      values: a value for each.
      size: the size of the buffer; padding indices equal it, where nothing is stored.
    """
    if elements is None:
        return None, values
    room = max(_FEWEST, 1 << (max(len(elements), 1) - 1).bit_length())
    more = room - len(elements)
    return np.pad(elements, (0, more), constant_values=size), np.pad(np.asarray(values), (0, more))


def merged(parts: Sequence[tuple[Elements, Any]], size: int) -> tuple[Elements, Any]:
    """Sums values by element.

    Args:
      parts: pairs of indices and values.
      size: the size of the buffer.
    """
    if all(elements is None for elements, _ in parts):
        total = parts[0][1]
        for _, values in parts[1:]:
            total = total + values
        return None, total
    given = [np.arange(size) if elements is None else elements for elements, _ in parts]
    elements, places = np.unique(np.concatenate(given), return_inverse=True)
    values = np.concatenate([np.asarray(values) for _, values in parts])
    total = np.zeros(len(elements), values.dtype)
    np.add.at(total, places, values)
    return elements, total


def add_at(buffer: Any, elements: Elements, values: Any) -> Any:
    """Returns a buffer with values added to some elements."""
    if elements is None:
        return buffer + values
    elements, values = padded(elements, values, buffer.shape[0])
    return jnp.asarray(buffer).at[elements].add(values, mode="drop")
