"""The lines where exceptions were raised and where traced functions are."""

from __future__ import annotations

import sys
from types import CodeType, FrameType
from typing import cast

from graphc.compiler.autograph.frontend.convert import is_converted, is_part, is_part_of
from graphc.compiler.autograph.values.deferred import RAISED
from graphc.compiler.base import Location, is_graphc_file

__all__ = ["calls_of", "chain", "forget", "places_of", "user_calls"]


def forget(error: BaseException) -> None:
    """Takes the notes of where they were raised away from an exception and those that led to it."""
    for led in chain(error):
        led.__dict__.pop(RAISED, None)


def chain(error: BaseException) -> list[BaseException]:
    """Returns an exception and those that led to it, each once."""
    found: list[BaseException] = []
    waiting: list[BaseException | None] = [error]
    while waiting:
        last = waiting.pop()
        # By identity: exceptions may define ==, and one may be its own cause.
        if last is not None and not any(last is one for one in found):
            found.append(last)
            waiting += [last.__cause__, last.__context__]
    return found


def places_of(error: BaseException) -> list[Location]:
    """Returns where an exception was raised that no code of the user's raised by a statement, as :func:`user_calls`."""
    return [location for _, location in calls_of(error)]


def calls_of(error: BaseException) -> list[tuple[CodeType, Location]]:
    """Returns the user's functions in an exception's traceback, the outermost first."""
    found: list[tuple[CodeType, Location]] = []
    entry = error.__traceback__
    while entry is not None:
        code = entry.tb_frame.f_code
        if not is_graphc_file(code.co_filename):
            if found and is_part_of(code, found[-1][0]):  # the line in the branch is the nearer one
                found.pop()
            line = cast("int | None", entry.tb_lineno) or code.co_firstlineno
            found.append((code, Location(code.co_filename, line, code.co_name)))
        entry = entry.tb_next
    return found


def user_calls() -> list[Location]:
    """Returns where in converted code the functions of the user's that are being traced stand, the outermost first.

    A branch or a loop's body is a function of its own in converted code; here it is part of the function around it.
    """
    found: list[Location] = []
    inner: FrameType | None = None
    frame: FrameType | None = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame is not None:
        code = frame.f_code
        if is_converted(code):
            if inner is None or not is_part(inner.f_code):
                found.append(Location(code.co_filename, frame.f_lineno, code.co_name))
            inner = frame
        frame = frame.f_back
    return found[::-1]
