"""How long JAX took to lower a program and to compile it.

It does both in the first call, and keeps what it has compiled, so that doing it once more takes no time. JAX tells who
listens how long each step took, in the thread of the call and by the name of the program.
"""

from __future__ import annotations

import threading
import time

import jax

__all__ = ["CompileTimes"]


class CompileTimes:
    """The seconds of one program, the first time; None until then.

    Args:
      name: of the program.

    Attributes:
      lower: from a graph to XLA's input.
      compile: XLA's own work.
    """

    __slots__ = ("_name", "_started", "compile", "lower")

    def __init__(self, name: str) -> None:
        self._name = f"jit({name})"
        self._started = 0.0
        self.lower: float | None = None
        self.compile: float | None = None

    def start(self) -> None:
        """Says that JAX traces the program now, in this thread."""
        if self.compile is None:
            self._started, _latest.program = time.perf_counter(), self

    def note(self, event: str, seconds: float, name: str) -> None:
        """Notes a step that has ended; those of other programs are passed over."""
        if name != self._name:
            return
        if event == _LOWERED:
            self.lower = time.perf_counter() - self._started
        elif event == _COMPILED and self.lower is not None:
            self.compile, _latest.program = seconds, None


class _Latest(threading.local):
    """The program that this thread has traced last and not compiled yet."""

    program: CompileTimes | None = None


_latest = _Latest()
_LOWERED = "/jax/core/compile/jaxpr_to_mlir_module_duration"
_COMPILED = "/jax/core/compile/backend_compile_duration"


def _note(event: str, duration_secs: float, **kwargs: str | int) -> None:
    if _latest.program is not None:
        _latest.program.note(event, duration_secs, str(kwargs.get("fun_name")))


jax.monitoring.register_event_duration_secs_listener(_note)
