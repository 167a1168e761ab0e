"""Regions: the traces of branches and loop bodies.

A region is closed: a tensor from outside becomes an input of the region when it is first used there, and so does a
variable. Inside, a variable's value travels as an ordinary tensor, so that loops and branches carry it and gradients
flow through it; the nodes that read and write the variable stand in the outermost trace.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import jax

from graphc.compiler.base import Location, user_location
from graphc.compiler.base.errors import UnimplementedError
from graphc.compiler.core import SymbolicTensor, Tensor, trace_scope
from graphc.compiler.ir import OPS, Graph
from graphc.compiler.tracing.cells import CallState, Cell
from graphc.compiler.tracing.reports import RegionAborted
from graphc.compiler.tracing.trace import Trace

if TYPE_CHECKING:
    from graphc.compiler.core import Variable


class VariableState:
    """The state of a variable inside a region."""

    __slots__ = ("current", "entry", "variable", "written")

    def __init__(self, variable: Variable | CallState, entry: SymbolicTensor) -> None:
        self.variable = variable
        self.entry = entry  # the region's input that holds its value at the start
        self.current: Any = entry
        self.written = False


class Region(Trace):
    """The trace of a branch or a loop body."""

    def __init__(self, parent: Trace, name: str, attempt: object | None = None, *, once: object = None) -> None:
        self._around = parent
        super().__init__(name)
        # The identity of the attempt to roll a loop that the region belongs to; None if there is no fallback, so that a
        # Python side effect is an error.
        self.attempt = attempt
        # For a branch, the choice that runs at most one of its branches, once per run of the enclosing trace.
        self.once = once
        self.states: dict[str, VariableState] = {}  # the variables that the region touches, by name
        self.location: Location | None = user_location()
        # How the attempt was given up. User code may swallow the exception (a bare ``except:``), so the caller checks
        # this after tracing the body.
        self.aborted: RegionAborted | None = None
        self.bound: list[tuple[Cell, Any]] = []  # the cells whose content differs inside the region, with that content
        parent.root.regions.add(self)

    @property
    def parent(self) -> Trace:
        """The enclosing trace."""
        return self._around

    def _outer(self, value: Tensor | jax.Array) -> Tensor:
        return self.parent.lift(value)

    def abort(self, reason: str, *, unsettled: bool = False) -> None:
        """Gives up the attempt that the region belongs to, if any."""
        if self.attempt is not None:
            self.aborted = RegionAborted(self.attempt, reason, unsettled)
            raise self.aborted

    @contextmanager
    def tracing(self) -> Generator[None]:
        """Opens a scope in which ops go to the region; at its end, undoes the code's writes to Python objects."""
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
        """Undoes and forgets the code's writes to Python objects so far."""
        self.journal.forget(len(self.bound))
        for cell, value in self.bound:
            cell.set(value)

    def refuse_writes(self, what: str) -> None:
        """Raises if the code wrote into Python objects or tensors from outside, since the writes have nowhere to go."""
        for write in self.journal.writes.values():
            error = UnimplementedError(
                f"{write.cell.what} in {what} changes an object from outside; return the new value instead"
            )
            raise self.parent.refuse(error.at(write.location))

    def forget_objects(self) -> None:
        """Drops all references to Python objects, once the region is traced, so that it keeps none alive."""
        self.journal.clear()
        self.bound.clear()
        # Tracebacks of exceptions hold frames, and frames hold the values of their variables.
        self.aborted = None

    def check_aborted(self) -> None:
        """Raises again if the attempt was given up before."""
        if self.aborted is not None:
            raise self.aborted

    def _variable_states(self) -> dict[str, tuple[Any, bool]]:
        return {name: (state.current, state.written) for name, state in self.states.items()}

    def _restore_variables(self, states: dict[str, tuple[Any, bool]]) -> None:
        for name, state in self.states.items():
            state.current, state.written = states.get(name, (state.entry, False))

    def assigned_names(self) -> set[str] | None:
        """Returns the names of the variables that were assigned so far, if the region is a branch."""
        around = None if self.once is None else self.parent.assigned_names()
        return None if around is None else around | {name for name, state in self.states.items() if state.written}

    def state(self, variable: Variable | CallState) -> VariableState:
        """Returns the variable's state in this region, making it an input of the region when first used."""
        entry = self.states.get(variable.name)
        if entry is None:
            entry = self.states[variable.name] = VariableState(variable, self.argument(variable.type, variable.name))
        return entry

    def touched(self, state: CallState) -> bool:
        """Returns True if a state was read or assigned before this point of the region, or of a trace around it."""
        return state.name in self.states or self.parent.touched(state)

    def read(self, variable: Variable | CallState) -> SymbolicTensor:
        """Returns the variable's current value in the region; a Variable's as a tensor that tapes can identify."""
        state = self.state(variable)
        if isinstance(variable, CallState) and variable.differentiable:
            value = SymbolicTensor(state.current.raw, self)  # the very value, which tapes follow from its assignment
        else:
            value = self.apply(OPS["stop_gradient" if state.written else "identity"], (state.current,))[0]
        return value

    def assign(self, variable: Variable | CallState, value: Any) -> None:
        """Sets the variable's value from this point of the region on."""
        state = self.state(variable)
        # A separate tensor: items may be assigned to the given one.
        state.current = SymbolicTensor(self.cast(value, variable.type).raw, self)
        state.written = True

    def written(self) -> list[Any]:
        """Returns the variables that the region assigns, in order of first use."""
        return [state.variable for state in self.states.values() if state.written]

    def close(self, arguments: Sequence[SymbolicTensor], outputs: Sequence[SymbolicTensor]) -> Graph:
        """Returns the finished graph, with its inputs in the given order."""
        # arguments: the region's inputs, all of them, in the new order.
        inputs = [argument.raw for argument in arguments]
        for position, value in enumerate(inputs):
            value.index = position
        self.is_closed = True
        return Graph(inputs, self.builder.nodes, [output.raw for output in outputs], self.builder.name)
