"""The times that JAX takes to lower and to compile a program.

It does both in the first call and caches the result, so repeating the call would take no time. JAX reports the time of
each step to listeners, in the calling thread and with the program's name.
"""

from __future__ import annotations

import threading
import time

import jax

__all__ = ["CompileTimes"]


class CompileTimes:
    """The lowering and compile times of a program's first call; None before.

    Args:
      name: the program's name.

    Attributes:
      lower: the time from a graph to XLA's input, in seconds.
      compile: the time of XLA's own work, in seconds.
    """

    __slots__ = ("_name", "_started", "compile", "lower")

    def __init__(self, name: str) -> None:
        self._name = f"jit({name})"
        self._started = 0.0
        self.lower: float | None = None
        self.compile: float | None = None

    def start(self) -> None:
        """Marks the start of JAX's tracing of the program, in this thread."""
        if self.compile is None:
            self._started, _latest.program = time.perf_counter(), self

    def note(self, event: str, seconds: float, name: str) -> None:
        """Records a finished step; ignores those of other programs."""
        if name != self._name:
            return
        if event == _LOWERED:
            self.lower = time.perf_counter() - self._started
        elif event == _COMPILED and self.lower is not None:
            self.compile, _latest.program = seconds, None


class _Latest(threading.local):
    """The program that this thread traced last and has not compiled yet."""

    program: CompileTimes | None = None


_latest = _Latest()
_LOWERED = "/jax/core/compile/jaxpr_to_mlir_module_duration"
_COMPILED = "/jax/core/compile/backend_compile_duration"


def _note(event: str, duration_secs: float, **kwargs: str | int) -> None:
    if _latest.program is not None:
        _latest.program.note(event, duration_secs, str(kwargs.get("fun_name")))


jax.monitoring.register_event_duration_secs_listener(_note)
