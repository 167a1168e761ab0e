"""Export of values to functions of JAX and NumPy, which return no gradients.

In eager code an open tape follows the values computed from its watched tensors. graphc refuses another library's
function that would turn such a tensor into an array. ``numpy()``, ``item()``, ``float()`` and ``print`` stay legal,
since they show values: a number is a constant, and an array is refused where it meets tensors under the same tape.
"""

from __future__ import annotations

import functools
import inspect
import sys
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from jax.core import Tracer

from graphc.compiler.base import Registry
from graphc.compiler.base.errors import InvalidTypeError, UnimplementedError
from graphc.compiler.core.context import context
from graphc.compiler.core.convert import operand
from graphc.compiler.core.dtypes import canonical_array
from graphc.compiler.core.threads import other_tapes

if TYPE_CHECKING:
    from graphc.compiler.core.array_methods import ArrayMethods
    from graphc.compiler.core.protocols import Recorder


def stay(function: str = "graphc's function of that name") -> str:
    """Returns what to write instead of another library's function, for messages."""
    return (
        f"use {function} (gx.asarray makes tensors of arrays), gx.call_jax(function, x) for one of JAX's, or in eager "
        "code np.asarray(gx.stop_gradient(x)) where no gradient is wanted"
    )


def check_leaves(value: ArrayMethods, use: str) -> None:
    """Raises if an open tape follows a tensor or variable that is about to become another library's array."""
    for tape in (*context.tapes, *other_tapes()):
        if tape.follows(value):
            raise UnimplementedError(
                f"{use} loses the gradient of a tensor ({value.type}) that an open GradientTape follows; {stay()}"
            ).here()


class when_jax_converts:  # noqa: N801  it stands where a decorator stands
    """The method ``__jax_array__``, which exists only for a function of JAX that converts its arguments."""

    # An operator of jax.Array gets no method, so Python calls the tensor's own operator, which tapes see. Where JAX
    # would raise, since it compiles no function for tensors, graphc raises. JAX does not promise the frame's name that
    # shows the case: if it changes, operators convert as functions do and are refused under a tape; no gradient gets
    # lost.

    def __init__(self, convert: Callable[[Any], jax.Array]) -> None:
        self._convert = convert

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        asking = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]  inspect takes ten times as long
        if str(asking.f_globals.get("__name__")).startswith("jax."):
            code = asking.f_code
            if code.co_varnames[: code.co_argcount] == _OPERATOR and not isinstance(asking.f_locals["self"], Tracer):
                raise AttributeError("__jax_array__")
            if code.co_name in _COMPILING:
                raise UnimplementedError(
                    f"JAX compiles this function for arrays, but got a graphc tensor ({instance.type}); {stay()}"
                ).here()
        return self._convert.__get__(instance)


_OPERATOR = ("self", "other")
_COMPILING = frozenset(("shaped_abstractify", "typeof"))


def shown(array: np.ndarray[Any, Any], value: ArrayMethods) -> np.ndarray[Any, Any]:
    """Returns values for display, marked so that ops under the tapes that follow the tensor refuse them."""
    tapes = [tape for tape in (*context.tapes, *other_tapes()) if tape.follows(value)]
    if not tapes:
        return array
    look = array.view(ShownArray)
    look.tapes = tuple(map(weakref.ref, tapes))
    return look


class ShownArray(np.ndarray[Any, Any]):
    """An array computed from the values of a tensor that tapes follow."""

    tapes: tuple[weakref.ref[Recorder], ...]

    def __array_finalize__(self, source: Any) -> None:
        self.tapes = () if self.dtype.kind in "biu" else getattr(source, "tapes", ())

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        # A single number is a constant and stays a NumPy scalar: `+=` would change a 0-d array in place.
        return super().__array_wrap__(array, context, return_scalar) if array.ndim else array[()]

    def __repr__(self) -> str:
        return repr(np.asarray(self))

    def __reduce__(self) -> Any:
        return np.asarray(self).__reduce__()


@operand.register(ShownArray)
def _from_shown(value: ShownArray) -> Any:
    if value.tapes and not {tape() for tape in value.tapes}.isdisjoint((*context.tapes, *other_tapes())):
        raise UnimplementedError(
            "an array from numpy() loses the gradient of a tensor that an open GradientTape follows, when it "
            f"meets tensors again; {stay()}"
        ).here()
    return canonical_array(value)


# The array functions by name, and those that stand for NumPy's.

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


def call_as_numpy(what: str, function: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """Calls a function with NumPy's options; an option of NumPy's that it does not have is named in the error."""
    if "ddof" in kwargs and "correction" in inspect.signature(function).parameters:  # the older name, which most write
        kwargs = {"correction" if name == "ddof" else name: value for name, value in kwargs.items()}
    try:
        return function(*args, **kwargs)
    except TypeError as error:
        parameters = inspect.signature(function).parameters
        if unknown := [name for name in kwargs if name not in parameters]:
            text = f"{what}: gx.{function.__name__} has no argument {unknown[0]!r}; it has {', '.join(parameters)}"
            raise InvalidTypeError(text).here() from error
        raise


def changes_array(name: str, instead: str, tensor: Any) -> InvalidTypeError:
    """Returns the error for a function of NumPy's that would change a tensor in place."""
    return InvalidTypeError(
        f"numpy.{name} changes an array in place, but was given a tensor ({tensor.type}): in a compiled function "
        f"the arguments that are NumPy arrays are tensors. Write {instead} instead"
    ).here()


def graphc_name(ufunc: Any) -> str:
    """Returns graphc's name of a NumPy function of single elements."""
    return _NUMPY_NAMES.get(ufunc.__name__) or ufunc.__name__


@functools.lru_cache(maxsize=1024)
def function_of(function: Any) -> Callable[..., Any]:
    """Returns graphc's function of a NumPy function's name, from the namespace of the same name."""
    module = str(getattr(function, "__module__", None) or "").removeprefix("numpy").lstrip(".")
    numpy_name = str(function.__name__)
    name = _NUMPY_NAMES.get(numpy_name, numpy_name)
    name = f"{module}.{name}" if module in ("fft", "linalg") else name
    special = getattr(sys.modules.get("scipy.special"), numpy_name, None) is function
    if name not in FUNCTIONS or special:
        near = f"use gx.special.{numpy_name}" if special and f"special.{numpy_name}" in FUNCTIONS else ""
        raise UnimplementedError(
            f"{'scipy.special' if special else 'numpy'}.{numpy_name if special else name} of a graphc tensor: "
            + (near or "graphc has no function of that name; gx.pyfunc calls it when the program runs")
        ).here()
    return FUNCTIONS[name]
