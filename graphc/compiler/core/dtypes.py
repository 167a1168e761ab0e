"""Dtypes by JAX's rules: 64-bit types become 32-bit ones unless x64 is enabled; Python scalars are weakly typed.

With x64, numbers without a given dtype have 64 bits, or ``gx.config.default_dtype_bits``. JAX keys its compilation
caches by x64, but not by the default bits: when these change, graphc clears the caches.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np

from graphc.compiler.base import SETTINGS, Setting, config, flag, has_mark, nest, user_location
from graphc.compiler.base.errors import GraphcError, InvalidArgumentError, InvalidTypeError
from graphc.compiler.ir import TensorType

_jax_config: Any = jax.config  # its settings are not annotated


def dtype_rules() -> int:
    """Returns a key of the dtype rules in force: 0 without 64-bit types, else the bits of the default dtypes."""
    return _default_bits if _jax_config.jax_enable_x64 else 0


def _set_default_bits(bits: int) -> None:
    global _default_bits
    if bits != _default_bits:
        _default_bits = bits
        jax.clear_caches()


_default_bits = 32 if os.environ.get("GRAPHC_DEFAULT_DTYPE_BITS") == "32" else 64
SETTINGS.add("default_dtype_bits", Setting(lambda: _default_bits, _set_default_bits))
SETTINGS.add(
    "enable_x64",
    Setting(
        lambda: bool(_jax_config.jax_enable_x64),
        lambda value: _jax_config.update("jax_enable_x64", value),
        jax.enable_x64,
    ),
)
if flag("GRAPHC_ENABLE_X64"):
    config.enable_x64 = True

# The dtypes of Python's number types under x64, by the bits of the default.
_DEFAULTS: dict[Any, dict[int, Any]] = {
    int: {64: np.dtype(np.int64), 32: np.dtype(np.int32)},
    float: {64: np.dtype(np.float64), 32: np.dtype(np.float32)},
    complex: {64: np.dtype(np.complex128), 32: np.dtype(np.complex64)},
}
_DEFAULTS.update({kind.__name__: found for kind, found in list(_DEFAULTS.items())})
_OF_STRINGS = ("U", "S", "T")
_FEW = 256
_KINDS: dict[str, type[Any]] = {"i": int, "f": float, "c": complex}


def as_dtype(dtype: Any) -> np.dtype[Any]:
    """Returns the dtype that an array of a dtype becomes; ``int``, ``float``, ``complex`` mean the default dtypes."""
    try:
        if type(dtype) in (type, str) and dtype in _DEFAULTS:
            dtype = _DEFAULTS[dtype][_default_bits]
        given_dtype = np.dtype(jnp.dtype(dtype))
        if not given_dtype.isnative:  # of a file's bytes, such as ">f4"
            given_dtype = given_dtype.newbyteorder("=")
        if given_dtype.char in "gG":
            raise TypeError("JAX has no long double; convert to float64 or complex128 first")
        return np.dtype(jax.dtypes.canonicalize_dtype(given_dtype))
    except (TypeError, ValueError) as error:
        reason = str(error)
        if dtype is str or getattr(dtype, "kind", None) in _OF_STRINGS:
            reason = "gx.asarray makes tensors of strings, and gx.strings.as_string converts numbers to strings"
        if isinstance(dtype, tuple | list):
            reason = (
                "it looks like a shape; functions of gx.random take the shape first and no key (gx.random.seed sets "
                "the seed)"
            )
        raise InvalidTypeError(f"{dtype!r} is not a dtype that a tensor can have: {reason}").here() from None


def canonical_array(value: Any, dtype: np.dtype[Any] | None = None) -> np.ndarray[Any, Any]:
    """Returns a NumPy array in a dtype that tensors have (None: the natural one), in newly allocated memory."""
    # JAX reads NumPy's memory asynchronously, or keeps it, even if asked for a copy: later writes to the user's array
    # would change the result.
    if isinstance(value, np.ma.MaskedArray):
        raise InvalidTypeError(
            "cannot make a tensor from a masked array: a tensor has no mask; use `array.filled(value)`, or pass "
            "`array.data` and `array.mask`"
        )
    try:
        # An object's __array__ may give its own memory even if it is asked for a copy.
        array = np.array(np.asarray(value) if hasattr(value, "__array__") else value)
    except ValueError as error:
        raise InvalidArgumentError(f"cannot make a tensor from {value!r}: {error}") from None
    if array.dtype.kind in "OUSVTMm" and array.dtype.name not in _EXTENDED:
        remedy = "; gx.asarray makes tensors of strings, if all elements are strings"
        remedy = remedy if array.dtype.kind in _OF_STRINGS else ""
        raise InvalidTypeError(f"cannot make a tensor from {value!r}: dtype {array.dtype} is not numeric{remedy}")
    if hasattr(value, "dtype") or hasattr(value, "__array__"):
        if dtype is not None:
            return array.astype(dtype, copy=False)
        return _narrowed(array, as_dtype(array.dtype), f"NumPy {array.dtype.name}")
    natural = as_dtype(_KINDS.get(array.dtype.kind, array.dtype))
    if array.dtype.kind in _KINDS and natural.itemsize >= array.dtype.itemsize:
        return array  # for example an int64 array under a 32-bit default
    return _narrowed(array, natural, "Python int")


def copied_numpy(value: Any) -> np.ndarray[Any, Any]:
    """Converts NumPy arrays and scalars as :func:`canonical_array`, in a fifth of the time; TypeError for others."""
    if type(value) is not np.ndarray and not isinstance(value, np.generic):
        raise TypeError
    value = cast("np.ndarray[Any, Any]", value)
    dtype = value.dtype
    natural = _natural(dtype, dtype_rules())
    if natural is dtype:
        return np.array(value)
    if dtype.kind in "iu":
        array = np.asarray(value)
        return narrowed(array, array.astype(natural))
    return np.array(value, natural)


@lru_cache(maxsize=256)
def _natural(dtype: np.dtype[Any], rules: int) -> np.dtype[Any]:
    """Returns the dtype that an array becomes; the same object if it does not change."""
    del rules
    canonical = as_dtype(dtype)
    return dtype if canonical == dtype else canonical


def _narrowed(array: np.ndarray[Any, Any], dtype: np.dtype[Any], what: str) -> np.ndarray[Any, Any]:
    """Returns the array in a narrower dtype; raises for 64-bit ints that do not fit, which NumPy would wrap."""
    if array.dtype.kind in "iu" and dtype.itemsize < array.dtype.itemsize and array.size:
        limits = np.iinfo(dtype)
        for number in (int(array.min()), int(array.max())):
            if not limits.min <= number <= limits.max:
                raise too_large(number, dtype, what)
    return array.astype(dtype, copy=False)


def narrowed(value: Any, narrow: Any) -> Any:
    """Returns ``narrow``, a copy of ints in a narrower dtype, if all fit, in a tenth of `canonical_array`'s time."""
    dtype = narrow.dtype
    if value.size <= _FEW:
        fits = narrow.astype(value.dtype).tobytes() == value.tobytes()  # 0.6 us; ``==`` takes 2.7
    else:
        limits = np.iinfo(dtype)
        # One pass over values of which none is negative: those that are at most 2**31 - 1 have no higher bit.
        fits = 0 <= np.bitwise_or.reduce(value, axis=None) <= limits.max
        if not fits:  # 4.5 us for 10,000 ints; ``==`` takes 14
            fits = limits.min <= value.min() and value.max() <= limits.max
    return narrow if fits else canonical_array(value)


def too_large(number: int, dtype: np.dtype[Any], what: str = "Python int") -> InvalidArgumentError:
    """Returns the error for an int (described by ``what``) that a dtype cannot hold."""
    bits = number.bit_length()
    text = number if bits < 200 else f"of {bits} bits"  # Python refuses to print ints of thousands of digits
    asked = ", and a dtype" if what == "Python int" else ""
    remedy = "" if dtype.itemsize > 4 else f", or 64-bit types (gx.config.enable_x64 = True{asked})"
    use = f"; use a float{remedy}" if bits <= 1024 and not jnp.issubdtype(dtype, jnp.inexact) else ""
    return InvalidArgumentError(f"the {what} {text} does not fit {dtype.name}{use}")


def check_fits(what: str, values: Any, dtype: np.dtype[Any]) -> None:
    """Raises for a Python int that an integer dtype cannot hold, as NumPy does; arrays wrap around."""
    if dtype.kind in "iu":
        info = jnp.iinfo(dtype)
        remedy = f"use a float, or a dtype that holds it: {dtype.name} holds {info.min} to {info.max}"
        check_ints(values, info.min, info.max, lambda number: InvalidArgumentError(
            f"{what}: the Python int {number} does not fit {dtype.name}; {remedy}"
        ))  # fmt: skip


def check_ints(values: Any, low: int, high: int, error: Callable[[Any], GraphcError]) -> None:
    """Raises an error, made of the int, for Python ints that do not lie between two."""
    # In a trace the program raises it for ints that depend on tensors, unless their bounds tell that they lie there.
    for value in nest.flatten(values)[0] if isinstance(values, list | tuple) else (values,):
        if type(value) is int and not low <= value <= high:
            raise error(value).here()
        if has_mark(value, "__graphc_number__") or has_mark(value, "__graphc_index__"):
            _require_within(value, low, high, lambda: error("<a number that depends on tensors>"))


def _require_within(number: Any, low: int, high: int, error: Callable[[], GraphcError]) -> None:
    location = user_location()  # the error may be made after the program has run
    number.require_within(low, high, lambda: error().at(location))


def natural_dtype(*values: Any) -> np.dtype[Any]:
    """Returns JAX's result dtype for arrays and Python numbers; the default dtype if all are Python numbers."""
    promoted = np.dtype(jnp.result_type(*values))
    weak = all(not hasattr(value, "dtype") or jax.typeof(value).weak_type for value in values)
    return as_dtype(_KINDS[promoted.kind]) if weak and promoted.kind in _KINDS else promoted


_EXTENDED = frozenset(name for name in dir(jnp) if name.startswith(("bfloat", "float8", "int4", "uint4", "int2")))


def kind_of_dtype(dtype: np.dtype[Any]) -> str:
    """Returns the letter of a dtype's kind, ``b i u f c``; NumPy gives all of JAX's own dtypes the kind ``V``."""
    if dtype.kind != "V":
        return dtype.kind
    return {"i": "i", "u": "u"}.get(dtype.name[0], "f")  # int4, uint4, bfloat16, float8_e4m3


def scalar_array(value: complex, *, weak: bool = True) -> np.ndarray[Any, Any]:
    """Returns a Python scalar as a 0-d array, in JAX's dtype of weak scalars or the default; raises if too large."""
    kind = type(value)
    dtype = as_dtype(_DEFAULTS[kind][64] if weak and kind in _DEFAULTS else kind)
    try:
        return np.asarray(value, dtype)
    except OverflowError:
        raise too_large(int(value.real), dtype) from None


_types: dict[Any, TensorType] = {}


def type_of(array: Any) -> TensorType:
    """Returns the type of a JAX or NumPy array; refuses dtypes that tensors cannot have, as of typed random keys."""
    if isinstance(array, np.ndarray) and not array.dtype.isnative:  # which jax.typeof refuses
        return TensorType(cast("Any", array).shape, as_dtype(cast("Any", array).dtype))
    # jax.typeof returns the same object as .aval, in 720 ns instead of 20.
    aval: Any = array.aval if isinstance(array, jax.Array) else jax.typeof(array)
    cached = _types.get(aval)
    if cached is None:
        if len(_types) > _TYPES_KEPT:
            _types.clear()
        dtype: Any = aval.dtype
        if not isinstance(dtype, np.dtype):  # an extended dtype of JAX
            is_key = jnp.issubdtype(dtype, jax.dtypes.prng_key)
            remedy = "; pass jax.random.key_data(key), the key as numbers" if is_key else ""
            raise InvalidTypeError(f"a tensor cannot hold a JAX array of dtype {dtype}{remedy}")
        cached = TensorType(tuple(aval.shape), np.dtype(aval.dtype), bool(aval.weak_type))
        _types[aval] = cached
    return cached


_TYPES_KEPT = 10_000


# Python ints that exceed the weak integer dtype: as in NumPy, they take the dtype of the other operands.
#
# JAX first converts a Python number to its default dtype and fails if an int does not fit, even if it would become a
# float in the next step.


def has_large_ints(values: Sequence[Any]) -> bool:
    """Returns True if a Python int exceeds the dtype of weak integers."""
    return any(type(value) is int and _is_large(value) for value in values)


def _is_large(value: int) -> bool:
    if -(2**31) <= value < 2**31:
        return False
    limits = np.iinfo(as_dtype(np.int64))
    return not limits.min <= value <= limits.max


def with_fitted_ints(values: Sequence[Any], attrs: Mapping[str, Any]) -> list[Any]:
    """Returns an op's inputs with too large ints in the dtype that NumPy would use; ``attrs['dtype']`` comes first."""
    others = [value.dtype if hasattr(value, "dtype") else value for value in values if type(value) is not int]
    dtype = attrs.get("dtype") or (np.dtype(jnp.result_type(*others)) if others else np.dtype(np.bool_))
    if dtype == np.bool_:
        dtype = as_dtype(np.int64)
    return [fitted_int(value, dtype) if type(value) is int and _is_large(value) else value for value in values]


def fitted_int(value: int, dtype: np.dtype[Any]) -> Any:
    """Returns a Python int for use with tensors of a dtype: a float, which is weak, if the dtype is inexact."""
    try:
        return float(value) if jnp.issubdtype(dtype, jnp.inexact) else np.asarray(value, dtype)
    except OverflowError:
        raise too_large(value, dtype) from None


def only_ints(value: Any) -> bool:
    """Returns True for a list, possibly nested, of Python ints and bools only."""
    return isinstance(value, list | tuple) and all(
        type(item) is int or type(item) is bool or only_ints(item) for item in cast("Sequence[Any]", value)
    )


def array_of_ints(values: Any, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Returns a list of Python ints as an array; NumPy would go through floats for ints beyond int64."""
    try:
        return np.array(values, dtype)
    except OverflowError:
        raise too_large(_outside(values, dtype), dtype) from None
    except ValueError as error:
        raise InvalidArgumentError(f"cannot make a tensor from {values!r}: {error}") from None


def _outside(values: Any, dtype: np.dtype[Any]) -> int:
    """Returns the first number that does not fit the dtype."""
    numbers: list[int] = [int(number) for number in np.array(values, object).flat]
    if jnp.issubdtype(dtype, jnp.inexact):
        return max(numbers, key=abs)
    limits = jnp.iinfo(dtype)
    return next(number for number in numbers if not limits.min <= number <= limits.max)
