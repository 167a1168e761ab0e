"""First calls: calls that create Variables, and the programs that later traces inherit from them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from graphc.compiler.base import Location, config
from graphc.compiler.function.arguments import Arguments
from graphc.compiler.function.guards import MISS, matcher
from graphc.compiler.function.traced import TracedFunction
from graphc.compiler.lowering import Program
from graphc.compiler.tracing import ReadGuard

__all__ = ["FirstCalls"]

_KEPT = 2


@dataclass(frozen=True)
class _InVain:
    """A call that made Variables without keeping any of them in the arguments.

    Attributes:
      described: the arguments.
      guards: the objects that names outside them stood for.
    """

    described: list[tuple[str, str]]
    guards: Sequence[ReadGuard]

    def holds(self) -> bool:
        """Returns True if the names stand for the same objects, which have their Variables now."""
        return matcher(self.guards, (), [], ((), ()))() is not MISS


def _is_of_name(guard: ReadGuard) -> bool:
    """Returns True for the guard of which object a name outside stands for, or an attribute of its object."""
    base = guard.source.base
    near = base is None or base.base is None  # all guards of a large network would take longer than its trace
    return near and not guard.source.of_call and guard.test.startswith("{v} is {0}")


class FirstCalls:
    """The first calls of a function, which created Variables."""

    def __init__(self) -> None:
        self.in_vain: deque[_InVain] = deque(maxlen=config.max_traces)
        """Calls that made Variables without keeping any of them in the arguments."""
        self.programs: deque[tuple[Any, Program | None]] = deque(maxlen=_KEPT)
        """Settings and programs of first calls that made Variables, for the traces of the next calls."""
        self._peeled: dict[Location | None, str] = {}
        """The loops whose first iteration created Variables, by line, with what their reports said."""

    def may_create(self, arguments: Arguments) -> bool:
        """Returns True if a call may make Variables."""
        described = arguments.described() if self.in_vain else []
        return not any(call.described == described and call.holds() for call in self.in_vain)

    def note_creation(self, before: list[tuple[str, str]], after: Arguments, guards: Iterable[ReadGuard] = ()) -> None:
        """Notes that a call made Variables: another call with the same arguments must not make any.

        If the call changed its arguments (``self.w``), they are no longer the same, so that each new instance has a
        first call of its own; so has what replaces a global model or optimizer.

        Args:
          before: the arguments before the call, described.
          after: the arguments after it.
          guards: those of the call's trace.
        """
        if after.described() == before:
            self.in_vain.append(_InVain(before, [*filter(_is_of_name, guards)]))

    def keep_program(self, traced: TracedFunction) -> None:
        """Keeps the program of a first call for the next call's trace, and what it tells of loops."""
        self.programs.append((traced.settings, traced.executable.program))
        self._peeled.update({loop.location: loop.reason for loop in traced.notes.loops if loop.creates})

    def tell_of_loops(self, traced: TracedFunction) -> None:
        """Adds to a later trace's reports how the loops ran that created Variables in a first call."""
        loops = traced.notes.loops
        for place, loop in enumerate(loops):
            if loop.location in self._peeled and loop.kind in ("rolled", "while"):
                reason = f"{loop.reason}; in the first call {self._peeled[loop.location]}"
                loops[place] = replace(loop, reason=reason)

    def share_program(self, traced: TracedFunction, traces: Sequence[TracedFunction], *, first: bool) -> None:
        """Avoids a compilation if a first call and the next one, even of another instance, run the same program.

        Args:
          traced: a new trace.
          traces: the function's earlier traces.
          first: whether the new trace is that of a first call.
        """
        known = [(traced.settings, traced.executable.program) for traced in traces] if first else []
        for place, (settings, program) in enumerate([*self.programs, *known]):
            if settings == traced.settings and traced.executable.take_over(program):
                if not first:
                    del self.programs[place]
                return
