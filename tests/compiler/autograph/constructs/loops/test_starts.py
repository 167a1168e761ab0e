"""Numbers that become tensors in the first iteration of a loop: the loop carries tensors from the start, or peels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphc as gx

ROWS = np.random.default_rng(0).normal(size=(7, 3)).astype(np.float32)
ALL = f"it runs over the {len(ROWS)} rows of a tensor"
BUT_ONE = f"it runs over the {len(ROWS) - 1} rows of a tensor"


def _discounted(x: Any) -> Any:
    value, values = 0.0, []
    for row in reversed(x):
        value = row + 0.9 * value
        values.append(value)
    return value, gx.stack(values[::-1])


def _int_start(x: Any) -> Any:
    total = 3
    for row in x:
        total = gx.maximum(total * 2, row) - 1
    return total


def _minus_infinity(x: Any) -> Any:
    best, place = -float("inf"), 0
    for i, row in enumerate(x):
        place = gx.where(row > best, i, place)
        best = gx.maximum(row, best)
    return best, place


def _truth(x: Any) -> Any:
    found = False
    for row in x:
        found = gx.logical_or(found, row > 1)
    return found


def _halved(x: Any) -> Any:
    total = 1
    for row in x:
        total = total // 2 + row
    return total


def _before(x: Any) -> Any:
    total, before = 1.0, 0.0
    for row in x:
        before = total
        total = total * 0.5 + row
    return total, before


def _kept(x: Any) -> Any:
    total, kept = 1.0, []
    for row in x:
        kept.append(gx.sum(total))
        total = total * 0.5 + row
    return total, gx.stack(kept)


def _softmax(x: Any) -> Any:
    weights = 0.0
    for row in x:
        weights = gx.nn.softmax(weights + row * 0) + row * weights
    return weights


def _large(x: Any) -> Any:
    total = 2**24 + 1
    for row in x:
        total = total + row
    return total


@pytest.mark.drawn(3)
@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (_discounted, ALL),
        (_int_start, ALL),
        (_minus_infinity, ALL),
        (_truth, ALL),
        (_halved, BUT_ONE),  # a float may be halved where an int is
        (_before, BUT_ONE),  # a name holds the number itself after an iteration
        (_kept, BUT_ONE),  # a sum of one number
        (_softmax, ALL),
        (_large, BUT_ONE),  # which no float32 holds
    ],
)
def test_a_number_that_becomes_a_tensor(function: Callable[[Any], Any], reason: str) -> None:
    x = gx.asarray(ROWS)
    compiled = gx.function(function)
    assert [loop.reason for loop in compiled.explain(x).loops if loop.kind == "rolled"] == [reason]
    for one, other in zip(_leaves(compiled(x)), _leaves(function(x)), strict=True):
        np.testing.assert_allclose(np.asarray(one), np.asarray(other), rtol=1e-5, atol=1e-6)
        assert one.dtype == other.dtype


def _leaves(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def test_the_gradient_flows_through_what_was_a_number() -> None:
    def loss(x: Any) -> Any:
        value, total = 0.0, 0.0
        for row in reversed(x):
            value = row * row + 0.9 * value
            total = total + value * row
        return gx.sum(total)

    x = gx.asarray(ROWS)
    np.testing.assert_allclose(gx.function(gx.grad(loss))(x).numpy(), gx.grad(loss)(x).numpy(), rtol=1e-4)
