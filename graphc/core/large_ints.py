"""Python ints that are too large for a weak integer: NumPy gives them the dtype of what they meet, and so do ops here.

JAX takes a Python number at first as one of its default dtype, and fails where an int does not fit that, also where it
would become a float in the next step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import jax.numpy as jnp
import numpy as np

from graphc.base.errors import InvalidArgumentError
from graphc.core.dtypes import as_dtype, too_large

__all__ = ["array_of_ints", "fitted_int", "has_large_ints", "only_ints", "with_fitted_ints"]


def has_large_ints(values: Sequence[Any]) -> bool:
    """Returns True if there is a Python int that the dtype of weak integers cannot hold."""
    return any(type(value) is int and _is_large(value) for value in values)


def _is_large(value: int) -> bool:
    if -(2**31) <= value < 2**31:
        return False
    limits = np.iinfo(as_dtype(np.int64))
    return not limits.min <= value <= limits.max


def with_fitted_ints(values: Sequence[Any], attrs: Mapping[str, Any]) -> list[Any]:
    """Returns an op's inputs, with the Python ints that are too large in the dtype that NumPy would give them.

    Args:
      values: the inputs.
      attrs: the attributes; what the result's ``dtype`` is says more than the other inputs.

    Raises:
      InvalidArgumentError: it is an integer dtype, and cannot hold them.
    """
    others = [value.dtype if hasattr(value, "dtype") else value for value in values if type(value) is not int]
    dtype = attrs.get("dtype") or (np.dtype(jnp.result_type(*others)) if others else np.dtype(np.bool_))
    if dtype == np.bool_:
        dtype = as_dtype(np.int64)
    return [fitted_int(value, dtype) if type(value) is int and _is_large(value) else value for value in values]


def fitted_int(value: int, dtype: np.dtype[Any]) -> Any:
    """Returns a Python int next to tensors of a dtype: a float, which is weak, for an inexact one.

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
    """Returns True if this is a list, of lists perhaps, of Python's whole numbers and truth values and nothing else."""
    return isinstance(value, list | tuple) and all(
        type(item) is int or type(item) is bool or only_ints(item) for item in cast("Sequence[Any]", value)
    )


def array_of_ints(values: Any, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """A list of Python's whole numbers in a dtype, without a float between them: NumPy takes one where int64 ends.

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
    """Returns the first number that the dtype cannot hold."""
    numbers: list[int] = [int(number) for number in np.array(values, object).flat]
    if jnp.issubdtype(dtype, jnp.inexact):
        return max(numbers, key=abs)
    limits = jnp.iinfo(dtype)
    return next(number for number in numbers if not limits.min <= number <= limits.max)
