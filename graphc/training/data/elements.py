"""Elements in a pipeline: rows of leaves on the host, blocks of rows, and tensors at the end.

A row is the tuple of an element's leaves: NumPy arrays and scalars of dtypes that tensors have, ``bytes`` for strings
(arrays of them if a leaf has axes), and datasets if an element is a window. The spec determines the structure. A block
is the tuple of the columns of some rows, each with an additional first axis.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import jax as _jax
import numpy as np

from graphc.compiler.base import nest
from graphc.compiler.base.errors import ConcretizationError, InvalidArgumentError, InvalidTypeError
from graphc.compiler.base.nest import LEAF, Structure
from graphc.compiler.core import (
    StringTensor,
    SymbolicTensor,
    Tensor,
    Variable,
    as_dtype,
    as_strings,
    bytes_array,
    canonical_array,
    dtype_rules,
    is_string_dtype,
    is_text,
    scalar_array,
    string,
)
from graphc.compiler.function import TensorSpec

jax: Any = _jax  # its functions are only partly annotated

Row: TypeAlias = tuple[Any, ...]
Block: TypeAlias = tuple[Any, ...]

unflatten = nest.unflatten


@dataclass(frozen=True)
class DatasetSpec:
    """The type of a dataset inside an element (TensorFlow's DatasetSpec).

    Attributes:
      element_spec: the types of the dataset's elements.
    """

    element_spec: Any

    def __str__(self) -> str:
        return f"Dataset of {described(self.element_spec)}"


class Nested:
    """Base of the dataset class, which may be a leaf of an element."""

    element_spec: Any


def flatten(value: Any) -> tuple[list[Any], Structure]:
    """Returns the leaves of an element or of a spec, and its structure; a list counts as an array, so it is a leaf."""
    leaves: list[Any] = []
    return leaves, _walk(value, leaves)


def _walk(value: Any, leaves: list[Any]) -> Structure:
    is_leaf = isinstance(value, list | TensorSpec | DatasetSpec)
    parts = None if is_leaf else nest.children(value)
    if parts is None:
        leaves.append(value)
        return LEAF
    keys, items = parts
    return Structure(cast("type[Any]", type(value)), keys, tuple([_walk(item, leaves) for item in items]))


def take_apart(value: Any) -> tuple[Row, Structure]:
    """Returns a user's element as a row, with its own memory, and its structure."""
    if type(value) in _PLAIN:
        return (host_leaf(value),), LEAF
    leaves, structure = flatten(value)
    return tuple([host_leaf(leaf) for leaf in leaves]), structure


_PLAIN = (int, float, bool, complex, str, bytes, np.ndarray)
_scalars: dict[tuple[Any, int], Any] = {}


_canonical: dict[tuple[Any, int], bool] = {}


def _is_canonical(dtype: np.dtype[Any]) -> bool:
    key = dtype, dtype_rules()
    canonical = _canonical.get(key)
    if canonical is None:
        canonical = _canonical[key] = dtype.kind not in "OUSVTMm" and as_dtype(dtype) == dtype
    return canonical


def host_leaf(value: Any) -> Any:
    """Converts a leaf of a user's element to a row's leaf."""
    kind: Any = cast("Any", type(value))
    if kind is bytes:
        return value
    if kind is str:
        return value.encode("utf-8", "surrogateescape")
    if kind in (int, float, bool, complex):
        rules = dtype_rules()
        maker = _scalars.get((kind, rules))
        if maker is None:
            maker = _scalars[kind, rules] = scalar_array(kind(0), weak=False).dtype.type
        try:
            return maker(value)
        except OverflowError:
            return scalar_array(value, weak=False)[()]
    if isinstance(value, np.generic):
        scalar = cast("Any", value)
        return scalar if _is_canonical(scalar.dtype) else _array(scalar)[()]
    if isinstance(value, np.ndarray):
        array = cast("np.ndarray[Any, Any]", value)
        return array.copy() if _is_canonical(array.dtype) else _array(array)
    if isinstance(value, StringTensor):
        data = bytes_array(value)
        return data if data.shape else data[()]
    if isinstance(value, Tensor | Variable):
        return _values(value)
    return value if isinstance(value, Nested) else _array(value)


def _values(tensor: Tensor | Variable) -> Any:
    if isinstance(tensor, SymbolicTensor):
        error = ConcretizationError(
            f"a dataset holds the values of its tensors, and this one ({tensor.type}, {tensor.made_at()}) has none "
            "while the function is traced; make the dataset of Python or NumPy values, or outside the function"
        )
        raise tensor.trace.refuse(error)
    return np.asarray(tensor.numpy())


def _array(value: Any) -> Any:
    if isinstance(value, list):
        items = cast("list[Any]", value)
        if all(isinstance(item, Tensor) for item in items) and len({item.shape for item in items}) == 1:
            return canonical_array(np.stack(list(map(_values, items))))  # in half the time
    if is_text(value):
        array = bytes_array(value)
        return array if array.shape else array[()]
    if isinstance(value, list):
        value = [_plain(item) for item in cast("list[Any]", value)]
    if not isinstance(value, list | np.ndarray | np.generic | jax.Array) and not hasattr(value, "__array__"):
        raise InvalidTypeError(
            f"an element of a dataset has {type(value).__name__} {value!r:.60}; its leaves must be numbers, strings "
            "and arrays of these, in tuples, dicts, named tuples and dataclasses"
        ).here()
    return canonical_array(value)


def _plain(value: Any) -> Any:
    if isinstance(value, Tensor | Variable):
        return _values(value)
    return [_plain(item) for item in cast("list[Any]", value)] if isinstance(value, list | tuple) else value


def spec_of(leaf: Any) -> Any:
    """Returns the spec of a leaf of a row."""
    if isinstance(leaf, Nested):
        return DatasetSpec(leaf.element_spec)
    if isinstance(leaf, bytes):
        return TensorSpec((), string)
    return TensorSpec(leaf.shape, string if leaf.dtype == object else leaf.dtype)


def is_static(spec: Any) -> bool:
    """True if the leaves are numbers of known shapes."""
    return all(
        isinstance(leaf, TensorSpec) and not leaf.of_strings and leaf.shape is not None and None not in leaf.shape
        for leaf in flatten(spec)[0]
    )


def described(spec: Any) -> str:
    """Describes a spec in words, such as ``(float32[28,28], int32[])``."""
    leaves, structure = flatten(spec)
    return str(unflatten(structure, [_Word(str(leaf)) for leaf in leaves]))


class _Word(str):
    __slots__ = ()
    __repr__ = str.__str__


def row_bytes(spec: Any) -> int:
    """Estimates the size of a row in bytes."""
    total = 0
    for leaf in flatten(spec)[0]:
        shape = getattr(leaf, "shape", None) or ()
        width = 64 if is_string_dtype(getattr(leaf, "dtype", str)) else as_dtype(leaf.dtype).itemsize
        total += width * math.prod(size or 1 for size in shape)
    return max(total, 1)


def size_of(block: Block) -> int:
    """Returns the number of rows in a block."""
    return len(block[0])


def row_of(block: Block, index: int) -> Row:
    """Returns one row of a block on the host."""
    return tuple([column[index] for column in block])


def rows_of(block: Block, start: int, stop: int | None = None) -> Block:
    """Returns some rows of a block."""
    return tuple([column[start:stop] for column in block])


def joined(blocks: Sequence[Block]) -> Block:
    """Joins several blocks into one."""
    if len(blocks) == 1:
        return blocks[0]
    return tuple([np.concatenate([np.asarray(column) for column in columns]) for columns in zip(*blocks, strict=True)])


def stacked(rows: Sequence[Row], use: str = "batch") -> Block:
    """Stacks rows into a block."""
    return tuple([_column(leaves, use, index) for index, leaves in enumerate(zip(*rows, strict=True))])


def _column(leaves: tuple[Any, ...], use: str, index: int) -> Any:
    first = leaves[0]
    if isinstance(first, bytes):
        column = np.empty(len(leaves), object)
        column[:] = leaves
        return column
    if isinstance(first, Nested):
        raise InvalidTypeError(
            f"{use}: leaf {index} of an element is a dataset; flatten it first: dataset.flat_map(...)"
        ).here()
    if all(not leaf.shape for leaf in leaves):
        return np.array(leaves, first.dtype)
    try:
        return np.stack([np.asarray(leaf) for leaf in leaves])
    except ValueError:
        raise _uneven(leaves, use, index) from None


def _uneven(leaves: tuple[Any, ...], use: str, index: int) -> InvalidArgumentError:
    first = leaves[0].shape
    number = next(number for number, leaf in enumerate(leaves) if leaf.shape != first)
    return InvalidArgumentError(
        f"{use}: leaf {index} of element {number} has the shape {leaves[number].shape}, but element 0 of the "
        f"same batch has {first}; use padded_batch, or give the elements one shape with map"
    ).here()


def to_argument(leaf: Any) -> Any:
    """Converts a leaf of a row to an argument of a user's Python function: strings become a tensor of strings."""
    if not isinstance(leaf, Nested) and _is_string(leaf):
        return as_strings(leaf)
    return np.asarray(leaf) if isinstance(leaf, jax.Array) else leaf


def to_tensors(row: Row, target: Any = None) -> list[Any]:  # target: a device or sharding of JAX's
    """Converts the leaves of a row to tensors, in one transfer to the device."""
    if target is None and (arrays := _repeated(row)) is not None:
        return [Tensor(array) for array in arrays]
    numbers = [leaf for leaf in row if not _stays(leaf)]
    if target is not None or not all(isinstance(leaf, jax.Array) for leaf in numbers):
        numbers = jax.device_put(numbers, target)
    if len(numbers) == len(row):
        return [Tensor(array) for array in numbers]
    arrays = iter(numbers)
    return [_kept(leaf) if _stays(leaf) else Tensor(next(arrays)) for leaf in row]


_SMALL = 2**16
_OFTEN = 100
_KINDS = 1000
_seen: dict[tuple[Any, ...], int] = {}


def _repeated(row: Row) -> Sequence[Any] | None:
    """Returns the arrays of a row of small NumPy arrays, if rows of these types have come often; otherwise None."""
    # A program that returns its arguments takes a third of the time of ``device_put`` for a small array. It is compiled
    # for each type, which takes as long as some hundred calls.
    if not all(type(leaf) is np.ndarray or isinstance(leaf, np.generic) for leaf in row):
        return None
    key = tuple([(leaf.shape, leaf.dtype) for leaf in row])
    count = _seen.get(key, 0)
    if count >= _OFTEN:
        return _held(*row)
    if sum(leaf.nbytes for leaf in row) <= _SMALL and not any(map(_stays, row)):
        if len(_seen) >= _KINDS:
            _seen.clear()
        _seen[key] = count + 1
    return None


@jax.jit
def _held(*arrays: Any) -> Any:
    return arrays


def _stays(leaf: Any) -> bool:
    return isinstance(leaf, Nested) or _is_string(leaf)


def _is_string(leaf: Any) -> bool:
    return isinstance(leaf, bytes) or leaf.dtype.kind == "O"


def _kept(leaf: Any) -> Any:
    if isinstance(leaf, Nested):
        return leaf
    strings = as_strings(leaf)
    return StringTensor(np.empty(leaf.shape, object)) if strings is None else strings
