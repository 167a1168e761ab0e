"""Gradients through arrays and lists that a loop fills: the loop collects the rows, forwards and backwards."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base import nest


def into_an_array(h: Any, w: Any) -> Any:
    out = gx.zeros((20, 3))
    for t in range(20):
        h = gx.tanh(h @ w)
        out[t] = h
    return gx.sum(out * out)


def into_a_list(h: Any, w: Any) -> Any:
    states = []
    for _ in range(20):
        h = gx.tanh(h @ w)
        states.append(h)
    return gx.sum(gx.stack(states) ** 2)


def into_columns(h: Any, w: Any) -> Any:
    states = []
    for _ in range(20):
        h = gx.tanh(h @ w)
        states.append(h)
    return gx.sum(gx.stack(states, axis=1) * gx.arange(1, 21))


def into_one_row(h: Any, w: Any) -> Any:
    states = []
    for _ in range(20):
        h = gx.tanh(h @ w)
        states.append(h)
    return gx.sum(gx.concat(states) * gx.arange(1, 61))


@pytest.mark.parametrize("program", [into_an_array, into_a_list, into_columns, into_one_row])
def test_the_gradient_is_that_of_eager_code_and_carries_no_array(program: Any) -> None:
    h, w = gx.asarray([1.0, 2.0, 3.0]), gx.asarray(np.linspace(-0.5, 0.5, 9, dtype=np.float32).reshape(3, 3))
    gradient = gx.grad(program, argnums=(0, 1))
    compiled = gx.function(gradient)
    for found, expected in zip(nest.flatten(compiled(h, w))[0], nest.flatten(gradient(h, w))[0], strict=True):
        np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-4, atol=1e-5)
    nodes = [*compiled.graph(h, w).walk()]
    scans = [node for node in nodes if node.op.name == "scan"]
    assert len(scans) == 2  # with that of the pullback
    assert all(node.attrs["num_ys"] == 1 for node in scans)
    assert sum(node.op.name == "vjp" for node in nodes) < 14
