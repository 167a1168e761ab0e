"""Conversion of values that users assign to Variables into tensors of the graph."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

import numpy as np

from graphc.compiler.core import FUNCTIONS, SCALARS, Variable, apply, device, is_text, trace_scope
from graphc.compiler.ir import OPS, Attrs
from graphc.graphs.session.graphs.graph import Graph
from graphc.graphs.session.graphs.placeholders import graph_dtype
from graphc.graphs.session.graphs.tensor import GraphTensor

__all__ = ["as_given", "initial_tensor"]


def as_given(value: Any, dtype: np.dtype[Any]) -> Any:
    """Converts a list or array to a dtype that can represent it; returns anything else unchanged."""
    found: Any = _array(value)
    if not isinstance(found, np.ndarray) or cast("Any", found).dtype == dtype:
        return cast("Any", found)
    array = cast("np.ndarray[Any, Any]", found)
    return array.astype(dtype) if _holds(dtype, array) else array


def _holds(dtype: np.dtype[Any], array: np.ndarray[Any, Any]) -> bool:
    if array.dtype.kind == "b":
        return dtype.kind == "b"
    if array.dtype.kind in "iu":
        if dtype.kind not in "iu":
            return dtype.kind in "fcV"
        bounds = np.iinfo(dtype)
        return not array.size or (int(array.min()) >= bounds.min and int(array.max()) <= bounds.max)
    return array.dtype.kind == dtype.kind or (array.dtype.kind == "f" and dtype.kind in "cV")


def initial_tensor(graph: Graph, given: Any, dtype: Any) -> GraphTensor:
    """Returns an initial value as a tensor of the graph that no dtype of others changes.

    Args:
      graph: the graph.
      given: a tensor, a Variable, an array, a number, lists of them, or a function of no arguments that returns one.
      dtype: the dtype to convert to; None for the value's, where Python floats are float32 and ints int32.
    """
    given = given() if callable(given) else _array(given.value() if isinstance(given, Variable) else given)
    if type(given) in SCALARS:
        given = _eager(given)
    count = graph.version
    value: Any = graph.trace.lift(given)
    if dtype is not None and value.raw.type.dtype != graph_dtype(dtype):
        value = FUNCTIONS["astype"](value, dtype)
    elif value.raw.type.weak:
        value = apply(OPS["astype"], (value,), Attrs(dtype=value.raw.type.dtype))
    if graph.version > count and not isinstance(given, GraphTensor):
        graph.trace.builder.rename(value.raw.node, graph.trace.builder.unique("initial_value"))
    return value


def _array(given: Any) -> Any:
    """Returns lists of numbers as an array; anything else as it is."""
    if not isinstance(given, list | tuple):
        return given
    items = cast("list[Any]", given)
    if _holds_tensors(items) or is_text(items):
        return items
    return _eager(items)


def _eager(numbers: Any) -> np.ndarray[Any, Any]:
    """Returns Python's numbers as an array of the dtype that they have in eager code."""
    with trace_scope(None), device(None):
        return np.asarray(FUNCTIONS["asarray"](numbers).raw)


def _holds_tensors(items: Iterable[Any]) -> bool:
    return any(
        isinstance(item, GraphTensor)
        or (isinstance(item, list | tuple) and _holds_tensors(cast("Iterable[Any]", item)))
        for item in items
    )
