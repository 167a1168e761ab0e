"""``match`` on tensors means the same eagerly and compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import graphc as gx
from graphc import Tensor
from tests.compiler.autograph.differential import check, compile_quietly, f, kinds_of, n
from tests.conformance.comparing import difference


def scalar(x: Tensor) -> Tensor:
    match x:
        case 0:
            y = x + 10
        case 1 | 2:
            y = x * 100
        case -1 as z:
            y = z - 1
        case None | "text" | True:
            y = x
        case [_, *_] | [] | "more":
            y = x
        case _:
            y = -x
    return y


def with_guards(x: Tensor) -> Tensor:
    match x:
        case 0 if x > 1:
            y = x
        case 2 | 3 as two if two > 2:
            y = two * 2
        case 2 if (k := x + 1) > 2:
            y = x * 3 + k
        case big if big > 5:
            y = big * 4
        case small if (m := small * 2) < -3:
            y = m
        case other:
            y = other * 5
    return y


def returns(x: Tensor) -> Tensor:
    match x:
        case 0:
            return x + 1
        case 1:
            y = x + 7
        case 2:
            return x * 2
        case n if n < 0:
            y = n
        case _:
            return x * 3
    if y == 8:
        return y + 7
    return y


def returns_between(x: Tensor) -> Tensor:
    match x:
        case 0:
            y = x + 1
        case 1:
            return x - 1
        case _:
            y = x * 2
    return y * 10


def nothing_returned(x: Tensor) -> Tensor:
    total = x
    match x:
        case 0:
            total = total + 1
        case 2 if total > 5:
            total = total + 2
    return total


def pairs(x: Tensor) -> Tensor:
    match (x, x * 2):
        case (a, b) if a == 0:
            z = b + 1
        case (a, [b]) | (a, b) if a > b:
            z = a - b
        case (_, b):
            z = b
    return z


def pair_returns(x: Tensor) -> Any:
    match [x, x + 1, x + 2]:
        case [first, *rest] if first == 0:
            return gx.stack(rest)
        case [first, *_, last] if first > 5:
            return gx.stack([first, last])
    return gx.zeros(2)


def in_loop(x: Tensor) -> Tensor:
    total = step = x * 0
    for i in range(6):
        match x + i:
            case 2:
                continue
            case 4:
                total = total + 100
            case 6:
                break
            case v if v > 7:
                return total - v
            case v:
                step = v
        total = total + step
    return total


def in_while(x: Tensor) -> Tensor:
    count = x * 0
    while x != 1:
        match x % 2:
            case 0:
                x = x // 2
            case _:
                x = 3 * x + 1
        count = count + 1
        match count:
            case 20:
                return count
            case 12:
                break
    else:
        count = count + 100
    return count


def over_index(x: Tensor) -> Tensor:
    for i in range(8):
        match i:
            case 0 | 3:
                x = x + 1
            case _ if i > 5:
                x = x * 2
            case _:
                pass
    return x


def over_rows(x: Tensor) -> Tensor:
    total = x * 0
    for v in gx.arange(5):
        match v:
            case 1 | 3:
                total = total + v
            case 4:
                total = total * x
            case k:
                total = total - k
    return total


def machine(x: Tensor) -> Tensor:
    state = 0
    for _ in range(12):
        match state:
            case 0 if x > 3:
                state, x = 1, x - 2
            case 0:
                state = 2
            case 1:
                state, x = 0, x * 1
            case _:
                break
    return x + state


def flags(x: Tensor) -> Tensor:
    if x > 1:
        flag, number = True, 1
    else:
        flag, number = False, 2
    match flag:
        case True:
            y = x + 1
        case _:
            y = x - 1
    return y + number


def truth_of_tensors(x: Tensor) -> Tensor:
    match x > 1:
        case True:
            return x
        case False:
            return x + 1
        case _:
            return x + 2


def nested(x: Tensor) -> Tensor:
    y = x
    match x > 0, x < 5:
        case (positive, _) if not positive:
            y = x * 100
        case (positive, small) if positive and small:
            match x:
                case 1:
                    y = x + 1
                case 2 | 3 as v:
                    match v:
                        case 3:
                            y = v * 30
                        case _:
                            y = v * 20
        case _:
            pass
    return y


def kept_name(x: Tensor) -> Any:
    y = x + 50
    match (x, x * 2):
        case (w, y) if w > 5:
            return y, w
        case (z, y) if z == 2:
            return y, z
        case _ if y > 54:
            z = y
        case _:
            z = x
    return y, z


def caught(x: Tensor) -> Tensor:
    try:
        match x:
            case 1:
                return x * 2
            case 2:
                y = x * 3
            case _:
                y = x
    finally:
        last = x
    return y + last


VALUES = [f(value) for value in (-2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 7.0)]
TENSOR_PROGRAMS = [
    scalar, with_guards, returns, returns_between, nothing_returned, pairs, pair_returns,
    in_loop, over_index, over_rows, machine, flags, truth_of_tensors, nested, kept_name, caught,
]  # fmt: skip


@pytest.mark.drawn(3)
@pytest.mark.parametrize("fn", TENSOR_PROGRAMS, ids=lambda fn: fn.__name__)
def test_a_match_on_tensors_means_the_same_compiled(fn: Callable[..., Any]) -> None:
    compiled = compile_quietly(fn)
    for value in VALUES:
        problem = difference(fn(value), compiled(value))
        assert problem is None, (value, problem)


@pytest.mark.parametrize("value", [1, 2, 6, 7, 27])
def test_a_match_in_a_while_loop(value: int) -> None:
    check(in_while, n(value))


def test_exceptions_of_cases_are_those_of_eager_code() -> None:
    def program(x: Tensor) -> Tensor:
        match x:
            case 0:
                raise ValueError("zero")
            case 1:
                y = x
            case _:
                y = x * 2
        return y

    compiled = gx.function(program)
    with pytest.raises(ValueError, match=r"^zero"):
        compiled(f(0.0))
    assert (compiled(f(1.0)).item(), compiled(f(3.0)).item()) == (1.0, 6.0)


def test_loops_with_a_match_are_rolled() -> None:
    assert kinds_of(over_rows, f(1.0)) == ["rolled"]
    assert kinds_of(in_while, n(6)) == ["while"]
