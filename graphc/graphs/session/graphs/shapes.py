"""Shapes that users pass to graphs, with None for unknown sizes."""

from __future__ import annotations

import operator
from typing import Any

from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import InvalidTypeError
from graphc.compiler.ir import OPEN

__all__ = ["sizes_of"]


def sizes_of(shape: Any) -> tuple[int, ...] | None:
    """Converts a shape to sizes, with ``OPEN`` for unknown ones; None if the number of axes is unknown.

    Args:
      shape: None, an int, a list or tuple of sizes (ints, None, or ``Dimension`` objects), or a ``TensorShape``.

    Raises:
      InvalidTypeError: it is none of these.
    """
    if hasattr(shape, "as_list"):
        shape = None if shape.rank is None else shape.as_list()
    if shape is None:
        return None
    try:
        items = [shape] if isinstance(shape, int) else list(shape)
        return tuple(_size(item) for item in items)
    except TypeError:
        error = InvalidTypeError(f"expected a shape, such as (None, 10) or None for any, got {shape!r:.60}")
        raise at(error, user_location()) from None


def _size(item: Any) -> int:
    value = getattr(item, "value", item)
    return OPEN if value is None or value == OPEN else operator.index(value)
