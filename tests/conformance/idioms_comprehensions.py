"""Comprehensions, and generator expressions in `sum`, `any`, `all`, `min`, `max`."""

from __future__ import annotations

from typing import Any

import graphc as gx
from tests.conformance.harness import b, f, program

COMPREHENSION = "comprehensions over tensors"
FILTERED = "comprehensions with an `if` on tensors"
GENERATOR = "generator expressions in `sum`, `any`, `all`, `min`, `max`"


@program(
    "comprehensions/list comprehension", inputs=[(f(1, 2, 3),), (f(-1, 0, 4),)], construct=COMPREHENSION, gradient=True
)
def list_comprehension(x: Any) -> Any:
    squares = [value * value for value in x]
    return squares, gx.stack([s + 1 for s in squares])


@program(
    "comprehensions/comprehension with a branch in it",
    inputs=[(f(1, -2, 3),), (f(-1, 0, -4),)],
    construct=COMPREHENSION,
    gradient=True,
)
def comprehension_ternary(x: Any) -> Any:
    return gx.stack([value if value > 0 else value * 0.1 for value in x])


@program(
    "comprehensions/nested comprehension",
    inputs=[(f([[1, 2], [3, 4]]),), (f([[-1, 0], [0, 1]]),)],
    construct=COMPREHENSION,
    gradient=True,
)
def nested_comprehension(x: Any) -> Any:
    columns = [[row[c] * k for k, row in enumerate(x)] for c in range(2)]
    flat = [value for column in columns for value in column]
    return flat, columns


@program(
    "comprehensions/dict comprehension",
    inputs=[({"a": f(1.0), "b": f(2.0)},), ({"z": f(-3.0)},)],
    construct=COMPREHENSION,
)
def dict_comprehension(values: Any) -> Any:
    return {key.upper(): (value if value > 1 else -value) for key, value in values.items() if key != "q"}


@program(
    "comprehensions/comprehension filtered by Python values",
    inputs=[(f(1, 2, 3, 4),), (f(0, -1, 0, 1),)],
    construct=COMPREHENSION,
    gradient=True,
)
def filtered_static(x: Any) -> Any:
    return [x[k] for k in range(4) if k % 2 == 1]


@program(
    "comprehensions/comprehension filtered by tensors, summed",
    inputs=[(f(1, -2, 3),), (f(-1, -2, -3),)],
    construct=FILTERED,
    gradient=True,
    python_numbers=True,
)
def filtered_sum(x: Any) -> Any:
    return sum([value * value for value in x if value > 0])


@program(
    "comprehensions/filtered, of filtered", inputs=[(f(1, -2, 3),), (f(-1, -2, -3),)], construct=FILTERED, gradient=True
)
def filtered_twice(x: Any) -> Any:
    positive = [value for value in x if value > 0]
    doubled = [value * 2 for value in positive]
    return doubled, [pair for pair in zip(positive, doubled, strict=False)], [value for value in x]  # noqa: C416


@program(
    "comprehensions/filtered, of pairs, nested and of a dict",
    inputs=[(f(1, -2, 3),), (f(-1, 2, -3),)],
    construct=FILTERED,
    python_numbers=True,
    gradient=True,
)
def filtered_pairs(x: Any) -> Any:
    named = {"a": x[0], "b": x[1], "c": x[2]}
    placed = [(place, value) for place, value in enumerate(x) if value > 0]
    larger = [one * other for one in x for other in x if one > other]
    chosen = [value for name, value in named.items() if value > 0 if name != "c"]
    return placed, larger, chosen


@program(
    "comprehensions/filtered, in a loop",
    inputs=[(f(1, -2, 3),), (f(-1, 2, -3),)],
    construct=FILTERED,
    python_numbers=True,
    gradient=True,
)
def filtered_in_loop(x: Any) -> Any:
    total = x[0] * 0
    for value in x:
        above = [other for other in x if other > value]
        total = total + sum(above) * len(above)
    return total, max([value for value in x if value < 3])


@program(
    "comprehensions/filtered texts",
    inputs=[(f(1, -2, 3),)],
    construct="a list of unknown length that holds more than tensors and numbers",
    refused=(gx.errors.UnimplementedError, "holds 'a'; only tensors and numbers"),
)
def filtered_texts(x: Any) -> Any:
    return [name for name, value in zip("abc", x, strict=True) if value > 0]


@program("comprehensions/functions in a comprehension", inputs=[(f(1, -2, 3),)], construct=COMPREHENSION)
def late_binding(x: Any) -> Any:
    functions = [lambda: place for place in range(3)]  # noqa: B023
    return x * functions[0]()


@program(
    "comprehensions/length of a filtered comprehension",
    inputs=[(f(1, -2, 3),), (f(-1, -2, -3),)],
    construct=FILTERED,
    python_numbers=True,
)
def filtered_length(x: Any) -> Any:
    return len([value for value in x if value > 0])


@program(
    "comprehensions/sum of a generator", inputs=[(f(1, 2, 3),), (f(-1, 0, 1),)], construct=GENERATOR, gradient=True
)
def sum_generator(x: Any) -> Any:
    return sum(value * value for value in x)


@program(
    "comprehensions/sum with an if",
    inputs=[(f(1, -2, 3),), (f(-1, -2, -3),)],
    construct=GENERATOR,
    gradient=True,
    python_numbers=True,
)
def sum_generator_if(x: Any) -> Any:
    return sum(value for value in x if value > 0)


@program(
    "comprehensions/count with sum of ones",
    inputs=[(f(1, -2, 3),), (f(-1, -2, -3),)],
    construct=GENERATOR,
    python_numbers=True,
)
def count_with_sum(x: Any) -> Any:
    return sum(1 for value in x if value > 0)


@program(
    "comprehensions/any and all of generators",
    inputs=[(f(1, 2, 3),), (f(-1, 2, 3),), (f(-1, -2, -3),)],
    construct=GENERATOR,
    python_numbers=True,
)
def any_all(x: Any) -> Any:
    return any(value > 0 for value in x), all(value > 0 for value in x)


@program(
    "comprehensions/any as a condition", inputs=[(f(1, 2, 3),), (f(-1, 20, 3),)], construct=GENERATOR, gradient=True
)
def any_condition(x: Any) -> Any:
    if any(abs(value) > 10 for value in x):
        return x / 10
    if not all(value != 0 for value in x):
        return x + 1
    return x


@program(
    "comprehensions/any of a tensor",
    inputs=[(b(True, False),), (b(False, False),)],
    construct=GENERATOR,
    python_numbers=True,
)
def any_tensor(flags: Any) -> Any:
    return any(flags), all(flags)


@program(
    "comprehensions/max and min of generators",
    inputs=[(f(1, -5, 3),), (f(-1, 0, 1),)],
    construct=GENERATOR,
    gradient=True,
)
def max_min_generators(x: Any) -> Any:
    return max(value * value for value in x), min(value + 1 for value in x)


@program(
    "comprehensions/max with default",
    inputs=[(f(1, -5, 3),), (f(-1, -4, -1),)],
    construct=GENERATOR,
    python_numbers=True,
)
def max_default(x: Any) -> Any:
    return max((value for value in x if value > 0), default=-1.0)


@program(
    "comprehensions/sum with a start",
    inputs=[(f([[1, 2], [3, 4]]),), (f([[0, -1]]),)],
    construct=GENERATOR,
    gradient=True,
)
def sum_start(x: Any) -> Any:
    return sum((row * 2 for row in x), start=gx.ones(2))
