"""Conditional accumulators: they collect gradients of several workers and return their mean."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import InvalidTypeError
from graphc.compiler.core import SymbolicTensor, Tensor, as_dtype, host_type
from graphc.compiler.ir import OPEN, TensorType
from graphc.graphs.queues import accumulator_ops as ops
from graphc.graphs.queues.accumulator_state import AccumulatorSpec, AccumulatorState, Slices
from graphc.graphs.queues.components import check_type, kept, operand_of, tensors
from graphc.graphs.queues.shared import SharedObject
from graphc.graphs.queues.spec import as_type, dtype_of, integer, refusal
from graphc.library.composites import IndexedSlices

__all__ = ["ConditionalAccumulator", "ConditionalAccumulatorBase", "SparseConditionalAccumulator", "SparseGradient"]

_INDEX = np.dtype(np.int64)


class SparseGradient(NamedTuple):
    """Some rows of a gradient.

    Attributes:
      indices: the indices of the rows, each once, in order: ``[n]``.
      values: the rows: ``[n, ...]``.
      shape: the shape of the gradient, with -1 for a size that nobody has said.
    """

    indices: Any
    values: Any
    shape: Any


class ConditionalAccumulatorBase(SharedObject[AccumulatorState]):
    """The common base of :class:`ConditionalAccumulator` and :class:`SparseConditionalAccumulator`.

    Workers add gradients of a step. Taking the mean or sum waits for enough of them and begins the next step. A
    gradient of an earlier step comes too late and is dropped silently.
    """

    def __init__(
        self, kind: str, dtype: Any, shape: Any, shared_name: str | None, name: str | None, reduction_type: str
    ) -> None:
        if reduction_type not in ("MEAN", "SUM"):
            raise refusal(kind, f"reduction_type must be 'MEAN' or 'SUM', got {reduction_type!r}")
        self._type = as_type(kind, dtype_of(kind, dtype), shape)
        spec = AccumulatorSpec(kind, self._type, reduction_type).attrs()
        names = (shared_name, name, None)
        self._make(ops.make_accumulator, AccumulatorState, spec, names, ops.HANDLE)

    @property
    def dtype(self) -> Any:
        """The dtype of the gradients."""
        return self._type.dtype

    @property
    def accumulator_ref(self) -> Any:
        """Returns a reference to the accumulator: its tensor in a graph, else a string."""
        return self._ref

    def num_accumulated(self, name: str | None = None) -> Any:
        """Returns the number of gradients added since the last take, as an int32 tensor."""
        if (state := self._eager()) is None:
            return self._emit(ops.COUNT, (), "NumAccumulated", name)
        return Tensor(jnp.asarray(np.int32(state.count)))

    def set_global_step(self, new_global_step: Any, name: str | None = None) -> Any:
        """Sets the current step; gradients of earlier steps are dropped.

        Args:
          new_global_step: the step; in a graph it may be a tensor.
          name: the name of the operation in a graph.
        """
        step = self._number("set_global_step", "new_global_step", new_global_step)
        if (state := self._eager()) is None:
            return self._emit(ops.SET_STEP, (step,), "SetGlobalStep", name)
        return state.set_step(step)

    def _number(self, method: str, parameter: str, value: Any) -> Any:
        use = f"{self._label}.{method}"
        if self._eager() is None and isinstance(value, SymbolicTensor):
            return value
        number = integer(use, parameter, value)
        return number if self._eager() is not None else np.asarray(number, as_dtype(_INDEX))

    def _taken(self, method: str, num_required: Any) -> Any:
        """Takes the gradients in eager code; returns None where the take becomes part of a graph."""
        if (state := self._eager()) is None:
            return None
        wanted = self._number(method, "num_required", num_required)
        if wanted < 1:
            raise refusal(f"{self._label}.{method}", f"num_required must be at least 1, got {wanted}")
        return state.take(wanted)


class ConditionalAccumulator(ConditionalAccumulatorBase):
    """Sums gradients of several workers, and returns their mean once there are enough.

    Args:
      dtype: the dtype of the gradients.
      shape: the shape of the gradients; None for any.
      shared_name: a name that makes accumulators of one Session, or of eager code, share their state.
      name: its name, for messages and in a graph.
      reduction_type: ``"MEAN"`` or ``"SUM"``.

    Raises:
      InvalidArgumentError: the reduction is unknown, or another kind of object has the shared name.
      InvalidTypeError: ``dtype`` is not a dtype.

    Example:
      >>> import graphc as gx
      >>> gradients = gx.queues.ConditionalAccumulator("float32", shape=[2])
      >>> gradients.apply_grad([1.0, 2.0], local_step=0)
      >>> gradients.apply_grad([3.0, 4.0], local_step=0)
      >>> gradients.take_grad(2).tolist()
      [2.0, 3.0]
      >>> gradients.apply_grad([5.0, 6.0], local_step=0)  # of the step before: it is dropped
      >>> gradients.num_accumulated().item()
      0
    """

    def __init__(
        self, dtype: Any, shape: Any = None, shared_name: str | None = None,
        name: str | None = "conditional_accumulator", reduction_type: str = "MEAN",
    ) -> None:  # fmt: skip
        super().__init__("ConditionalAccumulator", dtype, shape, shared_name, name, reduction_type)

    def apply_grad(self, grad: Any, local_step: Any = 0, name: str | None = None) -> Any:
        """Adds a gradient, unless its step is earlier than the current one.

        Args:
          grad: the gradient.
          local_step: the step that it was computed in; in a graph it may be a tensor.
          name: the name of the operation in a graph.

        Raises:
          InvalidArgumentError: the shape differs from that of the accumulator, or of earlier gradients.
          InvalidTypeError: the dtype differs.
        """
        use, step = f"{self._label}.apply_grad", self._number("apply_grad", "local_step", local_step)
        if (state := self._eager()) is None:
            gradient = operand_of(use, grad, self._type.dtype)
            check_type(use, "the gradient", host_type(gradient), self._type)
            return self._emit(ops.APPLY, (step, gradient), "ApplyGrad", name)
        return state.apply(np.asarray(kept(use, grad, self._type.dtype)), step)

    def take_grad(self, num_required: Any, name: str | None = None) -> Any:
        """Waits for enough gradients, returns their mean or sum, and begins the next step.

        Args:
          num_required: the number of gradients to wait for; takes all that have arrived.
          name: the name of the operation in a graph.

        Raises:
          InvalidArgumentError: ``num_required`` is less than 1.
          DeadlineExceededError: the deadline in force passed before there were enough.
          CancelledError: a token in force was cancelled.
        """
        found = self._taken("take_grad", num_required)
        if found is None:
            wanted = self._number("take_grad", "num_required", num_required)
            return self._emit(ops.TAKE, (wanted,), "TakeGrad", name)
        return tensors((found,))[0]


class SparseConditionalAccumulator(ConditionalAccumulatorBase):
    """Sums gradients of several workers that are zero in most rows, and returns their mean once there are enough.

    The mean of a row is over the gradients that have it. Rows of a gradient with the same index are summed.

    Args:
      dtype: the dtype of the gradients.
      shape: the shape of the gradients, with None for a size that is not known; None for any.
      shared_name: see :class:`ConditionalAccumulator`.
      name: its name, for messages and in a graph.
      reduction_type: ``"MEAN"`` or ``"SUM"``.

    Raises:
      InvalidArgumentError: the reduction is unknown, or another kind of object has the shared name.
      InvalidTypeError: ``dtype`` is not a dtype.

    Example:
      >>> import graphc as gx
      >>> gradients = gx.queues.SparseConditionalAccumulator("float32", shape=[4, 2])
      >>> gradients.apply_grad([0, 2], [[1.0, 1.0], [2.0, 2.0]])
      >>> gradients.apply_grad([2], [[4.0, 4.0]])
      >>> indices, values, shape = gradients.take_grad(2)
      >>> indices.tolist(), values.tolist(), shape.tolist()
      ([0, 2], [[1.0, 1.0], [3.0, 3.0]], [4, 2])
    """

    def __init__(
        self, dtype: Any, shape: Any = None, shared_name: str | None = None,
        name: str | None = "sparse_conditional_accumulator", reduction_type: str = "MEAN",
    ) -> None:  # fmt: skip
        super().__init__("SparseConditionalAccumulator", dtype, shape, shared_name, name, reduction_type)

    def apply_indexed_slices_grad(self, grad: Any, local_step: Any = 0, name: str | None = None) -> Any:
        """Adds a gradient given as a :class:`graphc.IndexedSlices`; see :meth:`apply_grad`."""
        if not isinstance(grad, IndexedSlices):
            use = f"{self._label}.apply_indexed_slices_grad"
            raise at(InvalidTypeError(f"{use}: expected a gx.IndexedSlices, got {grad!r:.60}"), user_location())
        return self.apply_grad(grad.indices, grad.values, grad.sizes, local_step, name)

    def apply_grad(
        self, grad_indices: Any, grad_values: Any, grad_shape: Any = None, local_step: Any = 0, name: str | None = None
    ) -> Any:
        """Adds rows of a gradient, unless its step is earlier than the current one.

        Args:
          grad_indices: the indices of the rows: ``[n]``, from 0.
          grad_values: the rows: ``[n, ...]``.
          grad_shape: the shape of the gradient; None for that of the accumulator.
          local_step: the step that it was computed in; in a graph it may be a tensor.
          name: the name of the operation in a graph.

        Raises:
          InvalidArgumentError: the shapes differ from those of the accumulator, or an index is out of range.
          InvalidTypeError: the dtype differs.
        """
        use, step = f"{self._label}.apply_grad", self._number("apply_grad", "local_step", local_step)
        if grad_shape is not None and not isinstance(grad_shape, Tensor):
            check_type(use, "the gradient", as_type(use, self._type.dtype, grad_shape), self._type)
        index = as_dtype(_INDEX)
        if (state := self._eager()) is None:
            given = _indices(use, grad_indices, index)
            return self._emit(
                ops.APPLY_SLICES, (step, given, operand_of(use, grad_values, self._type.dtype)), "ApplyGrad", name
            )
        indices, values = kept(use, _plain(grad_indices), index), kept(use, grad_values, self._type.dtype)
        return state.apply(Slices(np.asarray(indices), np.asarray(values)), step)

    def take_grad(self, num_required: Any, name: str | None = None) -> SparseGradient:
        """Waits for enough gradients, returns their mean or sum, and begins the next step.

        Args:
          num_required: the number of gradients to wait for; takes all that have arrived.
          name: the name of the operation in a graph.

        Raises:
          InvalidArgumentError: ``num_required`` is less than 1.
          DeadlineExceededError: the deadline in force passed before there were enough.
          CancelledError: a token in force was cancelled.
        """
        found = self._taken("take_grad", num_required)
        if found is None:
            wanted = self._number("take_grad", "num_required", num_required)
            return SparseGradient(*self._emit(ops.TAKE_SLICES, (wanted,), "TakeGrad", name))
        shape = ops.shape_of(self._type, found)
        return SparseGradient(*tensors((found.indices.astype(as_dtype(_INDEX)), found.values, shape)))

    def take_indexed_slices_grad(self, num_required: Any, name: str | None = None) -> IndexedSlices:
        """Returns the result of :meth:`take_grad` as a :class:`graphc.IndexedSlices`."""
        found = self.take_grad(num_required, name)
        type = self._type
        known = type.ranked and OPEN not in type.shape
        return IndexedSlices(found.values, found.indices, type.shape if known else None)


def _plain(indices: Any) -> Any:
    """Converts indices of any integer dtype to an array."""
    return indices.numpy() if isinstance(indices, Tensor) else indices


def _indices(use: str, indices: Any, dtype: np.dtype[Any]) -> Any:
    """Converts indices to an op's input in a graph."""
    if not isinstance(indices, SymbolicTensor):
        return operand_of(use, _plain(indices), dtype)
    type: TensorType = host_type(indices)
    if type.dtype.kind not in "iu":
        raise refusal(use, f"indices must be integers, got {type}", InvalidTypeError)
    return indices
