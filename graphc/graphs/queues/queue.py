"""QueueBase: the common base of queues, in eager code, compiled functions and graphs built by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import jax.numpy as jnp
import numpy as np

from graphc.compiler.base.errors import UnimplementedError
from graphc.compiler.core import STRING, Resources, SymbolicTensor, Tensor, busy, string
from graphc.compiler.ir import OPEN, TensorType
from graphc.graphs.queues import ops
from graphc.graphs.queues.components import Element, QueueSpec, component_types, integer, tensors
from graphc.graphs.queues.rows import joined, single
from graphc.graphs.queues.shared import Fillers, SharedObject, expect
from graphc.graphs.queues.state import QueueState
from graphc.graphs.refusals import refusal

_new = object.__new__  # calling the class takes 70 ns more


def shown_shape(type: TensorType) -> tuple[int | None, ...] | None:
    """Returns a shape as users see it: None for open sizes."""
    return tuple([None if size == OPEN else size for size in type.shape]) if type.ranked else None


class QueueBase(SharedObject[QueueState]):
    """A queue of elements, each of one or more tensors; the base of :class:`FIFOQueue` and the others.

    Threads share a queue. Calls that must wait are served in order of arrival; deadlines (:func:`graphc.deadline`) and
    cancellation tokens in force limit the wait. Elements stay as they were enqueued. No gradient flows through a queue.

    A queue made in eager code is the same queue in eager code, compiled functions and Sessions. A queue made in a graph
    has its own elements in each Session, and its methods add operations to the graph.
    """

    def __init__(
        self, spec: QueueSpec, names: Sequence[str] | None, shared_name: str | None, name: str | None, default: str
    ) -> None:
        self._describe(Element(spec, names))
        self._make(ops.make_queue, QueueState, spec.attrs(), (shared_name, name, default), ops.HANDLE)

    def _describe(self, element: Element) -> None:
        self._element = element
        self._spec = element.spec
        self._joins = element.spec.has_shapes
        # The conditions of the fast path for one component.
        one = element.only
        self._dtype = one.dtype if one is not None else None
        self._shape = one.shape if one is not None and one.ranked else None

    @classmethod
    def from_list(cls, index: Any, queues: Sequence[QueueBase]) -> QueueBase:
        """Refuses TensorFlow's choice of a queue by a tensor, and says what to write instead."""
        del index, queues
        problem = "write queues[index] for an int; for a tensor, tf.cond or tf.case of what each queue gives"
        raise refusal("QueueBase.from_list", problem, UnimplementedError)

    # Properties

    @property
    def dtypes(self) -> list[Any]:
        """The dtype of each component."""
        return [string if type.dtype == STRING else type.dtype for type in self._spec.types]

    @property
    def shapes(self) -> list[Any]:
        """The shape of each component of an element; None for any shape, and None for an open size."""
        return [shown_shape(type) for type in self._spec.types]

    @property
    def names(self) -> list[str] | None:
        """The names of the components, if elements are dicts."""
        return None if self._element.names is None else list(self._element.names)

    @property
    def queue_ref(self) -> Any:
        """Returns a reference to the queue: its tensor in a graph, else a string."""
        return self._ref

    def __repr__(self) -> str:
        types = ", ".join(map(str, self._spec.types))
        return f"<{self._label} of ({types}), capacity {self._spec.capacity}>"

    # Enqueueing

    def enqueue(self, vals: Any, name: str | None = None) -> Any:
        """Adds one element; waits for room.

        Args:
          vals: a tensor, or a list of one for each component, or a dict of them if the components have names.
          name: the name of the operation in a graph.

        Returns:
          The operation in a graph, else None.

        Raises:
          CancelledError: the queue is closed, or is closed with ``cancel_pending_enqueues`` while this waits.
          DeadlineExceededError: the deadline in force passed before there was room.
          InvalidArgumentError: a component has another shape, or the number of components differs.
          InvalidTypeError: a component has another dtype.
        """
        # The fast path, for a tensor in a program where nothing else runs.
        if not busy and type(vals) is Tensor and (state := self._state) is not None:
            raw = vals.raw
            if raw.dtype is self._dtype and raw.shape == self._shape:
                return state.put_row((raw,))
        state = self._eager()
        if state is None:
            operands = self._element.operands(f"{self._label}.enqueue", vals)
            return self._emit(ops.ENQUEUE, operands, "enqueue", name)
        return state.put_row(self._element.row(f"{self._label}.enqueue", vals))

    def enqueue_many(self, vals: Any, name: str | None = None) -> Any:
        """Adds many elements, one for each index of the components' first axes.

        They go in as room appears, without other elements in between.

        Args:
          vals: see :meth:`enqueue`.
          name: the name of the operation in a graph.

        Returns:
          The operation in a graph, else None.

        Raises:
          CancelledError: see :meth:`enqueue`; elements that were already added stay.
          DeadlineExceededError: see :meth:`enqueue`.
          InvalidArgumentError: a component has another shape or number of rows.
          InvalidTypeError: a component has another dtype.
        """
        use, state = f"{self._label}.enqueue_many", self._eager()
        if state is None:
            return self._emit(ops.ENQUEUE_MANY, self._element.operands(use, vals, many=True), "EnqueueMany", name)
        run = self._element.rows(use, vals)
        return None if run is None else state.put(run)

    # Dequeueing

    def dequeue(self, name: str | None = None) -> Any:
        """Takes one element; waits until there is one.

        Args:
          name: the name of the operation in a graph.

        Returns:
          A tensor, a list with a tensor for each component, or a dict if the components have names.

        Raises:
          OutOfRangeError: the queue is closed and empty. What ended its runner, if one fills it, is the cause.
          DeadlineExceededError: the deadline in force passed before there was an element.
          CancelledError: a token in force was cancelled.
          FailedPreconditionError: the queue's runner was never started and nothing else fills it, or no other thread is
            left that could.
        """
        if (state := self._eager()) is None:
            return self._element.returned(self._emit(ops.DEQUEUE, (), "Dequeue", name))
        entry = state.take_row()
        # The fast path, for one tensor without a wait.
        if type(entry) is tuple and self._dtype is not None and not busy and not isinstance(entry[0], np.ndarray):
            tensor = _new(Tensor)
            tensor.raw = entry[0]
            return tensor
        return self._element.returned(tensors(single(entry)))

    def dequeue_many(self, n: Any, name: str | None = None) -> Any:
        """Takes ``n`` elements, joined along a new first axis; waits until there are enough.

        Args:
          n: the number of elements; may be a tensor in a graph.
          name: the name of the operation in a graph.

        Returns:
          See :meth:`dequeue`.

        Raises:
          OutOfRangeError: the queue is closed and has fewer, which stay in it.
          InvalidArgumentError: the queue does not know the shapes of its components.
          DeadlineExceededError: see :meth:`dequeue`; likewise the other errors.
        """
        return self._dequeue_several("dequeue_many", n, name)

    def dequeue_up_to(self, n: Any, name: str | None = None) -> Any:
        """Takes ``n`` elements, or once the queue is closed, the remaining ones, at least one.

        Args:
          n: the number of elements; may be a tensor in a graph.
          name: the name of the operation in a graph.

        Returns:
          See :meth:`dequeue_many`.

        Raises:
          OutOfRangeError: the queue is closed and empty.
          InvalidArgumentError: the queue does not know the shapes of its components.
          DeadlineExceededError: see :meth:`dequeue`; likewise the other errors.
        """
        return self._dequeue_several("dequeue_up_to", n, name)

    def _dequeue_several(self, method: str, n: Any, name: str | None) -> Any:
        use, up_to = f"{self._label}.{method}", method == "dequeue_up_to"
        if not self._joins:
            listed = ", ".join(map(str, self._spec.types))
            problem = f"elements of the types ({listed}) cannot be joined; make the queue with shapes=[...]"
            raise refusal(use, problem)
        state = self._eager()
        if type(n) is int:
            count = n
        else:
            count = None if state is None and isinstance(n, SymbolicTensor) else integer(use, "n", n)
        if count is not None and count < 0:
            raise refusal(use, f"n must not be negative, got {count}")
        if state is None:
            op, suffix = (ops.DEQUEUE_UP_TO, "DequeueUpTo") if up_to else (ops.DEQUEUE_MANY, "DequeueMany")
            dequeued = self._emit(op, () if count is not None else (n,), suffix, name, count=count)
            return self._element.returned(dequeued)
        entries = state.take(cast("int", count), up_to=up_to)
        columns = joined(entries, self._spec.types) if entries else ops.empty(self._spec.types)
        return self._element.returned(tensors(columns))

    # Size and closing

    def size(self, name: str | None = None) -> Any:
        """Returns the number of elements, as an int32 tensor."""
        if (state := self._eager()) is None:
            return self._emit(ops.SIZE, (), "Size", name)
        return Tensor(jnp.asarray(np.int32(state.size)))

    def is_closed(self, name: str | None = None) -> Any:
        """Returns whether the queue is closed, as a bool tensor."""
        if (state := self._eager()) is None:
            return self._emit(ops.IS_CLOSED, (), "Is_Closed", name)
        return Tensor(jnp.asarray(state.closed))

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> Any:
        """Closes the queue: it accepts no more elements; the remaining ones can be dequeued.

        Waits until enqueues that wait for room have completed.

        Args:
          cancel_pending_enqueues: whether those fail with CancelledError instead.
          name: the name of the operation in a graph.

        Returns:
          The operation in a graph, else None.

        Raises:
          CancelledError: the queue is closed already, and ``cancel_pending_enqueues`` is False.
        """
        cancel = bool(cancel_pending_enqueues)
        if (state := self._eager()) is None:
            return self._emit(ops.CLOSE, (), "Close", name, cancel=cancel)
        return state.close(cancel_pending=cancel)

    def expects(self, runner: object) -> None:
        """Records that a runner is to fill the queue, so that a dequeue raises an error if nobody starts it.

        Args:
          runner: the runner, which is not kept alive; its attribute ``remedy`` may say how to start it.
        """
        expect(self._graph, ops.handle_of(self._attrs), runner)

    def fillers(self, resources: Resources | None = None) -> Fillers:
        """Returns the record of the queue's producers, which runners update.

        Args:
          resources: the resources of the running Session; the current ones if None.
        """
        return self._state_in(resources).fillers


# The kinds of queues, with their constructors.


def _capacity(kind: str, capacity: Any) -> int:
    limit = integer(kind, "capacity", capacity)
    if limit == 0:
        raise refusal(kind, "a capacity of 0 leaves no room for an element; use -1 for no limit")
    return max(limit, -1)


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
        types, limit = _closed_types(kind, dtypes, shapes), _capacity(kind, capacity)
        reserve = integer(kind, "min_after_dequeue", min_after_dequeue)
        if reserve < 0 or 0 <= limit <= reserve:
            problem = (
                f"min_after_dequeue must be at least 0 and less than the capacity, got {reserve} and capacity {limit}"
            )
            raise refusal(kind, problem)
        drawn = None if seed is None else integer(kind, "seed", seed)
        super().__init__(
            QueueSpec(kind, limit, types, reserve, drawn), names, shared_name, name, "random_shuffle_queue"
        )


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
