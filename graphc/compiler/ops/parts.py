"""Splitting of a tensor into parts."""

from __future__ import annotations

from typing import Any

from jax import lax

__all__ = ["parts"]


def parts(split: Any, x: Any, indices_or_sections: Any, axis: int) -> Any:
    """Returns the parts of a tensor along an axis: as many as requested, made by ``split``, or those between positions.

    As in NumPy, parts past the end are empty; JAX refuses such positions.
    """
    if isinstance(indices_or_sections, int):
        return split(x, indices_or_sections, axis=axis)
    size = x.shape[axis]
    ends = [slice(place).indices(size)[1] for place in (*indices_or_sections, size)]
    starts = [0, *ends[:-1]]
    return [lax.slice_in_dim(x, start, max(start, end), axis=axis) for start, end in zip(starts, ends, strict=True)]
