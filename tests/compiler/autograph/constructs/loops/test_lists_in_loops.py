"""Lists that loops append to, read by their index and hand on: one array, whose length is known in each iteration."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphc as gx
from tests.conformance.comparing import difference

X = np.random.default_rng(0).normal(size=(12, 3)).astype(np.float32)


def _distances(x: Any) -> Any:
    previous = list(range(8))
    for i in range(9):
        row = [i + 1]
        for j in range(7):
            row.append(gx.minimum(previous[j + 1], row[j]) + gx.where(x[i, 0] > x[j, 1], 1, 0))
        previous = row
    return previous[7], previous[3]


def _rows_of_floats(x: Any) -> Any:
    previous = [x[0, 0] * k for k in range(8)]
    for i in range(9):
        row = [previous[0] + x[i, 1]]
        for j in range(1, 8):
            row.append(row[j - 1] * 0.3 + previous[j] * 0.5 + previous[j - 1])
        previous = row
    return gx.stack(previous)


def _rows_by_comprehension(x: Any) -> Any:
    row = tuple(x[0, 0] * k for k in range(6))
    for i in range(8):
        row = tuple(row[(j + 1) % 6] * 0.5 + x[i, 1] for j in range(6))
    return row


def _put_together_by_hand(x: Any) -> Any:
    row = [x[0, 0] * k for k in range(6)]
    for i in range(8):
        row = [row[1], row[2], row[0] + x[i, 0], row[4], row[3], row[5]]
    return row


def _read_while_it_grows(x: Any) -> Any:
    items = [x[0]]
    for _ in range(11):
        items.append(items[-1] * 0.5 + items[len(items) // 2] + len(items))
    return gx.stack(items)


def _grown_in_two_loops(x: Any) -> Any:
    items = [x[0]]
    for i in range(7):
        items.append(items[i] * 0.3)
        for j in range(6):
            items.append(items[-1] * 0.5 + x[i] + items[j // 2])
    return gx.stack(items), len(items)


def _grown_under_a_condition(x: Any) -> Any:
    items = [x[0]]
    for i in range(11):
        items.append(items[i] * 0.5 + items[-1])
        if i % 2 == 0:
            items.append(items[i] * 0.1)
    return gx.stack(items)


def _ints(x: Any) -> Any:
    state, tokens = x[0], []
    for i in range(12):
        state = gx.tanh(state + x[i])
        tokens.append(i)
    return state * tokens[5], tokens


def _pairs_with_numbers(x: Any) -> Any:
    state, pairs, n = x[0], [(x[1], -1)], 1
    for i, row in enumerate(x):
        n = n * 3 % 11
        state = gx.tanh(state + row)
        pairs.append((state, i * 2))
        pairs.append((row, n))
    return pairs[7], [number for _, number in pairs], gx.stack([array for array, _ in pairs])


def _numbers_in_a_row(x: Any) -> Any:
    state, kept = x[0], []
    for i in range(10):
        row = []
        for j in range(6):
            state = gx.tanh(state + x[i])
            row.append(j)
        kept.append(state * row[3])
    return state, gx.stack(kept), row


def _numbers_read_again(x: Any) -> Any:
    state, tokens = x[0], [0]
    for i in range(12):
        state = gx.tanh(state + x[i] * tokens[-1])
        tokens.append(i)
    return state, tokens


def _a_number_that_becomes_a_tensor(x: Any) -> Any:
    state, items = 0.0, []
    for row in x:
        items.append(state)
        state = state + row[0]
        items.append(row[1])
    return state, gx.stack(items[1:])


def _numbers_under_a_condition(x: Any) -> Any:
    state, tokens = x[0], []
    for i in range(12):
        state = gx.tanh(state + x[i])
        if i % 3 == 0:
            tokens.append(i)
    return state, tokens


ROLLED = {
    _distances: 2, _rows_of_floats: 3, _rows_by_comprehension: 3, _put_together_by_hand: 2, _read_while_it_grows: 1,
    _grown_in_two_loops: 2, _grown_under_a_condition: 1, _ints: 1, _pairs_with_numbers: 1, _numbers_in_a_row: 2,
    _numbers_read_again: 0, _a_number_that_becomes_a_tensor: 1, _numbers_under_a_condition: 0,
}  # fmt: skip


@pytest.mark.drawn(3)
@pytest.mark.parametrize("function", ROLLED)
def test_a_list_in_a_loop(function: Callable[[Any], Any]) -> None:
    x = gx.asarray(X)
    compiled = gx.function(function)
    assert sum(loop.times for loop in compiled.explain(x).loops if loop.kind == "rolled") == ROLLED[function]
    assert difference(function(x), compiled(x)) is None


@pytest.mark.parametrize("function", [_distances, _rows_of_floats, _read_while_it_grows])
def test_an_index_of_a_list_that_has_such_an_item_is_not_checked(function: Callable[[Any], Any]) -> None:
    found = gx.function(function).graph(gx.asarray(X))
    assert not {node.op.name for node in found.walk()} & {"cond", "where_failed", "logical_and"}


def test_a_list_that_a_loop_fills_backwards_is_collected() -> None:
    def discounted(x: Any) -> Any:
        value, values = gx.zeros(3), []
        for row in reversed(x):
            value = row + 0.9 * value
            values.append(value)
        return gx.stack(values[::-1])

    found = gx.explain(discounted, gx.asarray(X)).graph
    assert [node.attrs["num_ys"] for node in found.nodes if node.op.name == "scan"] == [1]


def test_an_index_beyond_the_end_raises_as_in_python() -> None:
    def beyond(x: Any) -> Any:
        items = [x[0]]
        for i in range(8):
            items.append(items[i + 1] * 0.5)
        return gx.stack(items)

    for function in (beyond, gx.function(beyond)):
        with pytest.raises(IndexError, match="list index out of range"):
            gx.wait_all(function(gx.asarray(X)))


def test_gradients_flow_through_rows_that_are_carried_as_one_array() -> None:
    def loss(x: Any) -> Any:
        return gx.sum(_rows_of_floats(x) ** 2)

    x = gx.asarray(X)
    np.testing.assert_allclose(gx.function(gx.grad(loss))(x).numpy(), gx.grad(loss)(x).numpy(), rtol=1e-4, atol=1e-5)
