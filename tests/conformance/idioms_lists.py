"""Lists: in loops, in branches, as stacks and queues."""

from __future__ import annotations

from collections import deque
from typing import Any

import graphc as gx
from graphc import errors
from tests.conformance.harness import f, i, program

APPEND = "`append` in loops"
BOUNDED = "`append` in a loop that may end early"
POP = "`pop`, `insert`, `extend`, indexing of lists"
BRANCH = "`append` in a branch on a tensor"
NESTED = "lists of lists"


@program("lists/append over a tensor, stacked", inputs=[(f(1, 2, 3),), (f(-1, 0, 5),)], construct=APPEND, gradient=True)
def append_and_stack(x: Any) -> Any:
    outputs = []
    state = gx.zeros(())
    for value in x:
        state = gx.tanh(state * 0.5 + value)
        outputs.append(state)
    return gx.stack(outputs), state


@program(
    "lists/append in a range loop, returned",
    inputs=[(f(1.5), 4), (f(-0.5), 1), (f(2.0), 0)],
    construct=APPEND,
    gradient=True,
)
def append_returned(x: Any, n: int) -> Any:
    powers = []
    for k in range(n):
        powers.append(x**k)  # noqa: PERF401
    return powers


@program("lists/append in a long loop", inputs=[(f(1.5), 17)], construct=APPEND, gradient=True)
def append_long(x: Any, n: int) -> Any:
    history = [x]
    for _ in range(n):
        history.append(history[-1] * 0.9 + 0.1)
    return gx.stack(history), len(history)


@program("lists/last element and length", inputs=[(f(1, 2, 3),), (f(3, 3, 3),)], construct=APPEND, gradient=True)
def last_and_length(x: Any) -> Any:
    partial = [gx.zeros(())]
    for value in x:
        partial.append(partial[-1] + value * len(partial))
    return partial[1:], partial[-1]


@program(
    "lists/two lists in one loop",
    inputs=[(f([[1, 2], [3, 4]]),), (f([[0, 0], [1, -1]]),)],
    construct=APPEND,
    gradient=True,
)
def two_lists(x: Any) -> Any:
    sums, firsts = [], []
    for row in x:
        sums.append(gx.sum(row))
        firsts.append(row[:1])
    return gx.stack(sums), gx.concat(firsts)


@program("lists/pairs", inputs=[(f(1, 2, 3),), (f(3, -3, 1),)], construct=APPEND, gradient=True)
def pairs(x: Any) -> Any:
    found = []
    for k, value in enumerate(x):
        found.append((value * k, {"k": k}))
    return found


@program("lists/append in each branch", inputs=[(f(1.0),), (f(-1.0),)], construct=BRANCH, gradient=True)
def append_in_each(x: Any) -> Any:
    values = [x]
    if x > 0:
        values.append(x * 2)
    else:
        values.append(x * x)
    return gx.stack(values), len(values)


@program("lists/assign an element in a branch", inputs=[(f(1.0),), (f(-1.0),)], construct=BRANCH, gradient=True)
def assign_element(x: Any) -> Any:
    values = [x, x * 2, x * 3]
    if x > 0:
        values[1] = values[0] * 10
    else:
        values[0], values[2] = values[2], values[0]
    return values


@program("lists/pop, insert, extend", inputs=[(f(1, 2, 3),), (f(-1, 5, 0),)], construct=POP, gradient=True)
def list_methods(x: Any) -> Any:
    values = [x[0], x[1]]
    values.insert(1, x[2])
    values.extend([x[0] * 2, x[1] * 2])
    values += [x[2] * 2]
    last = values.pop()
    first = values.pop(0)
    values.reverse()
    del values[0]
    return values, first - last, [*values[:2], last]


@program("lists/queue in a loop", inputs=[(f(1, 2, 3), 7), (f(-1, 5, 0), 20)], construct=POP, gradient=True)
def queue(x: Any, n: int) -> Any:
    window = [x[0], x[1], x[2]]
    for _ in range(n):
        window.append((window[0] + window[1] + window[2]) / 3)
        window.pop(0)
    return window


@program(
    "lists/stack in a loop over tensors",
    inputs=[(f(1, 2, -1, 4),), (f(1, -1, -1, 3),), (f(3, 2, 1, -1),)],
    construct=POP,
    python_numbers=True,
)
def stack_machine(x: Any) -> Any:
    stack = [gx.asarray(0.0)]
    for token in x:
        if token > 0:
            stack.append(token)
        elif len(stack) > 1:
            top = stack.pop()
            stack[-1] = stack[-1] + top * 10
    return stack[-1], len(stack)


@program("lists/tensor index", inputs=[(f(1, 2, 3), i(0)), (f(1, 2, 3), i(-1))], construct=POP, gradient=True)
def tensor_index(x: Any, k: Any) -> Any:
    values = []
    for value in x:
        values.append(value * value)  # noqa: PERF401
    return values[k]


@program(
    "lists/lists of lists", inputs=[(f([[1, 2], [3, 4]]),), (f([[-1, 0], [5, 5]]),)], construct=NESTED, gradient=True
)
def lists_of_lists(x: Any) -> Any:
    table = [[], []]
    for row in x:
        for c in range(2):
            table[c].append(row[c] * (c + 1))
    return table, gx.stack([gx.stack(column) for column in table])


@program("lists/built in nested loops", inputs=[(f(1.0), 2, 3), (f(2.0), 3, 1)], construct=NESTED, gradient=True)
def nested_built(x: Any, n: int, m: int) -> Any:
    table = []
    for r in range(n):
        row = []
        for c in range(m):
            row.append(x * r + c)  # noqa: PERF401
        table.append(row)
    return table


@program("lists/grows while it is read", inputs=[(f(1.0), 8), (f(0.5), 3)], construct=APPEND, gradient=True)
def fibonacci(x: Any, n: int) -> Any:
    values = [x, x]
    for k in range(2, n):
        values.append(values[k - 1] + values[k - 2])
    return values[n - 1]


@program("lists/alias", inputs=[(f(1.0),), (f(-1.0),)], construct=BRANCH)
def list_alias(x: Any) -> Any:
    values = [x]
    same = values
    copied = list(values)
    if x > 0:
        same[0] = x * 100
    return values, same, copied


@program(
    "lists/while stack, tensors inside", inputs=[(f(7.0),), (f(2.0),)], construct="`while stack:`", python_numbers=True
)
def while_stack(x: Any) -> Any:
    stack = [(x, 0), (x / 2, 1)]
    total = 0.0
    while stack:
        value, depth = stack.pop()
        if depth < 2:
            stack.append((value - 1, depth + 1))
        if value > 1:
            total = total + value
    return total


@program(
    "lists/argument that is a list",
    inputs=[([f(1.0), f(2.0)], f(5.0)), ([f(-1.0)], f(5.0))],
    construct="changing a list argument",
    refused=(gx.errors.UnimplementedError, "outlives the function|was given"),
)
def list_argument(values: Any, x: Any) -> Any:
    values.append(x)
    values[0] = x * 2
    return sum(values)


@program("lists/multiply, compare, count", inputs=[(f(1.0), 3), (f(2.0), 0)], construct=POP)
def list_operators(x: Any, n: int) -> Any:
    values = [x] * n + [x + 1]
    empty = not values[1:]
    return values, empty, len(values) == n + 1


@program(
    "lists/repeated as often as a tensor says",
    inputs=[(f(3.0),), (f(0.0),)],
    construct="a list repeated a number of times that depends on tensors",
    refused=(errors.ConcretizationError, "an index or a size needs a value"),
)
def repeated(x: Any) -> Any:
    return [0.0] * int(x)


@program(
    "lists/a deque of the function's own, as a window",
    inputs=[(f(1.0),), (f(-2.0),)],
    construct="`collections.deque`, with a length that only loops decide",
    gradient=True,
)
def deque_as_a_window(x: Any) -> Any:
    window = deque([x, x + 1], maxlen=3)
    for k in range(4):
        window.append(x * k)
    total = window[0]
    while window:
        total = total + window.popleft() * len(window)
    return total
