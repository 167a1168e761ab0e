"""The state of an accumulator: the sum of the gradients of a step, and the waiters for enough of them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from graphc.compiler.ir import Attrs, TensorType
from graphc.graphs.queues.components import check_type
from graphc.graphs.queues.spec import refusal
from graphc.graphs.queues.wait_queue import Lines, Waiter

__all__ = ["AccumulatorSpec", "AccumulatorState", "DenseState", "Slices", "SparseState"]

_Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class AccumulatorSpec:
    """The properties that two accumulators with the same shared name must have in common.

    Attributes:
      kind: the name of the class.
      type: the type of a gradient; open where any size is accepted.
      reduction: ``MEAN`` or ``SUM``.
    """

    fields: ClassVar[tuple[str, ...]] = ("kind", "type", "reduction")

    kind: str
    type: TensorType
    reduction: str

    def attrs(self) -> Attrs:
        """Returns the spec as attributes of an op."""
        return Attrs({name: getattr(self, name) for name in self.fields})


class AccumulatorState(Lines):
    """Gradients that threads sum for one step; taking them starts the next step.

    Args:
      spec: the accumulator's spec.
      label: its kind and name, for messages.

    Attributes:
      count: the number of gradients added since the last take.
      step: the current step; gradients of an earlier step are dropped.
    """

    def __init__(self, spec: AccumulatorSpec, label: str) -> None:
        super().__init__(1)
        self.spec = spec
        self.label = label
        self.count = 0
        self.step = 0

    def apply(self, gradient: Any, step: int) -> None:
        """Adds a gradient, unless it belongs to an earlier step.

        Raises:
          InvalidArgumentError: the shape does not match.
        """
        self._check(gradient)
        with self._lock:
            if step >= self.step:
                self._add(gradient)
                self.count += 1
                self._advance()

    def take(self, wanted: int) -> Any:
        """Waits for enough gradients, returns their mean or sum, and begins the next step.

        Args:
          wanted: the number of gradients to wait for.

        Raises:
          InvalidArgumentError: ``wanted`` is less than 1.
          DeadlineExceededError: the deadline in force has passed.
          CancelledError: a token in force was cancelled.
        """
        if wanted < 1:
            raise refusal(f"{self.label}.take_grad", f"num_required must be at least 1, got {wanted}")
        taker = _Taker(self, wanted)
        with self._lock:
            self._wait(taker, self._lines[0])
        return taker.got

    def set_step(self, step: int) -> None:
        """Sets the step."""
        with self._lock:
            self.step = step

    def finish(self) -> Any:
        """Returns the result, and begins the next step; called with the lock held."""
        result = self._reduced(mean=self.spec.reduction == "MEAN")
        self.count = 0
        self.step += 1
        return result

    def difference(self, attrs: Mapping[str, Any]) -> str:
        """Describes the first difference from an op's attributes; empty if there is none."""
        for name in self.spec.fields:
            mine, wanted = getattr(self.spec, name), attrs[name]
            if mine != wanted:
                return f"{name} {mine}, not {wanted}"
        return ""

    @abstractmethod
    def _check(self, gradient: Any) -> None:
        """Raises an error if a gradient does not fit."""

    @abstractmethod
    def _add(self, gradient: Any) -> None:
        """Adds a gradient; called with the lock held."""

    @abstractmethod
    def _reduced(self, *, mean: bool) -> Any:
        """Returns the mean or sum, and resets it; called with the lock held."""


class _Taker(Waiter):
    """A thread that waits for gradients."""

    __slots__ = ("_accumulator", "_wanted", "got")

    def __init__(self, accumulator: AccumulatorState, wanted: int) -> None:
        super().__init__()
        self._accumulator = accumulator
        self._wanted = wanted
        self.got: Any = None

    def step(self) -> bool:
        """Takes the gradients if there are enough of them."""
        if self._accumulator.count < self._wanted:
            return False
        self.got = self._accumulator.finish()
        return self.finish()

    def what(self) -> str:
        """Describes what it waits for."""
        wanted = "a gradient" if self._wanted == 1 else f"{self._wanted} gradients"
        return f"{wanted} in {self._accumulator.label}, which has {self._accumulator.count}"


class DenseState(AccumulatorState):
    """An :class:`AccumulatorState` for gradients that are arrays."""

    def __init__(self, spec: AccumulatorSpec, label: str) -> None:
        super().__init__(spec, label)
        self._sum: _Array | None = None

    def _check(self, gradient: _Array) -> None:
        wanted = self.spec.type
        check_type(f"{self.label}.apply_grad", "the gradient", TensorType(gradient.shape, wanted.dtype), wanted)

    def _add(self, gradient: _Array) -> None:
        if self._sum is None:
            self._sum = np.array(gradient)
        elif self._sum.shape != gradient.shape:
            shapes = f"the shape {gradient.shape}, earlier ones have {self._sum.shape}"
            raise refusal(f"{self.label}.apply_grad", f"the gradient has {shapes}")
        else:
            self._sum += gradient

    def _reduced(self, *, mean: bool) -> _Array:
        total, self._sum = self._sum, None
        assert total is not None
        return (total / self.count).astype(total.dtype) if mean else total


@dataclass(frozen=True)
class Slices:
    """Rows of a gradient; its other rows are zero.

    Attributes:
      indices: the indices of the rows: ``[n]``.
      values: the rows: ``[n, ...]``.
    """

    indices: _Array
    values: _Array


class SparseState(AccumulatorState):
    """An :class:`AccumulatorState` for gradients that are rows; a row's mean is over the gradients that have it."""

    def __init__(self, spec: AccumulatorSpec, label: str) -> None:
        super().__init__(spec, label)
        self._sum: Slices | None = None
        self._counts: _Array = np.zeros(0, np.int64)

    def _check(self, gradient: Slices) -> None:
        use, indices, values = f"{self.label}.apply_grad", gradient.indices, gradient.values
        if indices.ndim != 1 or not values.ndim or len(indices) != len(values):
            shapes = f"indices {indices.shape} and values {values.shape}"
            raise refusal(use, f"expected one index for each row of values, got {shapes}")
        wanted = self.spec.type
        if not wanted.ranked:
            return
        rows, row = TensorType(values.shape[1:], wanted.dtype), TensorType(wanted.shape[1:], wanted.dtype)
        check_type(use, "a row of the gradient", rows, row)
        size = wanted.shape[0]
        if indices.size and (indices.min() < 0 or 0 <= size <= indices.max()):
            bounds = f"from 0 to {size - 1}" if size >= 0 else "at least 0"
            raise refusal(use, f"indices must be {bounds}, got {indices.min()} to {indices.max()}")

    def _add(self, gradient: Slices) -> None:
        before = self._sum
        if before is not None and before.values.shape[1:] != gradient.values.shape[1:]:
            shapes = f"the shape {gradient.values.shape[1:]}, earlier ones have {before.values.shape[1:]}"
            raise refusal(f"{self.label}.apply_grad", f"a row of the gradient has {shapes}")
        own, counts = np.unique(gradient.indices), self._counts
        both = own if before is None else np.union1d(before.indices, own)
        values = np.zeros((len(both), *gradient.values.shape[1:]), gradient.values.dtype)
        self._counts = np.zeros(len(both), np.int64)
        if before is not None:
            places = np.searchsorted(both, before.indices)
            values[places], self._counts[places] = before.values, counts
        np.add.at(values, np.searchsorted(both, gradient.indices), gradient.values)
        self._counts[np.searchsorted(both, own)] += 1
        self._sum = Slices(both, values)

    def _reduced(self, *, mean: bool) -> Slices:
        total, self._sum = self._sum, None
        assert total is not None
        if not mean:
            return total
        counts = self._counts.reshape(-1, *[1] * (total.values.ndim - 1))
        return Slices(total.indices, (total.values / counts).astype(total.values.dtype))
