"""Comprehensions and generator expressions are the loops that append their items: one node where such a loop is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.autograph import operators

X = np.random.default_rng(0).normal(size=(9, 6)).astype(np.float32)


def _rows(x: Any) -> Any:
    return gx.stack([gx.tanh(row) * 2 for row in x])


def _windows(x: Any) -> Any:
    return gx.stack([gx.sum(x[i : i + 3]) for i in range(7)])


def _nested(x: Any) -> Any:
    return gx.stack([gx.stack([x[i, j] * x[j, i % 3] for j in range(6)]) for i in range(9)])


def _two_loops(x: Any) -> Any:
    return gx.stack([row[j] * i for i, row in enumerate(x) for j in range(6)])


def _sum_inside(x: Any) -> Any:
    return gx.stack([sum(x[i, k] * x[k, j] for k in range(6)) for i in range(9) for j in range(6)])


def _filtered(x: Any) -> Any:
    return gx.stack([x[i] * 2 for i in range(9) if i % 3 != 1])


def _of_a_list(x: Any) -> Any:
    doubled = [row * 2 for row in x]
    return gx.stack([one + other for one, other in zip(doubled, doubled[::-1], strict=True)])


def _list_of_expression(x: Any) -> Any:
    return gx.stack(list(row * row for row in x))  # noqa: C400


def _tuple_of_expression(x: Any) -> Any:
    return gx.stack(tuple(row * row for row in reversed(x)))


def _list_of_map(x: Any) -> Any:
    return gx.stack(list(map(gx.tanh, x)))


def _largest(x: Any) -> Any:
    return max(gx.sum(x[i] * x[8 - i]) for i in range(9))


def _reversed_and_appended(x: Any) -> Any:
    value, values = 0.0, []
    for row in reversed(x):
        value = row + 0.9 * value
        values.append(value)
    total = gx.zeros(6)
    for i, (one, other) in enumerate(zip(values[::-1], reversed(values), strict=True)):
        total = total * 0.5 + i * one * other
    for one in values[::-2]:
        total = total + one
    return gx.stack(values[::-1]), gx.concat(list(reversed(values))), total


@pytest.mark.drawn(3)
@pytest.mark.parametrize(
    ("function", "loops"),
    [
        (_rows, 1),
        (_windows, 1),
        (_nested, 2),
        (_two_loops, 2),
        (_sum_inside, 3),
        (_filtered, 1),
        (_of_a_list, 2),
        (_list_of_expression, 1),
        (_tuple_of_expression, 1),
        (_list_of_map, 1),
        (_largest, 1),
        (_reversed_and_appended, 3),
    ],
)
def test_a_comprehension_is_one_node(function: Callable[[Any], Any], loops: int) -> None:
    x = gx.asarray(X)
    compiled = gx.function(function)
    found = compiled.explain(x).loops
    assert {loop.kind for loop in found} == {"rolled"}
    assert sum(loop.times for loop in found) == loops
    assert len(list(compiled.graph(x).walk())) < 110
    given, expected = compiled(x), function(x)
    pairs = zip(given, expected, strict=True) if isinstance(given, tuple) else [(given, expected)]
    for one, other in pairs:
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-4, atol=1e-5)


def test_the_body_of_a_comprehension_is_traced_as_often_as_that_of_a_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    traced: list[str] = []
    native = operators.binary

    def counting(symbol: str, left: Any, right: Any) -> Any:
        traced.append(symbol)
        return native(symbol, left, right)

    def both(x: Any) -> Any:
        items = []
        for row in x:
            items.append(row // 2)  # noqa: PERF401
        return gx.stack(items), gx.stack([row % 2 for row in x])

    monkeypatch.setattr(operators, "binary", counting)
    gx.function(both).trace(gx.asarray(X))
    assert traced.count("//") == traced.count("%") == 2  # the first finds out that a list grows


@gx.function
def _numbers(x: Any) -> Any:
    widths = [i * 2 + 1 for i in range(9)]
    return x, widths, tuple(k / 2 for k in range(6)), [str(i) for i in range(7)]


def test_numbers_and_other_objects_stay_what_they_are() -> None:
    _, widths, halves, texts = _numbers(gx.asarray(X))
    assert (widths, halves, texts) == ([1, 3, 5, 7, 9, 11, 13, 15, 17], (0.0, 0.5, 1.0, 1.5, 2.0, 2.5), [*"0123456"])
    assert not _numbers.explain(gx.asarray(X)).loops  # Python has computed on numbers: nothing is unrolled


def test_functions_see_the_last_item_as_in_python() -> None:
    def late(x: Any) -> Any:
        return [scale() for scale in [lambda: row * 2 for row in x]]  # noqa: B023

    results = gx.function(late)(gx.asarray(X))
    np.testing.assert_allclose([result.numpy() for result in results], [X[-1] * 2] * 9, rtol=1e-6)


def test_an_item_that_raises_raises_as_in_python() -> None:
    def fails(x: Any) -> Any:
        return gx.stack([x[i] if i < 7 else x[i + 5] for i in range(9)])

    with pytest.raises(IndexError):
        gx.function(fails)(gx.asarray(X))
