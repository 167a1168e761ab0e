"""Batches of elements that threads produce: TensorFlow's ``tf.train.batch`` and related functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphc.graphs.session.producers.batches import BatchPlan, batches

__all__ = [
    "batch",
    "batch_join",
    "maybe_batch",
    "maybe_batch_join",
    "maybe_shuffle_batch",
    "maybe_shuffle_batch_join",
    "shuffle_batch",
    "shuffle_batch_join",
]


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
    return maybe_batch(
        tensors, True, batch_size, num_threads, capacity, enqueue_many, shapes, dynamic_pad,
        allow_smaller_final_batch, shared_name, name,
    )  # fmt: skip


def maybe_batch(
    tensors: Any, keep_input: Any, batch_size: Any, num_threads: int = 1, capacity: int = 32,
    enqueue_many: bool = False, shapes: Any = None, dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False, shared_name: str | None = None, name: str | None = None,
) -> Any:  # fmt: skip
    """Batches the elements for which ``keep_input`` is true; see :func:`batch`.

    Args:
      tensors: see :func:`batch`.
      keep_input: a truth value, or with ``enqueue_many`` one for each element.
      batch_size: see :func:`batch`; likewise the other arguments.
      num_threads: the number of threads that run the tensors.
      capacity: the maximum number of elements that wait.
      enqueue_many: whether each run produces many elements.
      shapes: the shapes of an element.
      dynamic_pad: whether to pad elements of several sizes.
      allow_smaller_final_batch: whether the remaining elements at the end form a smaller batch.
      shared_name: the shared name of the queue.
      name: the name of the operations.
    """
    plan = BatchPlan(
        "batch", capacity, batch_size, num_threads, enqueue_many, shapes, allow_smaller_final_batch, shared_name, name,
        dynamic_pad,
    )  # fmt: skip
    return batches(plan, [tensors], keep_input)


def batch_join(
    tensors_list: Sequence[Any], batch_size: Any, capacity: int = 32, enqueue_many: bool = False, shapes: Any = None,
    dynamic_pad: bool = False, allow_smaller_final_batch: bool = False, shared_name: str | None = None,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Batches several lists of tensors, with a thread for each list; see :func:`batch`.

    Args:
      tensors_list: lists, or dicts, of tensors of the same dtypes.
      batch_size: see :func:`batch`; likewise the other arguments.
      capacity: the maximum number of elements that wait.
      enqueue_many: whether each run produces many elements.
      shapes: the shapes of an element.
      dynamic_pad: whether to pad elements of several sizes.
      allow_smaller_final_batch: whether the remaining elements at the end form a smaller batch.
      shared_name: the shared name of the queue.
      name: the name of the operations.
    """
    return maybe_batch_join(
        tensors_list, True, batch_size, capacity, enqueue_many, shapes, dynamic_pad, allow_smaller_final_batch,
        shared_name, name,
    )  # fmt: skip


def maybe_batch_join(
    tensors_list: Sequence[Any], keep_input: Any, batch_size: Any, capacity: int = 32, enqueue_many: bool = False,
    shapes: Any = None, dynamic_pad: bool = False, allow_smaller_final_batch: bool = False,
    shared_name: str | None = None, name: str | None = None,
) -> Any:  # fmt: skip
    """Batches the selected elements of several lists; see :func:`batch_join` and :func:`maybe_batch`.

    Args:
      tensors_list: lists, or dicts, of tensors of the same dtypes.
      keep_input: a truth value, or with ``enqueue_many`` one for each element.
      batch_size: see :func:`batch`; likewise the other arguments.
      capacity: the maximum number of elements that wait.
      enqueue_many: whether each run produces many elements.
      shapes: the shapes of an element.
      dynamic_pad: whether to pad elements of several sizes.
      allow_smaller_final_batch: whether the remaining elements at the end form a smaller batch.
      shared_name: the shared name of the queue.
      name: the name of the operations.
    """
    plan = BatchPlan(
        "batch_join", capacity, batch_size, 1, enqueue_many, shapes, allow_smaller_final_batch, shared_name, name,
        dynamic_pad,
    )  # fmt: skip
    return batches(plan, tensors_list, keep_input)


def shuffle_batch(
    tensors: Any, batch_size: Any, capacity: int, min_after_dequeue: int, num_threads: int = 1,
    seed: int | None = None, enqueue_many: bool = False, shapes: Any = None, allow_smaller_final_batch: bool = False,
    shared_name: str | None = None, name: str | None = None,
) -> Any:  # fmt: skip
    """Batches elements in random order; see :func:`batch`.

    Args:
      tensors: see :func:`batch`.
      batch_size: see :func:`batch`.
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
    return maybe_shuffle_batch(
        tensors, batch_size, capacity, min_after_dequeue, True, num_threads, seed, enqueue_many, shapes,
        allow_smaller_final_batch, shared_name, name,
    )  # fmt: skip


def maybe_shuffle_batch(
    tensors: Any, batch_size: Any, capacity: int, min_after_dequeue: int, keep_input: Any, num_threads: int = 1,
    seed: int | None = None, enqueue_many: bool = False, shapes: Any = None, allow_smaller_final_batch: bool = False,
    shared_name: str | None = None, name: str | None = None,
) -> Any:  # fmt: skip
    """Batches the selected elements in random order; see :func:`shuffle_batch` and :func:`maybe_batch`.

    Args:
      tensors: see :func:`batch`.
      batch_size: see :func:`batch`.
      capacity: the maximum number of elements that wait.
      min_after_dequeue: the minimum number of elements that wait, for shuffling.
      keep_input: a truth value, or with ``enqueue_many`` one for each element.
      num_threads: the number of threads that run the tensors.
      seed: the seed of the order.
      enqueue_many: whether each run produces many elements.
      shapes: the shapes of an element.
      allow_smaller_final_batch: whether the remaining elements at the end form a smaller batch.
      shared_name: the shared name of the queue.
      name: the name of the operations.
    """
    plan = BatchPlan(
        "shuffle_batch", capacity, batch_size, num_threads, enqueue_many, shapes, allow_smaller_final_batch,
        shared_name, name, min_after_dequeue=min_after_dequeue, seed=seed,
    )  # fmt: skip
    return batches(plan, [tensors], keep_input)


def shuffle_batch_join(
    tensors_list: Sequence[Any], batch_size: Any, capacity: int, min_after_dequeue: int, seed: int | None = None,
    enqueue_many: bool = False, shapes: Any = None, allow_smaller_final_batch: bool = False,
    shared_name: str | None = None, name: str | None = None,
) -> Any:  # fmt: skip
    """Batches several lists of tensors in random order; see :func:`shuffle_batch` and :func:`batch_join`.

    Args:
      tensors_list: lists, or dicts, of tensors of the same dtypes.
      batch_size: see :func:`batch`.
      capacity: the maximum number of elements that wait.
      min_after_dequeue: the minimum number of elements that wait, for shuffling.
      seed: the seed of the order.
      enqueue_many: whether each run produces many elements.
      shapes: the shapes of an element.
      allow_smaller_final_batch: whether the remaining elements at the end form a smaller batch.
      shared_name: the shared name of the queue.
      name: the name of the operations.
    """
    return maybe_shuffle_batch_join(
        tensors_list, batch_size, capacity, min_after_dequeue, True, seed, enqueue_many, shapes,
        allow_smaller_final_batch, shared_name, name,
    )  # fmt: skip


def maybe_shuffle_batch_join(
    tensors_list: Sequence[Any], batch_size: Any, capacity: int, min_after_dequeue: int, keep_input: Any,
    seed: int | None = None, enqueue_many: bool = False, shapes: Any = None, allow_smaller_final_batch: bool = False,
    shared_name: str | None = None, name: str | None = None,
) -> Any:  # fmt: skip
    """Batches the selected elements of several lists in random order; see :func:`shuffle_batch_join`.

    Args:
      tensors_list: lists, or dicts, of tensors of the same dtypes.
      batch_size: see :func:`batch`.
      capacity: the maximum number of elements that wait.
      min_after_dequeue: the minimum number of elements that wait, for shuffling.
      keep_input: a truth value, or with ``enqueue_many`` one for each element.
      seed: the seed of the order.
      enqueue_many: whether each run produces many elements.
      shapes: the shapes of an element.
      allow_smaller_final_batch: whether the remaining elements at the end form a smaller batch.
      shared_name: the shared name of the queue.
      name: the name of the operations.
    """
    plan = BatchPlan(
        "shuffle_batch_join", capacity, batch_size, 1, enqueue_many, shapes, allow_smaller_final_batch, shared_name,
        name, min_after_dequeue=min_after_dequeue, seed=seed,
    )  # fmt: skip
    return batches(plan, tensors_list, keep_input)
