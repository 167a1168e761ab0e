"""Lists whose length depends on tensors."""

from __future__ import annotations

from typing import Any

import graphc as gx
from tests.conformance.harness import f, program

BOUNDED = "`append` in a loop that may end early"
BRANCH = "`append` in a branch on a tensor"


@program(
    "growing/append until a tensor says stop",
    inputs=[(f(1, 2, 3, 4),), (f(9, 2, 3, 4),), (f(1, 2, 9, 4),)],
    construct=BOUNDED,
    python_numbers=True,
)
def append_until(x: Any) -> Any:
    kept = []
    for value in x:
        if value > 5:
            break
        kept.append(value)
    return len(kept), sum(kept)


@program(
    "growing/append in a while loop without a bound",
    inputs=[(f(10.0),), (f(0.5),)],
    construct="`append` in a `while` without a bound",
    refused=(gx.errors.GraphcError, r"max_iterations"),
)
def append_unbounded(x: Any) -> Any:
    seen = []
    while x > 1:
        seen.append(x)
        x = x / 2
    return gx.sum(gx.stack(seen))


@program(
    "growing/append in a while loop with a bound",
    inputs=[(f(10.0),), (f(0.5),), (f(100.0),)],
    construct="`append` in a `while` with `gx.loop_options(max_iterations=...)`",
    python_numbers=True,
)
def append_bounded(x: Any) -> Any:
    seen = [x]
    while x > 1:
        gx.loop_options(max_iterations=10)
        seen.append(x)
        x = x / 2
    return len(seen), sum(seen), seen[-1]


@program(
    "growing/filter with append",
    inputs=[(f(1, -2, 3),), (f(-1, -2, -3),)],
    construct=BRANCH,
    gradient=True,
    python_numbers=True,
)
def filter_append(x: Any) -> Any:
    positive = []
    for value in x:
        if value > 0:
            positive.append(value)  # noqa: PERF401
    total = 0.0
    for value in positive:
        total = total + value * value
    return total


@program("growing/append in one branch", inputs=[(f(1.0),), (f(-1.0),)], construct=BRANCH, python_numbers=True)
def append_in_one(x: Any) -> Any:
    values = [x]
    if x > 0:
        values.append(x * 2)
    return len(values), values[-1], sum(values)


def _positive(x: Any) -> Any:
    found = []
    for value in x:
        if value > 0:
            found.append(value)  # noqa: PERF401
    return found


MIXED = [(f(1, -2, 3),), (f(-1, -2, -3),), (f(5, 6, 7),)]


@program("growing/filtered, length and last", inputs=MIXED, construct=BRANCH, python_numbers=True)
def filtered_length(x: Any) -> Any:
    values = [x[0] * 0]
    for value in x:
        if value > 0:
            values.append(value)
        elif len(values) > 1:
            values.pop()
    return len(values), values[-1], values[0]


@program("growing/filtered, iterated", inputs=MIXED, construct=BRANCH, python_numbers=True)
def filtered_iterated(x: Any) -> Any:
    total = 0.0
    for k, value in enumerate(_positive(x)):
        total = total + value * (k + 1)
    return total


@program("growing/filtered, as a condition", inputs=MIXED, construct=BRANCH)
def filtered_condition(x: Any) -> Any:
    found = _positive(x)
    if not found:
        return x[0] * 0
    return found[0]


@program("growing/filtered, pop of none", inputs=MIXED, construct=BRANCH)
def filtered_pop(x: Any) -> Any:
    return _positive(x).pop()


@program("growing/filtered, index out of range", inputs=MIXED, construct=BRANCH)
def filtered_out_of_range(x: Any) -> Any:
    return _positive(x)[1]


@program("growing/filtered in a dict", inputs=MIXED, construct=BRANCH, python_numbers=True)
def filtered_in_dict(x: Any) -> Any:
    groups = {"positive": [], "other": []}
    for value in x:
        if value > 0:
            groups["positive"].append(value)
        else:
            groups["other"].append(value)
    return len(groups["positive"]), len(groups["other"])


@program("growing/elements changed", inputs=MIXED, construct=BRANCH, python_numbers=True)
def filtered_changed(x: Any) -> Any:
    values = [x[0]]
    for value in x:
        if value > 0:
            values.append(value)
        values[-1] = values[-1] + 1
        values[0] *= 2
    return values[0], values[-1]


@program("growing/cleared", inputs=MIXED, construct=BRANCH, python_numbers=True)
def cleared(x: Any) -> Any:
    values = [x[0]]
    for value in x:
        values.append(value)
        if value < -1:
            values.clear()
    return len(values)


@program(
    "growing/recurrence on the last element",
    inputs=[(f(1.5), 20), (f(-0.5), 3)],
    construct="`append` in loops",
    gradient=True,
)
def recurrence(x: Any, n: int) -> Any:
    values = [x, x * 2]
    for _ in range(n):
        values.append(values[-1] * 0.5 + values[-2] * 0.25)
    return gx.stack(values)


@program("growing/products over a tensor", inputs=MIXED, construct="`append` in loops", gradient=True)
def products(x: Any) -> Any:
    values = [gx.sum(x)]
    for value in x:
        values.append(values[-1] * value)
    return gx.stack(values)


@program("growing/products of the positive ones", inputs=MIXED, construct=BRANCH, gradient=True)
def positive_products(x: Any) -> Any:
    values = [x[0]]
    for value in x:
        if value > 0:
            values.append(value * values[-1])
    return values[-1]


@program("growing/until it is small", inputs=[(f(2.0),), (f(0.5),), (f(1e6),)], construct=BOUNDED, gradient=True)
def until_small(x: Any) -> Any:
    values = [x]
    for _ in range(30):
        values.append(values[-1] * 0.9)
        if values[-1] < 1:
            break
    return values[-1]


@program(
    "growing/a stack machine",
    inputs=[(f(1, 2, -1, 3, -1),), (f(4, 2, -1, 3, 5),), (f(1, -1, 2, 2, 2),)],
    construct=BRANCH,
    gradient=True,
)
def stack_machine(x: Any) -> Any:
    stack: list[Any] = []
    for value in x:
        if value < 0:
            stack.append(stack.pop() * stack.pop())  # `stack.append` is looked up before its argument changes the list
        else:
            stack.append(value)
    return stack[-1]


WINDOW = "windows: `append` with `pop(0)` or `del`, slices"


@program("growing/window by pop", inputs=[(f(0.5),)], construct=WINDOW, gradient=True, loops=("while", "rolled"))
def window_by_pop(x: Any) -> Any:
    window: list[Any] = []
    for _ in range(40):
        window.append(x)
        if len(window) > 5:
            window.pop(0)
        for old in reversed(window):
            x = x * 0.9 + old * 0.1
        if window:
            x = gx.sin(x) + window[-1] * 0.01
        if x > 100:
            break
    return x


@program("growing/window by del", inputs=[(f(0.5),)], construct=WINDOW, gradient=True, loops=("rolled",))
def window_by_del(x: Any) -> Any:
    window: list[Any] = []
    for _ in range(40):
        window.append(x)
        if len(window) > 5:
            del window[0]
        x = gx.sin(x) + window[0] * 0.1
    return x


@program("growing/window by a slice", inputs=[(f(0.5),)], construct=WINDOW, gradient=True, loops=("rolled",))
def window_by_slice(x: Any) -> Any:
    window: list[Any] = []
    for _ in range(40):
        window = [*window, x][-5:]
        x = gx.sin(x) + sum(window) * 0.1
    return x, window


@program(
    "growing/slices",
    inputs=[(f(1, 2, 3, 9),)],
    construct="slices, `insert` and `+` of a list of unknown length",
    refused=(gx.errors.UnimplementedError, "a list whose length is known at run time only, .*; use len"),
)
def slices_of_growing(x: Any) -> Any:
    kept = [x[0]]
    for value in x:
        if value > 5:
            break
        kept.append(value * 2)
    return kept[-2:]


@program(
    "growing/del of what is not there",
    inputs=[(f(1.0),), (f(-1.0),)],
    construct=WINDOW,
    raises=IndexError,
    python_numbers=True,
)
def del_from_empty(x: Any) -> Any:
    kept = []
    if x > 0:
        kept.append(x)
    del kept[0]
    return len(kept)
