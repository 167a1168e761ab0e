"""What is known of the numbers of a ``range`` whose bounds depend on a loop around it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphc as gx

LENGTH = 8


def _upwards(x: Any) -> Any:
    found = gx.zeros((), dtype="float32")
    for i in range(LENGTH):
        least = i
        for j in range(i + 1, LENGTH):
            if x[j] < x[least]:
                least = j
        found += x[least] * i
    return found


def _downwards(x: Any) -> Any:
    found = gx.zeros((), dtype="float32")
    for i in range(LENGTH):
        for j in range(i, -1, -1):
            found += x[j] * i
    return found


def _in_steps(x: Any) -> Any:
    struck = gx.zeros(LENGTH)
    for i in range(1, LENGTH):
        for j in range(i * i, LENGTH, i):
            struck[j] += x[i]
    return struck


def _past_the_end(x: Any) -> Any:
    found = gx.zeros((), dtype="float32")
    for i in range(LENGTH):
        for j in range(i + 1, LENGTH + 1):
            found += x[j]
    return found


def _past_the_start(x: Any) -> Any:
    found = gx.zeros((), dtype="float32")
    for i in range(LENGTH):
        for j in range(i, -LENGTH - 2, -1):
            found += x[j]
    return found


@pytest.mark.parametrize("program", [_upwards, _downwards, _in_steps])
def test_numbers_between_the_bounds_are_not_checked(program: Callable[[Any], Any]) -> None:
    x = gx.asarray(np.linspace(3.0, -2.0, LENGTH, dtype=np.float32))
    compiled = gx.function(program)
    np.testing.assert_allclose(compiled(x), program(x), rtol=1e-5)
    graph = compiled.graph(x)
    lines = [line for line in gx.ir.print_graph(graph).split("\n") if "_item(" in line]
    assert lines
    assert all("inside = True" in line for line in lines)
    assert len(graph.outputs) == 1, "it can fail"


@pytest.mark.parametrize("program", [_past_the_end, _past_the_start])
def test_numbers_past_the_bounds_are_reported(program: Callable[[Any], Any]) -> None:
    with pytest.raises(IndexError):
        gx.function(program)(gx.arange(float(LENGTH)))


@pytest.mark.xla
@pytest.mark.parametrize("dtype", ["bool", "int32", "float32"])
def test_constants_are_written_where_the_number_says(dtype: str) -> None:
    one = np.ones((), dtype)[()].item()

    def marked(places: Any) -> Any:
        table = gx.zeros((LENGTH, 3), dtype=dtype)
        for i in range(LENGTH):
            for j in range(i * i, LENGTH, i + 2):
                table[j, 1] = one
        for k in range(LENGTH - 2):
            table[k, 2] = places[k] > 1
            table[k + 2, 0] = one
        return table

    places = gx.arange(LENGTH)
    np.testing.assert_array_equal(gx.function(marked)(places), marked(places))
