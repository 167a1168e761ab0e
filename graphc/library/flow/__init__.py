"""Layer 8: control flow and calls of Python with TensorFlow's arguments, over graphc's own (``gx.flow``)."""

from graphc.library.flow.calls import numpy_function, print_values, py_function
from graphc.library.flow.choices import case, switch_case
from graphc.library.flow.loops import foldl, foldr, map_fn, scan, while_loop

__all__ = [
    "case",
    "foldl",
    "foldr",
    "map_fn",
    "numpy_function",
    "print_values",
    "py_function",
    "scan",
    "switch_case",
    "while_loop",
]
