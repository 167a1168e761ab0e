"""Regions: the traces of branches and loop bodies.

A region is closed: a tensor from outside becomes an input of the region the first time it is used there, and so does a
variable. Inside, a variable's value travels as an ordinary tensor, so that loops and branches carry it and gradients
flow through it; the nodes that read and write the variable stand in the outermost trace.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import jax

from graphc.base import Location, at, user_location
from graphc.base.errors import UnimplementedError
from graphc.core import SymbolicTensor, Tensor, trace_scope
from graphc.ir import OPS, Graph
from graphc.tracing.call_state import CallState
from graphc.tracing.cells import Cell
from graphc.tracing.reports import RegionAborted
from graphc.tracing.trace import Checkpoint, Trace

if TYPE_CHECKING:
    from graphc.core import Variable

__all__ = ["Region", "VariableState"]


class VariableState:
    """A variable inside a region.

    Attributes:
      variable: the variable.
      entry: the region's input that holds its value at the start.
      current: its value at this point.
      written: whether the region assigns it.
    """

    __slots__ = ("current", "entry", "variable", "written")

    def __init__(self, variable: Variable | CallState, entry: SymbolicTensor) -> None:
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
      once: whether it is a branch, which runs at most once each time that the trace around it does.

    Attributes:
      states: the variables that the region touches, by name.
      location: the line of the user's code where the region began.
      bound: cells that hold something else inside the region than outside, and what.
      aborted: how the attempt was given up. User code may swallow the exception (a bare ``except:``), so who traces the
        body asks here when it is done.
    """

    def __init__(self, parent: Trace, name: str, attempt: object | None = None, *, once: bool = False) -> None:
        self._around = parent
        super().__init__(name)
        self.attempt = attempt
        self.once = once
        self.states: dict[str, VariableState] = {}
        self.location: Location | None = user_location()
        self.aborted: RegionAborted | None = None
        self.bound: list[tuple[Cell, Any]] = []
        parent.root.regions.add(self)

    @property
    def parent(self) -> Trace:
        """The trace around the region."""
        return self._around

    def _outer(self, value: Tensor | jax.Array) -> Tensor:
        return self.parent.lift(value)

    def abort(self, reason: str, *, unsettled: bool = False) -> None:
        """Gives the attempt up that the region is part of; does nothing when it is part of none."""
        if self.attempt is not None:
            self.aborted = RegionAborted(self.attempt, reason, unsettled)
            raise self.aborted

    @contextmanager
    def tracing(self) -> Generator[None]:
        """Inside, ops go to the region; at the end, what the code wrote into Python objects is taken back."""
        start = len(self.journal.writes)
        with trace_scope(self):
            for cell, value in self.bound:
                self.journal.note(cell)
                cell.set(value)
            try:
                yield
            finally:
                self.journal.undo(start)

    def forget_writes(self) -> None:
        """Takes back what the code wrote into Python objects so far, and leaves no trace of it."""
        self.journal.forget(len(self.bound))
        for cell, value in self.bound:
            cell.set(value)

    def refuse_writes(self, what: str) -> None:
        """Refuses what the code wrote into Python objects or tensors from outside: it has nowhere to go.

        Args:
          what: the code is, for messages: "the custom-gradient function 'f'".
        """
        for write in self.journal.writes.values():
            error = UnimplementedError(
                f"{write.cell.what} in {what} changes an object from outside of it; return the new value instead"
            )
            raise self.parent.refuse(at(error, write.location))

    def forget_objects(self) -> None:
        """Drops what the region knows of Python objects, once all has been traced, so as to keep none alive."""
        self.journal.clear()
        self.bound.clear()
        # Tracebacks of exceptions hold frames, and they what their names stand for.
        self.aborted = self.gradient_mask = None

    def check_aborted(self) -> None:
        """Gives the attempt up again if it was given up before."""
        if self.aborted is not None:
            raise self.aborted

    def _variable_states(self) -> dict[str, tuple[Any, bool]]:
        return {name: (state.current, state.written) for name, state in self.states.items()}

    def _restore_variables(self, states: dict[str, tuple[Any, bool]]) -> None:
        for name, state in self.states.items():
            state.current, state.written = states.get(name, (state.entry, False))

    def assigned_since(self, point: Checkpoint) -> list[Variable]:
        """Returns the variables that were assigned; also before ``point``, which does no harm."""
        del point
        return [variable for variable in self.written() if not isinstance(variable, CallState)]

    def value_at(self, point: Checkpoint, variable: Variable) -> SymbolicTensor:
        """Returns the value that a variable had at ``point``."""
        return point.states.get(variable.name, (self.state(variable).entry, False))[0]

    def state(self, variable: Variable | CallState) -> VariableState:
        """Returns the variable's state here; it becomes an input of the region at the first touch."""
        found = self.states.get(variable.name)
        if found is None:
            found = self.states[variable.name] = VariableState(variable, self.argument(variable.type, variable.name))
        return found

    def touched(self, state: CallState) -> bool:
        """Returns True if a state was read or assigned before this point of the region, or of a trace around it."""
        return state.name in self.states or self.parent.touched(state)

    def read(self, variable: Variable | CallState) -> SymbolicTensor:
        """Gives the variable's current value at this point of the region, as a tensor of its own for tapes to know."""
        state = self.state(variable)
        cut = state.written and not (isinstance(variable, CallState) and variable.differentiable)
        value = self.apply(OPS["stop_gradient" if cut else "identity"], (state.current,))[0]
        if self.gradient_mask is not None and isinstance(variable, CallState):
            self.gradient_mask.note([value])
        return value

    def assign(self, variable: Variable | CallState, value: Any) -> None:
        """Sets the variable's value from this point of the region on."""
        state = self.state(variable)
        # A tensor of its own: items may be assigned to the one that was given.
        state.current = SymbolicTensor(self.cast(value, variable.type).raw, self)
        state.written = True
        if self.gradient_mask is not None and isinstance(variable, CallState):
            self.gradient_mask.renew()

    def written(self) -> list[Any]:
        """Returns the variables that the region assigns, in order of first touch."""
        return [state.variable for state in self.states.values() if state.written]

    def close(self, arguments: Sequence[SymbolicTensor], outputs: Sequence[SymbolicTensor]) -> Graph:
        """Returns the finished graph, with its inputs in the given order.

        Args:
          arguments: every input of the region, reordered.
          outputs: what it returns.
        """
        inputs = [argument.raw for argument in arguments]
        for position, value in enumerate(inputs):
            value.index = position
        self.is_closed = True
        return Graph(inputs, self.builder.nodes, [output.raw for output in outputs], self.builder.name)
