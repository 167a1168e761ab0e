"""Sequential."""

from __future__ import annotations

from typing import Any

import pytest

import graphc as gx
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError


def test_layers_and_functions_run_in_order() -> None:
    model = gx.layers.Sequential([gx.layers.Dense(2, kernel_initializer="ones"), gx.negative, lambda x: x + 1.0])
    assert model([[1.0, 2.0]]).tolist() == [[-2.0, -2.0]]
    assert gx.layers.Sequential([])([1.0]) == [1.0]


def test_the_list_may_grow() -> None:
    model = gx.layers.Sequential([gx.layers.Dense(2, in_features=1)])
    model.layers.append(gx.layers.Dense(3, in_features=2))
    assert model(gx.ones((4, 1))).shape == (4, 3)
    assert [variable.shape for variable in model.trainable_variables] == [(1, 2), (2,), (2, 3), (3,)]


def test_layers_may_be_added_and_taken_away() -> None:
    model = gx.layers.Sequential()
    model.add(gx.layers.Dense(2))
    model.add(gx.layers.Dense(3))
    assert model(gx.ones((4, 1))).shape == (4, 3)
    assert model.trainable_weights == model.weights == model.trainable_variables
    removed = model.pop()
    assert removed(gx.ones((1, 2))).shape == (1, 3)
    assert len(model.weights) == 2
    with pytest.raises(InvalidArgumentError, match=r"(?s)sequential: pop\(\) of a Sequential without.*test_containers"):
        gx.layers.Sequential().pop()


@pytest.mark.parametrize("wrong", [None, "relu", 3, gx.layers.Dense])
def test_what_cannot_be_called_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidTypeError, match=r"(?s)Sequential: layers\[1\] must be a layer.*test_containers.py"):
        gx.layers.Sequential([gx.nn.relu, wrong])


@pytest.mark.parametrize("name", ["compile", "fit", "evaluate", "predict"])
def test_methods_of_keras_models_name_what_is_there(name: str) -> None:
    model = gx.layers.Sequential([])
    assert not hasattr(model, name)
    with pytest.raises(AttributeError, match=rf"no attribute '{name}'; gx.train.fit\(step, dataset\) trains"):
        getattr(model, name)
