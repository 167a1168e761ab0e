"""Calls of Python functions when a program runs, and prints."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from graphc.compiler.autograph import print as print_late
from graphc.compiler.autograph import pyfunc
from graphc.compiler.ops import functions as gx

__all__ = ["numpy_function", "print_values", "py_function"]


def py_function(func: Callable[..., Any], inp: Sequence[Any], result_types: Any) -> Any:
    """Calls a Python function with tensors, each time the program comes to it.

    Args:
      func: the function.
      inp: its arguments.
      result_types: the types of its results, as for ``gx.pyfunc``.

    Example:
      >>> import graphc as gx
      >>> gx.flow.py_function(lambda x: x + 1.0, [2.0], "float32").item()
      3.0
    """
    return pyfunc(func, result_types, *[gx.asarray(value) for value in inp])


def numpy_function(func: Callable[..., Any], inp: Sequence[Any], result_types: Any) -> Any:
    """Calls a Python function with NumPy's arrays, each time the program comes to it; see :func:`py_function`.

    Example:
      >>> import numpy as np
      >>> import graphc as gx
      >>> gx.flow.numpy_function(np.sqrt, [4.0], "float32").item()
      2.0
    """

    def call(*values: Any) -> Any:
        return func(*[value.numpy() if hasattr(value, "numpy") else value for value in values])

    return py_function(call, inp, result_types)


def print_values(
    inputs: Sequence[Any], output_stream: Any = None, end: str = "\n", sep: str = " ", summarize: Any = None,
    name: Any = None,
) -> None:  # fmt: skip
    """Prints when the program runs; see ``gx.print``.

    Args:
      inputs: what is printed.
      output_stream: where; the standard error when None.
      end: what is put after them.
      sep: what is put between them.
      summarize: taken as TensorFlow's programs give it.
      name: likewise.
    """
    del summarize, name
    print_late(*inputs, file=sys.stderr if output_stream is None else output_stream, end=end, sep=sep)
