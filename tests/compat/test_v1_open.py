"""TensorFlow 1's functions of placeholders that leave all sizes open: what they give is that of known sizes."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import graphc.compat.v1 as tf
from graphc.compat.tensorflow1 import NAMES
from graphc.compat.tensorflow1.tables import OPERATIONS
from graphc.compiler.base import nest

# Lists for these parameters are no tensors.
STATIC = {
    "axes", "axis", "batch_shape", "begin", "branch_fns", "branch_index", "data_format", "dilations", "dim", "dims",
    "flat_sequence", "ksize", "loop_vars", "multiples", "num_or_size_splits", "output_shape", "paddings", "perm",
    "pred", "rate", "reduction_indices", "repeats", "seed", "shape", "shape_x", "shape_y", "size", "squeeze_dims",
    "strides", "structure", "value_range", "window_shape",
}  # fmt: skip
# A list of arrays, which is no array, or as many results as a size says.
NOT_ARRAYS = {"constant", "concat", "shape_n", "identity_n", "unstack"}
DTYPES = {"f": np.float32, "i": np.int32, "b": np.bool_, "c": np.complex64}


def is_array(value: Any) -> bool:
    """Whether a value is a nested list of numbers, all rows of one length."""
    if not isinstance(value, list) or not value:
        return False
    try:
        return np.asarray(value).dtype.kind in DTYPES
    except ValueError:
        return False


def results(name: str, example: str, *, sizes_open: bool) -> list[Any] | None:
    """What a row's example gives, with placeholders for its arrays; None if it has none."""
    graph, feeds = tf.Graph(), dict[Any, Any]()
    with graph.as_default():
        args, kwargs = eval(f"(lambda *args, **kwargs: (args, kwargs))({example})", {"tf": tf})
        bound = inspect.signature(NAMES[name]).bind(*args, **kwargs)
        for parameter, value in list(bound.arguments.items()):
            if parameter in STATIC or not is_array(value):
                continue
            array = np.asarray(value)
            array = array.astype(DTYPES[array.dtype.kind])
            shape = [None] * array.ndim if sizes_open else array.shape
            bound.arguments[parameter] = tf.placeholder(array.dtype, shape=shape)
            feeds[bound.arguments[parameter]] = array
        if not feeds:
            return None
        made = NAMES[name](*bound.args, **bound.kwargs)
        leaves = [leaf for leaf in nest.flatten(made)[0] if isinstance(leaf, tf.Tensor)]
    with tf.Session(graph=graph) as session:
        return session.run(leaves, feeds)


@pytest.mark.drawn(10)
@pytest.mark.parametrize("row", OPERATIONS, ids=lambda row: row.names[0])
def test_open_sizes_give_what_known_ones_do(row: Any) -> None:
    name = row.names[0]
    if name in NOT_ARRAYS:
        pytest.skip("its arrays are a list")
    try:
        wanted = results(name, row.example, sizes_open=False)
    except Exception as error:
        pytest.skip(f"it does not take a placeholder: {error}")
    found = results(name, row.example, sizes_open=True)
    if wanted is None or found is None:
        return
    assert len(found) == len(wanted)
    for one, right in zip(found, wanted, strict=True):
        assert np.shape(one) == np.shape(right)
        if np.asarray(right).dtype.kind in "biufc" and "random" not in name and "multinomial" not in name:
            np.testing.assert_allclose(one, right, rtol=1e-5, atol=1e-6)
