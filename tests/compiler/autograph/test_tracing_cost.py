"""How often code is traced: the work must not explode with what is nested or chained."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np
import pytest

import graphc as gx
from graphc.compiler.autograph import operators


def test_a_long_chained_comparison_is_traced_in_linear_time() -> None:
    # Were the rest of the chain traced twice at each place, this would take 2 ** 24 comparisons.
    @gx.function
    def rising(x: Any) -> Any:
        return (
            x < x + 1 < x + 2 < x + 3 < x + 4 < x + 5 < x + 6 < x + 7 < x + 8 < x + 9 < x + 10 < x + 11 < x + 12
            < x + 13 < x + 14 < x + 15 < x + 16 < x + 17 < x + 18 < x + 19 < x + 20 < x + 21 < x + 22 < x + 23 < x * 4
        )  # fmt: skip

    x = gx.asarray(10.0)
    assert sum(node.op.name == "less" for node in rising.graph(x).walk()) == 24
    assert rising(x).item() is True
    assert rising(gx.asarray(1.0)).item() is False


@pytest.fixture
def traces(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """An entry for each time that a floor division is traced, which stands in the innermost body of the loops below."""
    found: list[str] = []
    binary = operators.binary

    def counting(symbol: str, left: Any, right: Any) -> Any:
        found.extend([symbol] * (symbol == "//"))
        return binary(symbol, left, right)

    monkeypatch.setattr(operators, "binary", counting)
    return found


def broken_off(x: Any) -> Any:
    total = x * 0
    for i in range(6):
        for j in range(6):
            for k in range(6):
                total = total + x * k + i // 3
                if total > 40:
                    break
            if total > 60:
                break
            total = total + j
        if total > 80:
            break
    return total


def whiles(x: Any) -> Any:
    total = x * 0
    while total < 90:
        part = total * 1
        while part < 50:
            while part < 30:
                part = part + x // 0.25
                if part > 20:
                    break
            part = part + x
            if part > 40:
                break
        total = total + part
        if total > 85:
            break
    return total


def returned_from(x: Any) -> Any:
    total = x * 0
    for i in range(6):
        for j in range(6):
            for k in range(6):
                total = total + x * k + j // 3
                if total > 40:
                    return total + i
    return total


def never_left(x: Any, stop: bool = False) -> Any:
    total = x * 0
    for i in range(6):
        for j in range(6):
            for k in range(6):
                total = total + x * k + j // 3
                if stop:
                    break
            total = total + i
            if stop:
                break
        if stop:
            break
    return total


def filled(x: Any) -> Any:
    table, sums = gx.zeros((6, 6)) + x, gx.zeros(6) + x
    for i in range(6):
        for j in range(5):
            k = gx.asarray(0)
            while k < i:
                table[i, j + 1] += table[i, j] + x // 3
                k = k + 1
            if table[i, j] > 4:
                sums[i] = sums[i - 1] + table[i, j]
    return table, sums


def perhaps_filled(x: Any, fills: bool = False) -> Any:
    table, total = gx.zeros(6) + x, x * 0
    for i in range(6):
        total = total + table[i] + x // 3
        if fills:
            table[i] = total
    return total


# Were each level traced once for whether it stops and once for what it carries, these would be 4 ** 3.
@pytest.mark.parametrize(
    ("fn", "most"),
    [(broken_off, 1), (whiles, 1), (returned_from, 4), (never_left, 4), (filled, 1), (perhaps_filled, 2)],
)
def test_the_innermost_of_nested_loops_is_traced_a_few_times(
    fn: Callable[[Any], Any], most: int, traces: list[str]
) -> None:
    compiled = gx.function(fn)
    for value in (0.5, 2.0, 7.0):
        jax.tree.map(np.testing.assert_array_equal, compiled(gx.asarray(value)), fn(gx.asarray(value)))
    assert 1 <= len(traces) <= most


def test_a_tensor_whose_items_no_iteration_assigns_is_not_carried() -> None:
    (loop,) = (node for node in gx.function(perhaps_filled).graph(gx.asarray(1.0)).walk() if node.op.name == "scan")
    assert loop.attrs["num_carry"] == 1


def _counted(x: Any) -> Any:
    n = 0
    while x < 90:
        x = x * 2 + x // 8
        n += 1
    return x, n


def _carried_numbers(x: Any) -> Any:
    low, high = 0, 100
    while low + 1 < high:
        middle = (low + high) // 2
        if middle * x < 90:
            low = middle
        else:
            high = middle
    return low, high


def _of_a_number_that_grows(x: Any) -> Any:
    a, b = 1, 1
    while a < x:
        a, b = b, a + b // 1
    return a


def _as_often_as_a_tensor_says(x: Any) -> Any:
    n = 0
    for i in range(gx.astype(x, "int32")):
        n += i // 2
    return n


def _checked(x: Any) -> Any:
    for _ in range(9):
        x = x + x // 4
        assert x < 1e9
    return x


def _searched(x: Any) -> Any:
    values, low = gx.arange(8.0) * x, 0
    while x > 0:
        low, high = 0, 8
        while low < high:
            middle = (low + high) // 2
            if values[middle] < 5:
                low = middle + 1
            else:
                high = middle
        x = x - 1
    return low


# The first iteration of the inner loop of _searched is Python's, which knows its numbers.
@pytest.mark.parametrize(
    ("fn", "most"),
    [
        (_counted, 1), (_carried_numbers, 2), (_of_a_number_that_grows, 1), (_as_often_as_a_tensor_says, 1),
        (_checked, 1), (_searched, 2),
    ],
)  # fmt: skip
def test_a_body_that_carries_numbers_is_traced_once(fn: Callable[[Any], Any], most: int, traces: list[str]) -> None:
    compiled = gx.function(fn)
    for value in (2.0, 7.0):
        for one, other in zip(np.ravel(compiled(gx.asarray(value))), np.ravel(fn(gx.asarray(value))), strict=True):
            np.testing.assert_array_equal(np.asarray(one), np.asarray(other))
    assert 1 <= len(traces) <= most


def test_a_number_that_a_loop_leaves_as_it_is_stays_pythons() -> None:
    @gx.function
    def folded(x: Any) -> Any:
        rows = 2
        while gx.sum(x) < 100:
            x = gx.reshape(x, (rows, 3)) * 2  # a size must be a Python int
            rows = 2
        return x, rows

    x, rows = folded(gx.ones((2, 3)))
    assert (gx.sum(x).item(), rows) == (192, 2)


def test_what_a_jump_leaves_unset_stays_a_python_value() -> None:
    @gx.function
    def first(x: Any, stop: bool) -> Any:
        for i in range(6):
            x = x + i
            if stop:
                break
        else:
            return x  # the way behind the loop is known when it is traced
        return {"stopped": x}

    assert first(gx.asarray(1), False).item() == 16
    assert first(gx.asarray(1), True)["stopped"].item() == 1


@pytest.fixture
def compiled_programs() -> Iterator[list[str]]:
    """An entry for each program that XLA compiles."""
    found: list[str] = []

    def listen(event: str, duration_secs: float, **details: Any) -> None:
        del duration_secs, details
        found.extend([event] * event.endswith("backend_compile_duration"))

    jax.monitoring.register_event_duration_secs_listener(listen)
    yield found
    jax.monitoring.unregister_event_duration_listener(listen)


def _numbers_of_each_kind(x: Any) -> Any:
    best, where, found, rate = -1.0, -1, False, 1.0
    powers: list[float] = []
    for i in range(9):
        if x > best:
            best, where, found = x, i, True
        rate *= 0.5
        powers.append(i * 0.5)
        x = x * rate
    return best, where, found, gx.stack(powers)


def test_tracing_compiles_nothing(compiled_programs: list[str]) -> None:
    # A number of Python's that became an array of JAX's did: seven milliseconds for its kind in each process.
    x = gx.asarray(2.0)
    jax.clear_caches()
    compiled_programs.clear()
    gx.function(_numbers_of_each_kind).trace(x)
    assert compiled_programs == []
