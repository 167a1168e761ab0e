"""Helpers of TensorFlow 1's assertions: the data and operations that they make."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphc.compiler.ops import functions as gx
from graphc.graphs.session import Assert, Operation, convert_to_tensor, no_op, with_dependencies

__all__ = ["checked", "failed", "finite", "near", "tensor_after"]


def failed(what: str, data: Any, message: Any, **values: Any) -> list[Any]:
    """Returns the data that a failed assertion shows.

    Args:
      what: the condition, in words.
      data: the program's own data to show, or None.
      message: the program's message, or None.
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
