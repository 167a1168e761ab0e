"""Argument checks and elementwise helpers of the string functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np

from graphc.compiler.base.errors import ConcretizationError, GraphcError, InvalidArgumentError, InvalidTypeError
from graphc.compiler.core import (
    SCALARS,
    ArrayMethods,
    StringTensor,
    SymbolicTensor,
    as_strings,
    operand,
    refused,
    scalar_array,
)

T = TypeVar("T")
Texts = Any
"""A value that becomes a tensor of strings: a string, bytes or path, an array of these, or nested lists."""


def texts(function: str, name: str, value: Texts) -> np.ndarray[Any, Any]:
    """Returns an argument as an array of Python strings."""
    converted = as_strings(value)
    if converted is None:
        refuse: Any = getattr(cast("type[Any]", type(value)), "refuse", None)
        if refuse is not None:  # one of several values, depending on tensors
            refuse(value, f"strings.{function}")
        actual = value.type if isinstance(value, ArrayMethods) else f"{type(value).__name__} {value!r:.60}"
        error = InvalidTypeError(
            f"strings.{function}: {name} must be a tensor of strings, got {actual}; gx.strings.as_string converts "
            "numbers to strings"
        )
        raise refused(error)
    return converted.__array__()


def known_numbers(function: str, name: str, value: Any) -> np.ndarray[Any, Any]:
    """Returns an argument as an array of numbers."""
    if isinstance(value, StringTensor) or as_strings(value) is not None:
        kind = value.type if isinstance(value, StringTensor) else f"{type(value).__name__} {value!r:.60}"
        raise refused(InvalidTypeError(f"strings.{function}: {name} must be a tensor of numbers, got {kind}"))
    try:
        tensor: Any = operand(value)
    except GraphcError as error:
        error.args = (f"strings.{function}: {name}: {error.args[0]}",)
        raise refused(error) from None
    if isinstance(tensor, SymbolicTensor):
        error = ConcretizationError(
            f"strings.{function}: {name} ({tensor.type}, {tensor.made_at()}) has no value while the function is "
            "traced, and strings are on the host, outside the program; return the tensor, and convert it to strings "
            "after the call (print and f-strings format it when the program runs)"
        )
        raise refused(error)
    return scalar_array(tensor, weak=False) if type(tensor) in SCALARS else np.asarray(tensor)


def each(function: Callable[[Any], T], array: np.ndarray[Any, Any]) -> list[T]:
    """Returns the function's results for the elements, in order."""
    return [function(item) for item in array.ravel().tolist()]


def strings_of(strings: list[str], shape: tuple[int, ...]) -> StringTensor:
    """Returns a tensor of strings from its elements in order."""
    array = np.empty(len(strings), object)
    array[:] = strings
    return StringTensor(array.reshape(shape))


def broadcast(function: str, *arrays: np.ndarray[Any, Any]) -> list[np.ndarray[Any, Any]]:
    """Returns the arrays broadcast to a common shape."""
    try:
        return list(np.broadcast_arrays(*arrays))
    except ValueError:
        shapes = " and ".join(str(array.shape) for array in arrays)
        raise refused(
            InvalidArgumentError(f"strings.{function}: the shapes {shapes} cannot be broadcast together")
        ) from None


def failed(function: str, problem: str, index: tuple[int, ...] = ()) -> Exception:
    """Returns the error for an invalid element, with its position."""
    where = f"element {list(index)}: " if index else ""
    return refused(InvalidArgumentError(f"strings.{function}: {where}{problem}"))
