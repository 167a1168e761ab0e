"""The static attributes of ops, in canonical form."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any, cast

import jax
import numpy as np

from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import ConcretizationError, InvalidTypeError
from graphc.compiler.core import (
    ArrayMethods,
    as_dtype,
    dtype_rules,
    has_late_values,
    is_symbolic,
    late_value,
    tell_of_method,
)
from graphc.compiler.ir import Attrs, OpDef, typed_key
from graphc.compiler.ops.dtypes import DTypeName
from graphc.compiler.tracing import current_trace

__all__ = ["DTYPES", "Kept", "attrs_maker", "kinds", "static_value"]

DTYPES = frozenset({"dtype", "index_dtype", "new_dtype", "preferred_element_type"})
"""The attributes that are dtypes."""


def attrs_maker(op: OpDef, defaults: Mapping[str, Any]) -> Callable[[tuple[Any, ...]], Attrs]:
    """Returns a cached function from attribute values to Attrs, without those that equal their default."""

    def build(values: tuple[Any, ...]) -> Attrs:
        items: dict[str, Any] = {}
        for (name, default), value in zip(defaults.items(), values, strict=True):
            item = static_value(op, name, value)
            # NumPy considers the dtype float64 equal to None.
            if (item is None) != (default is None) or typed_key(item) != typed_key(default):
                items[name] = item
        return Attrs(items)

    places = [place for place, name in enumerate(defaults) if name in DTYPES]
    cache: dict[Any, Attrs] = {}

    def make(values: tuple[Any, ...]) -> Attrs:
        key = tuple(map(typed_key, values))
        if places and any(values[place] is not None for place in places):
            key = (*key, dtype_rules())  # the meaning of a dtype depends on the x64 setting
        try:
            found = cache.get(key)
        except TypeError:  # lists are not hashable
            return build(values)
        if found is None:
            found = build(values)
            # Late values would keep their graph alive, and the ``__index__`` of other objects may change.
            if all(map(_stays, values)) and not has_late_values(found):
                cache[key] = found
        return found

    return make


class Kept(dict[Any, Any]):
    """A cache of objects made from attribute values; its keys also hold their :func:`kinds`: 1 differs from True."""

    def __init__(self, make: Callable[[tuple[Any, ...]], Any], count: int) -> None:
        super().__init__()
        self._make = make
        self._count = count

    def __missing__(self, key: tuple[Any, ...]) -> Any:
        values = key[: self._count]
        found = self._make(values)
        if all(map(_is_told, values)):
            if len(self) >= _KEPT:
                self.clear()
            self[key] = found
        return found


_KEPT = 512
_SIMPLE = (type(None), bool, int, str, type, np.dtype, DTypeName)
_STAYING = (*_SIMPLE, float, complex, np.generic, Enum)


def kinds(value: Any) -> Any:
    """Returns the type of an attribute's value; for a tuple, those of its items."""
    return tuple(map(type, cast("tuple[Any, ...]", value))) if type(value) is tuple else cast("Any", type(value))


def _is_told(value: Any) -> bool:
    """Returns True if value and kinds identify the value: not for zeros, nor in nested tuples."""
    if type(value) is tuple:
        return all(not isinstance(item, tuple) and _is_told(item) for item in cast("tuple[Any, ...]", value))
    return isinstance(value, _SIMPLE) or (type(value) is float and value != 0)


def _stays(value: Any) -> bool:
    """Returns True if a value's meaning never changes."""
    if type(value) is tuple:
        return all(map(_stays, cast("tuple[Any, ...]", value)))
    return isinstance(value, _STAYING)


def static_value(op: OpDef, name: str, value: Any) -> Any:
    """Returns an attribute in its canonical form: a Python scalar, a string, a dtype, None, or a tuple of these.

    Args:
      op: the op, for messages.
      name: the attribute's name; one of ``DTYPES`` becomes a dtype.
      value: the user's value; lists, NumPy numbers and tensors with a value are accepted. An enumeration member, such
        as of ``jax.lax.Precision``, becomes its name.

    Raises:
      InvalidTypeError: the value is none of these.
      ConcretizationError: the value is a tensor without a value.
    """
    if isinstance(value, list | tuple):
        return tuple(static_value(op, name, item) for item in cast("Sequence[Any]", value))
    if name in DTYPES and value is not None:
        return _dtype(op, value)
    if isinstance(value, Enum):
        return value.name
    if value is None or isinstance(value, bool | int | float | complex | str):
        return value
    if is_symbolic(value):
        if (late := late_value(value)) is not None:
            return late
        error = ConcretizationError(
            f"{op.name}: {name} must be known while the function is traced, but {value!r} has no value yet; pass a "
            "Python number"
        )
        raise current_trace().refuse(error)
    if isinstance(value, np.ndarray | np.generic | jax.Array | ArrayMethods):
        return _nested_tuple(np.asarray(cast("Any", value)).tolist())
    if hasattr(value, "__index__"):
        tell_of_method(value, "__index__")
        return value.__index__()
    error = InvalidTypeError(f"{op.name}: {name} must be static (numbers, strings, tuples of these), got {value!r:.60}")
    raise at(error, user_location())


def _dtype(op: OpDef, value: Any) -> np.dtype[Any]:
    try:
        return as_dtype(value)
    except InvalidTypeError as error:
        raise at(InvalidTypeError(f"{op.name}: {error.args[0]}"), user_location()) from None


def _nested_tuple(value: Any) -> Any:
    return tuple(map(_nested_tuple, cast("list[Any]", value))) if isinstance(value, list) else value
