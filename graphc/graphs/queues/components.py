"""Components of elements: their types, checks and conversion, and elements as queues keep and return them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np

from graphc.compiler.base import has_mark
from graphc.compiler.base.errors import InvalidTypeError
from graphc.compiler.core import (
    FUNCTIONS,
    SCALARS,
    STRING,
    StringTensor,
    SymbolicTensor,
    Tensor,
    Variable,
    apply,
    bytes_array,
    check_leaves,
    context,
    host_type,
    host_value,
    is_text,
)
from graphc.compiler.devices import devices
from graphc.compiler.ir import OPEN, OPS, TensorType, compatible_shapes
from graphc.graphs.queues.rows import Columns, Run
from graphc.graphs.queues.spec import QueueSpec, refusal

__all__ = [
    "Element",
    "check_row",
    "check_type",
    "checked_rows",
    "kept",
    "operand_of",
    "part_names",
    "tensors",
]


_RANKS = (jnp.bool_, jnp.integer, jnp.floating, jnp.complexfloating)
"""Kinds of dtypes: Python and NumPy numbers convert to the same kind or a later one."""


def _fits(shape: tuple[int, ...], type: TensorType) -> bool:
    """Returns True if an array of that shape can be a component of that type."""
    if shape == type.shape:
        return type.ranked or not shape
    return not type.ranked or (
        len(shape) == len(type.shape) and all(b in (a, OPEN) for a, b in zip(shape, type.shape, strict=True))
    )


def kept(use: str, value: Any, dtype: np.dtype[Any]) -> Any:
    """Converts a value to the array that a queue keeps: JAX arrays stay as they are, everything else is copied.

    Raises:
      InvalidTypeError: the value is of another dtype, or no tensor.
      UnimplementedError: an open tape follows the value, whose gradient would be lost.
    """
    kind = cast("type[Any]", type(value))
    if kind is Tensor and not context.tapes and value.raw.dtype == dtype:
        return value.raw
    if kind in SCALARS and (wanted := _scalar_dtype(kind, dtype)) is not None:
        try:
            return np.array(value, wanted)
        except OverflowError:
            pass  # the slow path raises the error
    if isinstance(value, SymbolicTensor):
        raise value.trace.leaked(value)
    if isinstance(value, Tensor | Variable):
        check_leaves(value, "to enqueue it")
        value = value.value().raw if isinstance(value, Variable) else value.raw
    if (dtype == STRING) != is_text(value):
        found = "strings" if is_text(value) else _described(value)
        raise refusal(use, f"the component takes {_named(dtype)}, got {found}", InvalidTypeError)
    if dtype == STRING:
        return bytes_array(value).copy()
    if isinstance(value, jax.Array):
        if value.dtype == dtype:
            return value
        remedy = f"; convert it with gx.astype(x, {dtype.name!r})"
        problem = f"the component takes {_named(dtype)}, got {_described(value)}{remedy}"
        raise refusal(use, problem, InvalidTypeError)
    return _converted(use, value, dtype)


def _converted(use: str, value: Any, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    try:
        array: np.ndarray[Any, Any] = np.array(value)
    except (ValueError, TypeError) as error:
        raise refusal(use, f"{value!r:.60} is not a tensor: {error}", InvalidTypeError) from None
    if array.dtype == dtype:
        return array
    if array.size and not _may_become(array.dtype, dtype):
        problem = f"the component takes {_named(dtype)}, got {_described(value)}"
        raise refusal(use, problem, InvalidTypeError)
    found = array.astype(dtype)
    if dtype.kind in "iu" and not np.array_equal(found, array):
        raise refusal(use, f"the component takes {_named(dtype)}, which cannot hold {value!r:.60}")
    return found


@cache
def _scalar_dtype(kind: type[Any], dtype: np.dtype[Any]) -> np.dtype[Any] | None:
    """Returns the dtype if it can hold Python numbers of a class; else None."""
    return dtype if _may_become(np.dtype(kind), dtype) else None


@cache
def _may_become(given: np.dtype[Any], wanted: np.dtype[Any]) -> bool:
    ranks = [[jnp.issubdtype(dtype, kind) for kind in _RANKS] for dtype in (given, wanted)]
    return all(map(any, ranks)) and ranks[0].index(True) <= ranks[1].index(True)


def _named(dtype: np.dtype[Any]) -> str:
    return "strings" if dtype == STRING else dtype.name


def _described(value: Any) -> str:
    if isinstance(value, jax.Array | np.ndarray | np.generic):
        array = cast("np.ndarray[Any, Any]", value)
        return str(TensorType(array.shape, array.dtype))
    return f"{type(value).__name__} {value!r:.60}"


def operand_of(use: str, value: Any, dtype: np.dtype[Any]) -> Any:
    """Converts a value to an op's input in a graph: a tensor of the graph, or a constant array.

    Raises:
      InvalidTypeError: the value is of another dtype.
    """
    if has_mark(value, "__graphc_number__") or has_mark(value, "__graphc_index__"):
        value = FUNCTIONS["asarray"](value, dtype=dtype)
    if isinstance(value, Variable):
        value = value.value()
    if isinstance(value, list | tuple):
        items = cast("Sequence[Any]", value)
        if any(isinstance(item, SymbolicTensor) for item in items):
            value = FUNCTIONS["asarray"](items)
    if not isinstance(value, SymbolicTensor):
        array = kept(use, value, dtype)
        return Tensor(array) if isinstance(array, jax.Array) else array
    found = host_type(value).dtype
    if found != dtype:
        problem = f"the component takes {_named(dtype)}, got {_named(found)}; convert it with gx.astype"
        raise refusal(use, problem, InvalidTypeError)
    return value


def check_type(use: str, name: str, found: TensorType, wanted: TensorType, *, many: bool = False) -> None:
    """Checks the type of a value to enqueue, as far as it is known.

    Args:
      use: the name of the calling function, for messages.
      many: whether the first axis counts elements.

    Raises:
      InvalidArgumentError: the shape differs.
    """
    if many and found.ranked:
        if not found.shape:
            raise refusal(use, f"{name} is {found}, which has no axis of elements; use enqueue for one element")
        found = TensorType(found.shape[1:], found.dtype)
    if not compatible_shapes(found, wanted):
        elements = " for each element" if many else ""
        raise refusal(use, f"{name} is {found}{elements}, but it takes {wanted}")


def part_names(types: Sequence[TensorType]) -> list[str]:
    """Returns names for messages, for components without names."""
    return [f"component {number}" for number in range(len(types))]


def check_row(use: str, row: Columns, types: Sequence[TensorType], names: Sequence[str]) -> None:
    """Checks the shapes of an element; see :func:`check_type`."""
    for name, array, type in zip(names, row, types, strict=True):
        if not _fits(array.shape, type):
            check_type(use, name, TensorType(array.shape, type.dtype), type)


def checked_rows(use: str, columns: Columns, types: Sequence[TensorType], names: Sequence[str]) -> int:
    """Returns the number of elements that arrays hold, from their first axes.

    Raises:
      InvalidArgumentError: the arrays hold different numbers of elements, or elements of another shape.
    """
    for name, column, wanted in zip(names, columns, types, strict=True):
        if not column.shape or not _fits(column.shape[1:], wanted):
            check_type(use, name, TensorType(column.shape, wanted.dtype), wanted, many=True)
    sizes = [column.shape[0] for column in columns]
    if len(set(sizes)) > 1:
        listed = ", ".join(f"{name} has {size}" for name, size in zip(names, sizes, strict=True))
        raise refusal(use, f"each component must have one row for each element, but {listed}")
    return sizes[0]


def tensors(columns: Columns) -> list[Any]:
    """Converts arrays to eager tensors on the device in scope, in one transfer."""
    moving: list[Any] = [column for column in columns if isinstance(column, np.ndarray) and column.dtype != STRING]
    moved = iter(_moved(moving))
    found: list[Any] = []
    for column in columns:
        if not isinstance(column, np.ndarray):
            found.append(Tensor(column))
        elif column.dtype == STRING:
            found.append(host_value(column))
        else:
            found.append(Tensor(next(moved)))
    if context.device:
        return [x if isinstance(x, StringTensor) else apply(OPS["identity"], (x,)) for x in found]
    return found


def _moved(arrays: list[Any]) -> Any:
    key = tuple([(array.shape, array.dtype) for array in arrays])
    times = _times.get(key, 0)
    if times >= _TIMES:
        return _together(*arrays)
    if len(_times) < _KEYS or times:
        _times[key] = times + 1
    if len(arrays) > 1 and devices()[0].platform != "cpu":
        return jax.device_put(arrays)
    # On a CPU there is nothing to move, and jnp.asarray takes half the time.
    return [jnp.asarray(array) for array in arrays]


def _same(*arrays: Any) -> tuple[Any, ...]:
    return arrays


_together: Any = jax.jit(_same)
"""Moves arrays in one call, three times as fast as any other way; but new shapes compile a new program."""

_times: dict[tuple[Any, ...], int] = {}
"""Number of times that arrays of these shapes and dtypes were moved, counted until they get a program."""

_TIMES = 16
_KEYS = 256


class Element:
    """The components of an element, and their names if it is a dict.

    Args:
      names: the names that the user passed; None for no names.

    Raises:
      InvalidArgumentError: the number of names differs from the number of components, or two names are equal.
    """

    def __init__(self, spec: QueueSpec, names: Sequence[str] | None) -> None:
        self.spec = spec
        self.names = _checked(spec, names)
        self._parts = list(self.names or part_names(spec.types))

    @property
    def only(self) -> TensorType | None:
        """The type of the component, if an element is a single tensor."""
        plain = len(self.spec.types) == 1 and self.names is None
        return self.spec.types[0] if plain else None

    def row(self, use: str, vals: Any) -> Columns:
        """Converts one element to the form that a queue keeps."""
        row = self._kept(use, vals)
        check_row(use, row, self.spec.types, self._parts)
        return row

    def rows(self, use: str, vals: Any) -> Run | None:
        """Converts many elements to the form that a queue keeps; None if there are none."""
        columns = self._kept(use, vals)
        count = checked_rows(use, columns, self.spec.types, self._parts)
        return Run(columns, 0, count) if count else None

    def operands(self, use: str, vals: Any, *, many: bool = False) -> list[Any]:
        """Converts one element, or many, to an op's inputs in a graph."""
        operands: list[Any] = []
        for part, value, type in zip(self._parts, self._given(use, vals), self.spec.types, strict=True):
            found = operand_of(use, value, type.dtype)
            check_type(use, part, host_type(found), type, many=many)
            operands.append(found)
        return operands

    def returned(self, values: Any) -> Any:
        """Returns tensors in the form that users expect: a single tensor, a list or a dict."""
        parts = list(cast("Sequence[Any]", values)) if isinstance(values, list | tuple) else [values]
        if self.names is not None:
            return dict(zip(self.names, parts, strict=True))
        return parts[0] if len(parts) == 1 else parts

    def _kept(self, use: str, vals: Any) -> Columns:
        types = self.spec.types
        return tuple([kept(use, value, type.dtype) for value, type in zip(self._given(use, vals), types, strict=True)])

    def _given(self, use: str, vals: Any) -> Sequence[Any]:
        """Returns the components of a user's value, in their order."""
        if isinstance(vals, dict):
            named = cast("dict[Any, Any]", vals)
            if self.names is None:
                raise refusal(use, "got a dict, but the components have no names; pass a list, or give the queue names")
            if set(named) != set(self.names):
                raise refusal(use, f"the components are {sorted(self.names)}, got {sorted(map(str, named))}")
            return [named[name] for name in self.names]
        if self.names is not None:
            raise refusal(use, f"the components have names; pass a dict with the keys {list(self.names)}")
        values = cast("Sequence[Any]", vals) if isinstance(vals, list | tuple) else [vals]
        if len(values) != len(self.spec.types):
            remedy = "; put the tensor into a list, [x]" if len(self.spec.types) == 1 else ""
            raise refusal(use, f"an element has {len(self.spec.types)} components, got {len(values)}{remedy}")
        return values


def _checked(spec: QueueSpec, names: Sequence[str] | None) -> tuple[str, ...] | None:
    if names is None:
        return None
    found = (names,) if isinstance(names, str) else tuple(names)
    if len(found) != len(spec.types):
        raise refusal(spec.kind, f"an element has {len(spec.types)} components, but there are {len(found)} names")
    if len(set(found)) != len(found):
        raise refusal(spec.kind, f"two components have the same name: {list(found)}")
    return found
