"""Runs a function eagerly and compiled on the same inputs, and says whether anybody could tell the difference."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

import graphc as gx
from graphc.base import nest
from graphc.base.errors import GraphcError, SideEffectWarning

Loops = list[tuple[str, str]]


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


def is_array(leaf: Any) -> bool:
    return isinstance(leaf, gx.Tensor | np.ndarray | np.generic | jax.Array)


def difference(eager: Any, compiled: Any, tolerance: float = 1e-5) -> str | None:
    """Where two results differ in structure, type, shape or value; None where they are the same.

    A Python number that depends on tensors comes back from a compiled function as a tensor, of the dtype that the
    number becomes when a tensor is made of it, or of a wider kind where another path through the program makes it one.
    """
    first, first_structure = nest.flatten(eager)
    second, second_structure = nest.flatten(compiled)
    if first_structure != second_structure:
        return f"structures {first_structure} and {second_structure}"
    for index, (one, two) in enumerate(zip(first, second, strict=True)):
        if not (is_array(one) or is_array(two)):
            same = np.allclose(one, two, tolerance, tolerance, equal_nan=True) if type(one) is float else one == two
            if type(one) is not type(two) or not same:
                return f"leaf {index}: {one!r} and {two!r}"
            continue
        if not is_array(two):
            return f"leaf {index}: the array {one!r} and {two!r}, which is none"
        a, b = (np.asarray(gx.asarray(value)) for value in (one, two))
        if not is_array(one) and a.dtype.kind in "bi" and b.dtype.kind in "if":
            a = a.astype(b.dtype)
        if (a.dtype, a.shape) != (b.dtype, b.shape):
            return f"leaf {index}: {a.dtype}{a.shape} and {b.dtype}{b.shape}"
        if not np.allclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True):
            return f"leaf {index}: {a} and {b}"
    return None


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
