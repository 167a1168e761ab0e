"""Initial values: their distributions, the seeds that they draw from, what is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base.errors import InvalidArgumentError
from graphc.graphs import session


def drawn(initializer: Any, shape: tuple[int, ...], dtype: str = "float32", seed: int | None = 1) -> Any:
    with gx.Graph().as_default() as graph:
        graph.seed = seed
        v = gx.get_variable("v", shape, dtype=dtype, initializer=initializer)
        with gx.Session(graph=graph) as run:
            run.run(v.initializer)
            return run.run(v)


# The least, the greatest and the standard deviation of what each draws for the shape (40, 60), by its definition.
FAN_IN, FAN_AVG = 1 / 40, 1 / 50
CASES: dict[str, tuple[Any, float, float, float]] = {
    "uniform": (session.random_uniform_initializer(-2.0, 4.0), -2.0, 4.0, 6.0 / math.sqrt(12)),
    "normal": (session.random_normal_initializer(1.0, 0.5), -2.0, 4.0, 0.5),
    "truncated": (session.truncated_normal_initializer(1.0, 0.5), 0.0, 2.0, 0.5 * 0.8796),
    "scaling": (session.variance_scaling_initializer(), -0.36, 0.36, math.sqrt(FAN_IN)),
    "scaling uniform": (
        session.variance_scaling_initializer(2.0, "fan_out", "uniform"), -0.3163, 0.3163, math.sqrt(2 / 60)
    ),
    "scaling normal": (
        session.variance_scaling_initializer(distribution="untruncated_normal"), -1.0, 1.0, math.sqrt(FAN_IN)
    ),
    "glorot uniform": (session.glorot_uniform_initializer(), -0.2450, 0.2450, math.sqrt(FAN_AVG)),
    "glorot normal": (session.glorot_normal_initializer(), -0.33, 0.33, math.sqrt(FAN_AVG)),
    "he normal": (session.he_normal(), -0.51, 0.51, math.sqrt(2 * FAN_IN)),
    "he uniform": (session.he_uniform(), -0.3874, 0.3874, math.sqrt(2 * FAN_IN)),
    "lecun normal": (session.lecun_normal(), -0.36, 0.36, math.sqrt(FAN_IN)),
    "lecun uniform": (session.lecun_uniform(), -0.2739, 0.2739, math.sqrt(FAN_IN)),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_distributions(name: str) -> None:
    initializer, least, greatest, deviation = CASES[name]
    values = drawn(initializer, (40, 60))
    assert least <= values.min()
    assert values.max() <= greatest
    assert abs(values.std() - deviation) < 0.06 * deviation
    assert abs(values.mean() - (least + greatest) / 2) < 0.1 * deviation


def test_values_that_are_given() -> None:
    assert drawn(session.zeros_initializer(), (2,)).tolist() == [0.0, 0.0]
    assert drawn(session.ones_initializer, (2,), "int32").tolist() == [1, 1]
    assert drawn(session.constant_initializer([1, 2]), (2, 1)).tolist() == [[1.0], [2.0]]


def test_integers_are_drawn_too() -> None:
    values = drawn(session.random_uniform_initializer(3, 9), (100,), "int32")
    assert values.dtype == np.int32
    assert set(values.tolist()) == set(range(3, 9))


@pytest.mark.parametrize("shape", [(3, 5), (5, 3), (2, 2, 3)])
def test_orthogonal(shape: tuple[int, ...]) -> None:
    matrix = drawn(session.orthogonal_initializer(2.0), shape).reshape(-1, shape[-1]) / 2.0
    small = matrix @ matrix.T if matrix.shape[0] <= matrix.shape[1] else matrix.T @ matrix
    np.testing.assert_allclose(small, np.eye(len(small)), atol=1e-5)


def test_seeds() -> None:
    def pair(seed: int | None, graph_seed: int | None) -> Any:
        return drawn(session.random_normal_initializer(seed=seed), (4,), seed=graph_seed).tolist()

    assert pair(None, 1) == pair(None, 1)
    assert pair(5, None) == pair(5, None)
    assert pair(5, 1) == pair(5, 1)
    assert len({tuple(pair(*seeds)) for seeds in ((None, 1), (None, 2), (5, 1), (5, 2), (None, None))}) == 5


def test_what_is_refused() -> None:
    with gx.Graph().as_default():
        with pytest.raises(InvalidArgumentError, match="3 values of shape"):
            gx.get_variable("a", [2], initializer=session.constant_initializer([1, 2, 3]))
        with pytest.raises(InvalidArgumentError, match="2 values of shape"):
            gx.get_variable("b", [2, 1], initializer=session.constant_initializer([1, 2], verify_shape=True))
        with pytest.raises(InvalidArgumentError, match="two axes or more"):
            gx.get_variable("c", [2], initializer=session.orthogonal_initializer())
        with pytest.raises(InvalidArgumentError, match="expected a positive scale"):
            session.variance_scaling_initializer(mode="fan")
