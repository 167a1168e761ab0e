"""Batching: a queue, its QueueRunner, and an op that dequeues many elements at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.core import FUNCTIONS, apply_all
from graphc.compiler.ir import OPEN, TensorType, widen
from graphc.graphs.queues import FIFOQueue, PaddingFIFOQueue, QueueBase, RandomShuffleQueue, SparseValue
from graphc.graphs.session.graphs.control_flow import convert_to_tensor
from graphc.graphs.session.graphs.graph import default_graph
from graphc.graphs.session.graphs.shapes import sizes_of
from graphc.graphs.session.graphs.tensor import GraphTensor
from graphc.graphs.session.producers.ops import KEEP_ROWS
from graphc.graphs.session.runners import QueueRunner, add_queue_runner

__all__ = ["BatchPlan", "batches"]


@dataclass(frozen=True)
class BatchPlan:
    """The arguments of a function that makes batches.

    Attributes:
      use: the function's name, for messages and for its operations.
      capacity: the capacity of the queue.
      batch_size: the number of elements in a batch.
      threads: the number of threads that enqueue each list of tensors.
      enqueue_many: True if each tensor holds many elements.
      shapes: the shapes of an element, where the tensors do not have them.
      smaller: True if the last batch may be smaller.
      shared_name: the shared name of the queue.
      name: the name of the operations.
      dynamic_pad: True if elements of several sizes are padded.
      min_after_dequeue: the number of elements that stay in the queue for shuffling; None for batches in order.
      seed: the seed of the shuffle.
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


def batches(plan: BatchPlan, tensors_list: Sequence[Any], keep: Any) -> Any:
    """Makes the queue, its runner, and the operation that takes a batch.

    Args:
      plan: the arguments of the call.
      tensors_list: lists or dicts of tensors, each with one or more threads.
      keep: a truth value, or with ``enqueue_many`` one for each element; True for all.

    Raises:
      InvalidArgumentError: the tensors do not match each other or the queue, or there are none.
    """
    if not tensors_list or plan.threads < 1:
        problem = f"num_threads must be positive, got {plan.threads}" if tensors_list else "tensors_list is empty"
        raise _refusal(plan.use, problem)
    graph = default_graph()
    with graph.entered(), graph.name_scope(plan.name or plan.use) as scope:
        first: Any = tensors_list[0]
        keys: list[Any] | None = sorted(first) if isinstance(first, dict) else None  # pyright: ignore[reportUnknownArgumentType]
        listed = [_listed(plan, tensors, keys) for tensors in tensors_list]
        queue = _queue(plan, _types(plan, listed))
        enqueues = [_enqueue(plan, queue, tensors, keep) for tensors in listed]
        add_queue_runner(QueueRunner(queue, enqueues * plan.threads))
        take = queue.dequeue_up_to if plan.smaller else queue.dequeue_many
        found = take(plan.batch_size, name=scope)
        if keys is None:
            return found
        return dict(zip(keys, found if len(keys) > 1 else [found], strict=True))


def _listed(plan: BatchPlan, tensors: Any, keys: list[Any] | None) -> list[GraphTensor]:
    """Returns tensors as a list; those of a dict in the order of their names."""
    if keys is not None and (not isinstance(tensors, dict) or sorted(cast("dict[Any, Any]", tensors)) != keys):
        raise _refusal(plan.use, f"all of tensors_list must be dicts with the keys {keys}, got {tensors!r:.60}")
    given: list[Any] = [tensors[key] for key in keys] if keys is not None else _as_list(tensors)
    if not given:
        raise _refusal(plan.use, "expected at least one tensor")
    if any(isinstance(tensor, SparseValue) for tensor in given):
        raise _refusal(plan.use, "queues take no sparse tensors; make batches of the messages, and parse those")
    return [convert_to_tensor(tensor) for tensor in given]


def _as_list(tensors: Any) -> list[Any]:
    several = isinstance(tensors, list | tuple) and not isinstance(tensors, SparseValue)
    return list(cast("Sequence[Any]", tensors)) if several else [tensors]


def _types(plan: BatchPlan, listed: Sequence[Sequence[GraphTensor]]) -> list[TensorType]:
    """Returns the types of the components of an element."""
    counts = {len(tensors) for tensors in listed}
    dtypes = {tuple(tensor.raw.type.dtype for tensor in tensors) for tensors in listed}
    if len(counts) > 1 or len(dtypes) > 1:
        shown = "; ".join(", ".join(str(tensor.raw.type) for tensor in tensors) for tensors in listed)
        raise _refusal(plan.use, f"the lists of tensors must have the same dtypes, got {shown}")
    if plan.shapes is not None:
        shapes = list(plan.shapes)
        if len(shapes) != len(listed[0]):
            raise _refusal(plan.use, f"{len(listed[0])} tensors and {len(shapes)} shapes; give one shape for each")
        sizes = [sizes_of(shape) for shape in shapes]
        return [
            TensorType(size or (), tensor.raw.type.dtype, ranked=size is not None)
            for size, tensor in zip(sizes, listed[0], strict=True)
        ]
    columns = zip(*[[_element(plan, tensor.raw.type) for tensor in tensors] for tensors in listed], strict=True)
    return [widen(column) for column in columns]


def _element(plan: BatchPlan, type: TensorType) -> TensorType:
    type = replace(type, weak=False)
    if not plan.enqueue_many or not type.ranked:
        return type
    if not type.shape:
        raise _refusal(plan.use, f"with enqueue_many tensors need an axis of elements, got {type}")
    return replace(type, shape=type.shape[1:])


def _queue(plan: BatchPlan, types: Sequence[TensorType]) -> QueueBase:
    dtypes = [type.dtype for type in types]
    shapes = [tuple(None if size == OPEN else size for size in type.shape) if type.ranked else None for type in types]
    if plan.dynamic_pad:
        return PaddingFIFOQueue(plan.capacity, dtypes, shapes, shared_name=plan.shared_name, name="padding_fifo_queue")
    if any(type.is_open for type in types):
        remedy = "set them with set_shape or shapes=" + ("" if plan.min_after_dequeue else ", or pass dynamic_pad=True")
        raise _refusal(plan.use, f"the shapes of ({', '.join(map(str, types))}) are not known; {remedy}")
    if plan.min_after_dequeue is None:
        return FIFOQueue(plan.capacity, dtypes, shapes, shared_name=plan.shared_name, name="fifo_queue")
    return RandomShuffleQueue(
        plan.capacity, plan.min_after_dequeue, dtypes, shapes, seed=plan.seed, shared_name=plan.shared_name,
        name="random_shuffle_queue",
    )  # fmt: skip


def _enqueue(plan: BatchPlan, queue: QueueBase, tensors: Sequence[GraphTensor], keep: Any) -> Any:
    """Makes the operation that enqueues the selected elements."""
    if keep is True:
        return queue.enqueue_many(tensors) if plan.enqueue_many else queue.enqueue(tensors)
    kept = convert_to_tensor(keep)
    rank = len(kept.raw.type.shape)
    if kept.raw.type.dtype != bool or rank > plan.enqueue_many:
        wanted = "a truth value, or a vector of them" if plan.enqueue_many else "one truth value"
        raise _refusal(plan.use, f"keep_input must be {wanted}, got {kept.raw.type}")
    rows = tensors if plan.enqueue_many else [FUNCTIONS["expand_dims"](tensor, axis=0) for tensor in tensors]
    return queue.enqueue_many(list(apply_all(KEEP_ROWS, (kept, *rows))))


def _refusal(use: str, problem: str) -> InvalidArgumentError:
    return at(InvalidArgumentError(f"{use}: {problem}"), user_location())
