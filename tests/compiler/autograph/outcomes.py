"""What a call does that anybody could see: its result or exception, and what it prints."""

from __future__ import annotations

import contextlib
import faulthandler
import io
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base import nest
from tests.conformance.comparing import difference

TOO_LONG = 120
"""A test that takes so many seconds hangs."""


@pytest.fixture
def watchdog() -> Iterator[None]:
    """Ends the process, with the stacks of all threads, if a test hangs; JAX cannot be interrupted otherwise."""
    faulthandler.dump_traceback_later(TOO_LONG, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


@dataclass(frozen=True)
class Outcome:
    """What a call did.

    Attributes:
      result: what it returned, arrays as lists.
      error: the exception: its class, its text, its arguments and attributes, its cause, the line that raised it.
      printed: what it wrote to the standard output.
      returned: the result itself.
    """

    result: Any
    error: Any
    printed: str
    returned: Any = field(default=None, compare=False, repr=False)


def plain(value: Any) -> Any:
    """A value in which tensors, arrays and numbers are numbers and lists of them, rounded as float32 would be."""
    if isinstance(value, gx.Tensor | gx.Variable | np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, float):
        return float(f"{value:.5g}")
    if isinstance(value, BaseException):
        return (type(value).__name__, plain(value.args), plain(value.__dict__), plain(value.__cause__))
    if nest.children(value) is not None:
        return nest.map_structure(plain, value)
    return value


def outcome(fn: Callable[..., Any], *args: Any) -> Outcome:
    """Calls a function and says what it did."""
    printed = io.StringIO()
    result: Any = None
    described: Any = None
    with contextlib.redirect_stdout(printed):
        try:
            result = fn(*args)
        except Exception as error:
            error.__dict__.pop("__notes__", None)
            last = traceback.extract_tb(error.__traceback__)[-1]
            described = (plain(error), str(error), last.filename, last.lineno, last.name)
    return Outcome(plain(result), described, printed.getvalue(), result)


def compiled(fn: Callable[..., Any], **options: Any) -> Any:
    return gx.function(fn, on_retrace="ignore", **options)


def same(fn: Callable[..., Any], *inputs: Any, **options: Any) -> list[Outcome]:
    """Asserts that a function does the same compiled as eagerly, for each input, twice over.

    Args:
      fn: what to call.
      *inputs: numbers or lists, one argument each, or tuples of arguments; they become tensors.
      **options: of ``gx.function``.

    Returns:
      What it did for each.
    """
    call = compiled(fn, **options)
    found: list[Outcome] = []
    for given in inputs:
        args = [gx.asarray(value) for value in (given if isinstance(given, tuple) else (given,))]
        eager = outcome(fn, *args)
        for _ in range(2):
            found_here = outcome(call, *args)
            problem = difference(eager.returned, found_here.returned)
            if problem or replace(found_here, result=eager.result) != eager:
                pytest.fail(f"for {given}: {problem or ''}\n  eager    {eager}\n  compiled {found_here}")
        found.append(eager)
    return found
