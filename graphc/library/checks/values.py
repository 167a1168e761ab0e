"""Checks of values: in a compiled function they are looked at when it runs, and the call fails."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphc.compiler.autograph import require
from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.core import ArrayLike, SymbolicTensor, Tensor
from graphc.compiler.ops import abs as size_of
from graphc.compiler.ops import all as all_of
from graphc.compiler.ops import (
    asarray,
    equal,
    greater,
    greater_equal,
    isfinite,
    less,
    less_equal,
    not_equal,
)

__all__ = [
    "assert_all_finite",
    "assert_equal",
    "assert_greater",
    "assert_greater_equal",
    "assert_less",
    "assert_less_equal",
    "assert_near",
    "assert_negative",
    "assert_non_negative",
    "assert_non_positive",
    "assert_none_equal",
    "assert_positive",
    "assert_true",
]


def _check(function: str, text: str, condition: Any, message: str | None) -> None:
    # Written as any exception's, so that a compiled function can raise it when it runs.
    error = at(InvalidArgumentError(f"{function}: {text}" + (f"; {message}" if message else "")), user_location())
    holds = all_of(condition)
    require(holds if isinstance(holds, SymbolicTensor) else bool(holds), lambda: error)


def assert_true(condition: ArrayLike, data: Any = None, message: str | None = None) -> None:
    """Raises an error unless a condition holds for every element (TensorFlow's ``Assert``).

    Args:
      condition: booleans.
      data: known values to show in the message.
      message: extra text for the error message.

    Raises:
      InvalidArgumentError: it does not hold.

    Example:
      >>> import graphc as gx
      >>> gx.checks.assert_true(gx.asarray([1, 2]) > 0)
    """
    _check(
        "assert_true", "the condition does not hold" + ("" if data is None else f"; data: {data}"), condition, message
    )


def assert_equal(x: ArrayLike, y: ArrayLike, message: str | None = None) -> None:
    """Raises an error unless x and y are equal, element by element.

    Args:
      x: a tensor.
      y: a tensor; both are broadcast.
      message: extra text for the error message.

    Raises:
      InvalidArgumentError: x and y differ.

    Example:
      >>> import graphc as gx
      >>> gx.checks.assert_equal([1, 2], [1, 2])
    """
    _check("assert_equal", "x and y differ", equal(x, y), message)


def assert_none_equal(x: ArrayLike, y: ArrayLike, message: str | None = None) -> None:
    """Raises an error unless x and y differ, element by element.

    Args:
      x: a tensor.
      y: a tensor; both are broadcast.
      message: extra text for the error message.

    Raises:
      InvalidArgumentError: x and y are equal somewhere.

    Example:
      >>> import graphc as gx
      >>> gx.checks.assert_none_equal([1, 2], [2, 1])
    """
    _check("assert_none_equal", "x and y are equal somewhere", not_equal(x, y), message)


def assert_greater(x: ArrayLike, y: ArrayLike, message: str | None = None) -> None:
    """Raises an error unless x is greater than y, element by element.

    Args:
      x: a tensor.
      y: a tensor; both are broadcast.
      message: extra text for the error message.

    Raises:
      InvalidArgumentError: x is not greater than y everywhere.

    Example:
      >>> import graphc as gx
      >>> gx.checks.assert_greater([1, 2], 0)
    """
    _check("assert_greater", "x is not greater than y everywhere", greater(x, y), message)


def assert_greater_equal(x: ArrayLike, y: ArrayLike, message: str | None = None) -> None:
    """Raises an error unless x is at least y, element by element.

    Args:
      x: a tensor.
      y: a tensor; both are broadcast.
      message: extra text for the error message.

    Raises:
      InvalidArgumentError: x is less than y somewhere.

    Example:
      >>> import graphc as gx
      >>> gx.checks.assert_greater_equal([1, 2], 1)
    """
    _check("assert_greater_equal", "x is less than y somewhere", greater_equal(x, y), message)


def assert_less(x: ArrayLike, y: ArrayLike, message: str | None = None) -> None:
    """Raises an error unless x is less than y, element by element.

    Args:
      x: a tensor.
      y: a tensor; both are broadcast.
      message: extra text for the error message.

    Raises:
      InvalidArgumentError: x is not less than y everywhere.

    Example:
      >>> import graphc as gx
      >>> gx.checks.assert_less([1, 2], 3)
    """
    _check("assert_less", "x is not less than y everywhere", less(x, y), message)


def assert_less_equal(x: ArrayLike, y: ArrayLike, message: str | None = None) -> None:
    """Raises an error unless x is at most y, element by element.

    Args:
      x: a tensor.
      y: a tensor; both are broadcast.
      message: extra text for the error message.

    Raises:
      InvalidArgumentError: x is greater than y somewhere.

    Example:
      >>> import graphc as gx
      >>> gx.checks.assert_less_equal([1, 2], 2)
    """
    _check("assert_less_equal", "x is greater than y somewhere", less_equal(x, y), message)


def assert_positive(x: ArrayLike, message: str | None = None) -> None:
    """Raises an error unless all elements are above 0.

    Args:
      x: a tensor.
      message: extra text for the error message.

    Raises:
      InvalidArgumentError: x is not above 0 everywhere.

    Example:
      >>> import graphc as gx
      >>> gx.checks.assert_positive([1, 2])
    """
    _check("assert_positive", "x is not above 0 everywhere", greater(x, 0), message)


def assert_non_positive(x: ArrayLike, message: str | None = None) -> None:
    """Raises an error unless no element is above 0.

    Args:
      x: a tensor.
      message: extra text for the error message.

    Raises:
      InvalidArgumentError: x is above 0 somewhere.

    Example:
      >>> import graphc as gx
      >>> gx.checks.assert_non_positive([0, -2])
    """
    _check("assert_non_positive", "x is above 0 somewhere", less_equal(x, 0), message)


def assert_negative(x: ArrayLike, message: str | None = None) -> None:
    """Raises an error unless all elements are below 0.

    Args:
      x: a tensor.
      message: extra text for the error message.

    Raises:
      InvalidArgumentError: x is not below 0 everywhere.

    Example:
      >>> import graphc as gx
      >>> gx.checks.assert_negative([-1, -2])
    """
    _check("assert_negative", "x is not below 0 everywhere", less(x, 0), message)


def assert_non_negative(x: ArrayLike, message: str | None = None) -> None:
    """Raises an error unless no element is below 0.

    Args:
      x: a tensor.
      message: extra text for the error message.

    Raises:
      InvalidArgumentError: x is below 0 somewhere.

    Example:
      >>> import graphc as gx
      >>> gx.checks.assert_non_negative([0, 2])
    """
    _check("assert_non_negative", "x is below 0 somewhere", greater_equal(x, 0), message)


def assert_near(x: ArrayLike, y: ArrayLike, rtol: Any = None, atol: Any = None, message: str | None = None) -> None:
    """Raises an error unless ``|x - y| <= atol + rtol * |y|``, element by element.

    Args:
      x: a tensor.
      y: a tensor; both are broadcast.
      rtol: the tolerance, relative to ``y``; ten times the dtype's precision when None.
      atol: the absolute tolerance; the same when None.
      message: extra text for the error message.

    Raises:
      InvalidArgumentError: they are farther from each other.

    Example:
      >>> import graphc as gx
      >>> gx.checks.assert_near([1.0], [1.0000001])
    """
    first, second = asarray(x), asarray(y)
    precision = 10 * float(np.finfo(first.dtype).eps) if first.dtype.kind == "f" else 0.0
    rtol, atol = (precision if rtol is None else rtol), (precision if atol is None else atol)
    near = size_of(first - second) <= atol + rtol * size_of(second)
    _check("assert_near", "x and y are not near each other", near, message)


def assert_all_finite(x: ArrayLike, message: str | None = None) -> Tensor:
    """Returns a tensor, and raises an error if an element is infinite or NaN.

    Args:
      x: a tensor.
      message: extra text for the error message.

    Raises:
      InvalidArgumentError: an element is.

    Example:
      >>> import graphc as gx
      >>> gx.checks.assert_all_finite([1.0, 2.0]).tolist()
      [1.0, 2.0]
    """
    tensor = asarray(x)
    _check("assert_all_finite", "x is infinite or NaN somewhere", isfinite(tensor), message)
    return tensor
