"""Conditions: `and`, `or`, `not`, ternaries, `match`, None."""

from __future__ import annotations

from typing import Any

import graphc as gx
from tests.conformance.harness import b, f, i, program

CONDITION = "`and`, `or`, `not`, chained comparison"
MATCH = "`match`"
SIGNS = [(f(2.0),), (f(-3.0),), (f(0.0),)]


@program("conditions/and, or, not", inputs=[(f(a), f(c)) for a in (1.0, -1.0) for c in (2.0, 0.0)], construct=CONDITION)
def and_or_not(x: Any, y: Any) -> Any:
    result = gx.zeros(())
    if x > 0 and y > 0:
        result = result + 1
    if x > 0 or not y > 1:
        result = result + 10
    if not (x < 0 and y == 0) or x > 5:
        result = result + 100
    return result


@program(
    "conditions/and and or give values",
    inputs=[(f(a), f(c)) for a in (3.0, 0.0) for c in (2.0, 0.0)],
    construct=CONDITION,
    gradient=True,
)
def values_of_and_or(x: Any, y: Any) -> Any:
    first = x or y
    both = x and y
    return first * 2 + both, (x and y) or x - y


@program(
    "conditions/short circuit guards a division",
    inputs=[(i(10), i(0)), (i(10), i(5)), (i(10), i(3))],
    construct=CONDITION,
    python_numbers=True,
)
def short_circuit(n: Any, d: Any) -> Any:
    if d != 0 and n % d == 0:
        return n // d
    return -1


@program("conditions/chained comparison", inputs=[(f(0.5),), (f(1.5),), (f(-2.0),), (f(1.0),)], construct=CONDITION)
def chained(x: Any) -> Any:
    if 0 < x < 1:
        return x * 10
    if -1 <= x <= 1 != x + 1:
        return x * 100
    return -x


@program("conditions/chained comparison as a value", inputs=[(f(0.5),), (f(2.0),), (f(-1.0),)], construct=CONDITION)
def chained_value(x: Any) -> Any:
    inside = 0 < x < 1
    return inside  # noqa: RET504


@program("conditions/ternary", inputs=SIGNS, construct="`a if c else b`", gradient=True)
def ternary(x: Any) -> Any:
    sign = 1.0 if x > 0 else -1.0 if x < 0 else 0.0
    return sign * x, x * 2 if x > 1 else x


@program("conditions/walrus", inputs=SIGNS, construct="`:=`", gradient=True)
def walrus(x: Any) -> Any:
    if (y := x * 2 + 1) > 0:
        return y * y
    return y + x


@program(
    "conditions/condition is a bool tensor argument",
    inputs=[(b(True), f(1.0)), (b(False), f(1.0))],
    construct="`if`, `elif`, `else`",
    gradient=True,
    python_numbers=True,
)
def bool_argument(flag: Any, x: Any) -> Any:
    y = x * 3
    if flag:
        y = y * x
    if not flag:
        y = y - 1
    return y, not flag


@program(
    "conditions/truth of a number",
    inputs=[(i(3), f(0.0)), (i(0), f(0.5))],
    construct="`if`, `elif`, `else`",
    python_numbers=True,
)
def truth_of_a_number(n: Any, x: Any) -> Any:
    y = x + 1
    if n:
        y = y * 2
    if not x:
        y = y * 3
    return y, bool(n)


@program(
    "conditions/match on static values",
    inputs=[(f(2.0), "relu"), (f(-2.0), "relu"), (f(2.0), ("leaky", 0.1)), (f(-2.0), ("leaky", 0.1)), (f(1.0), None)],
    construct=MATCH,
    gradient=True,
)
def match_static(x: Any, activation: Any) -> Any:
    match activation:
        case "relu":
            y = gx.maximum(x, 0)
        case ("leaky", slope) if slope > 0:
            y = x if x > 0 else slope * x
        case _:
            y = x * x
    return y


@program(
    "conditions/match on a tensor",
    inputs=[(i(0), f(2.0)), (i(1), f(2.0)), (i(2), f(2.0)), (i(7), f(2.0))],
    construct=MATCH,
)
def match_tensor(op: Any, x: Any) -> Any:
    match op:
        case 0:
            x = x + 1
        case 1 | 2:
            x = x * 10
        case _:
            x = -x
    return x


@program(
    "conditions/match with capture and guard",
    inputs=[(i(3),), (i(-3),), (i(100),)],
    construct=MATCH,
    python_numbers=True,
)
def match_guard(n: Any) -> Any:
    match n:
        case 100:
            return 0
        case positive if positive > 0:
            return positive * 2
        case other:
            return other - 1


@program(
    "conditions/match on a sequence",
    inputs=[(["circle", f(2.0)],), (("box", [f(2.0), f(3.0)]),), ([],)],
    construct=MATCH,
    python_numbers=True,
)
def match_sequence(shape: Any) -> Any:
    match shape:
        case ["circle", r]:
            return 3.0 * r * r
        case ["box", [w, h]]:
            return w * h
        case []:
            return 0.0


@program(
    "conditions/match on a dict",
    inputs=[({"kind": "circle", "r": f(2.0)},)],
    construct="`match` with a pattern of a dict or a class",
    refused=(gx.errors.UnsupportedSyntaxError, "A mapping pattern is not compiled. Write an `if`"),
)
def match_mapping(shape: Any) -> Any:
    match shape:
        case {"kind": "circle", "r": r}:
            return 3.0 * r * r


@program(
    "conditions/`is None` as a default",
    inputs=[(f(1.0), None), (f(-1.0), None), (f(1.0), f(5.0))],
    construct="a Python condition",
)
def none_default(x: Any, y: Any = None) -> Any:
    if y is None:
        y = x if x > 0 else x * 0
    return x + y


@program(
    "conditions/None until set",
    inputs=[(f(1, -2, 3),), (f(-1, -2, -3),)],
    construct="`None` until a condition on a tensor holds",
)
def none_until_set(x: Any) -> Any:
    best = None
    for value in x:
        if value > 0 and (best is None or value > best):
            best = value
    return best


@program(
    "conditions/strings that depend on a tensor",
    inputs=[(f(1.0),), (f(-1.0),)],
    construct="a string that depends on a tensor",
)
def strings_in_branches(x: Any) -> Any:
    if x > 0:
        label = "up"
    else:
        label = "down"
    return label


@program(
    "conditions/same string in both",
    inputs=[(f(1.0),), (f(-1.0),)],
    construct="Python values that are equal in both branches",
)
def same_string(x: Any) -> Any:
    if x > 0:
        label, unit = "up" + "ward", 3
        x = x * 2
    else:
        label, unit = "upward", 3
    return label, unit, x


@program("conditions/numbers as conditions", inputs=[(f(2), i(0)), (f(0), i(3)), (f(0), i(0))], construct=CONDITION)
def numbers_as_conditions(x: Any, n: Any) -> Any:
    assert not (x and n)
    result = gx.zeros(())
    if x and n != 1:
        result = result + 1
    elif not (x or n > 5):
        result = result + 2
    if (y := x * 2) and y > 3:
        result = result + y
    return result + (gx.ones(()) if (n and -x) or x else result)


@program("conditions/a number ends a while with break", inputs=[(f(2),), (f(9),), (f(0),)], construct=CONDITION)
def number_in_while_with_break(x: Any) -> Any:
    while x:
        x = x - 1
        if x > 6:
            break
    return x


@program(
    "conditions/numbers and lists beside a tensor's truth",
    inputs=[(f(3),), (f(0),)],
    construct=CONDITION,
    python_numbers=True,
)
def numbers_beside_a_tensor(x: Any) -> Any:
    left, rows, nothing = 5, [1, 2], []
    total = gx.zeros(())
    while x > 0 and left:
        x, left = x - 1, left - 2
    for k in range(4):
        if (x < 1 and k % 2) or (x > 9 and nothing):
            total = total + k
    assert not (x > 9 and rows)
    odd = [k for k in range(4) if x < k and k % 2]
    return total, left, sum(odd), 1.0 if not (x > 0 and left) else 2.0
