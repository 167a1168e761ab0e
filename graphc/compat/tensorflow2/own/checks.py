"""Compositions: what must hold, checked at once, or when the compiled program runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphc.autograph import require
from graphc.base import at, user_location
from graphc.base.errors import InvalidArgumentError, InvalidTypeError
from graphc.core import SymbolicTensor, as_dtype
from graphc.ops import functions as gx

__all__ = ["check", "check_close", "check_finite", "check_integer", "check_rank", "check_type", "is_numeric"]


def _error(kind: type[InvalidArgumentError], function: str, text: str, message: Any) -> InvalidArgumentError:
    # Written as any exception's, so that a compiled function can raise it when it runs.
    return at(kind(f"{function}: {text}" + (f"; {message}" if message else "")), user_location())


def check(function: str, text: str, condition: Any, message: Any = None) -> None:
    """Raises an error if a condition does not hold for every element.

    Raises:
      InvalidArgumentError: it does not.
    """
    holds = gx.all(condition)
    error = _error(InvalidArgumentError, function, text, message)
    require(holds if isinstance(holds, SymbolicTensor) else bool(holds), lambda: error)


def check_close(x: Any, y: Any, rtol: Any, atol: Any, message: Any) -> None:
    """Raises an error where |x - y| > atol + rtol * |y|; ten times the dtype's precision for None."""
    x, y = gx.asarray(x), gx.asarray(y)
    precision = 10 * float(np.finfo(x.dtype).eps) if x.dtype.kind == "f" else 0.0
    rtol, atol = (precision if rtol is None else rtol), (precision if atol is None else atol)
    text = "x and y are not near each other"
    check("tf.debugging.assert_near", text, gx.abs(x - y) <= atol + rtol * gx.abs(y), message)


def check_finite(function: str, x: Any, message: Any) -> Any:
    """The tensor; raises an error if an element is infinite or NaN."""
    x = gx.asarray(x)
    check(function, "x is infinite or NaN somewhere", gx.isfinite(x), message)
    return x


def check_rank(function: str, x: Any, ranks: Sequence[int], at_least: bool, message: Any) -> None:
    """Raises an error if a tensor has another number of axes."""
    found = gx.ndim(x)
    if found < ranks[0] if at_least else found not in ranks:
        expected = f"{'at least ' if at_least else ''}{' or '.join(map(str, ranks))}"
        text = f"x of shape {gx.shape(x)} has rank {found}, expected {expected}"
        raise _error(InvalidArgumentError, function, text, message)


def check_type(tensor: Any, dtype: Any, message: Any) -> None:
    """Raises an error if a tensor has another dtype."""
    found = gx.asarray(tensor).dtype
    if found != as_dtype(dtype):
        text = f"the dtype is {found}, expected {as_dtype(dtype)}"
        raise _error(InvalidTypeError, "tf.debugging.assert_type", text, message)


def check_integer(x: Any, message: Any) -> None:
    """Raises an error if a tensor does not hold integers."""
    found = gx.asarray(x).dtype
    if found.kind not in "iu":
        text = f"the dtype is {found}, expected integers"
        raise _error(InvalidTypeError, "tf.debugging.assert_integer", text, message)


def is_numeric(x: Any) -> bool:
    """Whether x is a tensor of numbers."""
    return hasattr(x, "dtype") and np.dtype(x.dtype).kind in "iufcV"
