"""Checks of dtypes, which are known while a function is traced: so they are looked at then."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

import numpy as np

from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import InvalidTypeError
from graphc.compiler.core import ArrayLike, ArrayMethods, as_dtype
from graphc.compiler.ops import DTypeName, asarray, float32
from graphc.compiler.tracing import is_array

__all__ = ["assert_integer", "assert_proper_iterable", "assert_same_float_dtype", "assert_type", "is_numeric_tensor"]


def _error(function: str, text: str, message: str | None) -> InvalidTypeError:
    return at(InvalidTypeError(f"{function}: {text}" + (f"; {message}" if message else "")), user_location())


def assert_type(x: ArrayLike, dtype: Any, message: str | None = None) -> None:
    """Raises an error unless a tensor has a dtype.

    Args:
      x: a tensor.
      dtype: the dtype.
      message: extra text for the error message.

    Raises:
      InvalidTypeError: it has another.

    Example:
      >>> import graphc as gx
      >>> gx.checks.assert_type([1.0], gx.float32)
    """
    found = asarray(x).dtype
    if found != as_dtype(dtype):
        raise _error("assert_type", f"the dtype is {found}, expected {as_dtype(dtype)}", message)


def assert_integer(x: ArrayLike, message: str | None = None) -> None:
    """Raises an error unless a tensor holds integers; see :func:`assert_type`."""
    found = asarray(x).dtype
    if found.kind not in "iu":
        raise _error("assert_integer", f"the dtype is {found}, expected integers", message)


def assert_same_float_dtype(tensors: Iterable[ArrayLike] | None = None, dtype: Any = None) -> DTypeName:
    """Returns the dtype that all tensors have, and raises an error if they differ or it is not floating.

    Args:
      tensors: tensors; None for none.
      dtype: the dtype that they must have; that of the first when None, and float32 if there are none.

    Raises:
      InvalidTypeError: the dtypes differ, or it is not floating.

    Example:
      >>> import graphc as gx
      >>> gx.checks.assert_same_float_dtype([[1.0], gx.ones(2)])
      graphc.float32
    """
    wanted = None if dtype is None else DTypeName(as_dtype(dtype))
    for tensor in tensors or ():
        found = DTypeName(asarray(tensor).dtype)
        wanted = found if wanted is None else wanted
        if found != wanted:
            text = f"a tensor has the dtype {found.name}, expected {wanted.name}"
            raise _error("assert_same_float_dtype", text, None)
    if wanted is not None and not wanted.is_floating:
        raise _error("assert_same_float_dtype", f"the dtype is {wanted.name}, expected a floating one", None)
    return float32 if wanted is None else wanted


def assert_proper_iterable(values: Any) -> None:
    """Raises an error unless a value is something to iterate over that is no tensor, array or text.

    Raises:
      InvalidTypeError: it is none.

    Example:
      >>> import graphc as gx
      >>> gx.checks.assert_proper_iterable([gx.ones(2)])
    """
    improper = isinstance(values, str | bytes | ArrayMethods | np.ndarray) or is_array(values)
    found = cast("Any", values)
    if improper or not hasattr(found, "__iter__"):
        text = f"expected a list or the like of values, got {type(found).__name__} {found!r:.60}"
        raise _error("assert_proper_iterable", text, None)


def is_numeric_tensor(x: Any) -> bool:
    """Returns whether a value is a tensor or an array of numbers.

    Example:
      >>> import graphc as gx
      >>> gx.checks.is_numeric_tensor(gx.ones(2)), gx.checks.is_numeric_tensor([1.0])
      (True, False)
    """
    return hasattr(x, "dtype") and getattr(x.dtype, "kind", "") in tuple("iufcV")
