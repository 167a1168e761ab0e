"""The kinds of features in Example messages, with TensorFlow's names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np

from graphc.compiler.base.errors import InvalidTypeError
from graphc.compiler.core import STRING, bytes_array
from graphc.compiler.ir import Literal
from graphc.graphs.queues.spec import dtype_of, refusal

__all__ = [
    "Column",
    "FixedLenFeature",
    "FixedLenSequenceFeature",
    "SparseFeature",
    "VarLenFeature",
    "columns_of",
]


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


@dataclass(frozen=True)
class FixedLenSequenceFeature:
    """A feature with any number of entries of one shape; shorter examples are padded.

    Args:
      shape: the shape of an entry.
      dtype: ``float32``, ``int64`` or ``string``.
      allow_missing: must be True: an example without the feature has no entries.
      default_value: the padding value; None for zeros, or empty strings.
    """

    shape: Any
    dtype: Any
    allow_missing: bool = False
    default_value: Any = None


@dataclass(frozen=True)
class SparseFeature:
    """Two or more features that hold the indices and values of a sparse tensor; parses to a :class:`SparseValue`.

    Args:
      index_key: the name of the feature with the places, or one for each axis.
      value_key: the name of the feature with the values.
      dtype: the dtype of the values: ``float32``, ``int64`` or ``string``.
      size: the size of the axis, or one for each.
      already_sorted: whether the indices are ascending; they are sorted anyway.
    """

    index_key: str | Sequence[str]
    value_key: str
    dtype: Any
    size: int | Sequence[int]
    already_sorted: bool = False


class Column(NamedTuple):
    """A checked feature, as an attribute of a node.

    Attributes:
      kind: ``fixed``, ``variable``, ``sequence`` or ``sparse``.
      keys: the names of the features; those of the indices come first.
      dtype: the dtype of the values.
      shape: the shape of an example's values, or of an entry, or the sizes of a sparse tensor.
      default: the replacement for missing values.
    """

    kind: str
    keys: tuple[str, ...]
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    default: Literal | None


def columns_of(features: Any, use: str) -> dict[str, Column]:
    """Checks the features that a user requests.

    Args:
      features: a feature for each name.
      use: the name of the function that it is passed to, for messages.

    Raises:
      InvalidArgumentError: a shape that is open, a default of another shape, or no features.
      InvalidTypeError: a dtype that Example messages do not have, or an object that is not a feature.
    """
    if not isinstance(features, Mapping) or not features:
        problem = f"features must be a dict with at least one feature, got {features!r:.60}"
        raise refusal(use, problem)
    given = cast("Mapping[str, Any]", features)
    return {str(name): _column(str(name), feature, f"{use}: feature {name!r}") for name, feature in given.items()}


def _column(name: str, feature: Any, use: str) -> Column:
    if isinstance(feature, VarLenFeature):
        return Column("variable", (name,), _dtype(feature.dtype, use), (), None)
    if isinstance(feature, SparseFeature):
        keys = (feature.index_key,) if isinstance(feature.index_key, str) else tuple(feature.index_key)
        sizes = _shape(feature.size, use)
        if len(keys) != len(sizes):
            raise refusal(use, f"{len(keys)} index keys, but {len(sizes)} sizes")
        return Column("sparse", (*keys, feature.value_key), _dtype(feature.dtype, use), sizes, None)
    if isinstance(feature, FixedLenFeature):
        dtype, shape = _dtype(feature.dtype, use), _shape(feature.shape, use)
        return Column("fixed", (name,), dtype, shape, _default(feature.default_value, dtype, shape, use))
    if isinstance(feature, FixedLenSequenceFeature):
        if not feature.allow_missing:
            raise refusal(use, "a FixedLenSequenceFeature needs allow_missing=True")
        dtype, shape = _dtype(feature.dtype, use), _shape(feature.shape, use)
        filler = ("" if dtype == STRING else 0) if feature.default_value is None else feature.default_value
        return Column("sequence", (name,), dtype, shape, _default(filler, dtype, shape, use))
    kinds = "FixedLenFeature, VarLenFeature, FixedLenSequenceFeature or SparseFeature"
    raise refusal(use, f"expected a {kinds}, got {feature!r:.60}", InvalidTypeError)


def _dtype(dtype: Any, use: str) -> np.dtype[Any]:
    found = dtype_of(use, dtype)
    if found != STRING and found.name not in ("float32", "int32", "int64"):
        raise refusal(use, f"dtype must be float32, int64 or string, got {dtype!r:.60}", InvalidTypeError)
    return found


def _shape(shape: Any, use: str) -> tuple[int, ...]:
    given = shape.as_list() if hasattr(shape, "as_list") else shape
    sizes: list[Any] = [given] if hasattr(given, "__index__") else list(given)
    if any(not hasattr(size, "__index__") or size.__index__() < 0 for size in sizes):
        problem = f"a size of the shape {sizes} is unknown; use a FixedLenSequenceFeature for any number of entries"
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
