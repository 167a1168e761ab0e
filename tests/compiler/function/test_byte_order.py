"""NumPy arrays of the other byte order, such as those of files, are tensors of the same numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphc as gx

_USES: dict[str, Callable[[Any], Any]] = {
    "asarray": gx.asarray,
    "eager op": lambda a: gx.sum(a) + a[0] * gx.asarray(a),
    "Variable": lambda a: gx.Variable(a) + 1,
    "argument": lambda a: [gx.function(lambda x: x * 2)(a) for _ in range(2)][1],
    "argument in a dict": lambda a: gx.function(lambda d: d["a"] * 2)({"a": a}),
    "declared argument": lambda a: gx.function(
        lambda x: x * 2, input_signature=[gx.TensorSpec([None], gx.asarray(a).dtype)]
    )(a),
    "from outside": lambda a: gx.function(lambda x: x * a)(gx.asarray(2.0)),
    "in a branch": lambda a: gx.function(lambda x: x * a if x > 0 else x * a * 2)(gx.asarray(2.0)),
}


@pytest.mark.parametrize("use", _USES.values(), ids=_USES)
@pytest.mark.parametrize("dtype", [">f4", ">i8", ">c8", ">u2"])
def test_the_other_byte_order(use: Callable[[Any], Any], dtype: str) -> None:
    given = np.array([1, 2], dtype)
    found, expected = use(given), use(given.astype(given.dtype.newbyteorder("=")))
    assert found.dtype == expected.dtype
    assert found.tolist() == expected.tolist()
