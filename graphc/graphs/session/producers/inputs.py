"""Input producers: queues of names, slices and numbers that a QueueRunner fills, epoch by epoch, and their ops."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from graphc.compiler.base import files
from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.core import FUNCTIONS, STRING, apply, bytes_array, current_resources, is_text
from graphc.compiler.ir import (
    OPEN,
    OPS,
    Attrs,
    Effect,
    OpDef,
    TensorType,
    compatible_shapes,
    merge,
    part_of_world,
    reads,
    writes,
)
from graphc.compiler.ir import Graph as GraphIR
from graphc.graphs.queues import FIFOQueue
from graphc.graphs.refusals import refusal
from graphc.graphs.session.graphs.control_flow import convert_to_tensor
from graphc.graphs.session.graphs.graph import Graph, default_graph
from graphc.graphs.session.graphs.naming import GraphKeys
from graphc.graphs.session.graphs.tensor import GraphTensor, sizes_of
from graphc.graphs.session.runners import QueueRunner, add_queue_runner
from graphc.graphs.session.variables.variable import GraphVariable

Types = Sequence[TensorType]


class _Order:
    """Draws the order of the rows of one producer, in one Session."""

    def __init__(self, seed: tuple[int, ...] | None) -> None:
        self._random = np.random.default_rng(seed)
        self._lock = threading.Lock()

    def draw(self, count: int) -> np.ndarray[Any, Any]:
        with self._lock:
            return self._random.permutation(count)


class _Names:
    """The files that matched a pattern at the first request of a Session."""

    def __init__(self) -> None:
        self.found: list[bytes] | None = None
        self.lock = threading.Lock()


def _epoch(
    rows: Any, *, shuffle: bool, seed: tuple[int, ...] | None, name: str, container: str, label: str
) -> np.ndarray[Any, Any]:
    if not len(rows):
        raise InvalidArgumentError(f"{label}: the input has no rows, so that its queue would never be filled")
    if not shuffle:
        return rows
    order = current_resources().get_or_make(container, name, lambda: _Order(seed), _Order)
    return rows[order.draw(len(rows))]


def _range(limit: Any, *, rows: bool) -> np.ndarray[Any, Any]:
    """Returns the ints below a limit, or one for each row of a tensor."""
    return np.arange(len(limit) if rows else int(limit), dtype=np.int32)


def _take_row(tensor: Any, index: Any) -> np.ndarray[Any, Any]:
    position = int(index)
    if not 0 <= position < len(tensor):
        raise InvalidArgumentError(
            f"slice_input_producer: row {position} of a tensor with {len(tensor)}; all tensors need as many rows as "
            "the first"
        )
    return tensor[position : position + 1].reshape(tensor.shape[1:])


def _matching_files(patterns: Any, *, name: str, container: str) -> np.ndarray[Any, Any]:
    names = current_resources().get_or_make(container, name, _Names, _Names)
    with names.lock:
        if names.found is None:
            matches = {match for pattern in patterns.ravel().tolist() for match in files.glob(pattern)}
            names.found = sorted([match.encode("utf-8", "surrogateescape") for match in matches])
        array = np.empty(len(names.found), object)
        array[:] = names.found
        return bytes_array(array)


def _epoch_type(types: Types, attrs: Attrs, regions: Sequence[GraphIR]) -> tuple[TensorType, ...]:
    return (types[0],)


def _range_type(types: Types, attrs: Attrs, regions: Sequence[GraphIR]) -> tuple[TensorType, ...]:
    return (TensorType((OPEN,), np.dtype(np.int32)),)


def _taken_type(types: Types, attrs: Attrs, regions: Sequence[GraphIR]) -> tuple[TensorType, ...]:
    if types[0].ranked and not types[0].shape:
        raise InvalidArgumentError(f"slice_input_producer: {types[0]} has no rows; give tensors with at least one axis")
    return (replace(types[0], shape=types[0].shape[1:]),)


def _files_type(types: Types, attrs: Attrs, regions: Sequence[GraphIR]) -> tuple[TensorType, ...]:
    return (TensorType((OPEN,), STRING),)


def _draws(attrs: Mapping[str, Any]) -> tuple[Effect, ...]:
    return (writes(part_of_world(f"producer/{attrs['container']}/{attrs['name']}")),)


def _looks(attrs: Mapping[str, Any]) -> tuple[Effect, ...]:
    return (reads(part_of_world("files")),)


def _op(
    name: str, impl: Callable[..., Any], infer: Any, params: tuple[str, ...], doc: str, effects: Any = None
) -> OpDef:
    more = {} if effects is None else {"effects": effects}
    row = OpDef(f"producer.{name}", impl, infer, params, differentiable=False, host=True, doc=doc, **more)
    return OPS.add(row.name, row)


EPOCH = _op("epoch", _epoch, _epoch_type, ("rows",), "The rows of an epoch, in order or shuffled.", _draws)
RANGE = _op("range", _range, _range_type, ("limit",), "The ints below a limit.")
TAKE_ROW = _op("take_row", _take_row, _taken_type, ("tensor", "index"), "A row of a tensor.")
MATCHING_FILES = _op("matching_files", _matching_files, _files_type, ("patterns",), "Names of files.", _looks)


_numbers = itertools.count()


def match_filenames_once(pattern: Any, name: str | None = None) -> GraphTensor:
    """Returns the names of matching files, at the time of the first request in a Session.

    TensorFlow's ``tf.train.match_filenames_once``; it needs no initializer.

    Args:
      pattern: a pattern, in which ``*`` and ``?`` stand for characters of one part of the path; or a vector of
        patterns.
      name: the name of the operation.

    Returns:
      A vector of strings, sorted.
    """
    graph = default_graph()
    with graph.making(name or "matching_filenames"):
        patterns = convert_to_tensor(pattern)
        names = apply(MATCHING_FILES, (patterns,), _resource(graph, "matching_filenames"))
        return graph.named(names, name or "matching_filenames")


def limit_epochs(tensor: Any, num_epochs: int | None = None, name: str | None = None) -> Any:
    """Returns a tensor that a limited number of runs may compute; the next run raises OutOfRangeError.

    A local Variable, ``epochs``, counts the runs: run ``gx.local_variables_initializer()`` first.

    Args:
      tensor: any tensor.
      num_epochs: the maximum number of runs; None for no limit.
      name: the name of the operations.

    Raises:
      InvalidArgumentError: ``num_epochs`` is not positive.
    """
    if num_epochs is None:
        return tensor
    if num_epochs <= 0:
        raise refusal("limit_epochs", f"num_epochs must be positive or None, got {num_epochs!r}")
    graph = default_graph()
    with graph.entered(), graph.name_scope(name or "limit_epochs"):
        value = convert_to_tensor(tensor)
        local = [GraphKeys.LOCAL_VARIABLES]
        epochs: Any = GraphVariable(0, trainable=False, collections=local, name="epochs", dtype="int64")
        with graph.control_dependencies([epochs.count_up_to(num_epochs)]):
            return FUNCTIONS["identity"](value)


def input_producer(
    input_tensor: Any, element_shape: Any = None, num_epochs: int | None = None, shuffle: bool = True,
    seed: int | None = None, capacity: int = 32, shared_name: str | None = None, summary_name: str | None = None,
    name: str | None = None, cancel_op: Any = None,
) -> FIFOQueue:  # fmt: skip
    """Returns a queue of the rows of a tensor, which a QueueRunner of the graph fills.

    Start it with :func:`start_queue_runners`. With ``num_epochs``, initialize local variables first.

    Args:
      input_tensor: a tensor with at least one axis; each run of the runner may compute it anew.
      element_shape: the shape of a row, if the tensor lacks it.
      num_epochs: the number of times that each row is returned before the queue is closed; None for no limit.
      shuffle: whether to shuffle the rows of each epoch.
      seed: the seed of the order.
      capacity: the capacity of the queue.
      shared_name: the shared name of the queue.
      summary_name: ignored: no summary is made.
      name: the name of the queue.
      cancel_op: the operation that closes the queue at a stop; see :class:`QueueRunner`.

    Raises:
      InvalidArgumentError: the shape of a row is not known, or the tensor has no rows.
    """
    del summary_name
    graph = default_graph()
    with graph.entered(), graph.name_scope(name or "input_producer"):
        rows = convert_to_tensor(input_tensor)
        type = _row_type(rows, element_shape)
        seeds = None if seed is None and graph.seed is None else (graph.seed or 0, seed or 0)
        attrs = Attrs({**_resource(graph, "order"), "shuffle": bool(shuffle), "seed": seeds, "label": "input_producer"})
        rows = limit_epochs(apply(EPOCH, (rows,), attrs), num_epochs)
        queue = FIFOQueue(capacity, [type.dtype], [type.shape], shared_name=shared_name, name=name or "fifo_queue")
        add_queue_runner(QueueRunner(queue, [queue.enqueue_many([rows])], cancel_op=cancel_op))
        return queue


def string_input_producer(
    string_tensor: Any, num_epochs: int | None = None, shuffle: bool = True, seed: int | None = None,
    capacity: int = 32, shared_name: str | None = None, name: str | None = None, cancel_op: Any = None,
) -> FIFOQueue:  # fmt: skip
    """Returns a queue of strings, such as names of files; see :func:`input_producer`.

    Raises:
      InvalidArgumentError: there are no strings.

    Example:
      >>> import graphc as gx
      >>> with gx.Graph().as_default():
      ...     names = gx.producers.string_input_producer(["a.csv", "b.csv"], shuffle=False)
      ...     name = names.dequeue()
      ...     with gx.Session() as session:
      ...         coord = gx.Coordinator()
      ...         threads = gx.start_queue_runners(session, coord)
      ...         print([session.run(name) for _ in range(3)])
      ...         coord.request_stop()
      ...         coord.join(threads)
      [b'a.csv', b'b.csv', b'a.csv']
    """
    if not isinstance(string_tensor, GraphTensor) and not is_text(string_tensor):
        raise refusal("string_input_producer", f"expected at least one string, got {string_tensor!r:.60}")
    graph = default_graph()
    with graph.entered(), graph.name_scope(name or "input_producer") as scope:
        return input_producer(
            string_tensor, [], num_epochs, shuffle, seed, capacity, shared_name, None, scope, cancel_op
        )


def range_input_producer(
    limit: Any, num_epochs: int | None = None, shuffle: bool = True, seed: int | None = None, capacity: int = 32,
    shared_name: str | None = None, name: str | None = None,
) -> FIFOQueue:  # fmt: skip
    """Returns a queue of the ints below a limit, an int or a tensor of one; see :func:`input_producer`."""
    graph = default_graph()
    with graph.entered(), graph.name_scope(name or "input_producer") as scope:
        numbers = apply(RANGE, (convert_to_tensor(limit),), Attrs(rows=False))
        return input_producer(numbers, [], num_epochs, shuffle, seed, capacity, shared_name, None, scope)


def slice_input_producer(
    tensor_list: Sequence[Any], num_epochs: int | None = None, shuffle: bool = True, seed: int | None = None,
    capacity: int = 32, shared_name: str | None = None, name: str | None = None,
) -> list[Any]:  # fmt: skip
    """Returns a row of each of several tensors: in each run, the next index, the same for all.

    The tensors have the same number of rows. For the other arguments see :func:`input_producer`.

    Returns:
      A tensor for each.

    Raises:
      InvalidArgumentError: there are no tensors, or their numbers of rows differ.
    """
    if not tensor_list:
        raise refusal("slice_input_producer", "expected at least one tensor in tensor_list")
    graph = default_graph()
    with graph.entered(), graph.name_scope(name or "input_producer") as scope:
        tensors = [convert_to_tensor(tensor) for tensor in tensor_list]
        lengths = {tensor.raw.type.shape[:1] for tensor in tensors if tensor.raw.type.ranked} - {(OPEN,)}
        if len(lengths) > 1 or () in lengths:
            listed = ", ".join(str(tensor.raw.type) for tensor in tensors)
            raise refusal("slice_input_producer", f"all tensors need as many rows, got {listed}")
        numbers = apply(RANGE, (tensors[0],), Attrs(rows=True))
        queue = input_producer(numbers, [], num_epochs, shuffle, seed, capacity, shared_name, None, scope)
        index = queue.dequeue()
        return [_row(tensor, index) for tensor in tensors]


def _row(tensor: GraphTensor, index: Any) -> Any:
    if tensor.raw.type.dtype == STRING or not tensor.raw.type.ranked:
        return apply(TAKE_ROW, (tensor, index))
    return FUNCTIONS["take"](tensor, index, axis=0)


def _row_type(rows: GraphTensor, element_shape: Any) -> TensorType:
    type = rows.raw.type
    if type.ranked and not type.shape:
        raise refusal("input_producer", f"expected a tensor with at least one axis, got {type}")
    sizes = None if element_shape is None else sizes_of(element_shape)
    declared = TensorType(sizes or (), type.dtype, ranked=sizes is not None)
    row = TensorType(type.shape[1:], type.dtype, ranked=type.ranked)
    if not compatible_shapes(row, declared):
        raise refusal("input_producer", f"the tensor has rows of the type {row}, and element_shape is {element_shape}")
    merged = merge(row, declared)
    if merged.is_open:
        raise refusal("input_producer", f"the shape of a row of {type} is not known; give element_shape")
    return merged


def _resource(graph: Graph, name: str) -> Attrs:
    """Returns the attributes that identify an op's state between runs."""
    return Attrs(name=f"{name}_{next(_numbers)}", container=graph.current_container)
