"""Declared results of a host function, and the check of its actual ones."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Number
from typing import Any, cast

import numpy as np

from graphc.compiler.autograph.values.deferred import Opaque, rebuilt
from graphc.compiler.base import at, nest, user_location
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError
from graphc.compiler.core import Tensor, Variable, as_dtype
from graphc.compiler.ir import TensorType

__all__ = ["Results", "is_type"]

_Array = np.ndarray[Any, Any]


class Results:
    """The results that a host function is declared to return.

    Args:
      given: the result types of ``gx.pyfunc``, as the user gives them.

    Attributes:
      structure: in which they are nested.
      types: those of the tensors.

    Raises:
      InvalidArgumentError: one leaves a shape open.
      InvalidTypeError: one is no type.
    """

    def __init__(self, given: Any) -> None:
        leaves, self.structure = nest.flatten(_boxed(given))
        self.types = [_type(leaf.value) for leaf in leaves]

    def check(self, result: Any) -> list[_Array]:
        """Returns what a function has returned, as arrays of the declared types.

        Raises:
          InvalidArgumentError: it has another structure or shape, or is a number that its type cannot hold.
          InvalidTypeError: it has another dtype, or is neither tensor nor number.
        """
        if self.structure.kind is type(None):
            return []
        parts = _parts(result, self.structure)
        if parts is None:
            message = f"it returned {_short(result)}, where {self} is declared, another structure"
            remedy = "; if it returns nothing, declare None" if result is None else ""
            raise InvalidArgumentError(message + remedy)
        return [self._array(part, type, result) for part, type in zip(parts, self.types, strict=True)]

    def __str__(self) -> str:
        return repr(nest.unflatten(self.structure, map(_Said, self.types)))

    def _said(self, value: Any, result: Any) -> str:
        """Returns the start of a message: the text of an array takes longer than the call."""
        where = "" if self.structure == nest.LEAF else f", and there {_short(value)}"
        return f"it returned {_short(result)}{where}"

    def _array(self, value: Any, type: TensorType, result: Any) -> _Array:
        array = _numbers(value)
        if array is None:
            remedy = "; if it returns nothing, declare None" if result is None else ""
            message = f"{self._said(value, result)}, where {type} is declared: that is no tensor, number or nested list"
            raise InvalidTypeError(f"{message} of these{remedy}")
        if array.shape != type.shape:
            raise InvalidArgumentError(
                f"{self._said(value, result)}, of the shape {array.shape}, where {type} is declared"
            )
        whole = _whole_numbers(array)  # astype wraps without a word: 300 becomes 44 as uint8
        if whole and not (hasattr(value, "dtype") and as_dtype(array.dtype) != type.dtype) and type.dtype.kind in "iu":
            bounds = np.iinfo(type.dtype)
            worst = next((number for number in whole if not bounds.min <= number <= bounds.max), None)
            if worst is not None:
                range = f"whose numbers go from {bounds.min} to {bounds.max}"
                said = self._said(value, result)
                raise InvalidArgumentError(f"{said}, where {type} is declared, {range}: {worst} does not fit")
        converted = array.astype(type.dtype)
        found = as_dtype(array.dtype)
        if found != type.dtype and (hasattr(value, "dtype") or not _holds(converted, array)):
            raise InvalidTypeError(
                f"{self._said(value, result)}, of the dtype {found.name}, where {type} is declared; convert it in the "
                f"function, or declare {found.name!r}"
            )
        return converted


class _Said:
    """A type that a nested structure shows by its name."""

    def __init__(self, type: TensorType) -> None:
        self._type = type

    def __repr__(self) -> str:
        return str(self._type)


def _short(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 80 else text[:77] + "..."


def _boxed(given: Any) -> Any:
    """Result types with each type a leaf, whatever its class."""
    if nest.children(given) is None or (hasattr(given, "shape") and hasattr(given, "dtype")):
        return Opaque(given)
    return rebuilt(given, _boxed)


def _type(given: Any) -> TensorType:
    has_shape = hasattr(given, "shape") and hasattr(given, "dtype") and not isinstance(given, type)
    sizes = cast("Any", given).shape if has_shape else ()
    shape = cast("tuple[int | None, ...]", (None,) if sizes is None else tuple(sizes))
    if None in shape:
        error = InvalidArgumentError(
            f"gx.pyfunc: the result type {given} leaves a size open; give it: programs are compiled for fixed sizes"
        )
        raise at(error, user_location())
    try:
        dtype = as_dtype(given.dtype if has_shape else given)
    except InvalidTypeError as problem:
        error = InvalidTypeError(f"gx.pyfunc: a result type is a TensorSpec or a dtype, got {given!r:.60}")
        raise at(error, user_location()) from problem
    return TensorType(cast("tuple[int, ...]", shape), dtype)


def is_type(value: Any) -> bool:
    """Returns True if a value is the type of a tensor, and no tensor."""
    if not isinstance(value, str | type):
        # An array has both, and is no type.
        return hasattr(value, "shape") and hasattr(value, "dtype") and not hasattr(value, "__array__")
    try:
        as_dtype(value)
    except InvalidTypeError:
        return False
    return True


def _parts(value: Any, structure: nest.Structure) -> list[Any] | None:
    """Returns what stands in a value at the leaves of a structure; None if it has another structure."""
    if structure == nest.LEAF:
        return [value]
    found = nest.children(value)
    kinds = (tuple, list) if structure.kind in (tuple, list) else (structure.kind,)
    if found is None or type(value) not in kinds or found[0] != structure.keys:
        return None
    parts = [_parts(item, child) for item, child in zip(found[1], structure.children, strict=True)]
    return None if None in parts else [leaf for part in parts for leaf in part or ()]


def _numbers(value: Any) -> _Array | None:
    """Returns the value as an array; None if it is none of numbers."""
    try:
        array = np.array(value.numpy() if isinstance(value, Tensor | Variable) else value)
    except ValueError:  # lists of different lengths
        return None
    kind = array.dtype.kind
    # O: ints beyond 64 bits, or anything else; SUTmM: texts, dates and durations.
    of_numbers = all(isinstance(item, Number) for item in array.ravel()) if kind == "O" else kind not in "SUTmM"
    return array if of_numbers else None


def _whole_numbers(array: _Array) -> Sequence[int]:
    """Returns the ints of an array, those too that no dtype of NumPy's holds; none if it has others."""
    if array.dtype.kind not in "iuO":
        return ()
    numbers = array.ravel().tolist()
    return numbers if all(isinstance(number, int) for number in numbers) else ()


def _holds(converted: _Array, array: _Array) -> bool:
    """Returns True if Python numbers are the same in another dtype, but for rounding to a floating one."""
    if array.dtype.kind in "fc":
        return converted.dtype.kind not in "biu" and (array.dtype.kind == "f" or converted.dtype.kind == "c")
    return bool((converted == array).all()) and (converted.dtype.kind != "b" or array.dtype.kind == "b")
