"""Converted functions do what the originals do."""

from __future__ import annotations

import ast
import copy
import functools
import gc
import inspect
import traceback
import types
import weakref
from collections.abc import Callable
from typing import Any

import pytest

from graphc.autograph import convert, is_converted, to_source
from tests.autograph import convert_corpus
from tests.autograph.convert_corpus import CASES
from tests.autograph.reference_operators import Plain, both, plain

ONE_LINE = [lambda x: x and 1, lambda x: x or 2, lambda x: (lambda y: y and x)]


def behaviour(fn: Callable[..., Any], args: tuple[Any, ...]) -> tuple[Any, ...]:
    """What a call does: the value, or the error and where it was raised; and what became of the arguments."""
    args = copy.deepcopy(args)
    try:
        outcome: tuple[Any, ...] = ("value", fn(*args))
    except Exception as error:
        lines = [
            frame.lineno
            for frame in traceback.extract_tb(error.__traceback__)
            if frame.filename == convert_corpus.__file__
        ]
        kind = NameError if isinstance(error, NameError) else type(error)
        text = "" if kind is NameError else str(error)
        outcome = ("error", kind, text, lines[-1])
    return (*outcome, args)


@pytest.mark.parametrize("fn, calls", CASES, ids=lambda value: getattr(value, "__name__", ""))
def test_converted_functions_behave_as_the_originals(fn: types.FunctionType, calls: list[tuple[Any, ...]]) -> None:
    for args in calls:
        expected = behaviour(fn, args)
        assert behaviour(convert(fn, operators=plain), args) == expected


def test_the_corpus_is_wide() -> None:
    assert len(CASES) >= 60


def test_line_numbers_in_a_traceback_are_the_users() -> None:
    fn = convert_corpus.error_in_loop
    with pytest.raises(ZeroDivisionError) as info:
        convert(fn, operators=plain)(3)
    frames = [frame for frame in traceback.extract_tb(info.tb) if frame.filename == convert_corpus.__file__]
    first = fn.__code__.co_firstlineno + 1  # one decorator
    assert [frame.lineno - first for frame in frames] == [2, 3, 4]
    assert {frame.name for frame in frames} == {"error_in_loop"}
    assert frames[-1].line == "total += 1 // (i - 2)"
