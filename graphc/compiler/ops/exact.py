"""NumPy functions for constant folding, restricted to the cases where XLA computes the same bits."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from graphc.compiler.base.errors import UnimplementedError

__all__ = ["exact"]


def exact(function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns the function with a check that operands have the same real dtype.

    NumPy and JAX promote mixed dtypes differently (int32 with float32 is float64 in NumPy), which a comparison's
    result does not show; complex products may be rounded differently.
    """

    @wraps(function)
    def checked(*arrays: Any, **attrs: Any) -> Any:
        if len({array.dtype for array in arrays}) != 1 or arrays[0].dtype.kind == "c":
            raise UnimplementedError(f"{function.__name__} is folded for operands of one real dtype only")
        return function(*arrays, **attrs)

    return checked
