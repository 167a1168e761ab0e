"""First calls: those that make Variables, and what the traces after them take over."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

from graphc.base import config
from graphc.function.arguments import Arguments
from graphc.function.traced import TracedFunction
from graphc.lowering import Program

__all__ = ["FirstCalls"]

_KEPT = 2


class FirstCalls:
    """What is known of the calls of a function that made Variables."""

    def __init__(self) -> None:
        self.in_vain: deque[Any] = deque(maxlen=config.max_traces)
        """Descriptions of arguments with which a call made Variables and kept none of them in its arguments."""
        self.programs: deque[tuple[Any, Program | None]] = deque(maxlen=_KEPT)
        """Settings and programs of first calls that made Variables, which the traces of the next calls take over."""

    def may_create(self, arguments: Arguments) -> bool:
        """Returns True if a call may make Variables."""
        return not self.in_vain or arguments.described() not in self.in_vain

    def note_creation(self, before: list[tuple[str, str]], after: Arguments) -> None:
        """Notes that a call made Variables: a second time the same arguments must not make any.

        Where the call changed its arguments (``self.w``) they are not the same any more, so that each new instance has
        a first call of its own.
        """
        if after.described() == before:
            self.in_vain.append(before)

    def keep_program(self, traced: TracedFunction) -> None:
        """Keeps the program of a first call for the trace of the next one."""
        self.programs.append((traced.settings, traced.executable.program))

    def share_program(self, traced: TracedFunction, traces: Sequence[TracedFunction], *, first: bool) -> None:
        """Spares a compilation where a first call and the next one, also of another instance, run the same program.

        Args:
          traced: a new trace.
          traces: those of the function before it.
          first: whether the new one is of a first call.
        """
        known = [(traced.settings, traced.executable.program) for traced in traces] if first else []
        for place, (settings, program) in enumerate([*self.programs, *known]):
            if settings == traced.settings and traced.executable.take_over(program):
                if not first:
                    del self.programs[place]
                return
