"""Faults at any point of tracing: a call gives its result or an error, never another result."""

from __future__ import annotations

import contextlib
import random
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import graphc as gx
from graphc.compiler.base import is_graphc_file
from tests.compiler.autograph.constructs.exceptions.faults import fail
from tests.compiler.autograph.differential import f
from tests.compiler.autograph.outcomes import plain

# A fault may strike a generator that is closed, where nobody can meet it.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

KINDS = (RuntimeError, RecursionError, KeyError, ValueError, TypeError, AttributeError, IndexError)
DOORS = ("in_python", "items_in_python")
"""What fails in these fails in Python."""


def _is_graphcs(code: Any) -> bool:
    # What an op makes of shapes and dtypes is the same in eager code, where handlers may meet its errors.
    name = code.co_filename
    return (
        is_graphc_file(name)
        and "/graphc/compiler/ops/" not in name
        and "<graphc" not in name
        and code.co_name not in DOORS
    )


def _call(program: Callable[..., Any], at: int, error: Exception | None) -> tuple[Any, int]:
    """Compiles and calls a program that fails at a call of graphc's, by its number, and counts these calls."""
    count = 0

    def watch(frame: Any, event: str, arg: Any) -> None:
        nonlocal count
        if event == "call" and _is_graphcs(frame.f_code):
            count += 1
            if count == at:
                sys.settrace(before)
                fail(error)

    call, before = gx.function(program), sys.gettrace()
    args = f(2.0), f(1.0, -2.0, 3.0)
    try:
        sys.settrace(watch)
        call.graph(*args)  # which is traced, and neither compiled nor run
    except Exception as failure:
        sys.settrace(before)
        return failure, count
    finally:
        sys.settrace(before)
    return plain(call(*args)), count


class _Swallowing:
    def __init__(self) -> None:
        self.count = 0

    def __enter__(self) -> _Swallowing:
        return self

    def __exit__(self, *exception: object) -> bool:
        self.count += 1
        return True


def handlers(x: Any, y: Any) -> Any:
    a, b, items = x + 1.0, y[0] - x, [x, x]
    for e in y:
        try:
            items.append(e)
            if x > 3.0:
                raise ValueError("a")
            b, a = a, b
        except Exception:
            items[0], items[-1] = items[-1], items[0]
    try:
        found = {"a": x}["b"]
    except KeyError:
        found = float(x) // 2.0
    finally:
        x = x + 1.0
    return a, b, len(items), found, x


def managers(x: Any, y: Any) -> Any:
    with contextlib.suppress(Exception):
        x = gx.sum(y) + x * 2.0
    swallowing = _Swallowing()
    with swallowing:
        x = max(x, x * 3.0, 0.0)
        x = x + (1.0 if x > 0 else 2.0)
    try:
        out = [float(e) for e in y]
    except BaseException:
        out = [7.0]
    return x, swallowing.count, sum(out), hasattr(x, "missing"), getattr(x, "missing", 5)


def _faults(count: int) -> Iterator[tuple[float, Exception]]:
    drawn = random.Random(count)
    for _ in range(count):
        yield drawn.random(), drawn.choice(KINDS)("fault")


def _check(program: Callable[..., Any], count: int) -> None:
    right, calls = _call(program, 0, None)
    assert calls > 1000
    errors = 0
    for place, error in _faults(count):
        found, _ = _call(program, 1 + int(place * calls), error)
        if isinstance(found, Exception):
            errors += 1
        else:
            assert found == right, (place, error)
    assert errors


@pytest.mark.parametrize("program", [handlers, managers])
def test_a_fault_does_not_change_a_result(program: Callable[..., Any]) -> None:
    _check(program, 20)


@pytest.mark.slow
@pytest.mark.parametrize("program", [handlers, managers])
def test_many_faults_do_not_change_a_result(program: Callable[..., Any]) -> None:
    _check(program, 400)
