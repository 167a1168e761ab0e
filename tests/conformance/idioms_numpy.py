"""NumPy's functions on tensors go to the op of the same name."""

from __future__ import annotations

from typing import Any

import numpy as np

import graphc as gx
from tests.conformance.harness import f, i, program

NUMPY = "NumPy functions on tensors"
NONE = "a NumPy function that graphc lacks"
VECTORS = [(f(1, -2, 3),), (f(0, 0.5, -1),)]


@program("numpy/elementwise", inputs=VECTORS, construct=NUMPY, gradient=True)
def elementwise(x: Any) -> Any:
    return np.sin(x) + np.exp(-np.abs(x)), np.add(x, 1), np.multiply(2.0, x), np.tanh(x) ** 2


@program("numpy/where and maximum", inputs=VECTORS, construct=NUMPY, gradient=True)
def where(x: Any) -> Any:
    return np.where(x > 0, x, 0.1 * x), np.maximum(x, 0), np.clip(x, -1, 1)


@program("numpy/reductions", inputs=[(f([[1, 2], [3, 4]]),), (f([[0, -1], [5, 5]]),)], construct=NUMPY, gradient=True)
def reductions(x: Any) -> Any:
    return np.sum(x), np.mean(x, axis=0), np.max(x, axis=1), np.prod(x, axis=-1, keepdims=True), np.std(x)


@program("numpy/concatenate and stack", inputs=VECTORS, construct=NUMPY, gradient=True)
def joining(x: Any) -> Any:
    return np.concatenate([x, x * 2]), np.stack([x, -x], axis=1), np.reshape(np.stack([x, x]), (3, 2))


@program(
    "numpy/products",
    inputs=[(f([[1, 2], [3, 4]]), f(1, -1)), (f([[0, 1], [1, 0]]), f(2, 3))],
    construct=NUMPY,
    gradient=True,
)
def products(a: Any, x: Any) -> Any:
    return np.dot(a, x), np.matmul(a, a), np.outer(x, x), np.transpose(a) @ x, np.einsum("ij,j->i", a, x)


@program("numpy/arrays mixed in", inputs=VECTORS, construct=NUMPY, gradient=True)
def mixed(x: Any) -> Any:
    weights = np.array([1.0, 2.0, 3.0], dtype=np.float32)
    y = weights * x + x * np.float32(0.5)
    y = np.ones(3, dtype=np.float32) - y
    return y @ weights, np.pi * x


@program("numpy/in a branch and a loop", inputs=[(f(4.0),), (f(-4.0),)], construct=NUMPY, gradient=True)
def in_control_flow(x: Any) -> Any:
    y = x
    for k in range(5):
        y = np.cos(y) * np.float32(k)
        if np.abs(y) > 1:
            y = np.sqrt(np.abs(y))
    return np.square(y)


@program("numpy/comparisons", inputs=VECTORS, construct=NUMPY)
def comparisons(x: Any) -> Any:
    return np.any(x > 2), np.all(np.isfinite(x)), np.argmax(x), np.logical_and(x > 0, x < 2), np.sign(x)


@program("numpy/integers keep their dtype", inputs=[(i(7, -7),), (i(1, 0),)], construct=NUMPY)
def integers(n: Any) -> Any:
    return np.floor_divide(n, 2), np.remainder(n, 3), np.power(n, 2), np.sum(n), np.true_divide(n, 2)


@program("numpy/zeros_like and friends", inputs=VECTORS, construct=NUMPY)
def like(x: Any) -> Any:
    return np.zeros_like(x), np.ones_like(x) * x, np.full_like(x, 3.0)


@program("numpy/shape functions", inputs=[(f([[1, 2], [3, 4]]),)], construct=NUMPY)
def shapes(x: Any) -> Any:
    return np.shape(x), np.ndim(x), np.size(x), np.expand_dims(x, 0), np.squeeze(x[:1])


@program("numpy/cumsum, sort, diff", inputs=VECTORS, construct=NUMPY)
def sequences(x: Any) -> Any:
    return np.cumsum(x), np.sort(x), np.diff(x), np.flip(x)


@program("numpy/scalar that stays NumPy", inputs=[(f(1.0), 3), (f(2.0), 5)], construct="NumPy on Python values")
def static_numpy(x: Any, n: int) -> Any:
    grid = np.linspace(0.0, 1.0, n)
    chosen = grid[grid > 0.3]
    return x * float(chosen.sum()), len(chosen), int(np.argmax(grid))


@program("numpy/axis that is missing", inputs=[(f(1, 2),)], construct=NUMPY, raises=ValueError)
def wrong_axis(x: Any) -> Any:
    return np.sum(x, axis=3)


@program(
    "numpy/unique",
    inputs=VECTORS,
    construct="a shape that depends on a tensor's value",
    refused=(gx.errors.ConcretizationError, r"unique: the shape of the result depends on the values of x.*size="),
)
def unique(x: Any) -> Any:
    return np.unique(x)


@program(
    "numpy/place",
    inputs=VECTORS,
    construct=NONE,
    refused=(gx.errors.InvalidTypeError, r"numpy\.place changes an array in place"),
    raises=gx.errors.InvalidTypeError,
)
def place(x: Any) -> Any:
    np.place(x, x > 1, [0.0])
    return x


@program(
    "numpy/np.array of a tensor",
    inputs=VECTORS,
    construct="converting a tensor to a NumPy array",
    refused=(gx.errors.GraphcError, r"(?i)array"),
)
def to_array(x: Any) -> Any:
    return np.array(x) * 2
