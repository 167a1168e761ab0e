"""Functions that convert values to tensors, and ``clip``."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.sharding import SingleDeviceSharding

from graphc.compiler.base import has_mark
from graphc.compiler.base.errors import GraphcError, InvalidArgumentError, InvalidTypeError
from graphc.compiler.core import (
    FUNCTIONS,
    SCALARS,
    ArrayLike,
    ShownArray,
    StringTensor,
    Tensor,
    apply,
    array_of_ints,
    as_dtype,
    as_strings,
    busy,
    canonical_array,
    check_fits,
    context,
    copied_array,
    copied_numpy,
    dtype_rules,
    fitted_int,
    is_string_dtype,
    only_ints,
    operand,
    refused,
    scalar_array,
    string,
    taken_over,
    with_fast_path,
)
from graphc.compiler.core import device as on_device
from graphc.compiler.devices import find_device
from graphc.compiler.ir import OPS, Attrs
from graphc.compiler.ops.signature import Device
from graphc.compiler.tracing import lifted

__all__ = ["asarray", "clip", "from_dlpack"]

_NUMBERS: dict[str, type[Any]] = {"b": bool, "i": int, "f": float, "c": complex}


def asarray(x: ArrayLike, dtype: Any = None, *, device: Device = None, copy: bool | None = None) -> Tensor:
    """Returns a tensor from an array-like.

    While a function is traced, Python and NumPy values become constants of its graph.

    Strings, bytes and paths, and arrays and lists of them, become a :class:`graphc.StringTensor` on the host.

    Args:
      x: a tensor (which is returned unchanged), variable, array, number, ``range``, or nested list of these. Arrays are
        copied.
      dtype: the dtype to convert to; None for the natural one, float32 for Python floats.
      device: the device of the tensor, such as ``"gpu:0"``; None for the default.
      copy: True for a separate tensor even if ``x`` is one, so that assigning items of one does not change the other;
        False to raise if a copy is needed.

    Raises:
      InvalidTypeError: ``x`` cannot be a tensor, or ``dtype`` is not a dtype.
      InvalidArgumentError: the rows of a nested list differ in length, an int does not fit the dtype, or a copy is
        needed and ``copy`` is False.

    Example:
      >>> import graphc as gx
      >>> gx.asarray([[1, 2], [3, 4]], dtype="float32").shape
      (2, 2)
    """
    if dtype is None and device is None and copy is None and (not busy or context.eager):
        quick = _quick_tensor(x)
        if quick is not None:
            return quick
    if device:
        with on_device(device):
            tensor = asarray(x, dtype, copy=copy)
            return apply(OPS["identity"], (tensor,)) if tensor is x else tensor
    if dtype is not None and is_string_dtype(dtype):
        return cast("Any", _strings(x))
    wanted = None if dtype is None else as_dtype(dtype)
    if wanted is not None and not context.eager and type(x) is not int and not only_ints(x):
        check_fits("asarray", x, wanted)
    try:
        # NumPy converts NumPy values, so that numbers are preserved that only the requested dtype can hold.
        numpys = wanted is not None and isinstance(x, np.ndarray | np.generic) and not _is_cut(dtype, wanted)
        numpys = numpys and not isinstance(x, ShownArray)
        if wanted is not None and only_ints(x):
            value: Any = array_of_ints(x, wanted)
        else:
            value = canonical_array(x, wanted) if numpys else operand(x)
    except GraphcError as error:
        strings = as_strings(x)
        if strings is not None:
            return cast("Any", _as_given(strings, wanted))
        error.args = (f"asarray: {error.args[0]}",)
        raise error.here().with_traceback(None) from None
    if has_mark(x, "__graphc_number__") or has_mark(x, "__graphc_index__"):
        # A Python number of a compiled function is a tensor there: give it the dtype of a number elsewhere.
        dtype = wanted or as_dtype(_NUMBERS[value.dtype.kind])
        return apply(OPS["astype"], (value,), Attrs(dtype=dtype))
    converts = not isinstance(value, Tensor) or (wanted is not None and value.dtype != wanted)
    if converts and copy is False:
        raise InvalidArgumentError(
            f"asarray: copy=False, but only a tensor of the requested dtype needs no copy, got {type(x).__name__} "
            f"{x!r:.60}; omit copy"
        ).here()
    if not isinstance(value, Tensor):
        value = _tensor(value, wanted)
    if wanted is not None and value.dtype != wanted:
        return apply(OPS["astype"], (value,), Attrs(dtype=wanted))
    return value.copy() if copy and not converts else value


def _quick_tensor(x: Any) -> Tensor | None:
    """Returns a tensor from a number or array, in half the time; None for other values and on failure."""
    kind = cast("type[Any]", type(x))
    try:
        if kind is np.ndarray:
            return Tensor(taken_over(copied_numpy(x)))
        if kind is float or kind is int or kind is bool:
            return Tensor(taken_over(np.array(x, _dtype_of_number(kind, dtype_rules()))))
        if _is_on_one_device(x):
            return Tensor(copied_array(x))
    except Exception:
        return None
    return None


def _is_on_one_device(x: Any) -> bool:
    """Returns True for a JAX array of numbers, rather than keys, that is on one device."""
    if not isinstance(x, jax.Array) or isinstance(x, Tracer):
        return False
    dtype: Any = x.dtype
    return isinstance(dtype, np.dtype) and type(x.sharding) is SingleDeviceSharding


@lru_cache(maxsize=16)
def _dtype_of_number(kind: type[Any], rules: int) -> np.dtype[Any]:
    del rules
    return as_dtype(kind)


def _is_cut(dtype: Any, actual: np.dtype[Any]) -> bool:
    """Returns True if 64-bit ints are requested while 64-bit types are disabled."""
    return actual.kind in "iu" and np.dtype(jnp.dtype(dtype)).itemsize > actual.itemsize


def _strings(x: Any) -> StringTensor:
    """Returns a tensor of strings, which its dtype requests."""
    strings = as_strings(x)
    if strings is None and np.size(x) == 0 and not isinstance(x, Tensor):
        strings = StringTensor(np.empty(np.shape(x), object))
    if strings is None:
        error = InvalidTypeError(
            f"asarray: dtype {string} was requested, but {type(x).__name__} {x!r:.60} holds no strings; "
            "gx.strings.as_string converts numbers to strings"
        )
        raise refused(error)
    return strings


def _as_given(strings: StringTensor, dtype: np.dtype[Any] | None) -> StringTensor:
    """Returns a tensor of strings, unless a numeric dtype is requested."""
    if dtype is not None:
        error = InvalidTypeError(
            f"asarray: dtype {dtype.name} was requested, but x is a tensor of strings ({strings.type}); "
            "gx.strings.to_number parses numbers"
        )
        raise refused(error)
    return strings


def _tensor(value: Any, dtype: np.dtype[Any] | None) -> Tensor:
    if type(value) in SCALARS:
        try:
            if type(value) is int and dtype is not None:
                value = fitted_int(value, dtype)
            if type(value) in SCALARS:
                value = scalar_array(value, weak=dtype is not None)  # a given dtype keeps all digits
        except GraphcError as error:
            error.args = (f"asarray: {error.args[0]}",)
            raise error.here() from None
    # A float that is too large for ints becomes another one in NumPy than in a program of XLA.
    if dtype is not None and isinstance(value, np.ndarray) and (value.dtype.kind != "f" or dtype.kind not in "iu"):
        value = cast("np.ndarray[Any, Any]", value).astype(dtype)
    return lifted(value, _copy)


def _copy(value: Any) -> Tensor:
    is_copy = isinstance(value, np.ndarray)  # made for this tensor
    tensor = Tensor(taken_over(cast("Any", value)) if is_copy else jnp.array(value, copy=True))
    return apply(OPS["identity"], (tensor,)) if context.device else tensor


def from_dlpack(x: Any, /, *, device: Device = None, copy: bool | None = None) -> Tensor:
    """Returns a tensor from another library's array, without a copy if both can share memory.

    Args:
      x: an array with ``__dlpack__``, such as a NumPy or PyTorch array.
      device: the device of the tensor; None for that of ``x``.
      copy: True for separate memory, False to raise if a copy is needed.

    Raises:
      InvalidTypeError: ``x`` has no ``__dlpack__``.

    Example:
      >>> import numpy as np
      >>> import graphc as gx
      >>> gx.from_dlpack(np.arange(3.0, dtype=np.float32)).tolist()
      [0.0, 1.0, 2.0]
    """
    if not hasattr(x, "__dlpack__"):
        raise InvalidTypeError(
            f"from_dlpack: expected an array with __dlpack__, got {type(x).__name__} {x!r:.60}"
        ).here()
    if isinstance(x, Tensor):
        return asarray(x, device=device, copy=copy)
    target: Any = find_device(device) if device else None
    try:
        array: Any = jnp.from_dlpack(x, device=target, copy=copy)
    except (TypeError, ValueError, BufferError) as error:
        raise InvalidArgumentError(f"from_dlpack: {error}").here() from error
    return lifted(array, Tensor)


@jax.jit
def _clip(x: Any, low: Any, high: Any) -> jax.Array:
    """Clips to both limits at once, for plain eager calls."""
    return jnp.minimum(jnp.maximum(x, low), high)


def clip(x: ArrayLike, min: ArrayLike | None = None, max: ArrayLike | None = None) -> Tensor:
    """Returns the tensor clipped to a range.

    Args:
      x: a tensor.
      min: the lower limit, broadcast against ``x``; None for no limit.
      max: the upper limit, which takes precedence over ``min``; None for no limit.

    Raises:
      InvalidArgumentError: the shapes do not fit.

    Example:
      >>> import graphc as gx
      >>> gx.clip([-1.0, 0.5, 2.0], 0.0, 1.0).numpy()
      array([0. , 0.5, 1. ], dtype=float32)
    """
    if min is None and max is None:
        return apply(OPS["identity"], (x,))
    if min is not None:
        x = apply(OPS["maximum"], (x, min))
    if max is not None:
        x = apply(OPS["minimum"], (x, max))
    return x  # pyright: ignore[reportReturnType]  a tensor after either step


clip, _globals = with_fast_path(clip, conditions=["min is not None", "max is not None"])
_globals.update(_kernel=_clip, _Tensor=Tensor)

FUNCTIONS.add("asarray", asarray)
FUNCTIONS.add("clip", clip)
FUNCTIONS.add("from_dlpack", from_dlpack)


# Conversion to numeric tensors, for the layers above.


def as_numbers(x: ArrayLike) -> Tensor:
    """Converts like :func:`graphc.asarray`, but refuses strings, as numeric ops do."""
    tensor: Any = asarray(x)
    if isinstance(tensor, StringTensor):
        problem = f"expected a tensor of numbers, got a tensor of strings ({tensor.type}) {tensor.tolist()!r:.60}"
        raise refused(InvalidTypeError(f"{problem}; gx.strings.to_number parses numbers"))
    return tensor


def as_wide(tensor: Tensor) -> Tensor:
    """Returns a floating tensor in at least float32, for accumulating sums; other tensors as they are."""
    narrow = tensor.type.is_inexact and tensor.dtype.itemsize < 4
    return asarray(tensor, "float32") if narrow else tensor
