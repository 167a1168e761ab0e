"""Mixed precision: layers that compute in a dtype of half precision, with parameters and reductions in float32."""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import numpy as np

from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.core import as_dtype

__all__ = ["compute_dtype", "mixed_precision"]


class _Policy(threading.local):
    """The dtype that layers made in this thread compute in; None for that of their inputs and Variables."""

    dtype: np.dtype[Any] | None = None


_policy = _Policy()


def compute_dtype() -> np.dtype[Any] | None:
    """Returns the dtype that a layer made now computes in; None for that of its inputs and Variables."""
    return _policy.dtype


@contextmanager
def mixed_precision(dtype: Any = "bfloat16") -> Generator[None]:
    """Opens a scope for making layers that compute in a dtype of half precision (Micikevicius and others, 2018).

    Their Variables stay float32, and so do gradients, optimizers and sums: matrix products and convolutions add up in
    float32, normalisations and losses convert what they are given. Inputs of floating dtypes are converted when such a
    layer is called; a layer of your own converts its Variables with :meth:`graphc.layers.Layer.cast`. For float16,
    whose small gradients vanish, give the optimizer ``loss_scale="dynamic"``.

    Args:
      dtype: ``"bfloat16"`` or ``"float16"``; ``"float32"`` or None to end the policy of a scope around.

    Raises:
      InvalidArgumentError: another dtype.

    Example:
      >>> import graphc as gx
      >>> with gx.layers.mixed_precision("bfloat16"):
      ...     layer = gx.layers.Dense(2, in_features=3)
      >>> layer(gx.ones((1, 3))).dtype.name, layer.kernel.dtype.name
      ('bfloat16', 'float32')
    """
    found = None if dtype is None else as_dtype(dtype)
    if found is not None and found.name not in ("bfloat16", "float16", "float32"):
        error = InvalidArgumentError(f"mixed_precision: the dtype must be 'bfloat16' or 'float16', got {dtype!r:.40}")
        raise at(error, user_location())
    before, _policy.dtype = _policy.dtype, found if found is not None and found.itemsize == 2 else None
    try:
        yield
    finally:
        _policy.dtype = before
