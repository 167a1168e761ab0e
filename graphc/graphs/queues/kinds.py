"""The kinds of queues, with their constructors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphc.compiler.ir import OPEN, TensorType
from graphc.graphs.queues.queue import QueueBase
from graphc.graphs.queues.spec import QueueSpec, component_types, integer, refusal

__all__ = ["FIFOQueue", "PaddingFIFOQueue", "RandomShuffleQueue"]


def _capacity(kind: str, capacity: Any) -> int:
    found = integer(kind, "capacity", capacity)
    if found == 0:
        raise refusal(kind, "a capacity of 0 leaves no room for an element; use -1 for no limit")
    return max(found, -1)


def _closed_types(kind: str, dtypes: Any, shapes: Any) -> tuple[TensorType, ...]:
    """Returns types whose shapes are known, if shapes are given."""
    types = component_types(kind, dtypes, shapes)
    if shapes is not None and any(OPEN in type.shape or not type.ranked for type in types):
        listed = ", ".join(map(str, types))
        remedy = "use a PaddingFIFOQueue to pad different sizes, or shapes=None to accept any"
        raise refusal(kind, f"all sizes of shapes must be known, got ({listed}); {remedy}")
    return types


class FIFOQueue(QueueBase):
    """A first-in, first-out queue.

    Args:
      capacity: the maximum number of elements; negative for no limit.
      dtypes: the dtype of a component, or a list of the dtypes of all.
      shapes: the shape of each component of an element. Without them elements may have any, and only ``dequeue`` takes
        them.
      names: the names of the components, which make elements dicts.
      shared_name: a name that makes queues of one Session, or of eager code, share their elements.
      name: the name of the queue, for messages and in a graph.

    Raises:
      InvalidArgumentError: shapes or names do not match the dtypes, or another kind of queue has the shared name.
      InvalidTypeError: a dtype is none.

    Example:
      >>> import graphc as gx
      >>> queue = gx.queues.FIFOQueue(capacity=10, dtypes=["float32", "int32"], shapes=[[2], []])
      >>> queue.enqueue([[1.0, 2.0], 0])
      >>> queue.enqueue_many([[[3.0, 4.0], [5.0, 6.0]], [1, 2]])
      >>> features, labels = queue.dequeue_many(3)
      >>> features.tolist(), labels.tolist()
      ([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [0, 1, 2])
    """

    def __init__(
        self, capacity: int, dtypes: Any, shapes: Any = None, names: Sequence[str] | None = None,
        shared_name: str | None = None, name: str | None = "fifo_queue",
    ) -> None:  # fmt: skip
        types = _closed_types("FIFOQueue", dtypes, shapes)
        spec = QueueSpec("FIFOQueue", _capacity("FIFOQueue", capacity), types)
        super().__init__(spec, names, shared_name, name, "fifo_queue")


class RandomShuffleQueue(QueueBase):
    """A queue that returns a random element, each with the same probability.

    Args:
      capacity: the maximum number of elements; negative for no limit.
      min_after_dequeue: the number of elements that stay in it while it is open, so that there is a choice.
      dtypes: the dtype of a component, or a list of the dtypes of all.
      shapes: see :class:`FIFOQueue`.
      names: the names of the components, which make elements dicts.
      seed: an int. Queues with the same seed that get the same elements in the same order return them in the same
        order.
      shared_name: see :class:`FIFOQueue`.
      name: the name of the queue, for messages and in a graph.

    Raises:
      InvalidArgumentError: ``min_after_dequeue`` is negative or not less than the capacity; otherwise see FIFOQueue.
      InvalidTypeError: a dtype is none.

    Example:
      >>> import graphc as gx
      >>> queue = gx.queues.RandomShuffleQueue(50, 10, "int32", shapes=[[]], seed=7)
      >>> queue.enqueue_many([list(range(22))])
      >>> rows = queue.dequeue_many(5).tolist()
      >>> len(set(rows)), queue.size().item()
      (5, 17)
    """

    def __init__(
        self, capacity: int, min_after_dequeue: int, dtypes: Any, shapes: Any = None,
        names: Sequence[str] | None = None, seed: int | None = None, shared_name: str | None = None,
        name: str | None = "random_shuffle_queue",
    ) -> None:  # fmt: skip
        kind = "RandomShuffleQueue"
        types, held = _closed_types(kind, dtypes, shapes), _capacity(kind, capacity)
        kept = integer(kind, "min_after_dequeue", min_after_dequeue)
        if kept < 0 or 0 <= held <= kept:
            problem = f"min_after_dequeue must be at least 0 and less than the capacity, got {kept} and capacity {held}"
            raise refusal(kind, problem)
        drawn = None if seed is None else integer(kind, "seed", seed)
        super().__init__(QueueSpec(kind, held, types, kept, drawn), names, shared_name, name, "random_shuffle_queue")


class PaddingFIFOQueue(QueueBase):
    """A queue of elements whose sizes differ; ``dequeue_many`` pads the smaller ones with zeros.

    Args:
      capacity: the maximum number of elements; negative for no limit.
      dtypes: the dtype of a component, or a list of the dtypes of all.
      shapes: the shape of each component, with None for a size that differs. Strings are filled up with empty ones.
      names: the names of the components, which make elements dicts.
      shared_name: see :class:`FIFOQueue`.
      name: the name of the queue, for messages and in a graph.

    Raises:
      InvalidArgumentError: a shape lacks its number of axes; otherwise see FIFOQueue.
      InvalidTypeError: a dtype is none.

    Example:
      >>> import graphc as gx
      >>> queue = gx.queues.PaddingFIFOQueue(10, "int32", shapes=[[None]])
      >>> for row in ([1, 2, 3], [4]):
      ...     queue.enqueue([row])
      >>> queue.dequeue_many(2).tolist()
      [[1, 2, 3], [4, 0, 0]]
    """

    def __init__(
        self, capacity: int, dtypes: Any, shapes: Any, names: Sequence[str] | None = None,
        shared_name: str | None = None, name: str | None = "padding_fifo_queue",
    ) -> None:  # fmt: skip
        kind = "PaddingFIFOQueue"
        types = component_types(kind, dtypes, shapes)
        if not all(type.ranked for type in types):
            listed = ", ".join(map(str, types))
            raise refusal(
                kind, f"each shape must have a known number of axes, got ({listed}); use None for an open size"
            )
        spec = QueueSpec(kind, _capacity(kind, capacity), types)
        super().__init__(spec, names, shared_name, name, "padding_fifo_queue")
