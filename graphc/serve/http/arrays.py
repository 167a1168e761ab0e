"""Arrays: their conversion from and to JSON values, within the memory that their numbers need."""

from __future__ import annotations

import inspect
import math
import reprlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, cast

import jax.numpy as jnp
import numpy as np

from graphc.compiler.base import nest
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError, UnimplementedError
from graphc.compiler.core import Tensor, Variable, as_dtype, canonical_array
from graphc.compiler.function import TensorSpec
from graphc.compiler.ir import dtype_from_short
from graphc.serve.copies import Array

_WORDS = {"NaN": np.nan, "Infinity": np.inf, "-Infinity": -np.inf}
"""The numbers that JSON lacks, as written in requests and answers."""

_INFINITIES = frozenset((math.inf, -math.inf))
_SCALARS: frozenset[type[Any]] = frozenset((int, float, bool, str))

_ORDER = "biufc"
"""Kinds of dtypes; numbers of one kind can be converted to those after it."""

_MOST_ITEMS = 1000
"""The maximum length of a list of structures, each of which costs as much as a thousand numbers."""

_MOST_AXES = 32

_BRIEF = reprlib.Repr()  # of a value of any size, in little time
_BRIEF.maxlevel, _BRIEF.maxlist, _BRIEF.maxdict, _BRIEF.maxstring = 3, 8, 8, 60


def natural(value: Any, path: str) -> Any:
    """Returns the array or structure of a value without a known signature.

    A nested list of numbers or booleans is an array: of int32, or of float32 if one of the numbers has a decimal point.
    So is an object ``{"array": [...], "dtype": "int8"}``. Other lists and objects are structures.
    """
    if isinstance(value, dict) and "array" not in value:
        return {name: natural(item, f"{path}.{name}") for name, item in cast("dict[str, Any]", value).items()}
    if not _holds_objects(value):
        return array_of(value, path)
    items = cast("list[Any]", value)
    if len(items) > _MOST_ITEMS:
        raise InvalidArgumentError(f"{path}: a list of structures has at most {_MOST_ITEMS} items, got {len(items)}")
    return [natural(item, f"{path}[{index}]") for index, item in enumerate(items)]


def array_of(value: Any, path: str, spec: TensorSpec | None = None) -> Array:
    """Returns the array of an argument."""
    dtype = None if spec is None else as_dtype(spec.dtype)
    if isinstance(value, np.ndarray):
        array = cast("Array", value)
        _check_shape(spec, array.shape, path)
        return _cast(array, as_dtype(array.dtype) if dtype is None else dtype, path)
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        if not {"array"} <= fields.keys() <= {"array", "dtype"}:
            raise InvalidArgumentError(
                f'{path}: expected an array, as a nested list or as {{"array": [...], "dtype": "float32"}}; '
                f"got {shown(fields)}"
            )
        own = _dtype(fields["dtype"], path) if "dtype" in fields else None
        array = _listed(fields["array"], own, path, spec)
        return array if dtype is None else _cast(array, dtype, path)
    return _listed(value, dtype, path, spec)


def plain(value: Any) -> Any:
    """Converts a result to JSON values: arrays to nested lists, numbers that JSON lacks to words."""
    if isinstance(value, np.ndarray | np.generic):
        array = portable(np.asarray(cast("Any", value)))
        if array.dtype.kind == "c":
            raise UnimplementedError("JSON has no complex numbers; ask with Accept: application/x-npy")
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            return _with_words(array.tolist())
        return array.tolist()
    if isinstance(value, float):
        return _with_words(value)
    if value is None or isinstance(value, str | int):
        return value
    if (parts := nest.children(value)) is None:
        raise UnimplementedError(f"the result contains {type(value).__name__}, which JSON cannot represent")
    items = [plain(item) for item in parts[1]]
    is_list = type(value) in (list, tuple)
    return items if is_list else {str(key): item for key, item in zip(parts[0], items, strict=True)}


def portable(array: Array) -> Array:
    """Converts an array to a NumPy dtype that holds all its numbers: float32 for bfloat16, int8 for int4."""
    if array.dtype.isbuiltin == 1:
        return array
    return array.astype(np.float32 if _kind(array.dtype) == "f" else np.int8)


def shown(value: Any) -> str:
    """Returns the beginning of a value's text, for messages."""
    text = _BRIEF.repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _dtype(name: Any, path: str) -> np.dtype[Any]:
    """Returns the dtype of numbers that has a name; NumPy would also make dtypes of any size of texts."""
    try:
        dtype = as_dtype(dtype_from_short(name))
    except TypeError:
        dtype = None
    if dtype is None or dtype.kind == "O":  # of strings
        raise InvalidArgumentError(f"{path}: no dtype of numbers is called {shown(name)}")
    return dtype


def _listed(value: Any, dtype: np.dtype[Any] | None, path: str, spec: TensorSpec | None) -> Array:
    """Returns the array of a nested list; NumPy is given numbers alone, in one list."""
    shape, numbers = _flat(value, path)
    _check_shape(spec, shape, path)
    try:
        array = np.asarray(numbers)
    except OverflowError:  # an int beyond the largest float, beside floats
        array = np.asarray(None)
    if array.dtype.kind not in "biuf":
        raise InvalidArgumentError(f"{path}: expected a nested list of numbers, got {shown(value)}")
    if not array.size:
        return np.empty(shape, np.float32 if dtype is None else dtype)
    if dtype is None and array.dtype.kind != "f":
        return canonical_array(numbers).reshape(shape)
    return _cast(array.reshape(shape), np.dtype(np.float32) if dtype is None else dtype, path)


def _flat(value: Any, path: str) -> tuple[tuple[int, ...], list[Any]]:
    """Returns the shape of a nested list, and its numbers.

    Of texts among numbers NumPy would make an array whose items are as long as the longest.
    """
    shape: tuple[int, ...] = ()
    level: list[Any] = [value]
    while (kinds := {*map(type, level)}) == {list} and len(shape) < _MOST_AXES:
        sizes = {*map(len, level)}
        if len(sizes) > 1:
            break
        shape = (*shape, *sizes)
        level = list(chain.from_iterable(level))
    if list in kinds:
        raise InvalidArgumentError(f"{path}: the lists of an array have one length on each level")
    if float in kinds and kinds <= _SCALARS and not _INFINITIES.isdisjoint(level):  # Python's 1e400
        raise InvalidArgumentError(f'{path}: no dtype holds numbers as large; an infinity is written "Infinity"')
    if str in kinds:
        level = [_WORDS.get(item, item) if isinstance(item, str) else item for item in level]
        kinds = {*map(type, level)}
    if not kinds <= _SCALARS - {str}:
        raise InvalidArgumentError(f"{path}: expected a nested list of numbers, got {shown(value)}")
    return shape, level


def _check_shape(spec: TensorSpec | None, shape: tuple[int, ...], path: str) -> None:
    if spec is not None and not spec.has_shape(shape):
        raise InvalidArgumentError(f"{path}: expected {spec}, got an array of shape {list(shape)}")


def _cast(array: Array, dtype: np.dtype[Any], path: str) -> Array:
    """Converts an array to a dtype that can hold its numbers, except for the rounding of floats."""
    if array.dtype == dtype:
        return array
    actual, wanted = _kind(array.dtype), _kind(dtype)
    if actual != wanted and (wanted == "b" or actual == "b" or _ORDER.index(actual) > _ORDER.index(wanted)):
        raise InvalidArgumentError(f"{path}: expected numbers of {dtype.name}, got {array.dtype.name}")
    if wanted == "i" and array.size:
        limits = jnp.iinfo(dtype)
        if int(array.min()) < limits.min or int(array.max()) > limits.max:
            raise InvalidArgumentError(f"{path}: {dtype.name} holds numbers from {limits.min} to {limits.max}")
    with np.errstate(over="ignore"):
        result = array.astype(dtype)
    if wanted in "fc" and not _is_kept(array, result):
        raise InvalidArgumentError(f"{path}: {dtype.name} does not hold numbers as large")
    return result


def _is_kept(array: Any, result: Any) -> bool:
    """Returns True if no number became infinite, NaN, or the largest, which is what dtypes without those make of it."""
    if result.dtype.itemsize > 1 and np.isfinite(result).all():
        return True
    largest = cast("Any", jnp).finfo(result.dtype).max if result.dtype.itemsize == 1 else np.inf
    same = (np.isnan(array) == np.isnan(result)) & (np.isinf(array) == np.isinf(result))
    return bool((same & ((np.abs(array) <= largest) | ~np.isfinite(array))).all())


def _kind(dtype: np.dtype[Any]) -> str:
    if dtype.kind == "V":  # of ml_dtypes
        return "i" if "int" in dtype.name else "f"
    return "i" if dtype.kind == "u" else dtype.kind


def _holds_objects(value: Any) -> bool:
    """Returns True for a list with a JSON object near its beginning."""
    if not isinstance(value, list):
        return False
    return any(isinstance(item, dict | np.ndarray) or _holds_objects(item) for item in cast("list[Any]", value)[:2])


def _with_words(value: Any) -> Any:
    if isinstance(value, list):
        return [_with_words(item) for item in cast("list[Any]", value)]
    if isinstance(value, float) and not np.isfinite(value):
        return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
    return value


# Forms: the arguments that a served function takes, and the conversion of a request's arguments to them.


@dataclass(frozen=True)
class BodyArguments:
    """The arguments in the body of a request: arrays, or JSON values, in structures.

    Attributes:
      signature: the name of the form that they must fit; empty for the first that they fit.
    """

    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict[str, Any])
    signature: str = ""


@dataclass(frozen=True)
class ArgumentContainer:
    """A container in the arguments of a function."""

    level: nest.Structure
    items: tuple[Tree, ...]

    def __str__(self) -> str:
        return f"{{{', '.join(f'{key}: {item}' for key, item in zip(self.level.keys, self.items, strict=True))}}}"


Tree = TensorSpec | ArgumentContainer
"""The form of an argument: a tensor, or a structure of tensors."""


@dataclass(frozen=True)
class Form:
    """The arguments of one signature of a function."""

    name: str
    args: tuple[Tree, ...]
    kwargs: Mapping[str, Tree]
    names: tuple[str, ...] = ()

    @classmethod
    def of(cls, name: str, f: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Form:
        """Returns the form of a call."""
        try:
            parameters = list(inspect.signature(f).parameters.values())
        except (TypeError, ValueError):
            parameters = []
        named = [each.name for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD]
        trees = {key: _tree(value) for key, value in kwargs.items()}
        return cls(name, tuple([_tree(value) for value in args]), trees, tuple(named[: len(args)]))

    @property
    def specs(self) -> list[TensorSpec]:
        """The specs of all arrays."""
        return [spec for tree in (*self.args, *self.kwargs.values()) for spec in _specs(tree)]

    def fit(self, arguments: BodyArguments) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Converts the arguments of a request to the function's."""
        args, kwargs = list(arguments.args), dict(arguments.kwargs)
        for name in self.names[len(args) : len(self.args)]:
            if name not in kwargs:
                break
            args.append(kwargs.pop(name))
        if len(args) != len(self.args) or kwargs.keys() != self.kwargs.keys():
            names = ", ".join([*map(self._name, range(len(args))), *kwargs]) or "none"
            raise InvalidArgumentError(f"expected the arguments ({self}), got {names}")
        return (
            tuple([_fit(tree, args[index], self._name(index)) for index, tree in enumerate(self.args)]),
            {name: _fit(tree, kwargs[name], name) for name, tree in self.kwargs.items()},
        )

    def elements(self, rows: int) -> int | None:
        """Returns the number of elements of all arrays for a number of rows; None if an axis is open."""
        if any(spec.shape is None or None in spec.shape[1:] for spec in self.specs):
            return None
        return sum(rows * math.prod(size or 0 for size in (spec.shape or ())[1:]) for spec in self.specs)

    def example(self) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
        """Returns arguments with one row of zeros; None if an axis other than the row axis has an open size."""
        if self.elements(1) is None:
            return None
        return tuple(map(_zeros, self.args)), {name: _zeros(tree) for name, tree in self.kwargs.items()}

    def of_rows(self) -> Form:
        """Returns the form with any number of rows."""
        kwargs = {name: _of_rows(tree) for name, tree in self.kwargs.items()}
        return replace(self, args=tuple(map(_of_rows, self.args)), kwargs=kwargs)

    def to_dict(self) -> dict[str, Any]:
        """Returns the form as plain dicts and strings."""
        arguments = {name: _plain(tree) for name, tree in self._named()}
        return {"name": self.name, "arguments": arguments, "positional": len(self.args)}

    def __str__(self) -> str:
        return ", ".join([f"{name}: {tree}" for name, tree in self._named()])

    def _named(self) -> list[tuple[str, Tree]]:
        return [*((self._name(index), tree) for index, tree in enumerate(self.args)), *self.kwargs.items()]

    def _name(self, index: int) -> str:
        return self.names[index] if index < len(self.names) else f"args[{index}]"


def _tree(value: Any) -> Tree:
    if isinstance(value, TensorSpec):
        return value
    parts = nest.children(value)
    if parts is not None:
        return ArgumentContainer(nest.level(value), tuple(map(_tree, parts[1])))
    if not (hasattr(value, "shape") and hasattr(value, "dtype")):
        raise InvalidTypeError(
            f"App: an example has arrays or gx.TensorSpecs with a row for each query, got {type(value).__name__} "
            f"{shown(value)}; bind arguments that are the same for all queries with functools.partial"
        )
    array = canonical_array(value.numpy() if isinstance(value, Tensor | Variable) else value)
    if not array.ndim:
        raise InvalidArgumentError(f"App: an array of an example needs an axis of rows, got {array!r}; give x[None]")
    return TensorSpec((None, *array.shape[1:]), array.dtype)


def _specs(tree: Tree) -> Iterator[TensorSpec]:
    if isinstance(tree, TensorSpec):
        yield tree
    else:
        for item in tree.items:
            yield from _specs(item)


def _of_rows(tree: Tree) -> Tree:
    if isinstance(tree, TensorSpec):
        return tree if tree.shape is None else replace(tree, shape=(None, *tree.shape[1:]))
    return ArgumentContainer(tree.level, tuple(map(_of_rows, tree.items)))


def _zeros(tree: Tree) -> Any:
    if isinstance(tree, TensorSpec):
        return np.zeros((1, *[size or 0 for size in (tree.shape or ())[1:]]), as_dtype(tree.dtype))
    return nest.unflatten(tree.level, map(_zeros, tree.items))


def _plain(tree: Tree) -> Any:
    if isinstance(tree, TensorSpec):
        return {"dtype": as_dtype(tree.dtype).name, "shape": None if tree.shape is None else list(tree.shape)}
    return {str(key): _plain(item) for key, item in zip(tree.level.keys, tree.items, strict=True)}


def _fit(tree: Tree, value: Any, path: str) -> Any:
    if isinstance(tree, TensorSpec):
        return array_of(value, path, tree)
    keys = tuple(map(str, tree.level.keys))
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        if fields.keys() != {*keys}:
            wanted, got = ", ".join(keys), ", ".join(map(str, fields)) or "none"
            raise InvalidArgumentError(f"{path}: expected the fields {wanted}, got {got}")
        values = [fields[key] for key in keys]
    elif isinstance(value, list) and tree.level.kind is not dict:
        values = cast("list[Any]", value)
        if len(values) != len(keys):
            raise InvalidArgumentError(f"{path}: expected a list of {len(keys)} items, got {len(values)}")
    elif value is None and not keys:
        values = list[Any]()
    else:
        raise InvalidArgumentError(f"{path}: expected {tree}, got {shown(value)}")
    fitted = [_fit(item, part, f"{path}.{key}") for item, part, key in zip(tree.items, values, keys, strict=True)]
    return nest.unflatten(tree.level, fitted)
