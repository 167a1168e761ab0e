"""Integer means of empty tensors, which would make XLA divide by zero at compile time and abort the process."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import jax.numpy as jnp
import numpy as np

__all__ = ["of_something"]


def of_something(function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a mean that refuses to compute an integer mean of no elements."""

    @wraps(function)
    def checked(x: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
        if dtype is not None and jnp.issubdtype(dtype, jnp.integer):
            if function is jnp.nanmean and jnp.issubdtype(x.dtype, jnp.inexact):  # all may be NaN
                raise TypeError(f"the mean of {x.dtype} is not {jnp.dtype(dtype).name}; convert it with gx.astype")
            axes = range(x.ndim) if axis is None else np.atleast_1d(axis).tolist()
            if 0 in [x.shape[place] for place in axes if -x.ndim <= place < x.ndim]:
                raise ValueError(f"the mean of no elements is not {jnp.dtype(dtype).name}; omit dtype to get NaN")
        return function(x, axis=axis, dtype=dtype, keepdims=keepdims)

    return checked
