"""The array functions by name, and those that stand for NumPy's."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from typing import Any

from graphc.compiler.base import Registry, at, user_location
from graphc.compiler.base.errors import InvalidTypeError, UnimplementedError

__all__ = ["FUNCTIONS", "IN_PLACE", "VIEWS", "changes_array", "check_options", "function_of", "graphc_name"]

FUNCTIONS: Registry[Callable[..., Any]] = Registry("function")
"""The public array functions by name, filled by the op table; Tensor methods and NumPy's protocols look here."""


_NUMPY_NAMES = {
    "absolute": "abs",
    "amax": "max",
    "amin": "min",
    "concatenate": "concat",
    "invert": "bitwise_invert",
    "left_shift": "bitwise_left_shift",
    "power": "pow",
    "right_shift": "bitwise_right_shift",
    "transpose": "permute_dims",
    "true_divide": "divide",
}

VIEWS = frozenset(
    (
        "array_split", "atleast_1d", "atleast_2d", "atleast_3d", "broadcast_arrays", "broadcast_to", "diagonal",
        "dsplit", "expand_dims", "flip", "fliplr", "flipud", "hsplit", "imag", "matrix_transpose", "moveaxis",
        "permute_dims", "ravel", "real", "reshape", "rollaxis", "rot90", "split", "squeeze", "swapaxes", "transpose",
        "unstack", "vsplit",
    )
)  # fmt: skip
"""NumPy's functions that return views of arrays."""

IN_PLACE = {
    "copyto": "x[...] = values",
    "fill_diagonal": "x = gx.fill_diagonal(x, value)",
    "place": "x[mask] = values",
    "put": "x = x.at[indices].set(values)",
    "put_along_axis": "x = gx.put_along_axis(x, indices, values, axis)",
    "putmask": "x = gx.where(mask, values, x)",
}
"""By the names of NumPy's functions that change an array, what to write instead."""


def check_options(what: str, function: Callable[..., Any], given: dict[str, Any], error: TypeError) -> None:
    """Raises an error that names an option of NumPy's that graphc's function does not have, if there is one."""
    parameters = inspect.signature(function).parameters
    if unknown := [name for name in given if name not in parameters]:
        text = f"{what}: gx.{function.__name__} has no argument {unknown[0]!r}; it has {', '.join(parameters)}"
        raise at(InvalidTypeError(text), user_location()) from error


def changes_array(name: str, instead: str, tensor: Any) -> InvalidTypeError:
    """Returns the error for a function of NumPy's that would change a tensor in place."""
    return at(
        InvalidTypeError(
            f"numpy.{name} changes an array in place, but was given a tensor ({tensor.type}): in a compiled function "
            f"the arguments that are NumPy arrays are tensors. Write {instead} instead"
        ),
        user_location(),
    )


def graphc_name(ufunc: Any) -> str:
    """Returns graphc's name of a NumPy function of single elements."""
    return _NUMPY_NAMES.get(ufunc.__name__) or ufunc.__name__


@functools.lru_cache(maxsize=1024)
def function_of(function: Any) -> Callable[..., Any]:
    """Returns graphc's function of a NumPy function's name, from the namespace of the same name."""
    module = str(getattr(function, "__module__", None) or "").removeprefix("numpy").lstrip(".")
    given = str(function.__name__)
    name = _NUMPY_NAMES.get(given, given)
    name = f"{module}.{name}" if module in ("fft", "linalg") else name
    special = getattr(sys.modules.get("scipy.special"), given, None) is function
    if name not in FUNCTIONS or special:
        near = f"use gx.special.{given}" if special and f"special.{given}" in FUNCTIONS else ""
        error = UnimplementedError(
            f"{'scipy.special' if special else 'numpy'}.{given if special else name} of a graphc tensor: "
            + (near or "graphc has no function of that name; gx.pyfunc calls it when the program runs")
        )
        raise at(error, user_location())
    return FUNCTIONS[name]
