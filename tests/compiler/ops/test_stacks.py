"""Rows of one array that are joined again while a function is traced are a slice of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphc as gx

X = np.random.default_rng(0).normal(size=(5, 2, 3)).astype(np.float32)


def _ops(function: Callable[[Any], Any]) -> list[str]:
    return [node.op.name for node in gx.function(function).graph(gx.asarray(X)).nodes]


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -3])
@pytest.mark.parametrize("part", [slice(0, 5), slice(1, 4), slice(None, None, -1), slice(3, 0, -2), slice(1, None, 3)])
def test_evenly_spaced_rows_are_a_slice(axis: int, part: slice) -> None:
    def stacked(x: Any) -> Any:
        return gx.stack([x[place] for place in range(5)[part]], axis=axis)

    assert "stack" not in _ops(stacked)
    result = gx.function(stacked)(gx.asarray(X))
    np.testing.assert_array_equal(result.numpy(), np.stack(list(X[part]), axis=axis))


JOINS = {
    "concat along the first axis": (lambda np_like, rows: np_like.concat(rows, axis=0), X),
    "concat along the last axis": (lambda np_like, rows: np_like.concat(rows, axis=-1), X),
    "concat flattened": (lambda np_like, rows: np_like.concat(rows, axis=None), X),
    "hstack of vectors": (lambda np_like, rows: np_like.hstack(rows), X[0]),
    "hstack": (lambda np_like, rows: np_like.hstack(rows), X),
    "vstack of vectors": (lambda np_like, rows: np_like.vstack(rows), X[0]),
    "vstack": (lambda np_like, rows: np_like.vstack(rows), X),
    "column_stack of vectors": (lambda np_like, rows: np_like.column_stack(rows), X[0]),
    "column_stack": (lambda np_like, rows: np_like.column_stack(rows), X),
    "dstack": (lambda np_like, rows: np_like.dstack(rows), X),
    "dstack of three axes": (lambda np_like, rows: np_like.dstack(rows), X[None, None]),
}


@pytest.mark.parametrize("name", JOINS)
def test_rows_joined_in_other_ways_are_a_slice_with_its_axes_moved(name: str) -> None:
    join, array = JOINS[name]
    array = np.repeat(array, 3, axis=0)

    def joined(x: Any) -> Any:
        return join(gx, list(x)[::-1])

    function = gx.function(joined)
    assert {node.op.name for node in function.graph(gx.asarray(array)).nodes} <= {"get_item", "moveaxis", "reshape"}
    result = function(gx.asarray(array))
    np.testing.assert_array_equal(result.numpy(), join(np, list(array)[::-1]))


@pytest.mark.parametrize("places", [(0, 0), (3,), (0, 1, 3)], ids=["the same twice", "one", "unevenly spaced"])
def test_other_rows_are_stacked(places: tuple[int, ...]) -> None:
    def stacked(x: Any) -> Any:
        return gx.stack([x[place] for place in places])

    assert _ops(stacked)[-1] == "stack"
    np.testing.assert_array_equal(gx.function(stacked)(gx.asarray(X)).numpy(), X[list(places)])


def test_rows_of_two_arrays_and_other_items_are_stacked() -> None:
    assert _ops(lambda x: gx.stack([x[0], (x * 2.0)[1]]))[-1] == "stack"
    assert _ops(lambda x: gx.stack([x[0, 0], x[1, 0]]))[-1] == "stack"
    assert _ops(lambda x: gx.stack([x[0], np.ones((2, 3), np.float32)]))[-1] == "stack"


def test_an_axis_that_is_none_is_refused_by_the_name_of_stack() -> None:
    with pytest.raises(gx.errors.OutOfRangeError, match=r"stack.*axis"):
        gx.function(lambda x: gx.stack([x[0], x[1]], axis=3))(gx.asarray(X))


@pytest.mark.parametrize("axis", [0, 1])
def test_the_gradient_of_a_list_that_a_loop_fills_does_not_grow_with_the_list(axis: int) -> None:
    def loss(x: Any) -> Any:
        states = []
        for _ in range(50):
            x = gx.tanh(x) * 0.9
            states.append(x)
        return gx.sum(gx.stack(states, axis=axis) ** 2)

    gradient = gx.function(gx.grad(loss))
    x = gx.asarray(X)
    assert len(list(gradient.graph(x).walk())) < 60
    np.testing.assert_allclose(gradient(x).numpy(), gx.grad(loss)(x).numpy(), rtol=1e-4)
