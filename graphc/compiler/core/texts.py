"""The printed form of tensors and Variables, in NumPy's or TensorFlow's style."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphc.compiler.base import config

__all__ = ["representation", "shown_text", "variable_representation"]

_SHORT = 64
"""Maximum number of elements printed in full; larger arrays are shown without their middle."""


def _is_tensorflows() -> bool:
    return config.tensor_text == "tensorflow"


def shown_text(array: np.ndarray[Any, Any], dtype: str) -> str:
    """Returns the ``str`` of a tensor: its values, with shape and dtype in TensorFlow's style.

    Example:
      >>> shown_text(np.ones(2), "float64")
      '[1. 1.]'
    """
    if not _is_tensorflows():
        return str(array)
    values = str(array) if array.shape else _value(array)
    start = "\n" if "\n" in values else ""
    return f"tf.Tensor({start}{values}, shape={array.shape}, dtype={dtype})"


def representation(kind: str, array: np.ndarray[Any, Any], dtype: str) -> str:
    """Returns the ``repr`` of a tensor."""
    if _is_tensorflows():
        return f"<tf.Tensor: shape={array.shape}, dtype={dtype}, numpy={_value(array)}>"
    values = np.array2string(array, separator=", ", threshold=_SHORT, prefix=f"{kind}(")
    return f"{kind}({values}, shape={array.shape}, dtype={dtype})"


def variable_representation(name: str, array: np.ndarray[Any, Any], dtype: str) -> str:
    """Returns a Variable's ``repr`` in TensorFlow's style, with an output number after the name."""
    return f"<tf.Variable '{name}:0' shape={array.shape} dtype={dtype}, numpy={_value(array)}>"


def _value(array: np.ndarray[Any, Any]) -> str:
    if array.shape:
        return repr(array)
    return repr(array.item()) if array.dtype.kind in "OT" else str(array)
