"""Reports of a trace: its loops, its side effects, the objects that hold its tensors, and the work after each run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from graphc.compiler.base import Location
from graphc.compiler.core import SymbolicTensor

if TYPE_CHECKING:
    from graphc.compiler.tracing.trace import Trace


class RegionAborted(BaseException):
    """Signals that an attempt to roll a loop is given up."""

    def __init__(self, attempt: object, reason: str, unsettled: bool = False) -> None:
        super().__init__(reason)
        self.attempt = attempt
        self.reason = reason
        # True if the cause is the value of a name before the loop, or that a Variable is created, so that the attempt
        # may succeed after the first iteration has been peeled.
        self.unsettled = unsettled


@dataclass(frozen=True)
class LoopReport:
    """The outcome of tracing one loop of the user's code."""

    location: Location | None
    kind: str  # ``"rolled"``, ``"unrolled"`` or ``"while"``
    reason: str
    copies: int = 0  # how often the body of an unrolled loop is in the graph
    nodes: int = 0  # the nodes of all these copies, as they were traced
    creates: bool = False  # its first iteration was peeled: it creates Variables, as only a first call does


@dataclass(frozen=True)
class SideEffect:
    """A Python side effect that happens when a function is traced, but not when its program runs."""

    what: str  # for messages: ``the call of time.time``
    location: Location | None
    followed: bool = False  # it changes something that a trace depends on: the next call is traced anew
    remedy: str = ""  # what to write instead; empty for the default


@dataclass(frozen=True)
class TensorStore:
    """An assignment of a symbolic tensor to a part of an object."""

    owner: Any
    what: str  # the statement, for messages
    location: Location | None
    undo: Callable[[Any], None]  # restores, given the object, its content before the first tensor


class AfterCall(Protocol):
    """Work to do after each run of the program, with extra tensors that the program computes."""

    what: str  # a description for messages: "it assigns items of an argument"

    def tensors(self, trace: Trace) -> Sequence[SymbolicTensor]:
        """Returns the extra tensors; called once, after the function has been traced."""
        ...

    def run(self, arrays: Sequence[Any], arguments: Any) -> None:
        """Does the work."""
        ...


class Check(AfterCall, Protocol):
    """A check that runs first after each run of the program and raises if the call has failed."""

    @property
    def is_final(self) -> bool:
        """True if the trace ended in a Python exception, so that another attempt may succeed."""
        ...

    @property
    def raises(self) -> Mapping[int, tuple[str, Location | None]]:
        """Returns the exceptions that it may raise, with their lines, by the call's status."""
        ...

    @property
    def host_calls(self) -> Sequence[tuple[str, Location | None]]:
        """Returns the calls that the program makes on the host, with their lines."""
        ...

    def refers_to(self, objects: Sequence[Any]) -> bool:
        """Returns True if its exceptions, or the program's host calls, hold one of these very objects."""
        ...
