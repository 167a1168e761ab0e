"""Components of elements: their types, checks and conversion, and elements as queues keep and return them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, cast

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
    as_dtype,
    bytes_array,
    check_leaves,
    context,
    host_type,
    host_value,
    is_string_dtype,
    is_text,
)
from graphc.compiler.devices import devices
from graphc.compiler.ir import OPEN, OPS, Attrs, TensorType, compatible_shapes
from graphc.graphs.queues.rows import Columns, Run
from graphc.graphs.refusals import refusal

# The spec of a queue: its kind, capacity and component types, checked.

PADDING = "PaddingFIFOQueue"


@dataclass(frozen=True)
class QueueSpec:
    """The properties that two queues with the same shared name must have in common."""

    fields: ClassVar[tuple[str, ...]] = ("kind", "capacity", "min_after_dequeue", "seed", "types")

    kind: str
    capacity: int
    types: tuple[TensorType, ...]  # the types of an element's components; open where the queue accepts any size
    min_after_dequeue: int = 0
    seed: int | None = None

    @property
    def has_shapes(self) -> bool:
        """True if rows of each component can be joined: their shapes are known, or can be padded."""
        return all(type.ranked and (self.kind == PADDING or OPEN not in type.shape) for type in self.types)

    def attrs(self) -> Attrs:
        """Returns the spec as attributes of an op."""
        return Attrs({name: getattr(self, name) for name in self.fields})

    def difference(self, attrs: Mapping[str, Any]) -> str:
        """Describes the first difference from an op's attributes; empty if there is none."""
        for name in self.fields:
            mine, wanted = getattr(self, name), attrs[name]
            if mine != wanted:
                shown = (_listed(mine), _listed(wanted)) if name == "types" else (repr(mine), repr(wanted))
                return f"{name} {shown[0]}, not {shown[1]}"
        return ""


def _listed(types: Sequence[TensorType]) -> str:
    return f"({', '.join(map(str, types))})"


def integer(use: str, name: str, value: Any) -> int:
    """Converts a user's value to an int."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise refusal(use, f"{name} must be an int, got {value!r:.60}", InvalidTypeError)
    return value.__index__()


def dtype_of(use: str, dtype: Any) -> np.dtype[Any]:
    """Returns the dtype of a component; ``object`` for strings."""
    if is_string_dtype(dtype) or dtype is STRING:
        return STRING
    try:
        return as_dtype(dtype.as_numpy_dtype if hasattr(dtype, "as_numpy_dtype") else dtype)
    except InvalidTypeError as error:
        raise refusal(use, str(error.args[0]), InvalidTypeError) from None


def as_type(use: str, dtype: np.dtype[Any], shape: Any) -> TensorType:
    """Returns the type of a component from its dtype and a user's shape."""
    if hasattr(shape, "as_list"):
        shape = None if getattr(shape, "rank", 0) is None else shape.as_list()
    if shape is None:
        return TensorType((), dtype, ranked=False)
    try:
        sizes: Any = [shape] if hasattr(shape, "__index__") else list(shape)
        return TensorType(tuple([OPEN if size is None else size.__index__() for size in sizes]), dtype)
    except (TypeError, AttributeError):
        raise refusal(use, f"a shape must be a list of ints, got {shape!r:.60}", InvalidTypeError) from None


def component_types(use: str, dtypes: Any, shapes: Any) -> tuple[TensorType, ...]:
    """Returns the types of the components of an element.

    Args:
      shapes: None, or a shape for each dtype; for one dtype, also a single shape.
    """
    several = isinstance(dtypes, list | tuple)
    requested = cast("Sequence[Any]", dtypes) if several else [dtypes]
    if not requested:
        raise refusal(use, "dtypes is empty; an element needs at least one component")
    resolved = [dtype_of(use, dtype) for dtype in requested]
    if shapes is None:
        return tuple([as_type(use, dtype, None) for dtype in resolved])
    listed: list[Any] = [shapes]
    if isinstance(shapes, list | tuple) and (several or not _is_shape(cast("Sequence[Any]", shapes))):
        listed = list(cast("Sequence[Any]", shapes))
    if len(listed) != len(resolved):
        raise refusal(use, f"there are {len(resolved)} dtypes and {len(listed)} shapes; give one shape for each dtype")
    return tuple([as_type(use, dtype, shape) for dtype, shape in zip(resolved, listed, strict=True)])


def _is_shape(shapes: Sequence[Any]) -> bool:
    """Returns True for the shape of one component without a list around it: ``[2]``, ``(None, 3)`` or ``()``."""
    return all(size is None or hasattr(size, "__index__") for size in shapes) and not (
        len(shapes) == 1 and shapes[0] is None
    )


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
    """Converts a value to the array that a queue keeps: JAX arrays stay as they are, everything else is copied."""
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
        actual = "strings" if is_text(value) else _described(value)
        raise refusal(use, f"the component takes {_named(dtype)}, got {actual}", InvalidTypeError)
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
    converted = array.astype(dtype)
    if dtype.kind in "iu" and not np.array_equal(converted, array):
        raise refusal(use, f"the component takes {_named(dtype)}, which cannot hold {value!r:.60}")
    return converted


@cache
def _scalar_dtype(kind: type[Any], dtype: np.dtype[Any]) -> np.dtype[Any] | None:
    """Returns the dtype if it can hold Python numbers of a class; else None."""
    return dtype if _may_become(np.dtype(kind), dtype) else None


@cache
def _may_become(source: np.dtype[Any], wanted: np.dtype[Any]) -> bool:
    ranks = [[jnp.issubdtype(dtype, kind) for kind in _RANKS] for dtype in (source, wanted)]
    return all(map(any, ranks)) and ranks[0].index(True) <= ranks[1].index(True)


def _named(dtype: np.dtype[Any]) -> str:
    return "strings" if dtype == STRING else dtype.name


def _described(value: Any) -> str:
    if isinstance(value, jax.Array | np.ndarray | np.generic):
        array = cast("np.ndarray[Any, Any]", value)
        return str(TensorType(array.shape, array.dtype))
    return f"{type(value).__name__} {value!r:.60}"


def operand_of(use: str, value: Any, dtype: np.dtype[Any]) -> Any:
    """Converts a value to an op's input in a graph: a tensor of the graph, or a constant array."""
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
    actual = host_type(value).dtype
    if actual != dtype:
        problem = f"the component takes {_named(dtype)}, got {_named(actual)}; convert it with gx.astype"
        raise refusal(use, problem, InvalidTypeError)
    return value


def check_type(use: str, name: str, actual: TensorType, wanted: TensorType, *, many: bool = False) -> None:
    """Checks the type of a value to enqueue, as far as it is known.

    Args:
      many: whether the first axis counts elements.
    """
    if many and actual.ranked:
        if not actual.shape:
            raise refusal(use, f"{name} is {actual}, which has no axis of elements; use enqueue for one element")
        actual = TensorType(actual.shape[1:], actual.dtype)
    if not compatible_shapes(actual, wanted):
        elements = " for each element" if many else ""
        raise refusal(use, f"{name} is {actual}{elements}, but it takes {wanted}")


def part_names(types: Sequence[TensorType]) -> list[str]:
    """Returns names for messages, for components without names."""
    return [f"component {number}" for number in range(len(types))]


def check_row(use: str, row: Columns, types: Sequence[TensorType], names: Sequence[str]) -> None:
    """Checks the shapes of an element; see :func:`check_type`."""
    for name, array, type in zip(names, row, types, strict=True):
        if not _fits(array.shape, type):
            check_type(use, name, TensorType(array.shape, type.dtype), type)


def checked_rows(use: str, columns: Columns, types: Sequence[TensorType], names: Sequence[str]) -> int:
    """Returns the number of elements that arrays hold, from their first axes."""
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
    converted: list[Any] = []
    for column in columns:
        if not isinstance(column, np.ndarray):
            converted.append(Tensor(column))
        elif column.dtype == STRING:
            converted.append(host_value(column))
        else:
            converted.append(Tensor(next(moved)))
    if context.device:
        return [x if isinstance(x, StringTensor) else apply(OPS["identity"], (x,)) for x in converted]
    return converted


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
    """The components of an element, and their names if it is a dict."""

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
            operand = operand_of(use, value, type.dtype)
            check_type(use, part, host_type(operand), type, many=many)
            operands.append(operand)
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
    listed = (names,) if isinstance(names, str) else tuple(names)
    if len(listed) != len(spec.types):
        raise refusal(spec.kind, f"an element has {len(spec.types)} components, but there are {len(listed)} names")
    if len(set(listed)) != len(listed):
        raise refusal(spec.kind, f"two components have the same name: {list(listed)}")
    return listed
