"""Tracebacks that show the user's program without frames of graphc and of the libraries that it calls.

Each entry point of graphc with several frames ends in ``except Exception as error: shorten(error); raise``. A bare
``raise`` adds no frame, so the entry point itself does not appear in the traceback either. While a function is traced
the traceback is kept, since it distinguishes the program's exceptions from graphc's own. ``gx.function`` shortens it at
its end.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import CodeType, TracebackType
from typing import ParamSpec, TypeVar, cast

from graphc.compiler.base import config, is_graphc_file, is_internal_file
from graphc.compiler.core.context import context

__all__ = ["shorten", "shorten_all", "with_short_errors"]

P = ParamSpec("P")
R = TypeVar("R")
PartOf = Callable[[CodeType, CodeType], bool]


def shorten(error: BaseException) -> None:
    """Removes graphc's frames from the traceback of an error of eager code; see :func:`shorten_all`.

    Args:
      error: an error on its way to the user.
    """
    if context.trace is None:
        shorten_all(error)


def with_short_errors(function: Callable[P, R]) -> Callable[P, R]:
    """Makes errors of a function, such as a constructor, hide its frames; see :func:`shorten`."""

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except Exception as error:
            shorten(error)
            raise

    return call


def shorten_all(
    error: BaseException, is_part_of: PartOf | None = None, signals: tuple[type[BaseException], ...] = ()
) -> None:
    """Removes graphc's frames from the traceback of an error, and of the errors that caused it.

    Causes that graphc or JAX raised internally, away from the user's code, are dropped.
    ``gx.config.full_traceback``, or ``GRAPHC_FULL_TRACEBACK=1`` in the environment, keeps everything.

    Args:
      error: an error on its way to the user.
      is_part_of: returns True if one code object is a branch, body or operand of another; only the innermost is kept.
      signals: graphc's internal exceptions, which mean nothing to the user.
    """
    if config.full_traceback:
        return
    known: set[int] = set()
    last: BaseException | None = error
    while last is not None and id(last) not in known:
        known.add(id(last))
        last.__traceback__ = _users_part(last.__traceback__, is_part_of)
        earlier = last.__context__ if last.__cause__ is None else last.__cause__
        if earlier is not None and (isinstance(earlier, signals) or _is_internal(earlier)):
            last.__cause__, last.__suppress_context__ = None, True
        last = earlier


def _is_internal(error: BaseException) -> bool:
    """Returns True if an error means nothing to the user; one without a traceback was made, not raised, by the user."""
    return error.__traceback__ is not None and _users_part(error.__traceback__, None) is None


def _users_part(traceback: TracebackType | None, is_part_of: PartOf | None) -> TracebackType | None:
    """Returns the traceback without graphc's frames and those of libraries that graphc calls."""
    kept: list[TracebackType] = []
    behind_graphc = False
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if is_graphc_file(code.co_filename) or cast("int | None", traceback.tb_lineno) is None:
            behind_graphc = True
        elif not (behind_graphc and is_internal_file(code.co_filename)):
            behind_graphc = False
            if is_part_of is not None and kept and is_part_of(code, kept[-1].tb_frame.f_code):
                kept.pop()
            kept.append(traceback)
        traceback = traceback.tb_next
    found: TracebackType | None = None
    for entry in reversed(kept):
        found = TracebackType(found, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return found
