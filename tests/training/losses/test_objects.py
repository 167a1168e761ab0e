"""Losses as objects: their settings, the axis that only one side has, and what Keras gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base.errors import InvalidArgumentError, UnimplementedError

LABELS = [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
SHARES = [[0.05, 0.95, 0.0], [0.1, 0.8, 0.1]]


@pytest.mark.parametrize(
    ("loss", "labels", "predictions", "expected"),  # as Keras 3.15 has them
    [
        (gx.losses.MeanSquaredError(), [[0.0, 1.0], [0.0, 0.0]], [[1.0, 1.0], [1.0, 0.0]], 0.5),
        (gx.losses.MeanSquaredError("sum"), [[0.0, 1.0], [0.0, 0.0]], [[1.0, 1.0], [1.0, 0.0]], 1.0),
        (gx.losses.MeanSquaredError(None), [1.0, 2.0], [[1.0], [4.0]], [0.0, 4.0]),
        (gx.losses.MeanSquaredError(), [[1.0], [2.0]], [1.0, 4.0], 2.0),
        (gx.losses.CategoricalCrossentropy(), LABELS, SHARES, 1.1769392),
        (gx.losses.CategoricalCrossentropy(reduction="none"), LABELS, SHARES, [0.051293, 2.302585]),
        (gx.losses.SparseCategoricalCrossentropy(), [1, 2], SHARES, 1.1769392),
        (gx.losses.SparseCategoricalCrossentropy(), [[1], [2]], SHARES, 1.1769392),
        (gx.losses.SparseCategoricalCrossentropy(True, reduction="sum"), [1, 2], SHARES, 1.9737902),
    ],
)
def test_losses_are_those_of_keras(loss: gx.losses.Loss, labels: Any, predictions: Any, expected: Any) -> None:
    found = loss(gx.asarray(labels), predictions)
    np.testing.assert_allclose(found.numpy(), expected, rtol=2e-5, atol=1e-5)
    np.testing.assert_allclose(
        gx.function(loss.__call__)(gx.asarray(labels), predictions).numpy(), found.numpy(), rtol=1e-6
    )


def test_a_reduction_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match=r"MeanSquaredError: reduction must be one of .*, got 'average'"):
        gx.losses.MeanSquaredError("average")


def test_a_loss_without_a_call_method_says_what_to_write() -> None:
    with pytest.raises(UnimplementedError, match=r"(?s)Loss is a Loss without a call method; write .*test_objects"):
        gx.losses.Loss()([1.0], [2.0])


def test_an_own_loss_may_return_any_numbers_and_takes_weights() -> None:
    class Counted(gx.losses.Loss):
        def call(self, y_true: Any, y_pred: Any) -> Any:
            return [1.0, 3.0]

    assert Counted()([0.0, 0.0], [0.0, 0.0]).item() == 2.0
    assert Counted(reduction="mean_with_sample_weight")([0.0, 0.0], [0.0, 0.0], [1.0, 3.0]).item() == 2.5


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_probabilities_of_half_precision_have_finite_losses(dtype: str) -> None:
    sure = gx.asarray([1.0, 0.0], dtype)
    assert gx.losses.BinaryCrossentropy()([1.0, 0.0], sure).item() < 1e-6
    assert gx.losses.BinaryCrossentropy()([0.0, 1.0], sure).item() == pytest.approx(16, rel=0.05)
    wrong = gx.losses.SparseCategoricalCrossentropy()([1], gx.asarray([[1.0, 0.0]], dtype))
    assert wrong.item() == pytest.approx(16.118, rel=1e-3)
