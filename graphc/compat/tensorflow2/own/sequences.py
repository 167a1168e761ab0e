"""What users write as a list or a tuple."""

from __future__ import annotations

from typing import Any

__all__ = ["as_axes", "is_sequence"]


def is_sequence(value: Any) -> bool:
    """Whether a value is a list or a tuple."""
    return isinstance(value, list | tuple)


def as_axes(axes: Any) -> Any:
    """Several axes as a tuple; one, or None, as it is."""
    return tuple(axes) if is_sequence(axes) else axes
