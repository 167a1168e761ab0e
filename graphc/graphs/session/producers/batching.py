"""Batches of elements that threads produce: TensorFlow's ``tf.train.batch`` and related functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from graphc.compiler.ir import OPEN, TensorType, widen
from graphc.graphs.queues import FIFOQueue, PaddingFIFOQueue, QueueBase, RandomShuffleQueue, SparseValue
from graphc.graphs.refusals import refusal
from graphc.graphs.session.graphs.control_flow import convert_to_tensor
from graphc.graphs.session.graphs.graph import default_graph
from graphc.graphs.session.graphs.tensor import GraphTensor, sizes_of
from graphc.graphs.session.runners import QueueRunner, add_queue_runner


def batch(
    tensors: Any, batch_size: Any, num_threads: int = 1, capacity: int = 32, enqueue_many: bool = False,
    shapes: Any = None, dynamic_pad: bool = False, allow_smaller_final_batch: bool = False,
    shared_name: str | None = None, name: str | None = None,
) -> Any:  # fmt: skip
    """Batches tensors that threads compute repeatedly (TensorFlow's ``tf.train.batch``).

    A QueueRunner of the graph fills a queue; start it with :func:`start_queue_runners`.

    Args:
      tensors: a list or a dict of tensors; each run produces one element.
      batch_size: the number of elements in a batch; may be a tensor.
      num_threads: the number of threads that run the tensors; with more than one, the order of elements is undefined.
      capacity: the maximum number of elements that wait.
      enqueue_many: whether each run produces many elements, along the first axis.
      shapes: the shapes of an element, one for each tensor, if the tensors lack them.
      dynamic_pad: whether to pad elements of several sizes with zeros, where a shape has None.
      allow_smaller_final_batch: whether the remaining elements at the end form a smaller batch.
      shared_name: the shared name of the queue.
      name: the name of the operations.

    Returns:
      Tensors with a new first axis, in a list or dict like the given ones; a single one for one tensor.

    Raises:
      InvalidArgumentError: a shape is not known and ``dynamic_pad`` is False, or ``num_threads`` is not positive.

    Example:
      >>> import graphc as gx
      >>> with gx.Graph().as_default():
      ...     number = gx.producers.range_input_producer(10, shuffle=False).dequeue()
      ...     numbers, squares = gx.producers.batch([number, number * number], batch_size=4)
      ...     with gx.Session() as session:
      ...         coord = gx.Coordinator()
      ...         threads = gx.start_queue_runners(session, coord)
      ...         print(session.run(squares).tolist())
      ...         coord.request_stop()
      ...         coord.join(threads)
      [0, 1, 4, 9]
    """
    plan = _Plan(
        "batch", capacity, batch_size, num_threads, enqueue_many, shapes, allow_smaller_final_batch, shared_name, name,
        dynamic_pad,
    )  # fmt: skip
    return _batches(plan, [tensors])


def batch_join(
    tensors_list: Sequence[Any], batch_size: Any, capacity: int = 32, enqueue_many: bool = False, shapes: Any = None,
    dynamic_pad: bool = False, allow_smaller_final_batch: bool = False, shared_name: str | None = None,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Batches several lists, or dicts, of tensors of the same dtypes, with a thread for each; see :func:`batch`."""
    plan = _Plan(
        "batch_join", capacity, batch_size, 1, enqueue_many, shapes, allow_smaller_final_batch, shared_name, name,
        dynamic_pad,
    )  # fmt: skip
    return _batches(plan, tensors_list)


def shuffle_batch(
    tensors: Any, batch_size: Any, capacity: int, min_after_dequeue: int, num_threads: int = 1,
    seed: int | None = None, enqueue_many: bool = False, shapes: Any = None, allow_smaller_final_batch: bool = False,
    shared_name: str | None = None, name: str | None = None,
) -> Any:  # fmt: skip
    """Batches tensors that threads compute repeatedly, in random order.

    Args:
      tensors: see :func:`batch`; likewise the other arguments.
      batch_size: the number of elements in a batch.
      capacity: the maximum number of elements that wait.
      min_after_dequeue: the minimum number of elements that wait, for shuffling.
      num_threads: the number of threads that run the tensors.
      seed: the seed of the order.
      enqueue_many: whether each run produces many elements.
      shapes: the shapes of an element.
      allow_smaller_final_batch: whether the remaining elements at the end form a smaller batch.
      shared_name: the shared name of the queue.
      name: the name of the operations.
    """
    plan = _Plan(
        "shuffle_batch", capacity, batch_size, num_threads, enqueue_many, shapes, allow_smaller_final_batch,
        shared_name, name, min_after_dequeue=min_after_dequeue, seed=seed,
    )  # fmt: skip
    return _batches(plan, [tensors])


def shuffle_batch_join(
    tensors_list: Sequence[Any], batch_size: Any, capacity: int, min_after_dequeue: int, seed: int | None = None,
    enqueue_many: bool = False, shapes: Any = None, allow_smaller_final_batch: bool = False,
    shared_name: str | None = None, name: str | None = None,
) -> Any:  # fmt: skip
    """Batches several lists of tensors in random order; see :func:`shuffle_batch` and :func:`batch_join`."""
    plan = _Plan(
        "shuffle_batch_join", capacity, batch_size, 1, enqueue_many, shapes, allow_smaller_final_batch, shared_name,
        name, min_after_dequeue=min_after_dequeue, seed=seed,
    )  # fmt: skip
    return _batches(plan, tensors_list)


@dataclass(frozen=True)
class _Plan:
    """The arguments of a function that makes batches.

    Attributes:
      min_after_dequeue: the number of elements that stay in the queue for shuffling; None for batches in order.
    """

    use: str
    capacity: int
    batch_size: Any
    threads: int
    enqueue_many: bool
    shapes: Any
    smaller: bool
    shared_name: str | None
    name: str | None
    dynamic_pad: bool = False
    min_after_dequeue: int | None = None
    seed: int | None = None


def _batches(plan: _Plan, tensors_list: Sequence[Any]) -> Any:
    if not tensors_list or plan.threads < 1:
        problem = f"num_threads must be positive, got {plan.threads}" if tensors_list else "tensors_list is empty"
        raise refusal(plan.use, problem)
    graph = default_graph()
    with graph.entered(), graph.name_scope(plan.name or plan.use) as scope:
        first: Any = tensors_list[0]
        keys: list[Any] | None = sorted(first) if isinstance(first, dict) else None  # pyright: ignore[reportUnknownArgumentType]
        listed = [_listed(plan, tensors, keys) for tensors in tensors_list]
        queue = _queue(plan, _types(plan, listed))
        enqueue = queue.enqueue_many if plan.enqueue_many else queue.enqueue
        enqueues = [enqueue(tensors) for tensors in listed]
        add_queue_runner(QueueRunner(queue, enqueues * plan.threads))
        take = queue.dequeue_up_to if plan.smaller else queue.dequeue_many
        taken = take(plan.batch_size, name=scope)
        if keys is None:
            return taken
        return dict(zip(keys, taken if len(keys) > 1 else [taken], strict=True))


def _listed(plan: _Plan, tensors: Any, keys: list[Any] | None) -> list[GraphTensor]:
    """Returns tensors as a list; those of a dict in the order of their names."""
    if keys is not None and (not isinstance(tensors, dict) or sorted(cast("dict[Any, Any]", tensors)) != keys):
        raise refusal(plan.use, f"all of tensors_list must be dicts with the keys {keys}, got {tensors!r:.60}")
    listed: list[Any] = [tensors[key] for key in keys] if keys is not None else _as_list(tensors)
    if not listed:
        raise refusal(plan.use, "expected at least one tensor")
    if any(isinstance(tensor, SparseValue) for tensor in listed):
        raise refusal(plan.use, "queues take no sparse tensors; make batches of the messages, and parse those")
    return [convert_to_tensor(tensor) for tensor in listed]


def _as_list(tensors: Any) -> list[Any]:
    several = isinstance(tensors, list | tuple) and not isinstance(tensors, SparseValue)
    return list(cast("Sequence[Any]", tensors)) if several else [tensors]


def _types(plan: _Plan, listed: Sequence[Sequence[GraphTensor]]) -> list[TensorType]:
    counts = {len(tensors) for tensors in listed}
    dtypes = {tuple(tensor.raw.type.dtype for tensor in tensors) for tensors in listed}
    if len(counts) > 1 or len(dtypes) > 1:
        shown = "; ".join(", ".join(str(tensor.raw.type) for tensor in tensors) for tensors in listed)
        raise refusal(plan.use, f"the lists of tensors must have the same dtypes, got {shown}")
    if plan.shapes is not None:
        shapes = list(plan.shapes)
        if len(shapes) != len(listed[0]):
            raise refusal(plan.use, f"{len(listed[0])} tensors and {len(shapes)} shapes; give one shape for each")
        sizes = [sizes_of(shape) for shape in shapes]
        return [
            TensorType(size or (), tensor.raw.type.dtype, ranked=size is not None)
            for size, tensor in zip(sizes, listed[0], strict=True)
        ]
    columns = zip(*[[_element(plan, tensor.raw.type) for tensor in tensors] for tensors in listed], strict=True)
    return [widen(column) for column in columns]


def _element(plan: _Plan, type: TensorType) -> TensorType:
    type = replace(type, weak=False)
    if not plan.enqueue_many or not type.ranked:
        return type
    if not type.shape:
        raise refusal(plan.use, f"with enqueue_many tensors need an axis of elements, got {type}")
    return replace(type, shape=type.shape[1:])


def _queue(plan: _Plan, types: Sequence[TensorType]) -> QueueBase:
    dtypes = [type.dtype for type in types]
    shapes = [tuple(None if size == OPEN else size for size in type.shape) if type.ranked else None for type in types]
    if plan.dynamic_pad:
        return PaddingFIFOQueue(plan.capacity, dtypes, shapes, shared_name=plan.shared_name, name="padding_fifo_queue")
    if any(type.is_open for type in types):
        remedy = "set them with set_shape or shapes=" + ("" if plan.min_after_dequeue else ", or pass dynamic_pad=True")
        raise refusal(plan.use, f"the shapes of ({', '.join(map(str, types))}) are not known; {remedy}")
    if plan.min_after_dequeue is None:
        return FIFOQueue(plan.capacity, dtypes, shapes, shared_name=plan.shared_name, name="fifo_queue")
    return RandomShuffleQueue(
        plan.capacity, plan.min_after_dequeue, dtypes, shapes, seed=plan.seed, shared_name=plan.shared_name,
        name="random_shuffle_queue",
    )  # fmt: skip
