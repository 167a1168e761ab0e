"""The ops of queues in graphs and compiled functions. Each finds the state of its queue by its attributes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, partial
from typing import Any

import numpy as np

from graphc.compiler.base.errors import FailedPreconditionError, InvalidArgumentError, InvalidTypeError
from graphc.compiler.core import bytes_array, current_resources
from graphc.compiler.ir import OPEN, Attrs, Infer, OpDef, TensorType, gives
from graphc.graphs.queues.components import QueueSpec, check_row, checked_rows, part_names
from graphc.graphs.queues.rows import Run, joined, single
from graphc.graphs.queues.shared import EAGER, PROCESS, Act, Fillers, handle_of, handle_op, op_on, shared_state
from graphc.graphs.queues.state import QueueState
from graphc.graphs.refusals import user_error

__all__ = [
    "CLOSE", "DEQUEUE", "DEQUEUE_MANY", "DEQUEUE_UP_TO", "ENQUEUE", "ENQUEUE_MANY", "HANDLE", "IS_CLOSED", "SIZE",
    "empty", "example_class", "handle_of", "make_example", "make_feature", "make_queue", "state_of",
]  # fmt: skip


def make_queue(name: str, attrs: Mapping[str, Any]) -> QueueState:
    """Makes the state of a queue."""
    spec = QueueSpec(**{field: attrs[field] for field in QueueSpec.fields})
    graph = EAGER if attrs["home"] == PROCESS else current_resources().graph
    return QueueState(spec, f"{spec.kind} {name!r}", Fillers(graph, handle_of(attrs)))


def state_of(attrs: Mapping[str, Any]) -> QueueState:
    """Returns the state of a queue."""
    return shared_state(make_queue, QueueState, attrs)


def _own(array: Any) -> np.ndarray[Any, Any]:
    """Returns an array that no other code writes to; strings as bytes."""
    array = np.asarray(array)
    if array.dtype == object:
        return bytes_array(array).copy()
    return array.copy() if array.flags.writeable else array


def _enqueue(state: QueueState, values: Sequence[Any], attrs: Mapping[str, Any]) -> None:
    row = tuple([_own(value) for value in values])
    check_row(f"{state.label}.enqueue", row, attrs["types"], part_names(attrs["types"]))
    state.put_row(row)


def _enqueue_many(state: QueueState, values: Sequence[Any], attrs: Mapping[str, Any]) -> None:
    columns = tuple([_own(value) for value in values])
    count = checked_rows(f"{state.label}.enqueue_many", columns, attrs["types"], part_names(attrs["types"]))
    if count:
        state.put(Run(columns, 0, count))


def _taken(state: QueueState, n: Sequence[Any], attrs: Mapping[str, Any], *, up_to: bool) -> tuple[Any, ...]:
    types, count = attrs["types"], int(n[0]) if attrs["count"] is None else attrs["count"]
    if count < 0:
        raise InvalidArgumentError(f"{state.label}: the number of elements to dequeue is negative: {count}")
    entries = state.take(count, up_to=up_to)
    return tuple(map(np.asarray, joined(entries, types) if entries else empty(types)))


def empty(types: Sequence[TensorType]) -> tuple[np.ndarray[Any, Any], ...]:
    """Returns the result of a dequeue of no elements."""
    return tuple([np.zeros((0, *[max(size, 0) for size in type.shape]), type.dtype) for type in types])


def _batch(attrs: Attrs, rows: int) -> tuple[TensorType, ...]:
    return tuple([TensorType((rows, *type.shape), type.dtype) for type in attrs["types"]])


def _op(name: str, act: Act[QueueState], infer: Infer, doc: str) -> OpDef:
    return op_on("queue", state_of, name, act, infer, doc, "*values")


ENQUEUE = _op("enqueue", _enqueue, gives(), "Adds an element to a queue.")
ENQUEUE_MANY = _op("enqueue_many", _enqueue_many, gives(), "Adds elements to a queue.")
DEQUEUE = _op(
    "dequeue", lambda state, _, attrs: tuple(map(np.asarray, single(state.take_row()))),
    lambda inputs, attrs, regions: attrs["types"], "Takes an element from a queue.",
)  # fmt: skip
DEQUEUE_MANY = _op(
    "dequeue_many", partial(_taken, up_to=False),
    lambda inputs, attrs, regions: _batch(attrs, OPEN if attrs["count"] is None else attrs["count"]),
    "Takes n elements from a queue.",
)  # fmt: skip
DEQUEUE_UP_TO = _op(
    "dequeue_up_to", partial(_taken, up_to=True), lambda inputs, attrs, regions: _batch(attrs, OPEN),
    "Takes up to n elements from a queue.",
)  # fmt: skip
SIZE = _op(
    "size", lambda state, _, attrs: np.asarray(state.size, np.int32), gives(TensorType((), np.dtype(np.int32))),
    "The number of elements in a queue.",
)  # fmt: skip
IS_CLOSED = _op(
    "is_closed", lambda state, _, attrs: np.asarray(state.closed), gives(TensorType((), np.dtype(bool))),
    "True if a queue is closed.",
)  # fmt: skip
CLOSE = _op("close", lambda state, _, attrs: state.close(cancel_pending=attrs["cancel"]), gives(), "Closes a queue.")
HANDLE = handle_op("queue")


# Example messages: the protocol buffers in which TensorFlow stores the features of an example.

_OPTIONAL, _REPEATED = 1, 3  # labels of fields
_LISTS = {"BytesList": 12, "FloatList": 2, "Int64List": 3}  # types of fields: bytes, float, int64


@cache
def example_class() -> Any:
    """Returns the class of Example messages."""
    try:
        from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
    except ImportError:
        raise FailedPreconditionError("Example messages need protobuf: pip install 'graphc[data]'").here() from None
    pool: Any = descriptor_pool.DescriptorPool()
    factory: Any = message_factory
    pool.Add(_file(descriptor_pb2))
    return factory.GetMessageClass(pool.FindMessageTypeByName("tensorflow.Example"))


def _file(descriptors: Any) -> Any:
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
    raise user_error(f"make_example: {values!r:.60} is not text, floats or ints", InvalidTypeError)


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
