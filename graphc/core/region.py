"""Regions: the traces of branches and loop bodies.

A region is closed: a tensor from outside becomes an input of the region the first time it is used there, and so does a
variable. Inside, a variable's value travels as an ordinary tensor, so that loops and branches carry it and gradients
flow through it; the nodes that read and write the variable stand in the outermost trace.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from graphc.base import Location, user_location
from graphc.core.tensor import SymbolicTensor, Tensor
from graphc.core.trace import RegionAborted, Trace
from graphc.ir import OPS, Graph

if TYPE_CHECKING:
    from graphc.core.variable import Variable

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
        parent.root.owners.append(self._owned)

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
