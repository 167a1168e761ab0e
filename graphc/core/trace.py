"""Traces: where ops go while a function, a branch or a loop body is turned into a graph.

A function has one :class:`Trace`; each branch and loop body inside it has a :class:`Region`, a trace with a parent.
Regions are closed: a tensor from outside becomes an input of the region the first time it is used there, and so does
a variable. Only the outermost trace holds the nodes that read and write variables; inside regions their values travel
as ordinary tensors, so that loops and branches carry them and gradients flow through them.
"""

from __future__ import annotations

from collections.abc import Sequence
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

__all__ = ["Checkpoint", "CreationInTrace", "LoopReport", "Region", "RegionAborted", "Trace", "VariableState"]


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
        if isinstance(self, Region):
            error = UnimplementedError(
                f"{what} inside {self.builder.name}, which depends on tensor values: Python would do it once at "
                "trace time whatever the values are; move it out, or compute with tensors only"
            )
            raise self.refuse(error)

    def abort_attempts(self, reason: str) -> None:
        """Gives up the innermost attempt to roll a loop that this trace is part of; does nothing when there is none."""
        region: Trace | None = self
        while isinstance(region, Region):
            region.abort(reason)
            region = region.parent

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


class VariableState:
    """A variable inside a region.

    Attributes:
      variable: the variable.
      entry: the region's input that holds its value at the start.
      current: its value at this point.
      written: whether the region assigns it.
    """

    __slots__ = ("current", "entry", "variable", "written")

    def __init__(self, variable: Variable, entry: SymbolicTensor) -> None:
        self.variable = variable
        self.entry = entry
        self.current: Any = entry
        self.written = False


class Region(Trace):
    """The trace of a branch or a loop body.

    Args:
      parent: the trace around it.
      name: what it is, for messages ("the body of the while loop").
      attempt: what identifies the attempt to roll a loop that this region is part of; None when there is no way back,
        so that a Python side effect is an error.

    Attributes:
      states: the variables that the region touches, by name.
      location: the line of the user's code where the region began.
      aborted: how the attempt was given up. User code may swallow the exception (a bare ``except:``), so who traces the
        body asks here when it is done.
    """

    def __init__(self, parent: Trace, name: str, attempt: object | None = None) -> None:
        super().__init__(name)
        self._around = parent
        self.attempt = attempt
        self.states: dict[str, VariableState] = {}
        self.location: Location | None = user_location()
        self.aborted: RegionAborted | None = None
        self._owned: dict[int, object] = {}

    @property
    def parent(self) -> Trace:
        """The trace around the region."""
        return self._around

    def _outer(self, tensor: Tensor) -> Tensor:
        return self.parent.lift(tensor)

    def abort(self, reason: str, *, unsettled: bool = False) -> None:
        """Gives the attempt up that the region is part of; does nothing when it is part of none."""
        if self.attempt is not None:
            self.aborted = RegionAborted(self.attempt, reason, unsettled)
            raise self.aborted

    def own(self, value: object) -> None:
        """Notes that the region's code may change an object, because it was made there or is carried."""
        self._owned[id(value)] = value

    def owns(self, value: object) -> bool:
        """Whether :meth:`own` was called with this very object."""
        return id(value) in self._owned

    def check_aborted(self) -> None:
        """Gives the attempt up again if it was given up before."""
        if self.aborted is not None:
            raise self.aborted

    def _variable_states(self) -> dict[str, tuple[Any, bool]]:
        return {name: (state.current, state.written) for name, state in self.states.items()}

    def _restore_variables(self, states: dict[str, tuple[Any, bool]]) -> None:
        for name, state in self.states.items():
            state.current, state.written = states.get(name, (state.entry, False))

    def state(self, variable: Variable) -> VariableState:
        """The variable's state here; it becomes an input of the region at the first touch."""
        found = self.states.get(variable.name)
        if found is None:
            found = self.states[variable.name] = VariableState(variable, self.argument(variable.type, variable.name))
        return found

    def read(self, variable: Variable) -> SymbolicTensor:
        """The variable's current value at this point of the region, as a tensor of its own for tapes to know."""
        state = self.state(variable)
        return self.apply(OPS["stop_gradient" if state.written else "identity"], (state.current,))[0]

    def assign(self, variable: Variable, value: Any) -> None:
        """Sets the variable's value from this point of the region on."""
        state = self.state(variable)
        state.current = self.cast(value, variable.type)
        state.written = True

    def written(self) -> list[Variable]:
        """The variables that the region assigns, in order of first touch."""
        return [state.variable for state in self.states.values() if state.written]

    def close(self, arguments: Sequence[SymbolicTensor], outputs: Sequence[SymbolicTensor]) -> Graph:
        """The finished graph, with its inputs in the given order.

        Args:
          arguments: every input of the region, reordered.
          outputs: what it returns.
        """
        inputs = [argument.raw for argument in arguments]
        for position, value in enumerate(inputs):
            value.index = position
        return Graph(inputs, self.builder.nodes, [output.raw for output in outputs], self.builder.name)


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
