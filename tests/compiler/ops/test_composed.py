"""The functions that are made of others: choices, blocks, histograms, facts of a shape."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError

X = np.asarray([-2.0, -0.6, 0.1, 1.2, 3.0], np.float32)
POINTS = np.asarray([[0.0, 1.0], [0.2, 0.9], [2.0, 3.0], [1.0, 1.0]], np.float32)


def close(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-5)


def test_select_and_piecewise() -> None:
    conditions = [X < -1, X > 0.5, X > 2]
    close(gx.select(conditions, [X, X * 2, X * 3], 9.0), np.select(conditions, [X, X * 2, X * 3], 9.0))
    functions = [np.abs, lambda x: x * 2, 7.0]
    ours = [gx.abs, lambda x: x * 2, 7.0]
    close(gx.piecewise(X, conditions, ours), np.piecewise(X, conditions, functions))
    close(gx.piecewise(X, conditions[:2], ours), np.piecewise(X, conditions[:2], functions))
    compiled = gx.function(lambda x: gx.select([x < 0], [-x], x + 1))
    close(compiled(gx.asarray(X)), np.where(X < 0, -X, X + 1))
    with pytest.raises(InvalidArgumentError, match="select: 2 conditions and 1 choices; pass one choice for each"):
        gx.select(conditions[:2], [X])
    with pytest.raises(InvalidArgumentError, match="piecewise: 1 conditions and 3 functions"):
        gx.piecewise(X, conditions[:1], ours)


def test_compress_extract_and_trim() -> None:
    matrix = np.arange(6).reshape(2, 3)
    assert gx.compress([False, True], matrix, axis=0).tolist() == [[3, 4, 5]]
    assert gx.extract(matrix % 2 == 0, matrix).tolist() == [0, 2, 4]
    for trim in ("fb", "f", "b"):
        close(gx.trim_zeros(np.asarray([0, 0, 1, 0, 2, 0]), trim), np.trim_zeros(np.asarray([0, 0, 1, 0, 2, 0]), trim))
    assert gx.trim_zeros(np.zeros(3)).shape == (0,)


def test_building() -> None:
    a, b = np.ones((2, 2), np.float32), np.zeros((2, 1), np.float32)
    close(gx.block([[a, b], [b.T, 5.0]]), np.block([[a, b], [b.T, 5.0]]))
    close(gx.block([1.0, a[0]]), np.block([1.0, a[0]]))
    cube = np.arange(24.0, dtype=np.float32).reshape(2, 3, 4)
    for function in (lambda row: row.sum(), lambda row: row[:, None] * row):
        close(gx.apply_along_axis(function, 1, cube), np.apply_along_axis(function, 1, cube))
    close(gx.apply_over_axes(gx.sum, cube, (0, 2)), np.apply_over_axes(np.sum, cube, (0, 2)))
    close(gx.fromfunction(lambda i, j: i + 2 * j, (2, 3)), np.fromfunction(lambda i, j: i + 2 * j, (2, 3)))
    for found, expected in zip(gx.mask_indices(3, gx.tril, -1), np.mask_indices(3, np.tril, -1), strict=True):
        close(found, expected)
    x = gx.ones(2)
    assert gx.array(x) is not x
    assert gx.array(x, copy=False) is x
    assert gx.array(3, dtype="int8", ndmin=2).type == gx.ones((1, 1), "int8").type
    path, report = gx.einsum_path("ij,jk,k->i", np.ones((2, 3)), np.ones((3, 2)), x)
    assert path[0] == "einsum_path"
    assert "Complete contraction" in report


@pytest.mark.parametrize("options", [{}, {"bins": 3}, {"bins": [0.0, 0.5, 3.0]}, {"range": (0, 2)}, {"density": True}])
def test_histogram(options: dict[str, Any]) -> None:
    for found, expected in zip(gx.histogram(X, **options), np.histogram(X, **options), strict=True):
        close(found, expected)


def test_histograms_of_points() -> None:
    weights = np.asarray([1.0, 2.0, 3.0, 4.0], np.float32)
    found = gx.histogram2d(POINTS[:, 0], POINTS[:, 1], bins=(2, 3), weights=weights)
    for ours, expected in zip(found, np.histogram2d(*POINTS.T, bins=(2, 3), weights=weights), strict=True):
        close(ours, expected)
    counts, edges = gx.histogramdd(POINTS, bins=2, range=[(0, 2), (0, 3)])
    expected, right = np.histogramdd(POINTS, bins=2, range=[(0, 2), (0, 3)])
    close(counts, expected)
    close(edges, right)
    v = gx.Variable(weights)
    with gx.GradientTape() as tape:
        y = gx.histogram(POINTS[:, 0], bins=2, weights=v)[0][0]
    assert tape.gradient(y, v).tolist() == [1, 1, 0, 0]


def test_facts() -> None:
    compiled = gx.function(lambda x: (gx.shape(x)[0] + gx.ndim(x) + gx.size(x), x))
    assert compiled(gx.ones((2, 3)))[0] == 10
    assert (gx.shape(3), gx.ndim([[1]]), gx.size(np.zeros((2, 3)), -1), gx.size(1)) == ((), 2, 3, 1)
    assert (gx.iscomplexobj(1j), gx.isrealobj(gx.ones(1)), gx.isscalar(np.float32(1)), gx.isscalar([1])) == (
        *(True, True, True),
        False,
    )
    assert gx.broadcast_shapes((2, 1), 3, (1,)) == (2, 3)
    with pytest.raises(InvalidArgumentError, match=r"broadcast_shapes: \(2,\), 3 cannot be broadcast together"):
        gx.broadcast_shapes((2,), 3)
    with pytest.raises(InvalidArgumentError, match=r"size: axis 2 is out of range for shape \(2,\)"):
        gx.size([1, 2], 2)
    with pytest.raises(InvalidTypeError, match="shape: expected a tensor"):
        gx.shape(object())  # pyright: ignore[reportArgumentType]


def test_image_axes() -> None:
    with pytest.raises(InvalidArgumentError, match="x has 3 axes, expected 4: batch, channels and 2 spatial"):
        gx.nn.conv2d(gx.ones((4, 4, 1)), gx.ones((2, 2, 1, 1)))
    with pytest.raises(InvalidArgumentError, match="data_format is 'NHWX', expected the letters of 'NHWC'"):
        gx.nn.max_pool(gx.ones((1, 4, 4, 1)), 2, data_format="NHWX")
    with pytest.raises(InvalidArgumentError, match=r"strides are \(1, 1, 1\), expected one or 2"):
        gx.nn.conv2d(gx.ones((1, 4, 4, 1)), gx.ones((2, 2, 1, 1)), (1, 1, 1))
    with pytest.raises(InvalidArgumentError, match="3 channels cannot be divided into 2 equal groups"):
        gx.nn.group_norm(gx.ones((1, 2, 2, 3)), 2)


@pytest.mark.parametrize("how", [lambda call: call, gx.function])
def test_the_truth_of_complex_numbers_is_not_that_of_their_real_parts(how: Any) -> None:
    values = np.asarray([[3.25j, 1.0], [2.0, -1j], [0.0, 0.0]], np.complex64)
    for name in ("all", "any"):
        found = how(lambda x, name=name: getattr(gx, name)(x, axis=1))(gx.asarray(values))
        assert found.tolist() == getattr(np, name)(values, axis=1).tolist()


@pytest.mark.parametrize("name", ["cumsum", "cumprod", "nancumsum", "nancumprod"])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "bool", "int32", "float32"])
def test_running_totals_of_small_ints_are_as_wide_as_totals(name: str, dtype: str) -> None:
    x = np.asarray([[100, 100], [7, 1]], dtype)
    for axis in (None, 1):
        for how in (lambda f: f, gx.function):
            running = how(lambda x, axis=axis: getattr(gx, name)(x, axis))(gx.asarray(x))
            assert running.dtype == gx.sum(gx.asarray(x)).dtype
            assert running.tolist() == getattr(np, name)(x, axis).tolist()
    assert getattr(gx, name)(gx.asarray(x), dtype="int8").dtype == "int8"


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("name", ["argmax", "argmin", "nanargmax", "nanargmin"])
def test_the_place_of_an_extremum_of_complex_numbers_is_refused(name: str, compiled: bool) -> None:
    def place(x: Any) -> Any:
        return getattr(gx, name)(x)

    with pytest.raises(InvalidTypeError, match=r"complex numbers have no order; take that of gx.abs") as refused:
        (gx.function(place) if compiled else place)(gx.asarray([1 + 2j, 3]))
    assert "in place" in str(refused.value)
