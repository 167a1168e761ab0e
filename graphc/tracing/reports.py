"""What a trace tells of itself: loops, side effects, objects that hold its tensors, and what is done after each run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from graphc.base import Location
from graphc.core import SymbolicTensor

if TYPE_CHECKING:
    from graphc.tracing.trace import Trace

__all__ = ["AfterCall", "Check", "LoopReport", "RegionAborted", "SideEffect", "Store"]


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
class SideEffect:
    """Something that Python does when a function is traced, and not when its program runs.

    Attributes:
      what: it is, for messages: ``the call of time.time``.
      location: where in the user's code.
      followed: whether it changes what a trace depends on, so that the next call is traced anew.
      remedy: what to write instead; empty for the remedy for any side effect.
    """

    what: str
    location: Location | None
    followed: bool = False
    remedy: str = ""


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


class AfterCall(Protocol):
    """What is done after each run of the program with tensors that it computes besides the function's result.

    Attributes:
      what: what it does, for messages: "it assigns items of an argument".
    """

    what: str

    def tensors(self, trace: Trace) -> Sequence[SymbolicTensor]:
        """Those tensors; asked for once, when the function has been traced."""
        ...

    def run(self, arrays: Sequence[Any], arguments: Any) -> None:
        """Does it.

        Args:
          arrays: what the program computed for :meth:`tensors`.
          arguments: of the call.
        """
        ...


class Check(AfterCall, Protocol):
    """Looks at each run of the program before anything else does, and raises if the call has failed."""

    @property
    def is_final(self) -> bool:
        """True if the trace ended in an exception of Python's own, so that another attempt may fare better."""
        ...

    @property
    def raises(self) -> Mapping[int, tuple[str, Location | None]]:
        """Returns what it raises and where, by the status of the call that says so."""
        ...

    @property
    def host_calls(self) -> Sequence[tuple[str, Location | None]]:
        """Returns what the program calls on the host, and where."""
        ...

    def refers_to(self, objects: Sequence[Any]) -> bool:
        """Returns True if what it raises, or what the program calls on the host, holds one of these very objects."""
        ...
