"""gx.arrays: what is refused, in compiled functions too, and gradients; the values are held by tests/compat."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base.errors import ConcretizationError, InvalidArgumentError

a = gx.arrays


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: a.uniform([2], dtype="int32"), "uniform: integers need maxval"),
        (lambda: a.split([1.0, 2.0], [1, 2]), r"split: parts of sizes \[1, 2\] do not make the 2 of axis 0"),
        (lambda: a.ensure_shape([1.0], [None, 2]), r"ensure_shape: the shape is \(1,\), expected \(None, 2\)"),
        (lambda: a.convolution([[[[1.0]]]], [[[[1.0]]]], [1, 1, 1]), r"strides are \[1, 1, 1\], expected 1, 2 or 4"),
        (lambda: a.space_to_depth([[[[1.0]]]], 1, "NCHW"), "space_to_depth: data_format is 'NCHW', but here only"),
        (
            lambda: a.convolution_transpose([[[1.0]]], [[[1.0]]], [1, 9, 1], 2),
            r"output_shape is \(1, 9, 1\), but this convolution gives \(1, 2, 1\); pad or cut its result",
        ),
    ],
)
def test_what_does_not_fit_is_refused(call: Any, message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=f"(?s){message}.*test_arrays"):
        call()


@pytest.mark.parametrize(
    ("function", "remedy"),
    [
        (lambda x: a.segment_sum(x, x), "segment_sum: .* pass num_segments"),
        (lambda x: a.segment_mean(x, x), "segment_mean: .* pass num_segments"),
        (lambda x: a.confusion_matrix(x, x), "confusion_matrix: .* pass num_classes"),
        (lambda x: a.boolean_mask(x, x > 0), r"boolean_mask: .* use gx\.where\(mask, tensor, 0\)"),
        (lambda x: a.dynamic_partition(x, x, 2), r"dynamic_partition: .* use gx\.where"),
        (lambda x: a.unique(x), r"unique: .* use gx\.unique\(x, size=n\)"),
        (lambda x: a.sequence_mask(x), "sequence_mask: .* pass maxlen"),
    ],
)
def test_shapes_that_depend_on_values_are_refused_with_a_remedy(function: Any, remedy: str) -> None:
    function(gx.asarray([0, 1, 1]))
    with pytest.raises(ConcretizationError, match=f"(?s){remedy}.*test_arrays"):
        gx.function(function)(gx.asarray([0, 1, 1]))


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: gx.sum(a.divide_no_nan(1.0, x)), [0.0, -0.25]),
        (lambda x: gx.sum(a.xdivy(x, x)), [0.0, 0.0]),
        (lambda x: gx.sum(a.clip_by_norm(x, 1.0)), [0.5, 0.0]),
        (lambda x: a.global_norm([x]), [0.0, 1.0]),
        (lambda x: gx.sum(a.segment_mean(x * x, [0, 0], 1)), [0.0, 2.0]),
        (lambda x: gx.sum(a.cumulative("sum", x, exclusive=True, reverse=True)), [0.0, 1.0]),
        (lambda x: gx.sum(a.gather(x, [1, 1])), [0.0, 2.0]),
        (lambda x: gx.sum(a.normalize(x)[0]), [0.5, 0.0]),
    ],
)
def test_gradients_are_finite_and_the_same_compiled(function: Any, expected: list[float]) -> None:
    slope = gx.grad(function)
    x = gx.asarray([0.0, 2.0])
    for run in (slope, gx.function(slope)):
        np.testing.assert_allclose(run(x).numpy(), expected, atol=1e-6)


def test_what_is_known_in_a_trace_are_numbers() -> None:
    @gx.function
    def f(x: Any, n: Any) -> Any:
        rows = a.shape(x)[0]
        total = gx.zeros(rows)
        for i in a.range(n):
            total = total + i
        return gx.reshape(total, (rows, 1))

    assert f(gx.ones((2, 3)), gx.asarray(4)).tolist() == [[6.0], [6.0]]
    assert a.saturate_cast([3e9, -3e9], "int32").tolist() == [2147483647, -2147483648]
    assert a.mean([-7, -8]).item() == -7
    assert a.stateless([1, 2]).uniform(()).item() == a.stateless([1, 2]).uniform(()).item()
    assert a.segment_min([1.0, 5.0], [0, 2], 3, empty=7.0).tolist() == [1.0, 7.0, 5.0]
