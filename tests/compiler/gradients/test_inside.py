"""Gradients with respect to what a loop or branch computed: those of eager code, or refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphc as gx

X = np.asarray([0.1, 0.2], np.float32)


def states(x: Any, *, unroll: bool | None = None) -> list[Any]:
    """The states of a recurrence; a loop of eight iterations is rolled if it is not told otherwise."""
    rows: list[Any] = []
    for i in range(8):
        gx.loop_options(unroll=unroll)
        x = gx.sin(x * 1.5 + i)
        rows.append(x)
    return rows


def stacked(x: Any) -> Any:
    rows = states(x)
    return gx.stack(rows), rows[0]


def looped_over(x: Any) -> Any:
    rows, total = states(x), gx.zeros_like(x)
    for row in rows:
        total = total * 0.5 + row * row
    return total, rows[5]


def all_of_them(x: Any) -> Any:
    rows = states(x)
    return gx.stack(rows), rows


def the_one_before_the_last(x: Any) -> Any:
    before = x
    for i in range(8):
        before = x
        x = gx.sin(x * 1.5 + i)
    return x, before


def made_of_it_in_a_branch(x: Any) -> Any:
    if gx.sum(x) > 0:
        a = gx.sin(x)
        b = a * 2.0
    else:
        a = x * 3.0
        b = a * a
    return a + b, a


def only_that_item(x: Any) -> Any:
    rows = states(x)
    return rows[0] * rows[0], rows[0]


def unrolled(x: Any) -> Any:
    rows = states(x, unroll=True)
    return gx.stack(rows), rows[0]


def beside_it_in_a_branch(x: Any) -> Any:
    if gx.sum(x) > 0:
        a, b = gx.sin(x), x * 2.0
    else:
        a, b = x * 3.0, x * x
    return a * b, a


def beside_it_in_a_loop(x: Any) -> Any:
    y = x
    for i in range(8):
        y = gx.sin(y * 1.5 + i)
        x = x * 1.1
    return x * y, [x, y]


def gradient_of(program: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def gradient(x: Any) -> Any:
        with gx.GradientTape() as tape:
            tape.watch(x)
            target, sources = program(x)
        return tape.gradient(target, sources)

    return gradient


@pytest.mark.parametrize("program", [only_that_item, unrolled, beside_it_in_a_branch, beside_it_in_a_loop])
def test_what_the_tape_sees_is_differentiated_as_in_eager_code(program: Callable[[Any], Any]) -> None:
    gradient = gradient_of(program)
    for found, wanted in zip(
        *map(gx.nest.flatten, (gx.function(gradient)(gx.asarray(X)), gradient(gx.asarray(X)))), strict=True
    ):
        np.testing.assert_allclose(found, wanted, rtol=2e-5)


@pytest.mark.parametrize(
    ("program", "where"),
    [
        (stacked, "loop"),
        (looped_over, "loop"),
        (all_of_them, "loop"),
        (the_one_before_the_last, "loop"),
        (made_of_it_in_a_branch, "branch"),
    ],
)
def test_what_the_tape_does_not_see_is_refused(program: Callable[[Any], Any], where: str) -> None:
    remedy = {"loop": r"gx.loop_options\(unroll=True\)", "branch": "outside the branch"}[where]
    with pytest.raises(
        gx.errors.UnimplementedError, match=rf"(?s)a tensor that a {where} computes .*{remedy}.*test_inside"
    ):
        gx.function(gradient_of(program))(gx.asarray(X))


def test_a_tape_that_is_opened_behind_the_loop_takes_its_results_as_they_are() -> None:
    def gradient(x: Any) -> Any:
        a = b = x
        for _ in range(8):
            a = gx.sin(a)
            b = a * 2.0
        with gx.GradientTape() as tape:
            tape.watch([a, b])
            target = a * b
        return tape.gradient(target, a)

    np.testing.assert_allclose(gx.function(gradient)(gx.asarray(X)), gradient(gx.asarray(X)), rtol=2e-5)
