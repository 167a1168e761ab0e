"""Module: names, Variables and submodules in TensorFlow's order."""

from __future__ import annotations

from typing import Any

import pytest

import graphc as gx
from graphc.compiler.base.errors import InvalidArgumentError


class Inner(gx.layers.Module):
    def __init__(self, name: str | None = None) -> None:
        super().__init__(name)
        self.w = gx.Variable(2.0)
        self.b = gx.Variable(1.0, trainable=False)


class MyOuter(gx.layers.Module):
    def __init__(self) -> None:
        super().__init__()
        self.z = Inner()
        self.a = [Inner("x"), {"k": Inner("y")}, self.z]
        self.v = gx.Variable(0.0)

    @gx.layers.Module.with_name_scope
    def make(self) -> gx.Variable:
        return gx.Variable(3.0, name="made")

    @gx.function
    def __call__(self, x: Any) -> Any:
        for module in self.a[:1]:
            x = x * module.w
        return x + self.v


def test_variables_and_submodules_are_found_in_order() -> None:
    module = MyOuter()
    x, y = module.a[0], module.a[1]["k"]
    assert (module.name, module.name_scope.name, x.name) == ("my_outer", "my_outer/", "x")
    assert module.submodules == (x, y, module.z)
    expected = [module.v, x.b, x.w, y.b, y.w, module.z.b, module.z.w]
    assert [variable.ref() for variable in module.variables] == [variable.ref() for variable in expected]
    assert len(module.trainable_variables) == 4
    assert len(module.non_trainable_variables) == 3
    assert module.make().name.startswith("my_outer/made")
    with gx.name_scope("top"):
        assert Inner().name_scope.name == "top/inner/"


def test_compiled_methods_see_the_variables() -> None:
    module = MyOuter()
    assert module(gx.asarray(3.0)).item() == 6.0
    module.v.assign(1.0)
    assert module(gx.asarray(3.0)).item() == 7.0


def test_layers_are_modules() -> None:
    layer = gx.layers.Dense(2, in_features=3)
    holder = gx.layers.Module("holder")
    holder.layer = layer  # type: ignore[attr-defined]
    assert holder.submodules == (layer,)
    assert len(holder.trainable_variables) == 2
    assert layer.name_scope.name == "dense/"


@pytest.mark.parametrize("name", ["a b", "", 3])
def test_names_are_identifiers(name: Any) -> None:
    with pytest.raises(InvalidArgumentError, match=r"Module: name must be a Python identifier, got"):
        Inner(name)
