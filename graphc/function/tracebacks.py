"""Tracebacks that show the user's program: without graphc's frames, and one frame for each of the user's functions.

A branch, a loop's body and an operand are functions of their own in converted code, which operators of graphc call. In
a traceback only the innermost of them is left, at the line that runs, as if Python had run the function.
"""

from __future__ import annotations

from types import TracebackType
from typing import cast

from graphc.base import config, is_graphc_file, is_internal_file
from graphc.core import RegionAborted
from graphc.function import front_end

__all__ = ["shorten"]


def shorten(error: BaseException) -> None:
    """Takes graphc's own frames out of the traceback of an error, and of the errors that led to it.

    What graphc or JAX raised on the way, far from any code of the user's, is no longer named as a cause.
    ``gx.config.full_traceback``, or ``GRAPHC_FULL_TRACEBACK=1`` in the environment, keeps everything.

    Args:
      error: caught on its way to the user.
    """
    if config.full_traceback:
        return
    known: set[int] = set()
    last: BaseException | None = error
    while last is not None and id(last) not in known:
        known.add(id(last))
        last.__traceback__ = _users_part(last.__traceback__)
        earlier = last.__context__ if last.__cause__ is None else last.__cause__
        if earlier is not None and _is_internal(earlier):
            last.__cause__, last.__suppress_context__ = None, True
        last = earlier


def _is_internal(error: BaseException) -> bool:
    """Whether an error says nothing to the user; one that has no traceback was made by the user, and never raised."""
    raised = error.__traceback__ is not None
    return isinstance(error, RegionAborted) or (raised and _users_part(error.__traceback__) is None)


def _users_part(traceback: TracebackType | None) -> TracebackType | None:
    """The traceback without graphc's frames, and without those of libraries that graphc calls."""
    kept: list[TracebackType] = []
    behind_graphc = False
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if is_graphc_file(code.co_filename) or cast("int | None", traceback.tb_lineno) is None:
            behind_graphc = True
        elif not (behind_graphc and is_internal_file(code.co_filename)):
            behind_graphc = False
            if kept and front_end.is_part_of(code, kept[-1].tb_frame.f_code):
                kept.pop()
            kept.append(traceback)
        traceback = traceback.tb_next
    found: TracebackType | None = None
    for entry in reversed(kept):
        found = TracebackType(found, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return found
