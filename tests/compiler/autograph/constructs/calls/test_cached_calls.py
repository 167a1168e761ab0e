"""Functions and properties that keep their results: tensors among them belong to no trace."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base.errors import UnimplementedError

made: list[int] = []


@functools.lru_cache
def mask(size: int) -> Any:
    made.append(size)
    return gx.tril(gx.ones((size, size)))


class Table:
    @property
    @functools.lru_cache  # noqa: B019
    def bias(self) -> Any:
        return gx.ones(2)

    @functools.cached_property
    def weights(self) -> Any:
        return gx.ones(3) * 2


@functools.cache
def weight(size: int) -> float:
    return math.fsum(range(size + 1)) * 1.0 if size > 2 else 3.0


def test_tensors_that_a_cache_keeps_serve_all_callers() -> None:
    first = gx.function(lambda x: x @ mask(len(x)))
    second = gx.function(lambda x: gx.sum(x @ mask(len(x))))
    x = gx.ones(3)
    for _ in range(2):
        np.testing.assert_array_equal(first(x), [3, 2, 1])
        assert float(second(x)) == 6
    np.testing.assert_array_equal(mask(3)[0], [1, 0, 0])
    assert made == [3]


def test_tensors_of_a_cached_property_serve_all_callers() -> None:
    table = Table()
    compiled = gx.function(lambda x: x * table.weights * gx.max(table.bias), side_effects="ignore")
    np.testing.assert_array_equal(compiled(gx.ones(3)), [2, 2, 2])
    np.testing.assert_array_equal(table.weights, [2, 2, 2])
    np.testing.assert_array_equal(table.bias, [1, 1])
    table.weights = gx.zeros(3)
    np.testing.assert_array_equal(compiled(gx.ones(3)), [0, 0, 0])


def test_functions_that_map_calls_are_cached_outside_of_the_trace() -> None:
    compiled = gx.function(lambda x: sum(gx.sum(rows) * x for rows in map(mask, [5, 6])))
    assert float(compiled(gx.asarray(1.0))) == 15 + 21
    assert float(gx.sum(mask(6))) == 21


def test_calls_in_loops_and_branches_count_as_computing() -> None:
    @gx.function
    def compiled(x: Any) -> Any:
        for _ in range(20):
            x = x + weight(2)
        if x > 3:
            x = x + weight(4)
        return x

    assert float(compiled(gx.asarray(0.0))) == 70


def test_a_call_in_a_branch_that_changes_something_is_refused() -> None:
    @functools.lru_cache
    def counted(size: int) -> float:
        made.append(size)
        return 1.0 * size

    def in_branch(x: Any) -> Any:
        return x * counted(2) if x > 0 else x

    def in_loop(x: Any) -> Any:
        while x > 0:
            x = x - counted(2)
        return x

    class Counter:
        count = 0

        @functools.cache  # noqa: B019
        def counted(self) -> float:
            self.count += 1
            return 1.0

    @functools.cache
    def shown() -> float:
        print("shown")
        return 1.0

    counter = Counter()

    def of_object(x: Any) -> Any:
        return x * counter.counted() if x > 0 else x

    def printed(x: Any) -> Any:
        return x * shown() if x > 0 else x

    for program in (in_branch, in_loop, of_object, printed):
        with pytest.raises(
            UnimplementedError, match=r"(?s)call of (counted|shown), which does more.*test_cached_calls"
        ):
            gx.function(program)(gx.asarray(-1.0))


def test_exceptions_are_not_kept() -> None:
    known: dict[str, float] = {}

    @functools.lru_cache
    def rate(name: str) -> float:
        return known[name]

    @gx.function
    def compiled(x: Any) -> Any:
        try:
            return x * rate("slow")
        except KeyError:
            return x

    assert float(compiled(gx.asarray(1.0))) == 1
    known["slow"] = 2.0
    assert float(compiled(gx.asarray(1.0))) == 2
