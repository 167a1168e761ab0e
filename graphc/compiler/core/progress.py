"""A progress line on the terminal during slow work: a trace, a compilation, the search for a placement.

It appears after ``gx.config.progress_after`` seconds and disappears when the work is done. It is off in pipes, files,
notebooks, tests and dumb terminals. Nested work shows one line, for the innermost step.
"""

from __future__ import annotations

import os
import sys
import threading
from types import TracebackType
from typing import Any, Final

import jax.monitoring

from graphc.compiler.base import config

_COMPILED: Final = "/jax/core/compile/backend_compile_duration"
"""JAX's event at the end of a compilation, after which the program runs."""


def _shows() -> bool:
    """Returns True if the terminal shows the line and can erase it."""
    if config.progress_after is None or "PYTEST_CURRENT_TEST" in os.environ or os.environ.get("TERM") == "dumb":
        return False
    stream: Any = sys.stdout
    try:
        return stream is not None and bool(stream.isatty())
    except ValueError:  # it is closed
        return False


class _Line:
    """The progress line, which one thread at a time owns."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._owner: int | None = None
        self._texts: list[tuple[str, bool]] = []
        self._timer: threading.Timer | None = None
        self._bar: Any = None
        self._listens = False

    def begin(self, text: str, *, compiles: bool) -> bool:
        """Starts a step; returns True if this thread owns the line."""
        me = threading.get_ident()
        with self._lock:
            if self._owner not in (None, me):
                return False
            if not self._listens:
                self._listens = True
                jax.monitoring.register_event_duration_secs_listener(self._heard)
            self._owner = me
            self._texts.append((text, compiles))
            if self._bar is not None:
                self._bar.update(self._bar.task_ids[0], description=text)
            elif self._timer is None:
                self._wait()
            return True

    def end(self) -> None:
        """Ends the step that was started last."""
        with self._lock:
            self._texts.pop()
            if not self._texts:
                self._hide()
                self._owner = None
            elif self._bar is not None:
                self._bar.update(self._bar.task_ids[0], description=self._texts[-1][0])

    def _wait(self) -> None:
        seconds = config.progress_after or 0.0
        if seconds == 0.0:
            self.show()
            return
        self._timer = threading.Timer(seconds, self.show)
        self._timer.daemon = True
        self._timer.start()

    def show(self) -> None:
        """Shows the line, unless the work is done."""
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        with self._lock:
            if not self._texts or self._bar is not None:
                return
            columns = SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
            self._bar = Progress(*columns, transient=True, redirect_stdout=False, redirect_stderr=False)
            self._bar.add_task(self._texts[-1][0], total=None)
            self._bar.start()

    def _hide(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def _heard(self, event: str, duration_secs: float, **kwargs: str | int) -> None:
        del duration_secs, kwargs
        if event == _COMPILED and self._owner == threading.get_ident():
            with self._lock:
                if self._texts and self._texts[-1][1]:
                    self._hide()


_line = _Line()


class telling:  # noqa: N801  it stands where a function of contextlib stands
    """Shows a progress line while the scope is open, if the work takes long; a compilation's ends at JAX's event."""

    def __init__(self, text: str, *, compiles: bool = False) -> None:
        self._text, self._compiles, self._has_line = text, compiles, False

    def __enter__(self) -> None:
        self._has_line = _shows() and _line.begin(self._text, compiles=self._compiles)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        del kind, error, traceback
        if self._has_line:
            self._has_line = False
            _line.end()
