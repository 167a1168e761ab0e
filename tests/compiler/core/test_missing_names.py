"""Attributes that tensors do not have: what to write for the names of other libraries."""

from __future__ import annotations

import re

import pytest

import graphc as gx
from graphc.compiler.base.errors import ConcretizationError, InvalidArgumentError, InvalidTypeError


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("unsqueeze", "'Tensor' object has no attribute 'unsqueeze'; use gx.expand_dims"),
        ("backward", "use gx.grad or gx.GradientTape"),
        ("add_", "functions return new tensors: x = gx.add(x, ...)"),
        ("tanh", "use gx.tanh(x)"),
        ("nothing", "'Tensor' object has no attribute 'nothing'"),
    ],
)
def test_a_method_of_another_library_is_told_by_graphcs_name(name: str, message: str) -> None:
    with pytest.raises(AttributeError, match=re.escape(message) + "$"):
        getattr(gx.ones(2), name)
    compiled = gx.function(lambda x: gx.ones(2) if hasattr(x, name) else x)
    assert compiled(gx.zeros(2)).tolist() == [0, 0]


def test_mistakes_with_names_of_other_libraries_say_what_to_write() -> None:
    with pytest.raises(InvalidTypeError, match="no option 'lr'; it is learning_rate here; there are learning_rate, b1"):
        gx.optim.Adam(lr=0.1)  # pyright: ignore
    with pytest.raises(InvalidTypeError, match=r"(?s)it looks like a shape; .* no key.*line"):
        gx.random.normal(gx.ones(2), (3,))  # pyright: ignore
    with pytest.raises(ConcretizationError, match="as a size or another static argument"):
        gx.function(lambda n: gx.zeros(int(n)))(gx.asarray(3))


def test_a_timeline_is_no_page() -> None:
    with gx.profile() as timeline:
        gx.ones(2).wait()
    with pytest.raises(InvalidArgumentError, match=r"its name must end in \.json, got 't\.html'; graphc timeline"):
        timeline.save("t.html")


def test_an_attribute_error_inside_a_property_is_no_missing_name() -> None:
    class Scaled(gx.Variable):
        @property
        def scale(self) -> float:
            raise AttributeError("the scale is not loaded")

    with pytest.raises(AttributeError, match="the scale is not loaded"):
        _ = Scaled(1.0).scale
