"""What the calls of rows use: arguments with older names, assertions, and the graph that operations are added to."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from contextlib import contextmanager, nullcontext
from typing import Any, cast

import numpy as np

from graphc.compiler.base import nest
from graphc.compiler.base.errors import InvalidTypeError
from graphc.compiler.core import StringTensor, SymbolicTensor, Tensor, context
from graphc.compiler.ops import functions as gx
from graphc.compiler.tracing import current_trace, is_tracing
from graphc.graphs.refusals import user_error
from graphc.graphs.session import Assert, Operation, convert_to_tensor, default_graph, no_op, with_dependencies

__all__ = [
    "checked", "drop_rate", "either", "failed", "filled", "finite", "flag", "in_default_graph", "making", "near",
    "needed", "python_2_division", "row_condition", "tensor_after",
]  # fmt: skip


def either(new: str, value: Any, old: str, old_value: Any) -> Any:
    """Returns an argument that may be given under either of two names."""
    if value is not None and old_value is not None:
        raise user_error(f"{new} and {old} are two names of one argument; give {new} alone")
    return old_value if value is None else value


def flag(new: str, value: Any, old: str, old_value: Any) -> bool:
    """Returns a switch that may be given under either of two names, and is off if neither is given."""
    return bool(either(new, value, old, old_value))


def needed(function: str, new: str, value: Any, old: str, old_value: Any) -> Any:
    """Returns an argument that must be given under one of two names."""
    argument = either(new, value, old, old_value)
    if argument is None:
        raise user_error(f"{function} missing 1 required argument: {new!r}", InvalidTypeError)
    return argument


def drop_rate(rate: Any, keep_prob: Any) -> Any:
    """Returns the share of elements that a dropout drops, which older programs give as the share that is kept."""
    dropped = None if keep_prob is None else 1 - keep_prob
    return needed("tf.nn.dropout()", "rate", rate, "keep_prob", dropped)


def row_condition(condition: Any, x: Any) -> Any:
    """Returns a condition that chooses whole rows of ``x`` where it is a vector, as TensorFlow 1 does."""
    if x is None or gx.ndim(condition) != 1 or gx.ndim(x) < 2:
        return condition
    return gx.reshape(condition, (-1, *[1] * (gx.ndim(x) - 1)))


def filled(value: Any, shape: Any) -> Any:
    """Returns a constant's values for a shape: of a list that is too short, the last one is repeated."""
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


def failed(what: str, data: Any, message: Any, **values: Any) -> list[Any]:
    """Returns the data that a failed assertion shows.

    Args:
      **values: the compared values, shown if the program passes no data.
    """
    words = what.replace("_", " ")
    shown = [message] if message else []
    shown.append(f"Condition {words} did not hold")
    if data is not None:
        return [*shown, *data]
    return [*shown, *[item for name, value in values.items() for item in (f"{name} =", value)]]


def near(x: Any, y: Any, rtol: Any, atol: Any) -> Any:
    """Returns where two tensors are near each other, by TensorFlow's tolerances: ten times the dtype's precision."""
    x = gx.asarray(x)
    precision = 10 * float(np.finfo(x.dtype).eps) if x.dtype.kind == "f" else 0.0
    return gx.isclose(x, y, precision if rtol is None else rtol, precision if atol is None else atol)


def finite(tensor: Any, message: Any) -> Any:
    """Returns a tensor that fails the run if an element is NaN or infinite."""
    tensor = convert_to_tensor(tensor)
    shown = [*([message] if message else []), "Tensor had NaN or Inf values:", tensor]
    return with_dependencies([Assert(gx.all(gx.isfinite(tensor)), shown)], tensor)


def checked(done: None) -> Operation:
    """Returns an operation in place of a check that was made at once."""
    del done
    return no_op()


def tensor_after(done: None, tensor: Any) -> Any:
    """Returns a tensor that was checked at once."""
    del done
    return convert_to_tensor(tensor)


@contextmanager
def making(name: str, seed: int | None = None) -> Generator[Callable[[Any], Any]]:
    """Opens a scope that adds operations to the default graph, unless a function is traced, or runs for a dataset.

    Yields:
      A function that makes a tensor of the graph of what is known already, names the result, and returns it.
    """
    graph = default_graph()
    if context.on_host or (is_tracing() and graph.trace_here is None):
        yield lambda result: result
        return
    with graph.making(name), nullcontext() if seed is None else graph.seeded(seed):
        yield lambda result: graph.named(nest.map_structure(_in_graph, result), name)


def _in_graph(value: Any) -> Any:
    """Returns an array, eager tensor or string as a constant of the graph that is built; other values as they are."""
    constant = isinstance(value, np.ndarray | np.generic | StringTensor)
    constant = constant or (isinstance(value, Tensor) and not isinstance(value, SymbolicTensor))
    return current_trace().lift(value) if constant else value


def in_default_graph(kind: Callable[..., Any], *args: Any) -> Any:
    """Returns what a class makes in the default graph, unless a compiled function is traced."""
    graph = default_graph()
    if is_tracing() and graph.trace_here is None:
        return kind(*args)
    with graph.entered():
        return kind(*args)
