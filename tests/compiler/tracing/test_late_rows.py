"""Tests of :mod:`graphc.compiler.tracing.late_rows`: rows of a list that a loop has filled."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.tracing import LateRow, current_trace


def _filled(x: Any) -> list[Any]:
    return [gx.tanh(row) for row in x]


X = np.arange(14, dtype=np.float32).reshape(7, 2) / 10
Y = np.tanh(X)


def test_a_list_used_as_a_whole_has_no_node_for_each_row() -> None:
    counts: list[int] = []

    @gx.function(side_effects="ignore")
    def total(x: Any) -> Any:
        rows = _filled(x)
        counts.append(len(current_trace().builder.nodes))
        found = gx.zeros(2)
        for one, other in zip(rows, reversed(rows), strict=True):
            found = found + one * other
        counts.append(len(current_trace().builder.nodes))
        return found + gx.sum(gx.stack(rows), axis=0)

    np.testing.assert_allclose(total(gx.asarray(X)).numpy(), (Y * Y[::-1]).sum(0) + Y.sum(0), rtol=1e-5)
    assert counts[0] < len(X)
    assert counts[1] - counts[0] < len(X)


def test_a_row_is_one_node_when_it_is_used() -> None:
    @gx.function
    def second(x: Any) -> Any:
        rows = _filled(x)
        assert isinstance(rows[1], LateRow)
        assert rows[1].shape == (2,)
        assert rows[1].dtype == np.float32
        return rows[1] + rows[1], rows[1]

    doubled, row = second(gx.asarray(X))
    np.testing.assert_allclose(doubled.numpy(), 2 * Y[1], rtol=1e-5)
    np.testing.assert_allclose(row.numpy(), Y[1], rtol=1e-5)
    assert sum(node.op.name == "get_item" for node in second.graph(gx.asarray(X)).nodes) == 1


def test_a_row_used_in_an_attempt_that_was_given_up_is_there_afterwards() -> None:
    seen: list[int] = []

    @gx.function(side_effects="ignore")
    def program(x: Any) -> Any:
        rows = _filled(x)
        found = rows[0]
        for step in range(6):
            found = found + rows[3] * rows[step]
            seen.append(step)  # Python must run this loop
        return found + rows[3]

    wanted = Y[0] + Y[3] * Y[:6].sum(0) + Y[3]
    np.testing.assert_allclose(program(gx.asarray(X)).numpy(), wanted, rtol=1e-5)
    assert seen == [*range(6)]


def test_rows_that_a_tape_sees_are_taken_at_once() -> None:
    @gx.function
    def gradient(x: Any) -> Any:
        with gx.GradientTape() as tape:
            tape.watch(x)
            rows = _filled(x)
            loss = gx.sum(rows[2] * rows[4])
        return tape.gradient(loss, x)

    of_x = gradient(gx.asarray(X))
    wanted = np.zeros_like(X)
    wanted[2], wanted[4] = Y[4] * (1 - Y[2] ** 2), Y[2] * (1 - Y[4] ** 2)
    np.testing.assert_allclose(of_x.numpy(), wanted, rtol=1e-4)


def test_a_row_in_a_branch_is_a_node_outside() -> None:
    @gx.function
    def program(x: Any) -> Any:
        rows = _filled(x)
        found = rows[0]
        if gx.sum(x) > 0:
            found = rows[5] * 2
        return found - rows[5]

    np.testing.assert_allclose(program(gx.asarray(X)).numpy(), Y[5], rtol=1e-5)
    np.testing.assert_allclose(program(gx.asarray(-X)).numpy(), -Y[0] + Y[5], rtol=1e-5)


@pytest.mark.parametrize("kept", [0, 1, 2, 5, 31, 32, 33, 70])
def test_a_list_of_unknown_length_has_its_rows(kept: int) -> None:
    @gx.function
    def smaller(x: Any, bound: Any) -> Any:
        return [(row * 2.0, {"first": row[0]}) for row in x if row[0] < bound]

    x = gx.reshape(gx.arange(140, dtype="float32"), (70, 2))
    found = smaller(x, gx.asarray(2.0 * kept - 1.0))
    assert [row.tolist() for row, _ in found] == (x.numpy() * 2)[:kept].tolist()
    assert [rest["first"].item() for _, rest in found] == x.numpy()[:kept, 0].tolist()
    for row, _ in found[:1]:
        row[0] = -1.0  # of its own memory
        assert [row.tolist() for row, _ in found[1:]] == (x.numpy() * 2)[1:kept].tolist()


def test_rows_of_a_list_of_unknown_length_are_followed_by_a_tape() -> None:
    @gx.function
    def positive(x: Any) -> Any:
        return [value * value for value in x if value > 0.0]

    x = gx.asarray([1.0, -2.0, 3.0])
    with gx.GradientTape() as tape:
        tape.watch(x)
        total = sum(positive(x))
    assert tape.gradient(total, x).tolist() == [2.0, 0.0, 6.0]
