"""Recursion that only a tensor could end: both branches are traced, so that it would never end."""

from __future__ import annotations

import sys
import types

from graphc.compiler.autograph.frontend.convert import is_part
from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import UnimplementedError
from graphc.compiler.tracing import Region, context

__all__ = ["check_recursion"]

_MOST = 100
"""The deepest recursion that is traced through branches and loops."""


def check_recursion(function: types.FunctionType) -> None:
    """Refuses a call of ``function`` if it is too deep in calls of itself inside branches on tensors.

    Raises:
      UnimplementedError: it is; and from then on for every call in a branch or loop, so that no other way to trace the
        loops around is tried in vain.
    """
    trace = context.trace
    if not isinstance(trace, Region):
        return
    root = trace.root
    # The walk over all frames comes last, since it is slow where frames are many.
    if root.final_refusal is None and _depth(trace) >= _MOST and _active_calls(function.__code__) >= _MOST:
        root.final_refusal = at(
            UnimplementedError(
                f"{function.__name__} calls itself in a branch or loop that depends on tensors, {_MOST} calls deep: "
                "whatever the tensors hold, both branches are traced, so that this never ends. Write a loop, or let a "
                "Python value decide when to stop"
            ),
            user_location(),
        )
    if root.final_refusal is not None:
        root.refusals.append(root.final_refusal)
        raise root.final_refusal


def _depth(region: Region) -> int:
    """Returns how many regions are around the code that runs, the innermost included."""
    depth = 1
    while isinstance(parent := region.parent, Region):
        region, depth = parent, depth + 1
    return depth


def _active_calls(code: types.CodeType) -> int:
    """Returns how many calls of a function run, converted."""
    count = 0
    frame: types.FrameType | None = sys._getframe(2)  # pyright: ignore[reportPrivateUsage]
    while frame is not None:
        other = frame.f_code
        # By place and name: what runs is the converted code, another object.
        same = other.co_firstlineno == code.co_firstlineno and other.co_filename == code.co_filename
        count += same and other.co_qualname == code.co_qualname and not is_part(other)
        frame = frame.f_back
    return count
