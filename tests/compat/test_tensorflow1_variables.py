"""Variables of TensorFlow 1's programs: the dtypes that TensorFlow 2.21 gives them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphc.compat.v1 as tf
from graphc.graphs import session

DTYPES: list[tuple[Any, str]] = [
    (3, "int32"),
    (3.0, "float32"),
    (True, "bool"),
    ([1, 2], "int32"),
    ([[1, 2], [3, 4.5]], "float32"),
    (np.ones(2), "float64"),
    (np.arange(2), "int64"),
]


@pytest.mark.parametrize(("value", "dtype"), DTYPES)
def test_dtypes(value: Any, dtype: str) -> None:
    with tf.Graph().as_default():
        variable = tf.Variable(value)
        assert variable.dtype.name == dtype
        with tf.Session() as run:
            run.run(variable.initializer)
            assert run.run(variable).dtype == dtype


def test_the_global_step_has_64_bits() -> None:
    with tf.Graph().as_default():
        step = session.get_or_create_global_step()
        rate = session.exponential_decay(0.1, step, 10, 0.5)
        w = tf.Variable([1.0, 2.0])
        train = session.AdamOptimizer(rate).minimize(tf.reduce_sum(w * w), step)
        assert [step.dtype.name, rate.dtype.name] == ["int64", "float32"]
        with tf.Session() as run:
            run.run(session.global_variables_initializer())
            run.run(train)
            found = run.run([step, w])
    assert found[0] == 1
    np.testing.assert_allclose(found[1], [0.9, 1.9], rtol=1e-5)
