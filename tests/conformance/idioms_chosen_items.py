"""Lists of known length, of which tensors choose a place, or an item to look for."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import graphc as gx
from tests.conformance.harness import f, i, program

PLACE = "a tensor as index of a Python list"
FOUND = "`in` of a list, with tensors"
MOVED = "`del`, `pop`, `insert`, `remove`, `index`, `count` of a list, at a place that tensors choose"
ROWS = f(1, 4, 2, 5)
PLACES = [(ROWS, i(0)), (ROWS, i(2)), (ROWS, i(-1)), (ROWS, i(-3)), (ROWS, i(3)), (ROWS, i(-4))]
VALUES = [(ROWS, f(4.0)), (ROWS, f(1.0)), (ROWS, f(7.0))]


@program("chosen items/stored", inputs=PLACES, construct=PLACE, gradient=True)
def stored(xs: Any, n: Any) -> Any:
    items = [xs[0], xs[1], xs[2]]
    same = items
    items[n] = xs[3]
    return gx.stack(items), same[0]


@program("chosen items/stored twice, with an operator", inputs=PLACES, construct=PLACE, gradient=True)
def stored_with_operator(xs: Any, n: Any) -> Any:
    items = [xs[0], xs[1], xs[2]]
    items[n] *= 3
    items[n] = items[n] + items[-1]
    return items


@program("chosen items/counted", inputs=[(ROWS,), (f(1, 1, 1, 7),), (f(3, 6, 9, 0),)], construct=PLACE,
         python_numbers=True)  # fmt: skip
def counted(xs: Any) -> Any:
    counts = [0, 0, 0]
    sums = [0.0] * 3
    for x in xs:
        bucket = int(x) % 3
        counts[bucket] += 1
        sums[bucket] = sums[bucket] + x
    return counts, sums


@program("chosen items/counted in a branch of a while", inputs=[(f(27.0),), (f(8.0),)], construct=PLACE,
         python_numbers=True)  # fmt: skip
def counted_in_a_branch(x: Any) -> Any:
    seen = [0, 0]
    while x > 1:
        odd = int(x) % 2
        if x < 1000:
            seen[odd] += 1
        x = 3 * x + 1 if odd else x // 2
    return seen


@program("chosen items/names in a list", inputs=PLACES, construct=PLACE)
def names(xs: Any, n: Any) -> Any:
    words = ["a", "b", "c"]
    words[n] = "d"
    return words, words[n], xs


@program("chosen items/a value among others", inputs=VALUES, construct=FOUND, python_numbers=True)
def value_among(xs: Any, value: Any) -> Any:
    levels, level = [1, 4, 9], int(value)
    return value in [xs[0], xs[1], xs[2], xs[1]], level in levels, levels.index(4), levels.count(9)


def _refused(name: str, run: Callable[[list[Any], Any, Any], Any], message: str) -> None:
    @program(
        f"chosen items/{name}", inputs=[(ROWS, i(1))], construct=MOVED, refused=(gx.errors.ConcretizationError, message)
    )
    def call(xs: Any, n: Any) -> Any:
        items = [xs[0], xs[1], xs[2]]
        run(items, n, xs[1] + 0)
        return items


AN_INDEX = r"an index or a size needs a value, but this tensor .*use gx\.take or x\[i\] of a tensor"
_refused("deleted", lambda items, n, value: operator.delitem(items, n), AN_INDEX)
_refused("popped", lambda items, n, value: items.pop(n), AN_INDEX)
_refused("inserted", lambda items, n, value: items.insert(n, value), AN_INDEX)
A_TRUTH = r"bool\(\) needs a value, but this tensor"
_refused("removed", lambda items, n, value: items.remove(value), A_TRUTH)
_refused("looked for", lambda items, n, value: items.index(value), A_TRUTH)
_refused("occurrences", lambda items, n, value: items.count(value), A_TRUTH)
