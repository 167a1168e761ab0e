"""ConditionalAccumulator: collects gradients of several workers and returns their mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import jax.numpy as jnp
import numpy as np

from graphc.compiler.core import SymbolicTensor, Tensor, as_dtype, host_type
from graphc.compiler.ir import Attrs, Infer, OpDef, TensorType, gives
from graphc.graphs.queues.components import as_type, check_type, dtype_of, integer, kept, operand_of, tensors
from graphc.graphs.queues.shared import Act, SharedObject, handle_op, op_on, shared_state
from graphc.graphs.queues.wait_queue import Lines, Waiter
from graphc.graphs.refusals import refusal

__all__ = ["ConditionalAccumulator"]

_KIND = "ConditionalAccumulator"


@dataclass(frozen=True)
class _Spec:
    """The properties that two accumulators with the same shared name must have in common."""

    fields: ClassVar[tuple[str, ...]] = ("kind", "type", "reduction")

    type: TensorType
    reduction: str
    kind: str = _KIND

    def attrs(self) -> Attrs:
        return Attrs({name: getattr(self, name) for name in self.fields})


class AccumulatorState(Lines):
    """Gradients that threads sum for one step; taking them starts the next step."""

    def __init__(self, spec: _Spec, label: str) -> None:
        super().__init__(1)
        self.spec, self.label = spec, label
        self.count = self.step = 0
        self._sum: np.ndarray[Any, Any] | None = None

    def apply(self, gradient: np.ndarray[Any, Any], step: int) -> None:
        """Adds a gradient, unless it belongs to an earlier step."""
        use, wanted = f"{self.label}.apply_grad", self.spec.type
        check_type(use, "the gradient", TensorType(gradient.shape, wanted.dtype), wanted)
        with self._lock:
            if step < self.step:
                return
            if self._sum is None:
                self._sum = np.array(gradient)
            elif self._sum.shape != gradient.shape:
                shapes = f"the shape {gradient.shape}, earlier ones have {self._sum.shape}"
                raise refusal(use, f"the gradient has {shapes}")
            else:
                self._sum += gradient
            self.count += 1
            self._advance()

    def take(self, wanted: int) -> Any:
        """Waits for enough gradients, returns their mean or sum, and begins the next step."""
        if wanted < 1:
            raise refusal(f"{self.label}.take_grad", f"num_required must be at least 1, got {wanted}")
        taker = _Taker(self, wanted)
        with self._lock:
            self._wait(taker, self._lines[0])
        return taker.result

    def set_step(self, step: int) -> None:
        with self._lock:
            self.step = step

    def finish(self) -> Any:
        """Returns the result, and begins the next step; called with the lock held."""
        total, count = self._sum, self.count
        self._sum, self.count = None, 0
        self.step += 1
        assert total is not None
        return (total / count).astype(total.dtype) if self.spec.reduction == "MEAN" else total

    def difference(self, attrs: Mapping[str, Any]) -> str:
        """Describes the first difference from an op's attributes; empty if there is none."""
        pairs = [(name, getattr(self.spec, name), attrs[name]) for name in self.spec.fields]
        return next((f"{name} {mine}, not {wanted}" for name, mine, wanted in pairs if mine != wanted), "")


class _Taker(Waiter):
    __slots__ = ("_accumulator", "_wanted", "result")

    def __init__(self, accumulator: AccumulatorState, wanted: int) -> None:
        super().__init__()
        self._accumulator, self._wanted = accumulator, wanted
        self.result: Any = None

    def step(self) -> bool:
        if self._accumulator.count < self._wanted:
            return False
        self.result = self._accumulator.finish()
        return self.finish()

    def what(self) -> str:
        wanted = "a gradient" if self._wanted == 1 else f"{self._wanted} gradients"
        return f"{wanted} in {self._accumulator.label}, which has {self._accumulator.count}"


# The ops, which graphs and compiled functions run.


def _make(name: str, attrs: Mapping[str, Any]) -> AccumulatorState:
    return AccumulatorState(_Spec(attrs["type"], attrs["reduction"]), f"{_KIND} {name!r}")


def _state(attrs: Mapping[str, Any]) -> AccumulatorState:
    return shared_state(_make, AccumulatorState, attrs)


def _op(name: str, act: Act[AccumulatorState], infer: Infer, doc: str, *params: str) -> OpDef:
    return op_on("accumulator", _state, name, act, infer, doc, *params)


_APPLY = _op(
    "apply_grad", lambda state, inputs, _: state.apply(np.asarray(inputs[1]), int(inputs[0])), gives(),
    "Adds a gradient.", "step", "gradient",
)  # fmt: skip
_TAKE = _op(
    "take_grad", lambda state, inputs, _: state.take(int(inputs[0])), lambda inputs, attrs, regions: (attrs["type"],),
    "Takes the mean or sum of the gradients.", "wanted",
)  # fmt: skip
_COUNT = _op(
    "num_accumulated", lambda state, _, attrs: np.asarray(state.count, np.int32),
    gives(TensorType((), np.dtype(np.int32))), "The number of gradients added.",
)  # fmt: skip
_SET_STEP = _op(
    "set_global_step", lambda state, inputs, _: state.set_step(int(inputs[0])), gives(), "Sets the step.", "step"
)
_HANDLE = handle_op("accumulator")


class ConditionalAccumulator(SharedObject[AccumulatorState]):
    """Sums gradients of several workers, and returns their mean once there are enough.

    Taking the mean begins the next step. A gradient of an earlier step comes too late and is dropped silently.

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
        if reduction_type not in ("MEAN", "SUM"):
            raise refusal(_KIND, f"reduction_type must be 'MEAN' or 'SUM', got {reduction_type!r}")
        self._type = as_type(_KIND, dtype_of(_KIND, dtype), shape)
        spec = _Spec(self._type, reduction_type).attrs()
        self._make(_make, AccumulatorState, spec, (shared_name, name, None), _HANDLE)

    @property
    def dtype(self) -> Any:
        """The dtype of the gradients."""
        return self._type.dtype

    def num_accumulated(self, name: str | None = None) -> Any:
        """Returns the number of gradients added since the last take, as an int32 tensor."""
        if (state := self._eager()) is None:
            return self._emit(_COUNT, (), "NumAccumulated", name)
        return Tensor(jnp.asarray(np.int32(state.count)))

    def set_global_step(self, new_global_step: Any, name: str | None = None) -> Any:
        """Sets the current step; gradients of earlier steps are dropped.

        Args:
          new_global_step: the step; in a graph it may be a tensor.
          name: the name of the operation in a graph.
        """
        step = self._number("set_global_step", "new_global_step", new_global_step)
        if (state := self._eager()) is None:
            return self._emit(_SET_STEP, (step,), "SetGlobalStep", name)
        return state.set_step(step)

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
            return self._emit(_APPLY, (step, gradient), "ApplyGrad", name)
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
        wanted = self._number("take_grad", "num_required", num_required)
        if (state := self._eager()) is None:
            return self._emit(_TAKE, (wanted,), "TakeGrad", name)
        if wanted < 1:
            raise refusal(f"{self._label}.take_grad", f"num_required must be at least 1, got {wanted}")
        return tensors((state.take(wanted),))[0]

    def _number(self, method: str, parameter: str, value: Any) -> Any:
        in_graph = self._eager() is None
        if in_graph and isinstance(value, SymbolicTensor):
            return value
        number = integer(f"{self._label}.{method}", parameter, value)
        return np.asarray(number, as_dtype(np.int64)) if in_graph else number
