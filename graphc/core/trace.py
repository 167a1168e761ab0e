"""Traces: where ops go while a function, a branch or a loop body is turned into a graph.

A function has one trace; each branch and loop body inside it has a region (see :mod:`graphc.core.region`), a trace with
a parent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import jax
import numpy as np
from jax.core import Tracer

from graphc.base import Location, at, user_location
from graphc.base.errors import (
    GraphcError,
    InvalidArgumentError,
    LeakedTensorError,
    UnimplementedError,
    VariableCreationError,
)
from graphc.core.context import context
from graphc.core.convert import SCALARS
from graphc.core.dispatch import NO_ATTRS, translate_error
from graphc.core.dtypes import canonical_array, scalar_array, type_of
from graphc.core.tensor import SymbolicTensor, Tensor
from graphc.ir import CONSTANT, OPS, Attrs, Graph, GraphBuilder, Literal, OpDef, TensorType

if TYPE_CHECKING:
    from graphc.core.variable import Variable

__all__ = ["Checkpoint", "CreationInTrace", "LoopReport", "RegionAborted", "Store", "Trace"]


class CreationInTrace(BaseException):
    """A Variable is made while its function is traced for the first time: the call is run eagerly instead."""


class RegionAborted(BaseException):
    """An attempt to roll a loop is given up.

    Attributes:
      attempt: which one.
      reason: why, for reports.
      unsettled: whether the cause is what a name holds before the loop, so that the attempt may succeed after one
        iteration has been run by itself.
    """

    def __init__(self, attempt: object, reason: str, unsettled: bool = False) -> None:
        super().__init__(reason)
        self.attempt = attempt
        self.reason = reason
        self.unsettled = unsettled


@dataclass(frozen=True)
class LoopReport:
    """What became of a loop of the user's.

    Attributes:
      location: where it is.
      kind: ``"rolled"``, ``"unrolled"`` or ``"while"``.
      reason: why.
    """

    location: Location | None
    kind: str
    reason: str


@dataclass(frozen=True)
class Store:
    """A tensor without a value was put into an object.

    Attributes:
      owner: the object.
      what: the statement, for messages.
      location: where it is.
      undo: gives the object, its argument, back what it held before the first tensor.
    """

    owner: Any
    what: str
    location: Location | None
    undo: Callable[[Any], None]


@dataclass(frozen=True)
class Checkpoint:
    """A point that a trace can be rolled back to."""

    num_nodes: int
    constants: dict[Any, SymbolicTensor]
    states: dict[str, tuple[Any, bool]]
    num_refusals: int
    num_loops: int


class Trace:
    """A graph under construction.

    Args:
      name: the name of the graph, after the function.
      may_create: whether making a Variable is a signal to run eagerly (first call) or an error.
      unroll: whether loops over a ``range`` are unrolled; None leaves it to each loop.

    Attributes:
      captures: eager tensors that the function uses from outside, in order; inputs of the graph.
      variables: the variables that the function touches, by name.
      loops: what became of each loop.
      stores: the objects that tensors of the trace were put into, by identity.
      owners: for each region inside, the objects that its code may change.
      unconverted: why Python control flow is not converted; empty when it is.
      refusals: errors raised because something cannot be compiled; raised again when user code swallowed them.
    """

    def __init__(self, name: str, *, may_create: bool = False, unroll: bool | None = None) -> None:
        self.builder = GraphBuilder(name)
        self.may_create = may_create
        self.captures: dict[int, tuple[Tensor, SymbolicTensor]] = {}
        self.variables: dict[str, Variable] = {}
        self.refusals: list[GraphcError] = []
        self.unroll = unroll
        self.loops: list[LoopReport] = []
        self.stores: dict[int, Store] = {}
        self.owners: list[dict[int, object]] = []
        self.unconverted = ""
        self._constants: dict[Any, SymbolicTensor] = {}

    @property
    def parent(self) -> Trace | None:
        """The trace around this one; None for that of a whole function."""
        return None

    @property
    def root(self) -> Trace:
        """The trace of the whole function."""
        trace: Trace = self
        while trace.parent is not None:
            trace = trace.parent
        return trace

    def argument(self, type: TensorType, name: str) -> SymbolicTensor:
        """Adds an input to the graph."""
        return SymbolicTensor(self.builder.input(type, name), self)

    def apply(
        self, op: OpDef, inputs: Sequence[Any], attrs: Attrs = NO_ATTRS, regions: Sequence[Graph] = ()
    ) -> list[SymbolicTensor]:
        """Appends a node; see :func:`graphc.core.dispatch.apply`."""
        values = [self.lift(value).raw for value in inputs]
        types = [value.type for value in values]
        try:
            output_types = op.infer(types, attrs, regions)
        except Exception as error:
            raise translate_error(error, op, types, attrs) from error
        node = self.builder.append(
            op,
            values,
            attrs,
            types=output_types,
            regions=regions,
            device=context.device,
            location=user_location(),
        )
        return [SymbolicTensor(output, self) for output in node.outputs]

    def lift(self, value: Any) -> SymbolicTensor:
        """The tensor of this trace that stands for a value from anywhere.

        Raises:
          LeakedTensorError: a symbolic tensor of a trace that is not around this one.
        """
        if isinstance(value, SymbolicTensor):
            if value.trace is self:
                return value
            if not self.is_inside(value.trace):
                raise value.trace.leaked(value)
            return self.capture(value)
        if isinstance(value, Tensor):
            return self.capture(value)
        if isinstance(value, jax.Array):
            if isinstance(value, Tracer):
                raise InvalidArgumentError(
                    f"a JAX tracer {value!r:.80} is used in a graphc function; call the graphc function from outside "
                    "jax.jit, jax.grad and jax.vmap"
                )
            return self.capture(Tensor(value))
        return self.constant(value)

    def constant(self, value: Any) -> SymbolicTensor:
        """A constant node; equal scalars share one."""
        if type(value) not in SCALARS:
            return self._constant(canonical_array(value), weak=False)
        key = (cast("type[Any]", type(value)), str(value))
        found = self._constants.get(key)
        if found is None:
            found = self._constants[key] = self._constant(scalar_array(value), weak=type(value) is not bool)
        return found

    def _constant(self, array: np.ndarray[Any, Any], *, weak: bool) -> SymbolicTensor:
        attrs = Attrs(value=Literal(array), weak=True) if weak else Attrs(value=Literal(array))
        type = TensorType(array.shape, array.dtype, weak)
        node = self.builder.append(CONSTANT, (), attrs, types=(type,), location=user_location())
        return SymbolicTensor(node.outputs[0], self)

    def capture(self, tensor: Tensor) -> SymbolicTensor:
        """The input of this trace that stands for a tensor from outside."""
        key = id(tensor.raw)
        found = self.captures.get(key)
        if found is None:
            outer = self._outer(tensor)
            name = outer.raw.name if isinstance(outer, SymbolicTensor) and outer.raw.node is None else ""
            found = self.captures[key] = (outer, self.argument(tensor.type, name or f"capture_{len(self.captures)}"))
        return found[1]

    def _outer(self, tensor: Tensor) -> Tensor:
        return tensor

    def is_inside(self, other: Trace) -> bool:
        """Whether ``other`` is this trace or around it."""
        trace: Trace | None = self
        while trace is not None:
            if trace is other:
                return True
            trace = trace.parent
        return False

    def read(self, variable: Variable) -> SymbolicTensor:
        """The variable's current value at this point of the trace."""
        self.variables[variable.name] = variable
        attrs = Attrs(variable=variable.name, type=variable.type)
        return self.apply(OPS["read_variable"], (), attrs)[0]

    def assign(self, variable: Variable, value: Any) -> None:
        """Sets the variable's value from this point of the trace on."""
        self.variables[variable.name] = variable
        self.apply(OPS["assign_variable"], (self.cast(value, variable.type),), Attrs(variable=variable.name))

    def cast(self, value: Any, type: TensorType) -> SymbolicTensor:
        """The value lifted, and converted where only its dtype or weakness differs from ``type``."""
        lifted = self.lift(value)
        if lifted.type.dtype == type.dtype and lifted.type.weak == type.weak:
            return lifted
        return self.apply(OPS["astype"], (lifted,), Attrs(dtype=type.dtype))[0]

    def refuse(self, error: GraphcError) -> GraphcError:
        """Notes that something cannot be compiled; returns the error to raise, with the user's line.

        Raises:
          RegionAborted: an attempt to roll a loop is open; unrolled, the loop may have Python values where this one has
            none.
        """
        at(error, user_location())
        (context.trace or self).abort_attempts(str(error))
        self.root.refusals.append(error)
        return error

    def leaked(self, tensor: SymbolicTensor) -> LeakedTensorError:
        """The error for a symbolic tensor that is used outside the trace that made it."""
        error = LeakedTensorError(
            f"a symbolic tensor ({tensor.type}, {tensor.made_at()}) is used outside the function, branch or loop body "
            f"of {self.builder.name!r} that made it; return it from there instead of storing it"
        )
        return at(error, user_location())

    def variable_created(self) -> BaseException:
        """What to raise when a Variable is made under this trace."""
        if self.root.may_create:
            return CreationInTrace()
        error = VariableCreationError(
            f"the compiled function {self.root.builder.name!r} makes a Variable again after its first call; make it "
            "once, outside or under a check such as `if self.w is None:`"
        )
        return self.refuse(error)

    def side_effect(self, what: str) -> None:
        """Says that Python code is about to do something besides computing tensors.

        Raises:
          RegionAborted: an attempt to roll a loop is open; it is given up.
          UnimplementedError: the code runs under a condition or in a loop known only at run time.
        """
        self.abort_attempts(what)
        if self.parent is not None:
            error = UnimplementedError(
                f"{what} inside {self.builder.name}, which depends on tensor values: Python would do it once at "
                "trace time whatever the values are; move it out, or compute with tensors only"
            )
            raise self.refuse(error)

    def abort_attempts(self, reason: str) -> None:
        """Gives up the innermost attempt to roll a loop that this trace is part of; does nothing when there is none."""
        trace: Trace | None = self
        while trace is not None:
            trace.abort(reason)
            trace = trace.parent

    def abort(self, reason: str, *, unsettled: bool = False) -> None:
        """Gives up the attempt to roll a loop that this very trace is; does nothing when it is none.

        Args:
          reason: why, for reports.
          unsettled: whether another attempt may succeed after one iteration (see :class:`RegionAborted`).
        """
        del reason, unsettled

    def note_store(self, owner: Any, what: str, undo: Callable[[Any], None]) -> None:
        """Notes that a tensor was put into an object; who made the trace asks at its end whether the object is left."""
        self.root.stores.setdefault(id(owner), Store(owner, what, user_location(), undo))

    def checkpoint(self) -> Checkpoint:
        """A point to roll back to."""
        root = self.root
        return Checkpoint(
            len(self.builder.nodes), dict(self._constants), self._variable_states(), len(root.refusals), len(root.loops)
        )

    def rollback(self, point: Checkpoint) -> None:
        """Forgets what was traced since ``point``."""
        del self.builder.nodes[point.num_nodes :]
        del self.root.refusals[point.num_refusals :]
        del self.root.loops[point.num_loops :]
        self._constants = dict(point.constants)
        self._restore_variables(point.states)

    def _variable_states(self) -> dict[str, tuple[Any, bool]]:
        return {}

    def _restore_variables(self, states: dict[str, tuple[Any, bool]]) -> None:
        del states

    def report_loop(self, kind: str, reason: str) -> None:
        """Notes what became of a loop, for reports."""
        self.root.loops.append(LoopReport(user_location(), kind, reason))

    def finish(self, outputs: Sequence[SymbolicTensor]) -> Graph:
        """The finished graph."""
        return self.builder.build([output.raw for output in outputs])


def current_trace() -> Trace:
    """The trace that ops go to.

    Raises:
      InvalidArgumentError: no function is being traced.
    """
    if context.trace is None:
        raise InvalidArgumentError("no function is being traced here")
    return context.trace


def type_of_any(value: Any) -> TensorType:
    """The type of a tensor, array or number, symbolic or not."""
    return value.type if isinstance(value, Tensor) else type_of(value)
