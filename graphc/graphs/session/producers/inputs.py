"""Input producers: queues of names, slices and numbers that a QueueRunner fills, epoch by epoch."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.core import FUNCTIONS, STRING, apply, is_text
from graphc.compiler.ir import OPEN, Attrs, TensorType, compatible_shapes, merge
from graphc.graphs.queues import FIFOQueue
from graphc.graphs.session.graphs.control_flow import convert_to_tensor
from graphc.graphs.session.graphs.graph import Graph, default_graph
from graphc.graphs.session.graphs.keys import GraphKeys
from graphc.graphs.session.graphs.shapes import sizes_of
from graphc.graphs.session.graphs.tensor import GraphTensor
from graphc.graphs.session.producers.ops import EPOCH, MATCHING_FILES, RANGE, TAKE_ROW
from graphc.graphs.session.runners import QueueRunner, add_queue_runner
from graphc.graphs.session.variables.variable import GraphVariable

__all__ = [
    "input_producer",
    "limit_epochs",
    "match_filenames_once",
    "range_input_producer",
    "slice_input_producer",
    "string_input_producer",
]

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
        raise _refusal("limit_epochs", f"num_epochs must be positive or None, got {num_epochs!r}")
    graph = default_graph()
    with graph.entered(), graph.name_scope(name or "limit_epochs"):
        value = convert_to_tensor(tensor)
        local = [GraphKeys.LOCAL_VARIABLES]
        epochs: Any = GraphVariable(0, trainable=False, collections=local, name="epochs", dtype="int64")
        with graph.control_dependencies([epochs.count_up_to(num_epochs)]):
            return FUNCTIONS["identity"](value)


def input_producer(
    input_tensor: Any,
    element_shape: Any = None,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    summary_name: str | None = None,
    name: str | None = None,
    cancel_op: Any = None,
) -> FIFOQueue:
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
    string_tensor: Any,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
    cancel_op: Any = None,
) -> FIFOQueue:
    """Returns a queue of strings, such as names of files; see :func:`input_producer`.

    Args:
      string_tensor: a vector of strings.
      num_epochs: the number of times that each string is returned before the queue is closed; None for no limit.
      shuffle: whether to shuffle the strings of each epoch.
      seed: the seed of the order.
      capacity: the capacity of the queue.
      shared_name: the shared name of the queue.
      name: the name of the queue.
      cancel_op: the operation that closes the queue at a stop; see :class:`QueueRunner`.

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
        raise _refusal("string_input_producer", f"expected at least one string, got {string_tensor!r:.60}")
    graph = default_graph()
    with graph.entered(), graph.name_scope(name or "input_producer") as scope:
        return input_producer(
            string_tensor, [], num_epochs, shuffle, seed, capacity, shared_name, None, scope, cancel_op
        )


def range_input_producer(
    limit: Any,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
) -> FIFOQueue:
    """Returns a queue of the ints below a limit; see :func:`input_producer`.

    Args:
      limit: an int, or a tensor of one.
      num_epochs: the number of times that each int is returned before the queue is closed; None for no limit.
      shuffle: whether to shuffle the ints of each epoch.
      seed: the seed of the order.
      capacity: the capacity of the queue.
      shared_name: the shared name of the queue.
      name: the name of the queue.
    """
    graph = default_graph()
    with graph.entered(), graph.name_scope(name or "input_producer") as scope:
        numbers = apply(RANGE, (convert_to_tensor(limit),), Attrs(rows=False))
        return input_producer(numbers, [], num_epochs, shuffle, seed, capacity, shared_name, None, scope)


def slice_input_producer(
    tensor_list: Sequence[Any],
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
) -> list[Any]:
    """Returns a row of each of several tensors: in each run, the next index, the same for all.

    Args:
      tensor_list: tensors with the same number of rows.
      num_epochs: the number of times that each row is returned before OutOfRangeError; None for no limit.
      shuffle: whether to shuffle the rows of each epoch.
      seed: the seed of the order.
      capacity: the capacity of the queue of the numbers of rows.
      shared_name: the shared name of that queue.
      name: the name of that queue.

    Returns:
      A tensor for each.

    Raises:
      InvalidArgumentError: there are no tensors, or their numbers of rows differ.
    """
    if not tensor_list:
        raise _refusal("slice_input_producer", "expected at least one tensor in tensor_list")
    graph = default_graph()
    with graph.entered(), graph.name_scope(name or "input_producer") as scope:
        tensors = [convert_to_tensor(tensor) for tensor in tensor_list]
        known = {tensor.raw.type.shape[:1] for tensor in tensors if tensor.raw.type.ranked} - {(OPEN,)}
        if len(known) > 1 or () in known:
            listed = ", ".join(str(tensor.raw.type) for tensor in tensors)
            raise _refusal("slice_input_producer", f"all tensors need as many rows, got {listed}")
        numbers = apply(RANGE, (tensors[0],), Attrs(rows=True))
        queue = input_producer(numbers, [], num_epochs, shuffle, seed, capacity, shared_name, None, scope)
        index = queue.dequeue()
        return [_row(tensor, index) for tensor in tensors]


def _row(tensor: GraphTensor, index: Any) -> Any:
    if tensor.raw.type.dtype == STRING or not tensor.raw.type.ranked:
        return apply(TAKE_ROW, (tensor, index))
    return FUNCTIONS["take"](tensor, index, axis=0)


def _row_type(rows: GraphTensor, element_shape: Any) -> TensorType:
    """Returns the type of a row.

    Raises:
      InvalidArgumentError: its shape is unknown, or two shapes are given.
    """
    type = rows.raw.type
    if type.ranked and not type.shape:
        raise _refusal("input_producer", f"expected a tensor with at least one axis, got {type}")
    sizes = None if element_shape is None else sizes_of(element_shape)
    given = TensorType(sizes or (), type.dtype, ranked=sizes is not None)
    row = TensorType(type.shape[1:], type.dtype, ranked=type.ranked)
    if not compatible_shapes(row, given):
        raise _refusal("input_producer", f"the tensor has rows of the type {row}, and element_shape is {element_shape}")
    found = merge(row, given)
    if found.is_open:
        raise _refusal("input_producer", f"the shape of a row of {type} is not known; give element_shape")
    return found


def _resource(graph: Graph, name: str) -> Attrs:
    """Returns the attributes that identify an op's state between runs."""
    return Attrs(name=f"{name}_{next(_numbers)}", container=graph.current_container)


def _refusal(use: str, problem: str) -> InvalidArgumentError:
    return at(InvalidArgumentError(f"{use}: {problem}"), user_location())
