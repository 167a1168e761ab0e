"""Ops that run in Python on the host, such as those of queues and readers: in eager code, graphs, compiled functions.

Their strings are arrays of ``bytes`` objects; eager code shows them as :class:`StringTensor`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, cast

import jax.numpy as jnp
import numpy as np

from graphc.compiler.base import at, nest, user_location
from graphc.compiler.base.errors import GraphcError, InternalError
from graphc.compiler.core.context import context
from graphc.compiler.core.convert import SCALARS, operand
from graphc.compiler.core.dispatch import register_host_ops
from graphc.compiler.core.dtypes import canonical_array, scalar_array, type_of
from graphc.compiler.core.late_strings import LateStrings
from graphc.compiler.core.strings import StringTensor, as_strings
from graphc.compiler.core.symbolic_tensor import SymbolicTensor
from graphc.compiler.core.tensor import Tensor
from graphc.compiler.ir import Attrs, OpDef, TensorType

__all__ = [
    "STRING",
    "bytes_array",
    "host_array",
    "host_type",
    "host_value",
    "in_graph",
    "is_text",
    "register_late_host_ops",
]

STRING: np.dtype[Any] = np.dtype(object)
"""The dtype of strings in graphs."""

Late = Callable[[OpDef, Sequence[Any], Attrs], list[Any]]
_late: Late | None = None


def register_late_host_ops(late: Late) -> None:
    """Sets the handler of host ops in compiled functions; a layer above calls this once.

    Args:
      late: takes the op, inputs and attributes and returns the results, while a function is traced.
    """
    global _late
    _late = late


def is_text(value: Any) -> bool:
    """Returns True for strings: a tensor, an array or a list of them, a string, bytes or a path."""
    if isinstance(value, SymbolicTensor):
        return value.raw.type.dtype == STRING
    if isinstance(value, StringTensor | str | bytes | os.PathLike):
        return True
    if isinstance(value, np.ndarray):
        return cast("np.ndarray[Any, Any]", value).dtype.kind in "USTO"
    if isinstance(value, list | tuple):
        items = cast("Sequence[Any]", value)
        return any(map(is_text, items))
    return False


def bytes_array(value: Any) -> np.ndarray[Any, Any]:
    """Returns strings of any form as an array of ``bytes`` objects, with text encoded as UTF-8.

    Raises:
      InvalidArgumentError: the values are not strings, or the rows of a list differ in length.
    """
    if isinstance(value, np.ndarray) and value.dtype == object:
        items = cast("np.ndarray[Any, Any]", value)
        if set(map(type, items.ravel().tolist())) <= {bytes}:
            return items
    strings = as_strings(value)
    if strings is None:
        raise InternalError(f"expected strings, got {value!r:.60}")
    return strings.encoded


def host_array(value: Any) -> np.ndarray[Any, Any]:
    """Returns a tensor, array, number or string as a NumPy array for an op of the host, after waiting for it.

    Raises:
      GraphcError: the value is none of these.
    """
    if is_text(value):
        return bytes_array(value)
    found: Any = value if type(value) in SCALARS or isinstance(value, Tensor) else operand(value)
    if type(found) in SCALARS:
        return scalar_array(found)
    return np.asarray(found.numpy() if isinstance(found, Tensor) else canonical_array(found))


def host_value(array: Any) -> Any:
    """Returns a host op's result as a tensor: of strings, or of numbers on the default device."""
    array = np.asarray(array)
    if array.dtype != object:
        return array if context.on_host and context.trace is None else Tensor(jnp.asarray(array))
    found = as_strings(array)
    if found is not None:
        return found
    if array.size:
        raise InternalError(f"a host op returned {array!r:.60}; expected strings")
    return StringTensor(np.empty(array.shape, object))


def _apply(op: OpDef, inputs: Sequence[Any], attrs: Attrs) -> list[Any]:
    for value in inputs:
        if isinstance(value, LateStrings):
            return value.applied(op, inputs, attrs)
    trace = context.trace
    if trace is None:
        trace = next((value.trace for value in inputs if isinstance(value, SymbolicTensor)), None)
    if trace is not None:
        if trace.root.is_graph:
            return list(trace.apply(op, inputs, attrs))
        if _late is None:
            raise InternalError(f"{op.name}: no handler compiles this host op")
        return _late(op, inputs, attrs)
    try:
        arrays = [host_array(value) for value in inputs]
        results = op.impl(*arrays, **attrs)
    except GraphcError as error:
        raise at(error, user_location()) from None
    return [] if results is None else [host_value(result) for result in nest.as_tuple(results)]


def in_graph(*values: Any) -> bool:
    """Returns True if an op of these values is recorded to run later: in a hand-built graph, or on late strings."""
    if any(isinstance(value, LateStrings) for value in values):
        return True
    traces = [context.trace, *[value.trace for value in values if isinstance(value, SymbolicTensor)]]
    return any(trace is not None and trace.root.is_graph for trace in traces)


def host_type(value: Any) -> TensorType:
    """Returns the type of a host op's input."""
    if isinstance(value, SymbolicTensor):
        return value.raw.type
    if is_text(value):
        return TensorType(bytes_array(value).shape, STRING)
    found = value if type(value) in SCALARS or isinstance(value, Tensor) else operand(value)
    return found.type if isinstance(found, Tensor) else type_of(found)


register_host_ops(_apply)
