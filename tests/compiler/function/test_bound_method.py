"""Compiled methods with their instance, compiled again."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, cast

import pytest

import graphc as gx

ONES = gx.ones(2)


class Scale:
    def __init__(self, factor: Any) -> None:
        self.factor = factor

    @gx.function
    def scaled(self, x: Any, by: Any = 1.0) -> Any:
        return x * self.factor * by

    __call__ = scaled


WAYS: dict[str, Callable[[Scale], Any]] = {
    "method": lambda scale: scale.scaled,
    "__call__": lambda scale: scale.__call__,
    "partial": lambda scale: functools.partial(scale.scaled),
    "partial of all": lambda scale: functools.partial(scale.scaled, ONES),
    "partial by name": lambda scale: functools.partial(scale.__call__, by=1.0),
    "object": lambda scale: scale,
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("autograph", [True, False])
def test_a_compiled_method_is_compiled_with_its_object(way: str, autograph: bool) -> None:
    scale = Scale(gx.Variable(3.0))
    function: Any = gx.function(WAYS[way](scale), autograph=autograph)
    args: Any = () if way == "partial of all" else (ONES,)
    assert [function(*args).tolist() for _ in range(2)] == [[3.0, 3.0]] * 2
    scale.factor.assign(4.0)
    assert function(*args).tolist() == [4.0, 4.0]
    assert function.num_traces == 1
    if autograph:
        scale.factor = gx.asarray(5.0)
        assert function(*args).tolist() == [5.0, 5.0]


def test_a_compiled_method_has_the_signature_of_a_bound_one() -> None:
    scale: Any = Scale(2.0)
    method = scale.scaled
    assert list(inspect.signature(method).parameters) == ["x", "by"]
    with pytest.raises(gx.errors.InvalidTypeError, match=r"missing a required argument: 'x'; it takes \(x: 'Any', by"):
        cast("Any", gx.function(method))()
