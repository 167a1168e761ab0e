"""PerReplica: what it refuses."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.training.distribute import DataParallel


@pytest.mark.parametrize(
    "use",
    [
        lambda x: x * 2,
        lambda x: 2 - x,
        lambda x: x + x,
        lambda x: gx.ones(()) * x,
        lambda x: np.ones(3) + x,
        lambda x: x < 1,
        lambda x: -x,
        float,
        operator.truth,
        gx.exp,
        gx.asarray,
    ],
)
def test_it_cannot_be_computed_with(use: Callable[[Any], Any]) -> None:
    value = DataParallel().run(lambda x: gx.mean(x), np.ones(8, np.float32))
    message = r"a PerReplica holds one tensor for each replica.*reduce\('mean', x\) or x.stack\(\).*x.values"
    with pytest.raises(TypeError, match=message) as caught:
        use(value)
    assert isinstance(caught.value, gx.errors.InvalidTypeError)
    assert "test_replica.py" in str(caught.value)
