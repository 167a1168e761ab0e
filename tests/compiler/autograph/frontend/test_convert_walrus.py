"""``:=`` binds when its part of an expression is evaluated; tensors do not decide if it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import graphc as gx
from graphc import Tensor
from graphc.compiler.autograph import convert, to_source
from graphc.compiler.base.errors import UnimplementedError
from tests.compiler.autograph.differential import compile_quietly, f
from tests.compiler.autograph.frontend.reference_operators import both, plain
from tests.conformance.comparing import difference


def in_a_list(x: Any) -> Any:
    y = z = None
    return [x and (y := x + 1) and y, 0 < x < (y := 2), y, 1 + ((z := x) if x else 2)], y, z


def in_and(x: Any) -> Any:
    if x > 0 and (y := x + 1) > 2:
        return y
    return x


def in_or(x: Any) -> Any:
    if x > 3 or (y := x * 2) < 0:
        return x
    return y + 1


def in_not(x: Any) -> Any:
    if not (x > 0 and (y := x - 1) > 0 and (z := y * 2) < 4):
        r = x
    else:
        r = y + z
    return r


def in_both(x: Any) -> Any:
    if (x > 0 and (y := x + 1) > 2) or (x < -1 and (y := -x) > 1):
        r = x * 10
    elif (y := x + 20) > 19 and (z := y - 20) == 0:
        r = y + z
    else:
        r = y
    return r


def in_while(x: Any) -> Any:
    k = x * 0
    last = x
    while k < 8 and (k := k + 1) + x < 9 and (y := k * 2) != 14:
        last = last + y
    return k, last


def in_while_else(x: Any) -> Any:
    k = x * 0
    while k < 5 and (step := x + k) > -2:
        if step > 6:
            break
        k = k + 1
    else:
        k = k - 100
    return k


def in_ternary(x: Any) -> Any:
    z = (y := x) if x > 0 else (y := x - 1)
    return y * 2 + z


def in_ternary_test(x: Any) -> Any:
    return x + 1 if x > 1 and (y := x * 2) < 7 else (y := x - 1) if x > 0 else x * 9  # noqa: F841


def in_chain(x: Any) -> Any:
    if -1 < x < (y := 3) <= (z := x + 2):
        return y + z
    return x


def in_value(x: Any) -> Any:
    a = x > 0 and (b := x + 1) > 2
    c = not (x > 1 and (d := x - 1) > 0)  # noqa: F841
    e = x == 2 or (b := x - 5) == -4  # noqa: F841
    return a, c, e


def in_assertion(x: Any) -> Any:
    y = x
    assert x > -100 and (y := x + 1) > -100  # noqa: PT018, RUF018
    return y


def after_a_guard(x: Any) -> Any:
    y = x * 0
    match x:
        case 0 | 2 as v if v > 1 and (y := v + 5) > 6:
            r = v
        case v:
            r = v * 2
    return r, y


def only_when_asked(x: Any) -> Any:
    y = x + 50
    if x > 1 and (y := x) > 3:
        return y
    if x > 0 or (y := x * 3) > -1:
        return y + 1
    return y


def always_in_while(x: Any) -> Any:
    k = x * 0
    while (step := x + k) < 5 and k < 4:
        k = k + 1 + step * 0
    return k, step


def always_in_a_test(x: Any) -> Any:
    return y * 2 if (y := x + 1) > 2 else y - 1


def always_first(x: Any) -> Any:
    if (y := x + 1) > 2 and x < 5:
        return y
    return -y


def always_in_a_call(x: Any) -> Any:
    return abs(y := x - 2) + y


PROGRAMS = [
    in_a_list,    always_in_while, always_in_a_test, always_first, always_in_a_call,
    in_and, in_or, in_not, in_both, in_while, in_while_else, in_ternary, in_ternary_test, in_chain, in_value,
    in_assertion, after_a_guard, only_when_asked,
]  # fmt: skip
VALUES = (-3.0, -1.0, 0.0, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0)


@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda fn: fn.__name__)
def test_it_binds_as_in_python(fn: Any) -> None:
    for operators in (plain, both):
        new = convert(fn, operators=operators)
        for value in VALUES:
            assert new(value) == fn(value)


@pytest.mark.parametrize("fn", [always_in_while, always_in_a_test, always_first, always_in_a_call])
def test_where_it_always_binds_tensors_may_decide(fn: Callable[..., Any]) -> None:
    compiled = compile_quietly(fn)
    for value in VALUES:
        problem = difference(fn(f(value)), compiled(f(value)))
        assert problem is None, (value, problem)


@pytest.mark.parametrize("fn", [in_and, in_or, in_both, in_while, in_ternary, in_chain, in_value, in_assertion])
def test_where_a_tensor_decides_if_it_binds_it_is_refused(fn: Any) -> None:
    with pytest.raises(UnimplementedError, match=r"`:=` would bind a name only if a tensor.*assign the name in a") as e:
        gx.function(fn)(f(2.0))
    assert "test_convert_walrus.py" in str(e.value)


def test_what_python_knows_may_decide_beside_tensors() -> None:
    def program(x: Tensor, scale: float | None) -> Tensor:
        if scale is not None and (y := x * scale) > 2:
            x = y
        return x - 1 if scale is None or (z := scale + 1) > 3 else x * z

    compiled = gx.function(program, on_retrace="ignore")
    for given in (None, 1.0, 2.0, 3.0):
        for value in VALUES:
            assert compiled(f(value), given).item() == program(f(value), given).item()


def test_a_name_that_is_not_bound_is_an_error_of_python() -> None:
    def program(x: Tensor, n: int) -> Tensor:
        if n > 0 and (y := x + 1) > 2:
            x = x + 1
        return y

    for run in (program, gx.function(program)):
        with pytest.raises(UnboundLocalError, match="variable 'y'"):
            run(f(1.0), 0)


def test_operands_are_evaluated_once_and_in_order() -> None:
    def fn(values: list[Any], log: Any) -> Any:
        if (log(values[0]) and (a := log(values[1]))) or (a := log(values[2])):
            return a
        b = log(values[3]) < log(values[4]) < (c := log(values[5]))
        d = log(7) and (e := log(8)) and log(9)
        return b, d, e, c if b else 0

    for values in ([1, 2, 3, 4, 5, 6], [1, 0, 3, 4, 5, 6], [0, 0, 0, 4, 5, 6], [0, 1, 0, 5, 5, 6], [0, 0, 0, 4, 5, 1]):
        seen: list[list[Any]] = []
        results: list[Any] = []
        for run in (fn, convert(fn, operators=plain)):
            calls: list[Any] = []

            def log(value: Any, calls: list[Any] = calls) -> Any:
                calls.append(value)
                return value

            results.append(run(values, log))
            seen.append(calls)
        assert results[0] == results[1]
        assert seen[0] == seen[1]


def test_the_text_is_readable() -> None:
    def fn(x):  # noqa: ANN001, ANN202
        if x and (y := x + 1):
            x.y = y

    assert "ag__.if_stmt(ag__test_2, ag__body_3" in to_source(fn)
    assert "(y := ag__.binary('+', x, 1)) if ag__.known_truth((ag__value_1 := x)) else ag__value_1" in to_source(fn)
