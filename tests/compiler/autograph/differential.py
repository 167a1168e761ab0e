"""Runs a function eagerly and compiled on the same inputs, and says whether anybody could tell the difference."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import graphc as gx
from graphc.compiler.base.errors import GraphcError, SideEffectWarning
from tests.conformance.comparing import difference

Loops = list[tuple[str, str]]


def f(*values: float) -> gx.Tensor:
    """A float scalar, or a vector of several."""
    return gx.asarray(np.float32(values[0]) if len(values) == 1 else np.array(values, np.float32))


def n(value: int) -> gx.Tensor:
    """An int scalar."""
    return gx.asarray(value)


def run(fn: Callable[..., Any], *args: Any) -> tuple[Any, Exception | None]:
    """The result of a call, or the exception."""
    try:
        return fn(*args), None
    except Exception as error:
        return None, error


def compile_quietly(fn: Callable[..., Any], **options: Any) -> Any:
    """The compiled function; what is printed while it is traced is no matter here."""
    compiled = gx.function(fn, on_retrace="ignore", **options)

    def call(*args: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SideEffectWarning)
            return compiled(*args)

    call.compiled = compiled  # type: ignore[attr-defined]
    return call


def check(fn: Callable[..., Any], *args: Any, refuse: bool = False, **options: Any) -> Any:
    """Asserts that eager and compiled runs agree, twice over (the second call runs the program without tracing).

    Args:
      fn: what to run.
      *args: its arguments.
      refuse: whether compiling may end in a GraphcError instead.
      **options: of ``gx.function``.

    Returns:
      The eager result.
    """
    eager, expected = run(fn, *args)
    call = compile_quietly(fn, **options)
    for _ in range(2):
        compiled, found = run(call, *args)
        if refuse and isinstance(found, GraphcError):
            return eager
        if expected is not None:
            assert found is not None, f"eager code raises {expected!r}, compiled code returns {compiled!r}"
            assert isinstance(found, type(expected)) or isinstance(expected, type(found)), (expected, found)
            return None
        if found is not None:
            raise found
        problem = difference(eager, compiled)
        assert problem is None, f"eager and compiled differ at {problem}"
    return eager


def loops_of(fn: Callable[..., Any], *args: Any, **options: Any) -> Loops:
    """Kind and reason of each loop of the compiled function."""
    compiled = gx.function(fn, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SideEffectWarning)
        return [(loop.kind, loop.reason) for loop in compiled.trace(*args).loops]


def kinds_of(fn: Callable[..., Any], *args: Any, **options: Any) -> list[str]:
    return [kind for kind, _ in loops_of(fn, *args, **options)]
