"""Parsing of Example messages into tensors: what features they have, with TensorFlow's names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np

from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError
from graphc.compiler.core import (
    STRING,
    apply,
    apply_all,
    as_dtype,
    bytes_array,
    host_array,
    host_type,
    host_value,
    in_graph,
    is_text,
)
from graphc.compiler.ir import OPEN, Attrs, Graph, Literal, TensorType, define_op
from graphc.compiler.tracing import is_tracing
from graphc.graphs.queues.components import dtype_of
from graphc.graphs.queues.ops import example_class
from graphc.graphs.refusals import refusal

# SparseValue: the parts of a sparse tensor, whose sizes only a run knows.


class SparseValue(NamedTuple):
    """The parts of a sparse tensor, like TensorFlow's ``SparseTensorValue``.

    Attributes:
      indices: the indices of the stored elements, one row each, ascending.
      values: the stored elements.
      dense_shape: the size of each axis.
    """

    indices: Any
    values: Any
    dense_shape: Any

    def to_dense(self, default_value: Any = None) -> Any:
        """Returns all elements as one tensor.

        Args:
          default_value: the value where there is no element; zero, or an empty string, if None.

        Raises:
          InvalidArgumentError: an index lies outside of the shape.
          InvalidTypeError: the default is of another dtype.

        Example:
          >>> import graphc as gx
          >>> gx.queues.SparseValue([[0, 1], [1, 0]], [5.0, 7.0], [2, 2]).to_dense(-1.0).tolist()
          [[-1.0, 5.0], [7.0, -1.0]]
        """
        dtype = host_type(self.values).dtype
        default = default_value
        if default is None:
            default = np.array(b"", object) if dtype == STRING else np.zeros((), dtype)
        elif not in_graph(default) and (host_type(default).dtype == STRING) != (dtype == STRING):
            problem = f"default_value must be of the values' dtype, got {default!r:.40}"
            raise refusal("SparseValue.to_dense", problem, InvalidTypeError)
        if not is_tracing() or in_graph(*self, default):
            return apply(TO_DENSE, (*self, default))
        return host_value(_to_dense(*map(host_array, (*self, default))))


def _to_dense(indices: Any, values: Any, dense_shape: Any, default: Any) -> np.ndarray[Any, Any]:
    shape = tuple(int(size) for size in dense_shape)
    positions = np.asarray(indices, np.int64).reshape(-1, len(shape))
    outside = np.flatnonzero(((positions < 0) | (positions >= np.array(shape, np.int64))).any(axis=1))
    if outside.size:
        outlier = positions[outside[0]].tolist()
        raise InvalidArgumentError(f"SparseValue.to_dense: the index {outlier} is outside of the shape {shape}")
    dense = np.empty(shape, values.dtype)
    dense[...] = default
    dense[tuple(positions.T)] = values
    return bytes_array(dense) if values.dtype == STRING else dense


def _dense_type(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    _, values, sizes, _ = types
    if not sizes.ranked or sizes.shape[:1] in ((), (OPEN,)):
        return (TensorType((), values.dtype, ranked=False),)
    return (TensorType((OPEN,) * sizes.shape[0], values.dtype),)


TO_DENSE = define_op(
        "sparse_to_dense", impl=_to_dense, infer=_dense_type,
        params=("indices", "values", "dense_shape", "default_value"), differentiable=False, host=True,
        doc="The elements of a sparse tensor as one tensor.",
    )  # fmt: skip


Array = np.ndarray[Any, Any]

_LISTS = {"float32": "float_list", "int64": "int64_list", "int32": "int64_list", "object": "bytes_list"}
_NAMES = {"float_list": "float32", "int64_list": "int64", "bytes_list": "string"}


@dataclass(frozen=True)
class FixedLenFeature:
    """A feature with a fixed number of values in each example.

    Args:
      shape: the shape of an example's values.
      dtype: ``float32``, ``int64`` or ``string``.
      default_value: the values of an example without the feature, or one for all of them; None if each must have it.
    """

    shape: Any
    dtype: Any
    default_value: Any = None


@dataclass(frozen=True)
class VarLenFeature:
    """A feature with any number of values in an example; parses to a :class:`SparseValue`.

    Args:
      dtype: ``float32``, ``int64`` or ``string``.
    """

    dtype: Any


class FeatureColumn(NamedTuple):
    """A checked feature, as an attribute of a node."""

    key: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...] | None  # the shape of an example's values; None for any number of them
    default: Literal | None


def columns_of(features: Any, use: str) -> dict[str, FeatureColumn]:
    """Checks the features that a user requests."""
    if not isinstance(features, Mapping) or not features:
        problem = f"features must be a dict with at least one feature, got {features!r:.60}"
        raise refusal(use, problem)
    requested = cast("Mapping[str, Any]", features)
    return {str(name): _column(str(name), feature, f"{use}: feature {name!r}") for name, feature in requested.items()}


def _column(name: str, feature: Any, use: str) -> FeatureColumn:
    if isinstance(feature, VarLenFeature):
        return FeatureColumn(name, _dtype(feature.dtype, use), None, None)
    if isinstance(feature, FixedLenFeature):
        dtype, shape = _dtype(feature.dtype, use), _shape(feature.shape, use)
        return FeatureColumn(name, dtype, shape, _default(feature.default_value, dtype, shape, use))
    raise refusal(use, f"expected a FixedLenFeature or VarLenFeature, got {feature!r:.60}", InvalidTypeError)


def _dtype(dtype: Any, use: str) -> np.dtype[Any]:
    converted = dtype_of(use, dtype)
    if converted != STRING and converted.name not in ("float32", "int32", "int64"):
        raise refusal(use, f"dtype must be float32, int64 or string, got {dtype!r:.60}", InvalidTypeError)
    return converted


def _shape(shape: Any, use: str) -> tuple[int, ...]:
    dimensions = shape.as_list() if hasattr(shape, "as_list") else shape
    sizes: list[Any] = [dimensions] if hasattr(dimensions, "__index__") else list(dimensions)
    if any(not hasattr(size, "__index__") or size.__index__() < 0 for size in sizes):
        problem = f"a size of the shape {sizes} is unknown; use a VarLenFeature for any number of values"
        raise refusal(use, problem)
    return tuple(size.__index__() for size in sizes)


def _default(value: Any, dtype: np.dtype[Any], shape: tuple[int, ...], use: str) -> Literal | None:
    if value is None:
        return None
    array = bytes_array(value) if dtype == STRING else np.asarray(value).astype(dtype)
    if array.size == 1:
        array = np.broadcast_to(array.reshape(()), shape)
    elif array.shape != shape:
        raise refusal(use, f"default_value has the shape {array.shape}, expected {shape} or one value for all")
    return Literal(array)


def parse_example(serialized: Any, features: Mapping[str, Any], example_names: Any = None) -> dict[str, Any]:
    """Parses features from Example messages.

    Args:
      serialized: a vector of strings, one message each; a single string is parsed as in :func:`parse_single_example`.
      features: the features to read, by name: ``FixedLenFeature`` or ``VarLenFeature``.
      example_names: a string for each message, for errors.

    Returns:
      For each name, a tensor whose first axis counts messages, or a ``SparseValue``.

    Raises:
      InvalidArgumentError: a message lacks a feature that has no default, has it of another type or with another number
        of values, or is not an Example.
      InvalidTypeError: ``serialized`` is not a tensor of strings.
      FailedPreconditionError: the extra ``data``, which has protocol buffers, is not installed.

    Example:
      >>> import graphc as gx
      >>> messages = [gx.queues.make_example({"x": x}).SerializeToString() for x in ([1.0, 2.0], [3.0, 4.0])]
      >>> gx.queues.parse_example(messages, {"x": gx.queues.FixedLenFeature([2], gx.float32)})["x"].tolist()
      [[1.0, 2.0], [3.0, 4.0]]
    """
    return _parse("parse_example", serialized, features, example_names, (0, 1))


def parse_single_example(serialized: Any, features: Mapping[str, Any], example_names: Any = None) -> dict[str, Any]:
    """Parses features from one Example message; the results have no message axis. See :func:`parse_example`.

    Args:
      serialized: a string.
      features: the features to read, by name.
      example_names: a string, for errors.
    """
    return _parse("parse_single_example", serialized, features, example_names, (0,))


def _parse(use: str, serialized: Any, features: Any, names: Any, ranks: tuple[int, ...]) -> dict[str, Any]:
    columns = columns_of(features, use)
    if not is_text(serialized):
        raise refusal(use, f"serialized must be a tensor of strings, got {serialized!r:.60}", InvalidTypeError)
    type = host_type(serialized)
    if type.ranked and len(type.shape) not in ranks:
        wanted = "a vector of strings" if 1 in ranks else "a single string; use parse_example for several"
        raise refusal(use, f"serialized must be {wanted}, got {type}")
    single = type.ranked and not type.shape if 1 in ranks else True
    example_class()  # raises the error for a missing extra where the node is made
    attrs = Attrs(columns=tuple(map(tuple, columns.values())), single=single, index=as_dtype("int64"), use=use)
    inputs = (serialized,) if names is None else (serialized, names)
    if not is_tracing() or in_graph(serialized):
        results = apply_all(PARSE, inputs, attrs)
    else:  # a traced function knows its strings
        results = [host_value(array) for array in _parse_arrays(*map(bytes_array, inputs), **attrs)]
    left, by_name = iter(results), dict[str, Any]()
    for name, column in columns.items():
        first = next(left)
        by_name[name] = SparseValue(first, next(left), next(left)) if _is_sparse(column) else first
    return by_name


def _is_sparse(column: FeatureColumn) -> bool:
    return column.shape is None


class _Row:
    """A message.

    Args:
      features: the message's features, by name.
      label: a description of the message, for error messages.
    """

    __slots__ = ("features", "label")

    def __init__(self, features: Any, label: str) -> None:
        self.features = features
        self.label = label

    def values(self, key: str, dtype: np.dtype[Any]) -> Array | None:
        """Returns the values of a feature; None if the message lacks it."""
        feature = self.features.get(key)
        kind = None if feature is None else feature.WhichOneof("kind")
        if kind is None:
            return None
        if kind != _LISTS[dtype.name]:
            raise self.error(f"feature {key!r} has values of {_NAMES[kind]}, expected {_title(dtype)}")
        entries = getattr(feature, kind).value
        if dtype == STRING:
            return _texts(entries)
        array = np.asarray(entries, np.int64 if dtype.kind == "i" else dtype)
        if dtype == np.int32 and not np.array_equal(array, array.astype(np.int32)):
            remedy = "set gx.config.enable_x64 for int64"
            raise self.error(f"feature {key!r} has a value that int32 cannot hold; {remedy}")
        return array.astype(dtype)

    def error(self, problem: str) -> InvalidArgumentError:
        return InvalidArgumentError(f"{self.label}: {problem}")


def _title(dtype: np.dtype[Any]) -> str:
    return "string" if dtype == STRING else dtype.name


def _texts(items: Sequence[bytes]) -> Array:
    array = np.empty(len(items), object)
    array[:] = list(items)
    return array


def _parse_arrays(
    serialized: Array, names: Array | None = None, *, columns: Sequence[tuple[Any, ...]], single: bool,
    index: np.dtype[Any], use: str,
) -> tuple[Array, ...]:  # fmt: skip
    rows = _rows(serialized, names, single, use)
    arrays: list[Array] = []
    for column in (FeatureColumn(*column) for column in columns):
        if _is_sparse(column):
            positions, values, sizes = _variable(column, rows)
            drop = int(single)
            arrays += [positions[:, drop:].astype(index), values, sizes[drop:].astype(index)]
        else:
            array = _fixed(column, rows)
            arrays.append(array[0] if single else array)
    # Indexing an array of strings returns the string itself.
    return tuple(bytes_array(array) if isinstance(array, bytes) else np.asarray(array) for array in arrays)


def _rows(serialized: Array, names: Array | None, single: bool, use: str) -> list[_Row]:
    if serialized.ndim != (not single):
        wanted = "a single string" if single else "a vector of strings"
        raise InvalidArgumentError(f"{use}: serialized must be {wanted}, got the shape {serialized.shape}")
    if names is not None and names.size not in (0, serialized.size):
        raise InvalidArgumentError(f"{use}: {names.size} example_names for {serialized.size} messages")
    parse, rows = example_class().FromString, list[_Row]()
    labels = [] if names is None else names.ravel().tolist()
    for number, data in enumerate(serialized.ravel().tolist()):
        label = use if single else f"{use}: message {number}"
        if labels:
            label += f" ({labels[number].decode(errors='replace')})"
        try:
            rows.append(_Row(parse(data).features.feature, label))
        except Exception as error:  # the class of the error depends on the implementation of protobuf
            raise InvalidArgumentError(f"{label}: {data!r:.60} is not an Example message ({error})") from None
    return rows


def _fixed(column: FeatureColumn, rows: Sequence[_Row]) -> Array:
    assert column.shape is not None
    filled = np.empty((len(rows), *column.shape), column.dtype)
    size = int(np.prod(column.shape))
    flat = filled.reshape(len(rows), size)  # an element of a string array can hold a whole array
    for index, row in enumerate(rows):
        values = row.values(column.key, column.dtype)
        if values is None:
            if column.default is None:
                feature = f"feature {column.key!r} ({_title(column.dtype)})"
                raise row.error(f"{feature} is missing, and the FixedLenFeature has no default_value")
            flat[index] = column.default.array.ravel()
        elif values.size != size:
            raise row.error(
                f"feature {column.key!r} has {values.size} values, expected {size} for the shape {column.shape}"
            )
        else:
            flat[index] = values
    return filled


def _variable(column: FeatureColumn, rows: Sequence[_Row]) -> tuple[Array, ...]:
    nothing = np.empty(0, column.dtype)
    values = [row.values(column.key, column.dtype) for row in rows]
    present = [nothing if value is None else value for value in values]
    sizes = np.array([value.size for value in present], np.int64)
    counts = np.concatenate([np.empty(0, np.int64), *map(np.arange, sizes.tolist())])  # 0, 1, 2, ... for each size
    positions = np.stack([np.repeat(np.arange(len(rows)), sizes), counts], axis=1)
    return positions, np.concatenate([nothing, *present]), np.array([len(rows), sizes.max(initial=0)])


def _types(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    serialized, single = types[0], attrs["single"]
    rows = () if single else serialized.shape if serialized.ranked else (OPEN,)
    results: list[TensorType] = []
    for column in (FeatureColumn(*column) for column in attrs["columns"]):
        if _is_sparse(column):
            axes = len(rows) + 1
            index: np.dtype[Any] = attrs["index"]
            results += [TensorType((OPEN, axes), index), TensorType((OPEN,), column.dtype), TensorType((axes,), index)]
        else:
            results.append(TensorType((*rows, *(column.shape or ())), column.dtype))
    return tuple(results)


PARSE = define_op(
        "parse_example", impl=_parse_arrays, infer=_types, params=("serialized", "*names"), differentiable=False,
        host=True, doc="Tensors from Example messages.",
    )  # fmt: skip
