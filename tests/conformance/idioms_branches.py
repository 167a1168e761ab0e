"""Branches: returns, names, types, conditions."""

from __future__ import annotations

from typing import Any

import graphc as gx
from tests.conformance.harness import f, i, program

RETURN = "early `return`"
FALL_THROUGH = "a branch that returns and one that falls through"
BOUND = "a name first bound in a branch or loop"
PROMOTION = "a value that changes from int to float"
CONDITION = "`and`, `or`, `not`, chained comparison"
MATCH = "`match`"
SIGNS = [(f(2.0),), (f(-3.0),), (f(0.0),)]


@program("branches/if, elif, else", inputs=SIGNS, construct="`if`, `elif`, `else`", gradient=True)
def if_elif_else(x: Any) -> Any:
    if x > 0:
        y = x * x
    elif x < 0:
        y = -3 * x
    else:
        y = x + 1
    return y


@program(
    "branches/nested",
    inputs=[(f(a), f(c)) for a in (1.0, -1.0) for c in (2.0, -2.0)],
    construct="`if`, `elif`, `else`",
    gradient=True,
)
def nested(x: Any, y: Any) -> Any:
    result = x + y
    if x > 0:
        if y > 0:
            result = result * x
        else:
            result = result * y
        result = result + 1
    elif y > 0:
        result, x = x * 3, y
    return result, x


@program("branches/without else", inputs=SIGNS, construct="`if`, `elif`, `else`", gradient=True)
def without_else(x: Any) -> Any:
    if x < 0:
        x = -x
    return gx.sqrt(x + 1)


@program("branches/early return", inputs=SIGNS, construct=RETURN, gradient=True)
def early_return(x: Any) -> Any:
    if x < 0:
        return x * 2
    y = x * x
    if y > 3:
        return y
    return y - 1


@program("branches/return in each branch", inputs=SIGNS, construct=RETURN, gradient=True)
def return_in_each(x: Any) -> Any:
    if x > 0:
        return x, {"path": x * 2}
    else:
        return -x, {"path": x * x}


@program(
    "branches/return falls through to later code",
    inputs=[(f(a), f(c)) for a in (1.0, -1.0) for c in (2.0, -2.0)],
    construct=FALL_THROUGH,
    gradient=True,
)
def falls_through(x: Any, y: Any) -> Any:
    if x > 0:
        if y > 0:
            return x * y
        x = x + 10
    x = x * 2
    return x - y


@program(
    "branches/return from a loop, later code runs else",
    inputs=[(f(1, 2, 30),), (f(1, 2, 3),), (f(30, 1, 1),)],
    construct=FALL_THROUGH,
    gradient=True,
)
def return_from_loop(x: Any) -> Any:
    total = gx.zeros(())
    for value in x:
        if value > 10:
            return total + value * 100
        total = total + value
    total = total * total
    return total  # noqa: RET504


@program("branches/return None everywhere", inputs=SIGNS, construct=RETURN)
def returns_none(x: Any) -> None:
    if x > 0:
        return
    x = x + 1
    if x > 0:
        return


@program(  # noqa: RET503
    "branches/missing return",
    inputs=[(f(1.0),), (f(-1.0),)],
    construct="a `return` that is missing on one path (None against a tensor)",
    refused=(
        gx.errors.GraphcError,
        r"(?s)None.*returns at line 1\d\d and ends without a return after line 1\d\d.*idioms_branches\.py",
    ),
)
def missing_return(x: Any) -> Any:
    if x > 0:
        return x * 2


@program(
    "branches/static condition",
    inputs=[(f(1.0), True), (f(1.0), False), (f(1.0), None)],
    construct="a Python condition",
)
def static_condition(x: Any, flag: Any) -> Any:
    if flag is None:
        return "nothing"
    if flag:
        x = x * 2
        extra = "doubled"
    else:
        extra = None
    return x, extra


@program("branches/bound in both", inputs=SIGNS, construct=BOUND, gradient=True)
def bound_in_both(x: Any) -> Any:
    if x > 0:
        left, right = x, x * 2
    else:
        right = x * 5
        left = right - x
    return left * right


@program("branches/bound in one, read there only", inputs=SIGNS, construct=BOUND, gradient=True)
def bound_and_read_in_one(x: Any) -> Any:
    if x > 0:
        scale = x * 2
        x = x + scale
    if x < -1:
        scale = 4.0
        x = x * scale
    return x


@program(
    "branches/bound in one, read after",
    inputs=[(f(1.0),), (f(-1.0),)],
    construct="a name bound in one branch only, read after",
    refused=(gx.errors.UndefinedNameError, r"(?s)'scale'.*branch"),
)
def bound_in_one(x: Any) -> Any:
    if x > 0:
        scale = x * 2
    return x + scale


@program("branches/bound in a loop that always runs", inputs=[(f(1, 2),), (f(-1, 4),)], construct=BOUND, gradient=True)
def bound_in_loop(x: Any) -> Any:
    for value in x:
        last = value * 2
    return last + value


@program(
    "branches/bound in a while loop, read after",
    inputs=[(f(3.0),), (f(2.0),)],
    construct="a name first bound in a branch or loop",
)
def bound_in_while(x: Any) -> Any:
    while x > 1:
        last = x
        x = x - 1
    return last


@program(
    "branches/bound on every path that goes on",
    inputs=[(f(1.0),), (f(-1.0),), (f(9.0),)],
    construct=BOUND,
    gradient=True,
)
def bound_on_paths_that_go_on(x: Any) -> Any:
    if x > 5:
        return x
    elif x > 0:
        factor = x + 1
    else:
        factor = x - 1
    return factor * 2


@program("branches/deleted name", inputs=SIGNS, construct="`del`")
def deleted(x: Any) -> Any:
    temporary = x * 2
    y = temporary + 1
    del temporary
    if y > 0:
        temporary = y
        y = y * temporary
        del temporary
    return y


@program("branches/int in one, float in the other", inputs=SIGNS, construct=PROMOTION, python_numbers=True)
def int_or_float(x: Any) -> Any:
    if x > 0:
        y = 1
    else:
        y = 0.5
    return y * x


@program(
    "branches/int becomes float in a loop", inputs=[(f(0.5, 0.25),), (f(-1, 2),)], construct=PROMOTION, gradient=True
)
def int_becomes_float(x: Any) -> Any:
    total = 0
    for value in x:
        if value > 0:
            total = total + value
    return total * x[0]


@program(
    "branches/int tensor divided in a loop",
    inputs=[(i(100),), (i(1),)],
    construct="a value that changes to a dtype that loses precision",
    refused=(gx.errors.InvalidTypeError, r"(?s)'n'.*int32.*float32"),
)
def int_tensor_divided(n: Any) -> Any:
    while n > 1:
        n = n / 2
    return n * 1.0


@program(
    "branches/bool or int",
    inputs=[(f(1.0),), (f(-1.0),)],
    construct="a value that changes to a dtype that loses precision",
    refused=(gx.errors.GraphcError, r"(?s)(i32|int32).*(u8|uint8)|(u8|uint8).*(i32|int32)|bool"),
)
def loses_on_promotion(x: Any) -> Any:
    if x > 0:
        y = gx.asarray([300, 2])
    else:
        y = gx.asarray([True, False])
    return y + 1


@program(
    "branches/shapes that differ",
    inputs=[(f(1, 2),), (f(-1, 2),)],
    construct="a value that changes shape between branches",
    refused=(gx.errors.GraphcError, r"(?s)\[2\].*\[1\]|\[1\].*\[2\]"),
)
def shapes_that_differ(x: Any) -> Any:
    if gx.sum(x) > 2:
        y = x
    else:
        y = x[:1]
    return y * 2


@program(
    "branches/long elif chain",
    inputs=[(f(a),) for a in (-3.0, 0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 9.0)],
    construct="`if`, `elif`, `else`",
    gradient=True,
)
def long_elif_chain(x: Any) -> Any:
    bonus, seen = 0.0, []
    if x < 0:
        y = -x
    elif x < 1:
        y = x * x
        bonus = 1.0
    elif 1 <= x < 2:
        y = gx.sin(x)
    elif x < 3 or x > 100:
        y = x * x * x
        seen.append(x)
    elif x < 4:
        for _ in range(8):
            x = x * 0.9
        y = x
    elif x < 5:
        y = 2 * x
    elif x > 8:
        y = gx.log(x)
    else:
        y = x + 1
    return y + bonus


@program(
    "branches/long chain of returns, effects and failures",
    inputs=[(i(a), f(2.0)) for a in range(9)],
    construct=RETURN,
    gradient=True,
)
def long_chain_of_returns(n: Any, x: Any) -> Any:
    if n == 0:
        return x
    if n == 1:
        print("one", x)
        return x * 2
    scaled = x * 3
    if n == 2:
        return scaled * x
    if n == 3:
        raise ValueError(f"three, {x}")
    scaled = scaled + n
    if n == 4:
        return gx.exp(scaled / 10)
    assert n < 8, "eight"
    if n == 5:
        print("five", scaled)
        return gx.sqrt(scaled)
    if n == 6:
        return scaled - x
    return x * x


@program(
    "branches/match with many cases",
    inputs=[(i(a), f(2.0)) for a in (0, 1, 2, 3, 4, 5, 7)],
    construct=MATCH,
    gradient=True,
)
def match_with_many_cases(n: Any, x: Any) -> Any:
    match n:
        case 0:
            y = x
        case 1:
            y = x * x
        case 2 if x > 1:
            y = gx.cos(x)
        case 2 | 3:
            y = gx.exp(x)
        case 4:
            y = x / 3
        case 5:
            y = gx.sqrt(x)
        case _:
            y = -x
    return y


@program(
    "branches/bound in loops that may run zero times, one after the other",
    inputs=[(f(2), i(0)), (f(2), i(1)), (f(2), i(3))],
    construct=BOUND,
    raises=UnboundLocalError,
)
def bound_in_one_loop_or_another(x: Any, n: Any) -> Any:
    for _ in range(n):
        z = x
    for _ in range(n - 1):
        z = x + 1
    return z


@program(
    "branches/bound in an inner loop that may run zero times",
    inputs=[(f(2), i(0)), (f(2), i(1)), (f(2), i(2)), (f(2), i(9))],
    construct=BOUND,
)
def bound_in_an_inner_loop(x: Any, n: Any) -> Any:
    for _ in range(n):
        z = x
    for k in gx.arange(5):
        for _ in range((n - k) % 3):
            z = x + k
    return z


@program(
    "branches/bound before a loop if another has run, and anew in it",
    inputs=[(f(2), i(0)), (f(2), i(1)), (f(2), i(3))],
    construct=BOUND,
    python_numbers=True,
    raises=UnboundLocalError,
)
def bound_anew_in_a_loop(x: Any, n: Any) -> Any:
    for k in range(n):
        z = k
    while x < 9:
        x = x + z + 1
        z = z + 1
    return x, z
