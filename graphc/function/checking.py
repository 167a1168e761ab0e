"""Which arrays a compiled function takes."""

from __future__ import annotations

from typing import Any

import numpy as np
from jax.core import Tracer

from graphc.base import at, user_location
from graphc.base.errors import InvalidArgumentError
from graphc.core import SymbolicTensor, Tensor, canonical_array, type_of

__all__ = ["checked_array"]


def checked_array(value: Any) -> Any:
    """Returns the array of a tensor among the arguments, as JAX takes it.

    Raises:
      LeakedTensorError: a tensor of a trace.
      InvalidArgumentError: a tracer of JAX's, or an array that no tensor can hold.
    """
    if isinstance(value, SymbolicTensor):
        raise value.trace.leaked(value)
    if isinstance(value, Tracer):
        error = InvalidArgumentError(
            f"a compiled function is given a JAX tracer, {value!r:.80}, but updates Variables and chooses devices "
            "where JAX does not see it; give jax.jit, jax.grad and jax.vmap a pure function, gx.to_jax(f), or use "
            "gx.grad and gx.vmap"
        )
        raise at(error, user_location())
    array = value.raw if isinstance(value, Tensor) else value
    if isinstance(array, np.ndarray | np.generic):
        return canonical_array(array)
    type_of(array)  # refuses arrays that no tensor can hold
    return array
