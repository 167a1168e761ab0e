"""What the core sees of higher layers: gradient tapes, replicas, takers of updates, and traces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from graphc.base.errors import GraphcError
    from graphc.ir import Attrs, Graph, OpDef

__all__ = ["Recorder", "ReplicaContext", "Tracing", "UpdateTaker"]


class Recorder(Protocol):
    """What an open gradient tape looks like from here."""

    def forward(
        self, op: OpDef, inputs: Sequence[Any], attrs: Attrs, regions: Sequence[Graph]
    ) -> Callable[..., Any] | None:
        """What to run in place of the kernel of an op with bodies, for :meth:`record` to be told; None for nothing."""
        ...

    def record(
        self, op: OpDef, inputs: Sequence[Any], attrs: Attrs, regions: Sequence[Graph], outputs: Sequence[Any],
        forward: Any = None,
    ) -> None:  # fmt: skip
        """Notes that ``op`` took ``inputs`` to ``outputs``, by what :meth:`forward` gave or by its kernel."""
        ...

    def record_read(self, variable: Any, tensor: Any) -> None:
        """Notes that reading ``variable`` gave ``tensor``."""
        ...

    @property
    def is_idle(self) -> bool:
        """True if it follows no tensor yet."""
        ...

    def follows(self, value: Any) -> bool:
        """Returns True if a tensor or variable is watched, or was computed of what is."""
        ...


class ReplicaContext(Protocol):
    """What one replica of a data-parallel step may ask for."""

    @property
    def num_replicas(self) -> int:
        """Returns how many replicas run the step."""
        ...

    @property
    def weights(self) -> Any:
        """The weights of the rows, where some only fill up an uneven batch; None where none does."""
        ...

    def mean(self, tensors: Sequence[Any]) -> list[Any]:
        """Returns the mean of each tensor over the replicas, all in one collective."""
        ...

    def total(self, tensors: Sequence[Any]) -> list[Any]:
        """Returns the sum of each tensor over the replicas, all in one collective."""
        ...

    def fold_key(self, key: Any) -> Any:
        """Random key data that differs between replicas."""
        ...


class UpdateTaker(Protocol):
    """What takes the updates of optimizers in place of the Variables, such as a step whose gradients go elsewhere."""

    def take(self, optimizer: Any, gradients: Sequence[Any], variables: Sequence[Any]) -> None:
        """Takes an update.

        Args:
          optimizer: whose it is.
          gradients: of the variables; None for one that stays.
          variables: what is to be updated.
        """
        ...

    def note_sum(self, variable: Any) -> None:
        """Takes note that a Variable is assigned its value and something more: changes of several steps add up."""
        ...


class Tracing(Protocol):
    """What the trace that ops are appended to looks like from here; graphc.tracing makes traces.

    Attributes:
      is_graph: whether it is that of a graph that is built by hand and run by a Session.
      variable_class: of the Variables that are made in such a graph.
      unconverted: the functions whose Python control flow is not converted, by their qualified names, and why.
    """

    is_graph: bool
    variable_class: type[Any]
    unconverted: dict[str, str]

    @property
    def root(self) -> Tracing:
        """The trace of the whole function."""
        ...

    @property
    def parent(self) -> Tracing | None:
        """The trace around this one; None for that of a whole function."""
        ...

    def masked(self, inputs: Sequence[Any]) -> Sequence[Any]:
        """Returns what a node is given, so that no gradient comes out of it where it does not count."""
        ...

    def record(self, op: OpDef, inputs: Sequence[Any], attrs: Attrs, regions: Sequence[Graph]) -> list[Any]:
        """Appends a node that is given masked inputs."""
        ...

    def apply(self, op: OpDef, inputs: Sequence[Any], attrs: Attrs = ...) -> list[Any]:
        """Appends a node."""
        ...

    def lift(self, value: Any) -> Any:
        """Returns the tensor of this trace that stands for a value from anywhere."""
        ...

    def late_input(self, tensor: Any) -> Any:
        """Returns the tensor that holds an attribute which is known when the graph runs."""
        ...

    def note_attribute(self, value: Any) -> None:
        """Notes that a value which is known became a static attribute."""
        ...

    def read(self, variable: Any) -> Any:
        """Returns the tensor that a Variable holds here."""
        ...

    def assign(self, variable: Any, value: Any) -> None:
        """Gives a Variable a value from here on."""
        ...

    def replace(self, tensor: Any, new: Any) -> None:
        """Gives a tensor the values of another, as an assignment to its items does."""
        ...

    def look_at(self, tensor: Any) -> None:
        """Notes that Python code gets to know the values of a tensor from outside."""
        ...

    def take_whole(self, value: Any) -> None:
        """Notes that code which is not converted gets to know all that an object holds."""
        ...

    def making(self) -> AbstractContextManager[None]:
        """Returns a scope inside which code runs eagerly, to make state that outlives the call."""
        ...

    def known_value(self, value: Any) -> Any:
        """Returns what a tensor is in every call, for state that is made while tracing."""
        ...

    def leaked(self, tensor: Any) -> GraphcError:
        """Returns the error to raise where a tensor of this trace is used outside it."""
        ...

    def refuse(self, error: GraphcError) -> GraphcError:
        """Gives up what is tried, since something cannot be compiled; returns the error to raise."""
        ...

    def note_refusal(self, error: GraphcError) -> GraphcError:
        """Notes that something cannot be compiled; returns the error to raise."""
        ...
