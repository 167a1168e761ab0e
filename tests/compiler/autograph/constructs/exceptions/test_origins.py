"""Whose an exception is: Python's own answers belong to the program, graphc's failures end the trace."""

from __future__ import annotations

import contextlib
import datetime
import decimal
import fractions
import functools
import json
import re
from collections import deque
from collections.abc import Callable
from typing import Any

import pytest

import graphc as gx
from graphc.compiler.autograph import operators
from graphc.compiler.base.errors import (
    ConcretizationError,
    GraphcError,
    InternalError,
    InvalidArgumentError,
    UnimplementedError,
)
from tests.compiler.autograph.constructs.exceptions.faults import failing
from tests.compiler.autograph.differential import f
from tests.compiler.autograph.outcomes import same


class _Slotted:
    __slots__ = ()


def _slotted() -> None:
    _Slotted().missing = 1  # type: ignore[attr-defined]


def _imported() -> Any:
    import graphc_is_no_such_module  # type: ignore[import-not-found]

    return graphc_is_no_such_module


def _unpacked() -> Any:
    first, second = (1, 2, 3)  # type: ignore[misc]
    return first, second


def _looped() -> Any:
    for _ in 5:  # type: ignore[attr-defined]
        pass


ANSWERS: list[Callable[[], Any]] = [
    lambda: int("abc"),
    lambda: max([]),
    lambda: [1, 2].index(5),
    lambda: None.missing,  # type: ignore[attr-defined]
    lambda: "a" + 1,  # type: ignore[operator]
    lambda: len(5),  # type: ignore[arg-type]
    lambda: sum(["a"]),  # type: ignore[list-item]
    lambda: [*map(int, ["1", "a"])],
    lambda: sorted([1, 2], key=lambda a, b: a),  # type: ignore[misc]
    lambda: functools.reduce(lambda a, b: a, []),
    lambda: f"{1.0:zz}",
    lambda: (lambda a: a)(*()),  # type: ignore[call-arg]
    lambda: (5).missing,
    _slotted,
    _imported,
    _unpacked,
    _looped,
]


def raised_where_the_branch_is_taken(x: Any, place: int) -> Any:
    if x < 0:
        return ANSWERS[place]()
    return x * 2.0


@pytest.mark.parametrize("place", range(len(ANSWERS)))
def test_what_python_answers_in_a_branch_is_raised_by_the_calls_that_take_it(place: int) -> None:
    same(lambda x: raised_where_the_branch_is_taken(x, place), 1.0, -1.0)


LIBRARY: list[Callable[[Any], Any]] = [
    lambda x: fractions.Fraction(int(x), 2),
    lambda x: decimal.Decimal(float(x)),
    lambda x: len(json.dumps(float(x))),
    lambda x: datetime.timedelta(days=int(x)),
    lambda x: deque([1, 2], maxlen=int(x)),
    lambda x: int(f"{x:.0f}"),
    lambda x: pow(int(x), 3, 5),
]


@pytest.mark.parametrize("use", LIBRARY)
def test_a_handler_does_not_meet_what_a_library_says_of_a_number_without_a_value(use: Callable[[Any], Any]) -> None:
    def program(x: Any) -> Any:
        try:
            use(x)
        except Exception:
            return x * -1.0
        return x

    with pytest.raises((ConcretizationError, UnimplementedError)):
        gx.function(program)(f(2.0))


def test_a_handler_does_not_meet_the_error_of_a_branch_that_is_not_taken() -> None:
    def program(x: Any, y: Any) -> Any:
        try:
            return y + gx.ones(2) if x < 0 else y
        except ValueError:
            return y * -9.0

    with pytest.raises(InvalidArgumentError, match="incompatible shapes"):
        gx.function(program)(f(2.0), f(1.0, 2.0, 3.0))


class _Swallowing:
    def __enter__(self) -> None: ...

    def __exit__(self, *exception: object) -> bool:
        return True


def _suppressed(x: Any) -> Any:
    with contextlib.suppress(Exception):
        return x > 1.0
    return x


def _handled(x: Any) -> Any:
    try:
        return x > 1.0
    except BaseException:
        return x


def _swallowed(x: Any) -> Any:
    with _Swallowing():
        return x > 1.0
    return x


@contextlib.contextmanager
def _generated() -> Any:
    try:
        yield
    except Exception:
        print("caught")


def _thrown_in(x: Any) -> Any:
    with _generated():
        return x > 1.0
    return x


@pytest.mark.parametrize("program", [_suppressed, _handled, _swallowed, _thrown_in])
@pytest.mark.parametrize("kind", [RuntimeError, KeyError, RecursionError])
def test_a_bug_ends_the_trace_whatever_the_program_catches(
    program: Callable[..., Any], kind: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operators, "compare", failing(kind("fault")))
    with pytest.raises(InternalError, match=r"bug in graphc.*autograph=False(.|\n)*return x > 1\.0") as caught:
        gx.function(program)(f(2.0))
    assert isinstance(caught.value, GraphcError)


def test_endless_recursion_is_told_from_a_bug() -> None:
    def program(x: Any) -> Any:
        def again(value: Any) -> Any:
            try:
                return again(value) + 1
            except RecursionError:
                return 0.0

        return again(x)

    with pytest.raises(UnimplementedError, match="calls itself too deeply"):
        gx.function(program)(f(1.0))


def test_arguments_that_a_function_of_graphcs_does_not_take_are_no_bug() -> None:
    with pytest.raises(TypeError, match=re.escape("must be an iterable, not int")):
        gx.function(lambda x: gx.stack(5))(f(1.0))  # type: ignore[arg-type]


def test_a_function_that_does_not_take_what_graphc_gives_it_raises_as_python_does() -> None:
    def program(x: Any) -> Any:
        return gx.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * 2), (gx.asarray(0), x))  # type: ignore[misc]

    messages: list[str] = []
    for call in (program, gx.function(program)):
        with pytest.raises(TypeError, match=r"<lambda>\(\) missing 1 required positional argument: 'v'") as caught:
            call(gx.asarray(1.0))
        messages.append(str(caught.value).partition("\n")[0])
        assert not isinstance(caught.value, InternalError)
    assert messages[0] == messages[1]
