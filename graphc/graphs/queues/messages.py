"""Example messages: the protocol buffers in which TensorFlow stores the features of an example.

The messages are those of TensorFlow's ``example.proto`` and ``feature.proto``. They are made at first use, in a
descriptor pool of their own, so that TensorFlow can be imported, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import FailedPreconditionError, InvalidTypeError

__all__ = ["example_class", "make_example", "make_feature"]

_OPTIONAL, _REPEATED = 1, 3  # labels of fields
_LISTS = {"BytesList": 12, "FloatList": 2, "Int64List": 3}  # types of fields: bytes, float, int64


@cache
def example_class() -> Any:
    """Returns the class of Example messages.

    Raises:
      FailedPreconditionError: the extra ``data``, which has protocol buffers, is not installed.
    """
    try:
        from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
    except ImportError:
        error = FailedPreconditionError("Example messages need protobuf: pip install 'graphc[data]'")
        raise at(error, user_location()) from None
    pool: Any = descriptor_pool.DescriptorPool()
    factory: Any = message_factory
    pool.Add(_file(descriptor_pb2))
    return factory.GetMessageClass(pool.FindMessageTypeByName("tensorflow.Example"))


def _file(descriptors: Any) -> Any:
    """Builds the file descriptor of the messages."""
    file = descriptors.FileDescriptorProto(name="graphc/example.proto", package="tensorflow", syntax="proto3")
    for name, kind in _LISTS.items():
        file.message_type.add(name=name).field.add(name="value", number=1, label=_REPEATED, type=kind)
    feature = file.message_type.add(name="Feature")
    feature.oneof_decl.add(name="kind")
    for number, name in enumerate(_LISTS, 1):
        field = {"name": f"{name.removesuffix('List').lower()}_list", "number": number, "label": _OPTIONAL}
        feature.field.add(**field, type=11, type_name=f".tensorflow.{name}", oneof_index=0)
    features = file.message_type.add(name="Features")
    entry = features.nested_type.add(name="FeatureEntry")
    entry.options.map_entry = True
    entry.field.add(name="key", number=1, label=_OPTIONAL, type=9)
    entry.field.add(name="value", number=2, label=_OPTIONAL, type=11, type_name=".tensorflow.Feature")
    features.field.add(
        name="feature", number=1, label=_REPEATED, type=11, type_name=".tensorflow.Features.FeatureEntry"
    )
    example = file.message_type.add(name="Example")
    example.field.add(name="features", number=1, label=_OPTIONAL, type=11, type_name=".tensorflow.Features")
    return file


def make_feature(values: Any) -> Any:
    """Makes a Feature message from a value or a list of values: bytes and text, floats, or ints and booleans."""
    items = np.asarray(values, object).ravel().tolist()
    if not items:  # without a type, the feature counts as missing
        return example_class()().features.feature[""]
    if any(isinstance(item, str | bytes) for item in items):
        return _feature("bytes_list", [item.encode() if isinstance(item, str) else item for item in items])
    array = np.asarray(values)
    if array.dtype.kind in "iub":
        return _feature("int64_list", [int(value) for value in array.ravel()])
    if array.dtype.kind == "f":
        return _feature("float_list", array.ravel().tolist())
    raise at(InvalidTypeError(f"make_example: {values!r:.60} is not text, floats or ints"), user_location())


def _feature(kind: str, values: Sequence[Any]) -> Any:
    feature = example_class()().features.feature[""]
    getattr(feature, kind).value.extend(values)
    return feature


def make_example(features: Mapping[str, Any]) -> Any:
    """Makes an Example message; its ``SerializeToString()`` returns the bytes of a record.

    Args:
      features: a value or an array of values for each name: text and bytes, floats, or ints and truth values; arrays
        are written row by row.

    Raises:
      InvalidTypeError: a value is none of these.
      FailedPreconditionError: the extra ``data``, which has protocol buffers, is not installed.

    Example:
      >>> import graphc as gx
      >>> record = gx.queues.make_example({"label": 3, "name": "cat"}).SerializeToString()
      >>> features = {"label": gx.queues.FixedLenFeature([], "int64")}
      >>> gx.queues.parse_single_example(record, features)["label"].item()
      3
    """
    example = example_class()()
    for name, values in features.items():
        example.features.feature[name].CopyFrom(make_feature(values))
    return example
