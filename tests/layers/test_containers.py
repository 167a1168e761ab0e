"""Sequential."""

from __future__ import annotations

from typing import Any

import pytest

import graphc as gx
from graphc.base.errors import InvalidTypeError


def test_layers_and_functions_run_in_order() -> None:
    model = gx.layers.Sequential([gx.layers.Dense(2, kernel_init="ones"), gx.negative, lambda x: x + 1.0])
    assert model([[1.0, 2.0]]).tolist() == [[-2.0, -2.0]]
    assert gx.layers.Sequential([])([1.0]) == [1.0]


def test_the_list_may_grow() -> None:
    model = gx.layers.Sequential([gx.layers.Dense(2, in_features=1)])
    model.layers.append(gx.layers.Dense(3, in_features=2))
    assert model(gx.ones((4, 1))).shape == (4, 3)
    assert [variable.shape for variable in model.trainable_variables] == [(1, 2), (2,), (2, 3), (3,)]


@pytest.mark.parametrize("wrong", [None, "relu", 3, gx.layers.Dense])
def test_what_cannot_be_called_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidTypeError, match=r"(?s)Sequential: layers\[1\] must be a layer.*test_containers.py"):
        gx.layers.Sequential([gx.nn.relu, wrong])
