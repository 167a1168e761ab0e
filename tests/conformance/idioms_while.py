"""`while` loops, and loops within loops with jumps at every depth."""

from __future__ import annotations

from typing import Any

import graphc as gx
from tests.conformance.harness import f, i, program

WHILE = "`while`"
WHILE_ELSE = "`while..else`"
FOREVER = "`while True` with `break` or `return`"
NESTED = "nested loops with `break`, `continue`, `return`"


@program("while/halving", inputs=[(f(100.0),), (f(0.5),), (f(3.0),)], construct=WHILE, python_numbers=True)
def halving(x: Any) -> Any:
    steps = 0
    while x > 1:
        x = x / 2
        steps += 1
    return x, steps


@program("while/gradient", inputs=[(f(20.0),), (f(0.5),), (f(-3.0),)], construct=WHILE, gradient=True)
def halving_gradient(x: Any) -> Any:
    y = x * 3
    while y > 1:
        y = y / 2 - 0.1 * x / (1 + x)
    return y


@program(
    "while/compound condition", inputs=[(f(5.0), 10), (f(5.0), 2), (f(0.0), 10)], construct=WHILE, python_numbers=True
)
def compound_condition(x: Any, limit: int) -> Any:
    n = 0
    while x > 0.5 and n < limit and not x == 3:  # noqa: SIM201
        x = x - 1
        n += 1
    return x, n


@program("while/python condition", inputs=[(f(1.5), 4), (f(-1.5), 0)], construct=WHILE, gradient=True)
def python_condition(x: Any, n: int) -> Any:
    while n > 0:
        x = x * n
        n -= 1
    return x


@program("while/else", inputs=[(f(8.0),), (f(7.0),), (f(-1.0),)], construct=WHILE_ELSE)
def while_else(x: Any) -> Any:
    while x > 0:
        if x == 3:
            break
        x = x - 2
    else:
        x = x - 100
    return x


@program("while/else after a return", inputs=[(i(30),), (i(29),), (i(1),)], construct=WHILE_ELSE, python_numbers=True)
def smallest_divisor(n: Any) -> Any:
    d = 2
    while d * d <= n:
        if n % d == 0:
            return d
        d += 1
    else:
        d = n * 1
    return d


@program("while/true with break", inputs=[(f(1.0),), (f(50.0),), (f(-4.0),)], construct=FOREVER)
def forever_break(x: Any) -> Any:
    while True:
        x = x * 2 + 1
        if x > 100:
            break
        if x < -20:
            x = -x
            break
    return x


@program("while/true with return", inputs=[(f(2.0),), (f(100.0),)], construct=FOREVER, python_numbers=True)
def forever_return(x: Any) -> Any:
    guess = x
    rounds = 0
    while True:
        better = (guess + x / guess) / 2
        if abs(better - guess) < 1e-4:
            return better, rounds
        guess = better
        rounds += 1


@program("while/continue before a counter", inputs=[(i(10),), (i(3),), (i(0),)], construct=WHILE, python_numbers=True)
def while_continue(n: Any) -> Any:
    odd_sum = 0
    while n > 0:
        n -= 1
        if n % 2 == 0:
            continue
        odd_sum += n
    return odd_sum, n


@program(
    "while/walrus in the condition of a bounded loop", inputs=[(i(10),), (i(0),)], construct="`:=`", python_numbers=True
)
def walrus_bounded(n: Any) -> Any:
    found, k = [], 0
    while (square := k * k) < n:
        gx.loop_options(max_iterations=20)
        found.append(square)
        k += 1
    return found


@program("while/walrus in the condition", inputs=[(f(10.0),), (f(0.01),)], construct="`:=`", gradient=False)
def walrus_condition(x: Any) -> Any:
    total = x * 0
    while (half := x / 2) > 0.25:
        total = total + half
        x = half
    return total, x, half


@program(
    "while/break of the inner loop only",
    inputs=[(f([[1, 2, 3], [4, 5, 6]]), f(4)), (f([[9, 1, 1], [1, 9, 1]]), f(4))],
    construct=NESTED,
    gradient=True,
)
def inner_break(x: Any, limit: Any) -> Any:
    total = gx.zeros(())
    for row in x:
        subtotal = gx.zeros(())
        for value in row:
            if value > limit:
                break
            subtotal = subtotal + value
        total = total + subtotal * subtotal
    return total


@program(
    "while/return from two loops",
    inputs=[(f([[1, 2], [3, 4]]), f(3)), (f([[1, 2], [3, 4]]), f(1)), (f([[1, 2], [3, 4]]), f(7))],
    construct=NESTED,
    python_numbers=True,
)
def return_from_two_loops(x: Any, wanted: Any) -> Any:
    for r, row in enumerate(x):
        for c, value in enumerate(row):
            if value == wanted:
                return r, c
    return -1, -1


@program(
    "while/three levels with all jumps",
    inputs=[(i(4), i(100)), (i(6), i(7)), (i(0), i(1)), (i(5), i(20))],
    construct=NESTED,
    python_numbers=True,
)
def three_levels(n: Any, limit: Any) -> Any:
    count = 0
    a = 0
    while a < n:
        a += 1
        for b in range(3):
            if (a + b) % 4 == 0:
                continue
            c = b
            while True:
                c += 1
                if c > a:
                    break
                count += 1
                if count > limit:
                    return -count
            if count % 5 == 4:
                break
        else:
            count += 10
    return count


@program(
    "while/continue of the outer loop by a flag",
    inputs=[(f([[1, -2], [3, 4]]),), (f([[1, 2], [-3, 4]]),), (f([[-1, 2], [-3, 4]]),)],
    construct=NESTED,
    gradient=True,
)
def outer_continue(x: Any) -> Any:
    total = gx.zeros(())
    for row in x:
        bad = False
        for value in row:
            if value < 0:
                bad = True
                break
        if bad:
            continue
        total += gx.sum(row * row)
    return total


@program(
    "while/inner bound depends on the outer index",
    inputs=[(f(range(12)), 12), (f([1] * 12), 5)],
    construct=NESTED,
    gradient=True,
)
def triangular(x: Any, n: int) -> Any:
    total = gx.zeros(())
    for k in range(n):
        for j in range(k):
            total = total + x[k] * x[j]
    return total


@program(
    "while/tensor while in a range", inputs=[(f(3, 50, 7), 3), (f(1, 1, 1), 3)], construct=NESTED, python_numbers=True
)
def while_in_range(x: Any, n: int) -> Any:
    steps = 0
    for k in range(n):
        y = x[k]
        while y > 1:
            y = y / 3
            steps += 1
    return steps


@program("while/Python list as condition", inputs=[(f(1, 2, 3),), (f(-1, 5, 0),)], construct="`while stack:`")
def while_list(x: Any) -> Any:
    work = [x[0], x[1], x[2]]
    total = gx.zeros(())
    while work:
        item = work.pop()
        total = total * 2 + item
    return total


@program("while/state that is a tuple", inputs=[(f(1.0), f(2.0)), (f(-3.0), f(0.5))], construct=WHILE, gradient=True)
def tuple_state(x: Any, y: Any) -> Any:
    state = (x, {"momentum": y, "step": gx.asarray(0)})
    while state[1]["step"] < 5 and state[0] < 40:
        position, rest = state
        rest = {"momentum": rest["momentum"] * 0.9, "step": rest["step"] + 1}
        state = (position + rest["momentum"], rest)
    return state


@program("while/bool flag", inputs=[(f(9.0),), (f(0.0),)], construct=WHILE, python_numbers=True)
def bool_flag(x: Any) -> Any:
    done = False
    n = 0
    while not done:
        x = x - 2.5
        n = n + 1
        done = x < 0
    return x, n, done


@program("while/never runs", inputs=[(f(-1.0),), (f(2.0),)], construct=WHILE)
def never_runs(x: Any) -> Any:
    y = x
    while x > 5:
        y = y + 1
        x = x - 1
    while x > 1.5:
        y = y * 3
        x = x - 1
    return y


@program(
    "while/True, names bound before each break",
    inputs=[(f(5.0),), (f(-5.0),)],
    construct="`while True` with `break` or `return`",
    gradient=True,
    python_numbers=True,
)
def forever_names(x: Any) -> Any:
    while True:
        if x > 3:
            kind, value = 1, x * x
            break
        x = x + 2
        if x > 0:
            kind, value = 2, x
            break
    return kind, value
