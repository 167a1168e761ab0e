"""Values that must be known while a function is traced: sizes, and values that determine shapes."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import ConcretizationError
from graphc.compiler.core import is_symbolic
from graphc.compiler.tracing import current_trace

__all__ = ["known_sizes", "known_values"]


def known_values(what: str, value: Any, remedy: str) -> np.ndarray[Any, Any]:
    """Returns the values of a tensor that a shape depends on.

    Args:
      what: the call and the argument, for the message.
      value: a tensor, array or list.
      remedy: what to write instead if there are no values yet.

    Raises:
      ConcretizationError: the tensor has no values while the function is traced.
    """
    if is_symbolic(value):
        error = ConcretizationError(
            f"{what}: the shape of the result depends on values that a compiled function does not know while it is "
            f"traced; {remedy}"
        )
        raise at(current_trace().refuse(error), user_location())
    return np.asarray(value.numpy() if hasattr(value, "numpy") else value)


def known_sizes(what: str, shape: Any) -> tuple[int, ...]:
    """Returns a shape as ints.

    Raises:
      ConcretizationError: it is a tensor that has no values while the function is traced.
    """
    given: Any = shape
    if isinstance(shape, tuple) and all(type(size) is int for size in given):
        return given
    found = known_values(what, np.asarray(given) if isinstance(shape, list | tuple) else given, "give it as ints")
    return tuple(int(size) for size in np.ravel(found))
