"""Tensor types and literal arrays: the values in types, attributes and the printed text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

import ml_dtypes
import numpy as np

from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError

OPEN = -1
"""A size that is known only when the graph runs."""

_SHORT = {
    "bool": "bool",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
    "uint8": "u8",
    "uint16": "u16",
    "uint32": "u32",
    "uint64": "u64",
    "float16": "f16",
    "bfloat16": "bf16",
    "float32": "f32",
    "float64": "f64",
    "complex64": "c64",
    "complex128": "c128",
    "object": "str",  # strings are arrays of ``bytes`` objects
}


def _known_dtypes() -> dict[str, np.dtype[Any]]:
    """Returns all dtypes by long and by short name, including those of ``ml_dtypes``."""
    more = [name for name, kind in vars(ml_dtypes).items() if isinstance(kind, type) and hasattr(kind, "dtype")]
    dtypes = {name: np.dtype(getattr(ml_dtypes, name, name)) for name in (*_SHORT, *more)}
    return dtypes | {short: dtypes[long] for long, short in _SHORT.items()}


_DTYPES = _known_dtypes()


def short_dtype(dtype: np.dtype[Any]) -> str:
    """Returns the short name of a dtype: ``f32``, ``i32``, ``bool``, ``bf16``."""
    name = getattr(dtype, "name", None) or str(dtype)  # an invalid dtype must print too, in the verifier's message
    return _SHORT.get(name, name)


def dtype_from_short(name: str) -> np.dtype[Any]:
    """Returns the dtype of a short or long name; raises ``TypeError`` for an unknown name."""
    dtype = _DTYPES.get(name)
    if dtype is None:
        raise TypeError(f"there is no dtype {name!r}; expected one of {', '.join(_SHORT.values())}, or of ml_dtypes")
    return dtype


@dataclass(frozen=True, slots=True)
class TensorType:
    """The shape and dtype of a tensor.

    Attributes:
      shape: the size of each axis; ``OPEN`` for one that is known only when the graph runs.
      dtype: a NumPy dtype, including those of ``ml_dtypes``; ``object`` for strings.
      weak: whether the dtype yields to others in promotion, like that of a Python scalar (JAX's weak types).
      ranked: whether the number of axes is known; if it is not, the shape is ``()``.

    Example:
      >>> str(TensorType((2, 3), np.dtype("float32"))), str(TensorType((OPEN, 3), np.dtype("float32")))
      ('f32[2,3]', 'f32[?,3]')
      >>> str(TensorType((), np.dtype("float32"), ranked=False))
      'f32[*]'
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    weak: bool = False
    ranked: bool = True

    def __str__(self) -> str:
        sizes = ",".join(["?" if size == OPEN else str(size) for size in self.shape]) if self.ranked else "*"
        return f"{'~' if self.weak else ''}{short_dtype(self.dtype)}[{sizes}]"

    @property
    def is_open(self) -> bool:
        """True if a size, or the number of axes, is unknown."""
        return OPEN in self.shape or not self.ranked

    @property
    def size(self) -> int:
        """The number of elements.

        Raises:
          InvalidArgumentError: the type is open, so that the number is known only when the graph runs.
        """
        if self.is_open:
            raise InvalidArgumentError(
                f"the number of elements of {self} is not known while the graph is built; compute it in the graph, "
                "from gx.shape"
            )
        total = 1
        for axis in self.shape:
            total *= axis
        return total

    @property
    def is_inexact(self) -> bool:
        """True if the dtype is floating or complex, so that gradients flow."""
        return self.dtype.kind in "fc" or self.dtype.name.startswith(("bfloat", "float"))


class Literal:
    """An array as an attribute: immutable, hashable, and compared by dtype, shape and bytes.

    Args:
      array: the array, which is copied, so that later writes to it have no effect. Strings are stored as ``bytes``.

    Raises:
      InvalidTypeError: the array holds Python objects other than strings.
    """

    __slots__ = ("_hash", "array")

    array: np.ndarray[Any, Any]

    def __init__(self, array: Any) -> None:
        copied = np.array(array, copy=True)
        if copied.dtype.kind in "OSU":
            copied = _strings(copied)
        if not copied.dtype.isnative:
            copied = copied.astype(copied.dtype.newbyteorder("="))
        copied.setflags(write=False)
        self.array = copied
        self._hash: int | None = None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Literal):
            return NotImplemented
        mine, theirs = self.array, other.array
        return mine.dtype == theirs.dtype and mine.shape == theirs.shape and _content(mine) == _content(theirs)

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash((self.array.dtype.name, self.array.shape, _content(self.array)))
        return self._hash

    def __repr__(self) -> str:
        return f"Literal({self.array!r})"


def _content(array: np.ndarray[Any, Any]) -> Any:
    """Returns a key for the elements: their bits, or the strings themselves."""
    return tuple(array.ravel().tolist()) if array.dtype.kind == "O" else array.tobytes()


def _strings(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Returns strings as an array of ``bytes`` objects."""
    encoded = np.empty(array.shape, object)
    for index, item in enumerate(array.ravel().tolist()):
        if not isinstance(item, str | bytes):
            raise InvalidTypeError(f"a literal holds numbers or strings, not {item!r:.60}")
        encoded.flat[index] = item.encode() if isinstance(item, str) else item
    return encoded


class Attrs(Mapping[str, Any]):
    """The static attributes of a node: an immutable mapping with a cached hash.

    Values are None, bool, int, float, complex, str, dtypes, :class:`TensorType`, :class:`Literal`, and tuples of these.
    Equality distinguishes ``1``, ``1.0`` and ``True``, which compile to different programs.
    """

    __slots__ = ("_hash", "_items", "_key")

    def __init__(self, items: Mapping[str, Any] | None = None, /, **more: Any) -> None:
        self._items: dict[str, Any] = {**(items or {}), **more}
        self._key = tuple((name, typed_key(self._items[name])) for name in sorted(self._items))
        self._hash = hash(self._key)

    def __getitem__(self, name: str) -> Any:
        return self._items[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Attrs) and self._hash == other._hash and self._key == other._key)

    def __repr__(self) -> str:
        return f"Attrs({self._items!r})"


def typed_key(value: Any) -> Any:
    """Returns a hashable key that distinguishes ``1``, ``1.0`` and ``True``, also nested, and ``0.0`` from ``-0.0``."""
    kind = cast("type[Any]", type(value))
    if kind is tuple:
        return tuple(typed_key(item) for item in value)
    if kind is float:
        return (kind, value.hex())
    if kind is complex:
        return (kind, value.real.hex(), value.imag.hex())
    return (kind, value) if kind in (bool, int) else value
