"""Functions of which ``contextlib.contextmanager`` made context managers: their generators are converted."""

from __future__ import annotations

import contextlib
import functools
import types
from collections.abc import Callable
from typing import Any

from graphc.compiler.autograph.constructs.purity.opaque import is_pure_module
from graphc.compiler.autograph.constructs.purity.reading import entering, read_attribute
from graphc.compiler.autograph.constructs.purity.watch import made
from graphc.compiler.autograph.frontend.convert import convert, is_converted
from graphc.compiler.autograph.frontend.source import NoSourceError
from graphc.compiler.base import is_library_file
from graphc.compiler.base.errors import UnsupportedSyntaxError
from graphc.compiler.tracing import Region, context

__all__ = ["converted_maker", "is_followed_generator", "is_pure_generator"]


def _nothing() -> Any:
    yield


_CODE = contextlib.contextmanager(_nothing).__code__
"""The code of every function that :func:`contextlib.contextmanager` returns."""


def converted_maker(function: types.FunctionType) -> Callable[..., Any] | None:
    """Returns what to call in place of a function that makes a context manager of a generator of the user's.

    Returns:
      None if it is no such function, or its generator cannot be converted.
    """
    # contextlib keeps the generator function in __wrapped__, as functools.wraps does.
    generator = function.__dict__.get("__wrapped__") if function.__code__ is _CODE else None
    if not isinstance(generator, types.FunctionType) or is_library_file(generator.__code__.co_filename):
        return None
    try:
        converted = convert(generator, suspended=True)
    except (NoSourceError, UnsupportedSyntaxError):
        return None
    read_attribute(function, "__wrapped__", generator)
    entering(generator)
    return functools.partial(_make, contextlib.contextmanager(converted))


def _make(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    return made(function(*args, **kwargs))


def is_followed_generator(manager: Any) -> bool:
    """Returns True if a context manager is a converted generator that runs where it was made."""
    code = getattr(getattr(manager, "gen", None), "gi_code", None)
    if not isinstance(code, types.CodeType) or not is_converted(code):
        return False
    return not isinstance(context.trace, Region) or context.trace.journal.owns(manager)


def is_pure_generator(manager: Any) -> bool:
    """Returns True if a context manager is a generator of a module that only computes."""
    body = getattr(manager, "gen", None)
    if not isinstance(body, types.GeneratorType) or body.gi_frame is None:  # it has run to its end
        return False
    return is_pure_module(body.gi_frame.f_globals.get("__name__", ""))
