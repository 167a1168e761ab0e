"""Arguments of TensorFlow 1 that have an old and a new name, or a meaning that TensorFlow 2 has not."""

from __future__ import annotations

import math
from typing import Any, cast

import numpy as np

from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError
from graphc.compiler.ops import functions as gx

__all__ = ["drop_rate", "either", "filled", "flag", "needed", "python_2_division", "row_condition"]


def either(new: str, value: Any, old: str, old_value: Any) -> Any:
    """Returns an argument that may be given under either of two names.

    Args:
      new: the name of today.
      value: the argument's value, or None.
      old: the older name.
      old_value: the value of the old argument, or None.

    Raises:
      InvalidArgumentError: both are given.
    """
    if value is not None and old_value is not None:
        error = InvalidArgumentError(f"{new} and {old} are two names of one argument; give {new} alone")
        raise at(error, user_location())
    return old_value if value is None else value


def flag(new: str, value: Any, old: str, old_value: Any) -> bool:
    """Returns a switch that may be given under either of two names, and is off if neither is given."""
    return bool(either(new, value, old, old_value))


def needed(function: str, new: str, value: Any, old: str, old_value: Any) -> Any:
    """Returns an argument that must be given under one of two names.

    Raises:
      InvalidTypeError: neither is given.
    """
    found = either(new, value, old, old_value)
    if found is None:
        raise at(InvalidTypeError(f"{function} missing 1 required argument: {new!r}"), user_location())
    return found


def drop_rate(rate: Any, keep_prob: Any) -> Any:
    """Returns the share of elements that a dropout drops, which older programs give as the share that is kept."""
    kept = None if keep_prob is None else 1 - keep_prob
    return needed("tf.nn.dropout()", "rate", rate, "keep_prob", kept)


def row_condition(condition: Any, x: Any) -> Any:
    """Returns a condition that chooses whole rows of ``x`` where it is a vector, as TensorFlow 1 does."""
    if x is None or gx.ndim(condition) != 1 or gx.ndim(x) < 2:
        return condition
    return gx.reshape(condition, (-1, *[1] * (gx.ndim(x) - 1)))


def filled(value: Any, shape: Any) -> Any:
    """Returns a constant's values for a shape: of a list that is too short, the last one is repeated.

    Args:
      value: a number, or nested lists.
      shape: the sizes, or None.
    """
    if shape is None or not isinstance(value, list | tuple | np.ndarray):
        return value
    array: np.ndarray[Any, Any] = np.asarray(cast("Any", value))
    missing = math.prod([int(size) for size in shape]) - array.size
    if missing <= 0 or array.size == 0:
        return cast("Any", value)
    longer = [*array.ravel().tolist(), *[array.ravel()[-1].item()] * missing]
    return np.asarray(longer, array.dtype) if isinstance(value, np.ndarray) else longer


def python_2_division(x: Any, y: Any) -> Any:
    """Returns the quotient as Python 2 has it: of integers rounded down."""
    x, y = gx.asarray(x), gx.asarray(y)
    return gx.floor_divide(x, y) if x.dtype.kind in "iu" and y.dtype.kind in "iu" else gx.divide(x, y)
