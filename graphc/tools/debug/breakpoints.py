"""Breakpoints of a stepper: lines, and calls of ``gx.debug.breakpoint``, which are nodes without a program."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from graphc.compiler.base import Location, at, user_location
from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.core import apply_all
from graphc.compiler.ir import OPS, OpDef, reads
from graphc.compiler.tracing import is_tracing

__all__ = ["BREAKPOINT", "breakpoint", "line_of", "stops_at"]


def _nothing(*_: Any, **__: Any) -> tuple[()]:
    return ()


BREAKPOINT = OPS.add(
    "debug.breakpoint",
    OpDef(
        "debug.breakpoint",
        impl=_nothing,
        infer=_nothing,
        effects=lambda attrs: (reads("debugger"),),  # a branch with nothing else stays; a read alone is not kept
        takes_open=True,
        differentiable=False,
        doc="Stops a stepper; it computes nothing, and the program is compiled without it.",
    ),
)


def breakpoint() -> None:
    """Stops :meth:`Stepper.run` of :func:`graphc.debug.step` at this line, in the branch or iteration that comes here.

    Calls of the compiled function do not stop and cost nothing. Eager code, which has values, does not stop either: it
    has Python's own ``breakpoint()``.

    Example:
      >>> import graphc as gx
      >>> @gx.function
      ... def halved(x):
      ...     while x > 1.0:
      ...         x = x / 2.0
      ...         if x < 3.0:
      ...             gx.debug.breakpoint()
      ...     return x
      >>> stepper = gx.debug.step(halved, gx.asarray(20.0))
      >>> _ = stepper.run()
      >>> stepper.value("x").item()
      2.5
    """
    if is_tracing():
        apply_all(BREAKPOINT, ())


def line_of(point: Any) -> tuple[str, int]:
    """Returns a breakpoint as the end of a file's path, empty for any file, and a line.

    Raises:
      InvalidArgumentError: it is neither a line nor ``"file.py:12"``.
    """
    if isinstance(point, int) and not isinstance(point, bool) and point > 0:
        return "", point
    if isinstance(point, str):
        file, _, line = point.rpartition(":")
        if line.isdecimal() and int(line) > 0:
            return file, int(line)
    error = InvalidArgumentError(f"gx.debug: a breakpoint is a line, such as 12 or 'file.py:12', got {point!r:.60}")
    raise at(error, user_location())


def stops_at(points: Iterable[tuple[str, int]], location: Location | None, file: str) -> bool:
    """Returns True if a line is one of the breakpoints; those without a file are lines of ``file``."""
    if location is None:
        return False
    return any(
        location.line == line and _is_of(location.file, name)
        if name
        else (location.file, location.line) == (file, line)
        for name, line in points
    )


def _is_of(path: str, name: str) -> bool:
    return path == name or path.endswith(os.sep + name)
