"""The static attributes of ops, in the one form that graphs hold them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar, cast

import jax
import numpy as np

from graphc.base import at, user_location
from graphc.base.errors import ConcretizationError, InvalidTypeError
from graphc.core import ArrayMethods, as_dtype, current_trace, dtype_rules, is_symbolic
from graphc.ir import Attrs, OpDef, typed_key

__all__ = ["attrs_maker", "cached", "dtype_place", "static_value"]

T = TypeVar("T")


def attrs_maker(op: OpDef, defaults: Mapping[str, Any]) -> Callable[[tuple[Any, ...]], Attrs]:
    """The function that turns attribute values into Attrs, those that have their default left out; cached."""

    def build(values: tuple[Any, ...]) -> Attrs:
        items: dict[str, Any] = {}
        for (name, default), value in zip(defaults.items(), values, strict=True):
            item = static_value(op, name, value)
            # To NumPy the dtype float64 equals None.
            if (item is None) != (default is None) or typed_key(item) != typed_key(default):
                items[name] = item
        return Attrs(items)

    return cached(build, dtype=dtype_place(defaults))


def dtype_place(names: Iterable[str]) -> int | None:
    """Which of the attributes is a dtype; None if none is."""
    return next((place for place, name in enumerate(names) if name == "dtype"), None)


def cached(build: Callable[[tuple[Any, ...]], T], dtype: int | None = None) -> Callable[[tuple[Any, ...]], T]:
    """The function with its results kept, for attribute values that can be hashed (a list cannot).

    Args:
      build: the function.
      dtype: which of the values is a dtype: what that means depends on whether there are 64-bit types.
    """
    cache: dict[Any, T] = {}

    def make(values: tuple[Any, ...]) -> T:
        key = tuple(map(typed_key, values))
        if dtype is not None and values[dtype] is not None:
            key = (*key, dtype_rules())
        try:
            found = cache.get(key)
        except TypeError:
            return build(values)
        if found is None:
            found = cache[key] = build(values)
        return found

    return make


def static_value(op: OpDef, name: str, value: Any) -> Any:
    """An attribute in its canonical form: a Python scalar, a string, a dtype, None, or a tuple of these.

    Args:
      op: the op that it belongs to, for messages.
      name: the attribute; one called ``dtype`` is made a dtype.
      value: what the user gave; lists, NumPy's numbers and tensors that have a value will do.

    Raises:
      InvalidTypeError: it is nothing of the kind.
      ConcretizationError: it is a tensor without a value.
    """
    if isinstance(value, list | tuple):
        return tuple(static_value(op, name, item) for item in cast("Sequence[Any]", value))
    if name == "dtype" and value is not None:
        return _dtype(op, value)
    if value is None or isinstance(value, bool | int | float | complex | str):
        return value
    if is_symbolic(value):
        error = ConcretizationError(
            f"{op.name}: {name} must be known while the function is traced, but {value!r} has no value then; pass a "
            "Python number"
        )
        raise current_trace().refuse(error)
    if isinstance(value, np.ndarray | np.generic | jax.Array | ArrayMethods):
        return _nested_tuple(np.asarray(cast("Any", value)).tolist())
    if hasattr(value, "__index__"):
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
