"""``:=`` binds where it stands; in parts of an expression that are evaluated only sometimes it is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import graphc as gx
from graphc.autograph import convert, to_source
from graphc.base.errors import UnsupportedSyntaxError
from tests.autograph.differential import compile_quietly, f
from tests.autograph.frontend.reference_operators import both, plain
from tests.conformance.comparing import difference


def in_test(x: Any) -> Any:
    if (y := x + 1) > 2:
        return y
    return x - y


def in_first_operands(x: Any) -> Any:
    if (y := x - 1) > 0 and y < 3:
        return y
    return x if (z := x * 2) > -2 or z < -5 else z


def in_while(x: Any) -> Any:
    k = x * 0
    last = x
    while (k := k + 1) + x < 9 and k < 6:
        last = last + k
    return k, last


def in_while_else(x: Any) -> Any:
    k = x * 0
    while (step := x + k) < 5:
        if step > 3.5:
            break
        k = k + 1
    else:
        k = k - 100
    return k


def in_chain(x: Any) -> Any:
    if (y := x - 1) < (z := x * 2) <= 8:
        return y + z
    return x


def in_guard(x: Any) -> Any:
    match x:
        case 0 | 2 as v if (y := v + 5) > 6:
            return v + y
        case v:
            return v * 2


PROGRAMS = [in_test, in_first_operands, in_while, in_while_else, in_chain, in_guard]
VALUES = (-3.0, -1.0, 0.0, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0)


@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda fn: fn.__name__)
def test_it_binds_as_in_python(fn: Any) -> None:
    for operators in (plain, both):
        new = convert(fn, operators=operators)
        for value in VALUES:
            assert new(value) == fn(value)


@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda fn: fn.__name__)
def test_on_tensors_it_means_the_same_compiled(fn: Callable[..., Any]) -> None:
    compiled = compile_quietly(fn)
    for value in VALUES:
        problem = difference(fn(f(value)), compiled(f(value)))
        assert problem is None, (value, problem)


def second_operand(x: Any) -> Any:
    if x > 0 and (y := x + 1) > 2:
        return y
    return x


def condition_of_a_while(x: Any) -> Any:
    while x < 5 or (y := x - 9) < 0:
        x = x + y
    return x


def ternary(x: Any) -> Any:
    return (y := x) if x > 0 else (y := x - 1)  # noqa: F841


def end_of_a_chain(x: Any) -> Any:
    return -1 < x < (y := 3) <= y


@pytest.mark.parametrize(
    ("fn", "part"),
    [
        (second_operand, "an operand of `and`"),
        (condition_of_a_while, "an operand of `or`"),
        (ternary, "a branch of `... if ... else ...`"),
        (end_of_a_chain, "a chained comparison"),
    ],
)
def test_in_a_part_that_is_evaluated_only_sometimes_it_is_refused(fn: Any, part: str) -> None:
    with pytest.raises(UnsupportedSyntaxError, match="binds a name only when that part is evaluated") as info:
        gx.function(fn)(f(1.0))
    assert part in str(info.value)
    assert "Assign the name on a line of its own" in str(info.value)
    assert "test_convert_walrus.py" in str(info.value)


def test_the_text_is_readable() -> None:
    def fn(x):  # noqa: ANN001, ANN202
        while (y := x.step()) > 1:
            x.y = y

    text = to_source(fn)
    assert "y = ag__.call_method(x, 'step')()" in text or "(y := ag__.call_method(x, 'step')())" in text
