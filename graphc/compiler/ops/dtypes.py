"""Named dtypes, and functions on dtypes, as in the array API standard."""

from __future__ import annotations

import builtins
from typing import Any, cast

import jax.numpy as jnp
import ml_dtypes
import numpy as np

from graphc.compiler.base import config
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError
from graphc.compiler.core import (
    FUNCTIONS,
    ArrayLike,
    ArrayMethods,
    StringDType,
    Tensor,
    as_dtype,
    is_string_dtype,
    operand,
    string,
)
from graphc.compiler.tracing import type_of_any

__all__ = [
    "DTypeName", "bfloat16", "bool", "bool_", "can_cast", "complex64", "complex128", "finfo", "float8_e3m4",
    "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz",
    "float8_e8m0fnu", "float16", "float32", "float64", "iinfo", "int2", "int4", "int8", "int16", "int32", "int64",
    "isdtype", "issubdtype", "promote_types", "result_type", "uint2", "uint4", "uint8", "uint16", "uint32", "uint64",
]  # fmt: skip


class DTypeName:
    """A named dtype, such as ``gx.float32``: equal to the NumPy dtype, and callable to convert a value.

    Example:
      >>> import graphc as gx
      >>> gx.ones(2).dtype == gx.float32, gx.float16(1.5).dtype
      (True, dtype('float16'))
    """

    __slots__ = ("dtype",)

    dtype: np.dtype[Any]
    """The NumPy dtype."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = np.dtype(dtype)

    @staticmethod
    def of(dtype: Any) -> DTypeName | StringDType:
        """Returns the named dtype for a dtype, a name or a NumPy class.

        Example:
          >>> import numpy as np
          >>> DTypeName.of("int8"), DTypeName.of(np.float32), DTypeName.of(str)
          (graphc.int8, graphc.float32, graphc.string)
        """
        return string if is_string_dtype(dtype) else DTypeName(as_dtype(dtype))

    def __call__(self, x: ArrayLike = 0) -> Tensor:
        """Returns a number or an array as a tensor of this dtype."""
        return FUNCTIONS["asarray"](x, dtype=self.dtype)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.dtype, name)

    @property
    def as_numpy_dtype(self) -> type[Any]:
        """NumPy's scalar class of this dtype, such as ``np.float32``."""
        return self.dtype.type

    @property
    def base_dtype(self) -> DTypeName:
        """The dtype itself; there are no reference dtypes."""
        return self

    @property
    def real_dtype(self) -> DTypeName:
        """The dtype of the real part."""
        return DTypeName(np.abs(np.zeros((), self.dtype)).dtype) if self.is_complex else self

    @property
    def size(self) -> int:
        """The number of bytes of an element."""
        return self.dtype.itemsize

    @property
    def is_floating(self) -> builtins.bool:
        """True if its elements are real floating-point numbers."""
        return isdtype(self.dtype, "real floating")

    @property
    def is_complex(self) -> builtins.bool:
        """True if its elements are complex numbers."""
        return isdtype(self.dtype, "complex floating")

    @property
    def is_integer(self) -> builtins.bool:
        """True if its elements are integers."""
        return isdtype(self.dtype, "integral")

    @property
    def is_unsigned(self) -> builtins.bool:
        """True if its elements are unsigned integers."""
        return isdtype(self.dtype, "unsigned integer")

    @property
    def is_bool(self) -> builtins.bool:
        """True if its elements are booleans."""
        return isdtype(self.dtype, "bool")

    @property
    def is_numeric(self) -> builtins.bool:
        """True if its elements are numbers."""
        return isdtype(self.dtype, "numeric")

    @property
    def min(self) -> Any:
        """The least number.

        Raises:
          InvalidTypeError: the elements are complex numbers or booleans.
        """
        return self._limits("least").min

    @property
    def max(self) -> Any:
        """The greatest number.

        Raises:
          InvalidTypeError: the elements are complex numbers or booleans.
        """
        return self._limits("greatest").max

    def _limits(self, which: str) -> Any:
        if self.is_integer:
            return cast("Any", ml_dtypes.iinfo(self.dtype))
        if self.is_floating:
            return cast("Any", ml_dtypes.finfo(self.dtype))
        raise InvalidTypeError(f"{self.dtype.name} has no {which} number").here()

    def is_compatible_with(self, other: Any) -> builtins.bool:
        """Returns True if another dtype is the same."""
        return self == other

    def __eq__(self, other: object) -> Any:
        return self.dtype == (other.dtype if isinstance(other, DTypeName) else other)

    def __hash__(self) -> int:
        return hash(self.dtype)

    def __reduce__(self) -> Any:
        return DTypeName, (self.dtype,)

    def __repr__(self) -> str:
        return f"{'tf' if config.tensor_text == 'tensorflow' else 'graphc'}.{self.dtype.name}"

    def __str__(self) -> str:
        return f"<dtype: {self.dtype.name!r}>" if config.tensor_text == "tensorflow" else repr(self)


bool = bool_ = DTypeName(np.bool_)
int2 = DTypeName(ml_dtypes.int2)
int4 = DTypeName(ml_dtypes.int4)
int8 = DTypeName(np.int8)
int16 = DTypeName(np.int16)
int32 = DTypeName(np.int32)
int64 = DTypeName(np.int64)
uint2 = DTypeName(ml_dtypes.uint2)
uint4 = DTypeName(ml_dtypes.uint4)
uint8 = DTypeName(np.uint8)
uint16 = DTypeName(np.uint16)
uint32 = DTypeName(np.uint32)
uint64 = DTypeName(np.uint64)
float8_e3m4 = DTypeName(ml_dtypes.float8_e3m4)
float8_e4m3 = DTypeName(ml_dtypes.float8_e4m3)
float8_e4m3b11fnuz = DTypeName(ml_dtypes.float8_e4m3b11fnuz)
float8_e4m3fn = DTypeName(ml_dtypes.float8_e4m3fn)
float8_e4m3fnuz = DTypeName(ml_dtypes.float8_e4m3fnuz)
float8_e5m2 = DTypeName(ml_dtypes.float8_e5m2)
float8_e5m2fnuz = DTypeName(ml_dtypes.float8_e5m2fnuz)
float8_e8m0fnu = DTypeName(ml_dtypes.float8_e8m0fnu)
bfloat16 = DTypeName(ml_dtypes.bfloat16)
float16 = DTypeName(np.float16)
float32 = DTypeName(np.float32)
float64 = DTypeName(np.float64)
complex64 = DTypeName(np.complex64)
complex128 = DTypeName(np.complex128)


class _FloatLimits:
    """The limits of ``jnp.finfo`` as Python floats, as the array API standard requires: weak in promotion."""

    def __init__(self, limits: Any) -> None:
        self._limits = limits

    def __getattr__(self, name: str) -> Any:
        value = getattr(object.__getattribute__(self, "_limits"), name)
        return float(cast("Any", value)) if isinstance(value, np.generic) else value

    def __repr__(self) -> str:
        return repr(self._limits)


def finfo(type: Any) -> Any:
    """Returns the limits of a floating dtype: ``bits``, ``eps``, ``max``, ``min``, ``smallest_normal``, ``dtype``.

    The numbers are Python floats.

    Args:
      type: a floating or complex dtype, or a tensor of one.

    Raises:
      InvalidTypeError: the dtype is not floating or complex.

    Example:
      >>> import graphc as gx
      >>> gx.finfo(gx.float32).bits, gx.finfo("bfloat16").bits
      (32, 16)
    """
    dtype = _dtype(type)
    if not jnp.issubdtype(dtype, jnp.inexact):
        raise InvalidTypeError(f"finfo: {dtype.name} is not a floating dtype; use gx.iinfo").here()
    return _FloatLimits(cast("Any", jnp.finfo)(dtype))


def iinfo(type: Any) -> Any:
    """Returns the limits of an integer dtype: ``bits``, ``max``, ``min``, ``dtype``.

    Args:
      type: an integer dtype, or a tensor of one.

    Raises:
      InvalidTypeError: the dtype is not an integer dtype.

    Example:
      >>> import graphc as gx
      >>> gx.iinfo(gx.int8).max
      127
    """
    dtype = _dtype(type)
    if not jnp.issubdtype(dtype, jnp.integer):
        raise InvalidTypeError(f"iinfo: {dtype.name} is not an integer dtype; use gx.finfo").here()
    return jnp.iinfo(dtype)


def result_type(*arrays_and_dtypes: Any) -> np.dtype[Any]:
    """Returns the result dtype of an operation on these values; Python numbers yield to all others.

    Args:
      *arrays_and_dtypes: tensors, arrays, Python numbers and dtypes.

    Raises:
      InvalidArgumentError: there are no arguments.
      InvalidTypeError: an argument has no dtype.

    Example:
      >>> import graphc as gx
      >>> gx.result_type(gx.float16, gx.int32), gx.result_type(gx.ones(2, "int8"), 3)
      (dtype('float16'), dtype('int8'))
    """
    if not arrays_and_dtypes:
        raise InvalidArgumentError("result_type: pass at least one tensor, number or dtype").here()
    return np.dtype(jnp.result_type(*map(_struct, arrays_and_dtypes)))


def can_cast(from_: Any, to: Any, casting: Any = "safe") -> Any:
    """Returns True if a dtype can be converted to another one.

    Args:
      from_: a dtype or a tensor.
      to: a dtype.
      casting: NumPy's rule for permitted losses: ``safe``, ``same_kind``, ``unsafe``, ``equiv`` or ``no``.

    Example:
      >>> import graphc as gx
      >>> gx.can_cast(gx.int8, gx.float32), gx.can_cast(gx.float32, gx.int8)
      (True, False)
    """
    return jnp.can_cast(_dtype(from_), _dtype(to), casting)


def promote_types(type1: Any, type2: Any) -> np.dtype[Any]:
    """Returns the result dtype of an operation on two dtypes, by JAX's rules.

    Args:
      type1: a dtype.
      type2: a dtype.

    Example:
      >>> import graphc as gx
      >>> gx.promote_types(gx.int32, gx.bfloat16)
      dtype(bfloat16)
    """
    return np.dtype(jnp.promote_types(_dtype(type1), _dtype(type2)))


def isdtype(dtype: Any, kind: Any) -> Any:
    """Returns True if a dtype is of a kind.

    Args:
      dtype: a dtype.
      kind: ``bool``, ``signed integer``, ``unsigned integer``, ``integral``, ``real floating``, ``complex floating``,
        ``numeric``, a dtype, or a tuple of these.

    Raises:
      InvalidArgumentError: the kind is unknown.

    Example:
      >>> import graphc as gx
      >>> gx.isdtype(gx.float32, "real floating"), gx.isdtype(gx.int8, ("bool", gx.int16))
      (True, False)
    """
    if isinstance(kind, tuple):
        return any(isdtype(dtype, item) for item in kind)  # pyright: ignore[reportUnknownVariableType]
    exact = np.dtype(jnp.dtype(dtype))
    if kind in _KINDS:
        return any(jnp.issubdtype(exact, generic) for generic in _KINDS[kind])
    if isinstance(kind, str) and " " in kind:
        raise InvalidArgumentError(
            f"isdtype: {kind!r} is not a kind; expected a dtype or one of {', '.join(_KINDS)}"
        ).here()
    return exact == np.dtype(jnp.dtype(kind))


def issubdtype(arg1: Any, arg2: Any) -> Any:
    """Returns True if a dtype is below another in NumPy's type hierarchy, which here includes float8 and bfloat16.

    Args:
      arg1: a dtype.
      arg2: a dtype, or a NumPy class such as ``np.floating``.

    Example:
      >>> import numpy as np
      >>> import graphc as gx
      >>> gx.issubdtype(gx.bfloat16, np.floating)
      True
    """
    first, second = (value.dtype if isinstance(value, DTypeName) else value for value in (arg1, arg2))
    return jnp.issubdtype(first, second)


_KINDS: dict[Any, tuple[Any, ...]] = {
    "bool": (jnp.bool_,),
    "signed integer": (jnp.signedinteger,),
    "unsigned integer": (jnp.unsignedinteger,),
    "integral": (jnp.integer,),
    "real floating": (jnp.floating,),
    "complex floating": (jnp.complexfloating,),
    "numeric": (jnp.integer, jnp.inexact),
}


def _dtype(value: Any) -> np.dtype[Any]:
    if isinstance(value, ArrayMethods):
        return value.dtype
    try:
        return as_dtype(getattr(value, "dtype", value))
    except InvalidTypeError as error:
        raise error.here() from None


def _struct(value: Any) -> Any:
    """Returns a value that JAX accepts for a tensor, a number or a dtype."""
    if isinstance(value, int | float | complex):
        return value
    if isinstance(value, ArrayMethods) or hasattr(value, "__array__"):
        tensor_type = type_of_any(operand(value))
        return _WEAK[tensor_type.dtype.kind] if tensor_type.weak else tensor_type.dtype
    return _dtype(value)


_WEAK: dict[str, Any] = {"i": 0, "f": 0.0, "c": 0j}

for _name in ("can_cast", "finfo", "iinfo", "isdtype", "issubdtype", "promote_types", "result_type"):
    FUNCTIONS.add(_name, globals()[_name])
