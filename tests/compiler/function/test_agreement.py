"""Compiled functions mean what eager code means, in places where it is easy to mean something else."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from typing import Any

import pytest

import graphc as gx
from graphc.compiler.base.errors import UnimplementedError


@pytest.mark.parametrize("how", ["set", "add", "multiply", "min", "max"])
def test_a_python_number_is_put_into_a_tensor(how: str) -> None:
    def f(x: Any) -> Any:
        return getattr(x.at[0], how)(2)

    x = gx.asarray([1.5, 3.0])
    assert gx.function(f)(x).tolist() == f(x).tolist()


def test_no_gradient_flows_through_an_assignment() -> None:
    v = gx.Variable(3.0, name="cut_v")
    x = gx.asarray(2.0)

    def f(x: Any) -> Any:
        v.assign(v * x)
        return v * x

    for function in (f, gx.function(f)):
        v.assign(3.0)
        with gx.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
        assert tape.gradient(y, x).item() == 6.0


def test_a_variable_that_is_read_after_its_assignment_has_no_gradient_through_a_call() -> None:
    v = gx.Variable(3.0, name="reread_v")

    @gx.function
    def f(x: Any) -> Any:
        v.assign(v * x)
        return v * x

    with gx.GradientTape() as tape:
        y = f(gx.asarray(2.0))
    with pytest.raises(UnimplementedError, match=r"'reread_v' goes through .* that assigns it"):
        tape.gradient(y, v)


def test_a_variable_that_is_read_only_before_has_one() -> None:
    v = gx.Variable(3.0)
    count = gx.Variable(0.0)

    @gx.function
    def f(x: Any) -> Any:
        y = v * x
        count.assign_add(1.0)
        return y

    with gx.GradientTape() as tape:
        y = f(gx.asarray(2.0))
    assert tape.gradient(y, v).item() == 2.0


@pytest.mark.parametrize("kind", [dict, OrderedDict, lambda items: defaultdict(int, items)])
def test_a_dict_keeps_its_order(kind: Any) -> None:
    given = kind([("b", gx.asarray(1.0)), ("a", gx.asarray(2.0))])

    @gx.function
    def f(d: Any) -> Any:
        result = {"z": d["b"], "y": d["a"]}
        if d["a"] > 0:
            result = {"z": d["a"], "y": d["b"]}
        return gx.stack(list(d.values())), result

    stacked, result = f(given)
    assert stacked.tolist() == [1.0, 2.0]
    assert [(key, value.item()) for key, value in result.items()] == [("z", 2.0), ("y", 1.0)]


def test_a_first_call_that_fails_undoes_compiled_calls_too() -> None:
    count = gx.Variable(0.0)

    @gx.function
    def bump(x: Any) -> Any:
        count.assign_add(x)
        return x

    one = gx.asarray(1.0)
    bump(one)
    bump(one)

    @gx.function
    def creates(x: Any) -> Any:
        w = gx.Variable(1.0)
        bump(x)
        raise ValueError(str(w.shape))

    with pytest.raises(ValueError, match=r"\(\)"):
        creates(one)
    assert count.numpy() == 2.0
