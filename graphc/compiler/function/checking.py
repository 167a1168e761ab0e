"""The check of array arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
from jax.core import Tracer

from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError
from graphc.compiler.core import SymbolicTensor, Tensor, canonical_array, type_of

__all__ = ["checked_array"]


def checked_array(value: Any) -> Any:
    """Returns the array of a tensor argument, as JAX accepts it.

    Raises:
      LeakedTensorError: the value is a tensor of a trace.
      InvalidArgumentError: the value is a JAX tracer, or an array that no tensor can hold.
      InvalidTypeError: the value is an ``np.matrix`` or a masked array.
    """
    if isinstance(value, SymbolicTensor):
        raise value.trace.leaked(value)
    if isinstance(value, Tracer):
        error = InvalidArgumentError(
            f"a compiled function got a JAX tracer, {value!r:.80}, but it updates Variables and chooses devices "
            "outside JAX's control; pass jax.jit, jax.grad and jax.vmap a pure function, gx.to_jax(f), or use "
            "gx.grad and gx.vmap"
        )
        raise at(error, user_location())
    array = value.raw if isinstance(value, Tensor) else value
    if isinstance(array, np.matrix):
        error = InvalidTypeError(
            "a compiled function got an np.matrix, whose operators are not those of tensors: its * is a matrix "
            "product; pass np.asarray(m)"
        )
        raise at(error, user_location())
    if isinstance(array, np.ndarray | np.generic):
        return canonical_array(array)
    type_of(array)  # raises for arrays that no tensor can hold
    return array
