"""Python ints that exceed the weak integer dtype: as in NumPy, they take the dtype of the other operands.

JAX first converts a Python number to its default dtype and fails if an int does not fit, even if it would become a
float in the next step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import jax.numpy as jnp
import numpy as np

from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.core.dtypes import as_dtype, too_large

__all__ = ["array_of_ints", "fitted_int", "has_large_ints", "only_ints", "with_fitted_ints"]


def has_large_ints(values: Sequence[Any]) -> bool:
    """Returns True if a Python int exceeds the dtype of weak integers."""
    return any(type(value) is int and _is_large(value) for value in values)


def _is_large(value: int) -> bool:
    if -(2**31) <= value < 2**31:
        return False
    limits = np.iinfo(as_dtype(np.int64))
    return not limits.min <= value <= limits.max


def with_fitted_ints(values: Sequence[Any], attrs: Mapping[str, Any]) -> list[Any]:
    """Returns an op's inputs with Python ints that are too large converted to the dtype that NumPy would use.

    Args:
      values: the inputs.
      attrs: the attributes; the result's ``dtype``, if given, takes precedence over the other inputs.

    Raises:
      InvalidArgumentError: the dtype is an integer type that cannot hold them.
    """
    others = [value.dtype if hasattr(value, "dtype") else value for value in values if type(value) is not int]
    dtype = attrs.get("dtype") or (np.dtype(jnp.result_type(*others)) if others else np.dtype(np.bool_))
    if dtype == np.bool_:
        dtype = as_dtype(np.int64)
    return [fitted_int(value, dtype) if type(value) is int and _is_large(value) else value for value in values]


def fitted_int(value: int, dtype: np.dtype[Any]) -> Any:
    """Returns a Python int for use with tensors of a dtype: a float, which is weak, if the dtype is inexact.

    Raises:
      InvalidArgumentError: the dtype cannot hold it.

    Example:
      >>> fitted_int(2**40, np.dtype(np.float32)), fitted_int(2**31, np.dtype(np.uint32))
      (1099511627776.0, array(2147483648, dtype=uint32))
    """
    try:
        return float(value) if jnp.issubdtype(dtype, jnp.inexact) else np.asarray(value, dtype)
    except OverflowError:
        raise too_large(value, dtype) from None


def only_ints(value: Any) -> bool:
    """Returns True for a list, possibly nested, of Python ints and bools only."""
    return isinstance(value, list | tuple) and all(
        type(item) is int or type(item) is bool or only_ints(item) for item in cast("Sequence[Any]", value)
    )


def array_of_ints(values: Any, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Returns a list of Python ints as an array; NumPy would go through floats for ints beyond int64.

    Raises:
      InvalidArgumentError: the dtype cannot hold one of them, or the rows differ in length.

    Example:
      >>> array_of_ints([0, 2**63 + 1], np.dtype(np.uint64))
      array([                  0, 9223372036854775809], dtype=uint64)
    """
    try:
        return np.array(values, dtype)
    except OverflowError:
        raise too_large(_outside(values, dtype), dtype) from None
    except ValueError as error:
        raise InvalidArgumentError(f"cannot make a tensor from {values!r}: {error}") from None


def _outside(values: Any, dtype: np.dtype[Any]) -> int:
    """Returns the first number that does not fit the dtype."""
    numbers: list[int] = [int(number) for number in np.array(values, object).flat]
    if jnp.issubdtype(dtype, jnp.inexact):
        return max(numbers, key=abs)
    limits = jnp.iinfo(dtype)
    return next(number for number in numbers if not limits.min <= number <= limits.max)
