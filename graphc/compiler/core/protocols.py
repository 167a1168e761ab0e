"""Protocols of objects that higher layers pass to the core: gradient tapes, replicas, update takers and traces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from graphc.compiler.base.errors import GraphcError
    from graphc.compiler.ir import Attrs, Graph, OpDef


class Recorder(Protocol):
    """The interface of an open gradient tape."""

    def forward(
        self, op: OpDef, inputs: Sequence[Any], attrs: Attrs, regions: Sequence[Graph]
    ) -> Callable[..., Any] | None:
        """Returns a replacement for the kernel of an op with bodies, for :meth:`record`; None for no replacement."""
        ...

    def record(
        self, op: OpDef, inputs: Sequence[Any], attrs: Attrs, regions: Sequence[Graph], outputs: Sequence[Any],
        forward: Any = None,
    ) -> None:  # fmt: skip
        """Records that ``op`` mapped ``inputs`` to ``outputs``, by the result of :meth:`forward` or by its kernel."""
        ...

    def call(self, graph: Graph, variables: Sequence[Any], tensors: Sequence[Any]) -> Sequence[Any] | None:
        """Runs and records a call of a compiled function, if that is a matter of one program; None if it is not."""
        ...

    def record_read(self, variable: Any, tensor: Any) -> None:
        """Records that reading ``variable`` returned ``tensor``."""
        ...

    def note_elsewhere(self, inputs: Sequence[Any], results: Sequence[Any]) -> None:
        """Records what a thread in which the tape is not open computed from tensors, and from Variables it read."""
        ...

    @property
    def is_idle(self) -> bool:
        """True if the tape follows no tensor yet."""
        ...

    def follows(self, value: Any) -> bool:
        """Returns True if a tensor or variable is watched, or was computed from watched ones."""
        ...


class ReplicaContext(Protocol):
    """The interface of one replica of a data-parallel step."""

    @property
    def num_replicas(self) -> int:
        """Returns the number of replicas that run the step."""
        ...

    @property
    def weights(self) -> Any:
        """The weights of the rows if some are padding of an uneven batch; None if none is."""
        ...

    def mean(self, tensors: Sequence[Any]) -> list[Any]:
        """Returns the mean of each tensor over the replicas, all in one collective."""
        ...

    def total(self, tensors: Sequence[Any]) -> list[Any]:
        """Returns the sum of each tensor over the replicas, all in one collective."""
        ...

    def fold_key(self, key: Any) -> Any:
        """Returns random key data that differs between replicas."""
        ...


class UpdateTaker(Protocol):
    """A receiver of optimizer updates in place of the Variables, such as a step whose gradients go elsewhere."""

    def take(self, optimizer: Any, gradients: Sequence[Any], variables: Sequence[Any]) -> None:
        """Receives an update; the gradient is None for a variable that does not change."""
        ...

    def note_sum(self, variable: Any) -> None:
        """Records that a Variable is incremented by an assignment: increments of several steps add up."""
        ...


class Tracing(Protocol):
    """The interface of the open trace; ``graphc.compiler.tracing`` implements it."""

    is_graph: bool  # a graph built by hand, which a Session runs
    variable_class: type[Any]  # of the Variables made in a graph built by hand
    unconverted: dict[str, str]  # functions whose control flow stays Python, by qualified name, with the reason

    @property
    def root(self) -> Tracing:
        """The trace of the whole function."""
        ...

    @property
    def parent(self) -> Tracing | None:
        """The enclosing trace; None for the trace of a whole function."""
        ...

    def apply(self, op: OpDef, inputs: Sequence[Any], attrs: Attrs = ..., regions: Sequence[Graph] = ...) -> list[Any]:
        """Appends a node."""
        ...

    def lift(self, value: Any) -> Any:
        """Returns this trace's tensor for a value from anywhere."""
        ...

    def late_input(self, tensor: Any) -> Any:
        """Returns the input for an op's tensor-valued attribute that is known when the graph runs."""
        ...

    def note_attribute(self, value: Any) -> None:
        """Notes that a known value became a static attribute."""
        ...

    def read(self, variable: Any) -> Any:
        """Returns the current value of a Variable."""
        ...

    def assign(self, variable: Any, value: Any) -> None:
        """Sets the value of a Variable from this point of the trace on."""
        ...

    def replace(self, tensor: Any, new: Any) -> None:
        """Replaces a tensor's values by those of another, as item assignment does."""
        ...

    def view(self, tensor: Any, result: Any) -> None:
        """Notes that a result would be a view of a tensor if that were a NumPy array."""
        ...

    def look_at(self, tensor: Any) -> None:
        """Notes that Python code observes the values of a tensor from outside."""
        ...

    def take_whole(self, value: Any) -> None:
        """Notes that unconverted code may read all that an object holds."""
        ...

    def making(self) -> AbstractContextManager[None]:
        """Opens a scope in which code runs eagerly, to make state that outlives the call."""
        ...

    def known_value(self, value: Any) -> Any:
        """Returns a tensor's value if it is the same in every call, for state that is made while tracing."""
        ...

    def leaked(self, tensor: Any) -> GraphcError:
        """Returns the error for a tensor of this trace that is used outside it."""
        ...

    def refuse(self, error: GraphcError) -> GraphcError:
        """Gives up the current attempt, since something cannot be compiled; returns the error to raise."""
        ...

    def note_refusal(self, error: GraphcError) -> GraphcError:
        """Records that something cannot be compiled; returns the error to raise."""
        ...
