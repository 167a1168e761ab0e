"""Tensors that a trace would leave in Python objects, and arguments that it would change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

import graphc as gx
from graphc.compiler.base.errors import GraphcError, UnimplementedError


class Holder:
    """Holds what it is given."""

    def __init__(self, held: Any = None) -> None:
        self.held = held


@dataclass
class Point:
    x: Any
    y: Any


ONE = gx.asarray(1.0)
OUTER = Holder(0)
LOG: list[Any] = ["old"]
TABLE: dict[str, Any] = {"old": 1}


def stores_in_attribute(x: Any) -> Any:
    OUTER.held = OUTER.held + x
    return OUTER.held


def appends(x: Any) -> Any:
    LOG.append(x)
    LOG.append((x, x))
    return x


def stores_in_item(x: Any) -> Any:
    TABLE["new"] = [x]
    return x


def updates(x: Any) -> Any:
    TABLE.update(new=x)
    return x


@pytest.mark.parametrize(
    ("function", "what"),
    [
        (stores_in_attribute, "the assignment to attribute 'held' of a Holder object"),
        (appends, "the call of list.append"),
        (stores_in_item, "the assignment to an item of a dict"),
        (updates, "the call of dict.update"),
    ],
)
def test_a_tensor_stored_outside_is_refused_and_taken_back(function: Any, what: str) -> None:
    with pytest.raises(UnimplementedError, match=f"{what} stores a tensor") as caught:
        gx.function(function)(ONE)
    assert "test_stores.py" in str(caught.value)
    assert "keep it in a Variable" in str(caught.value)
    assert OUTER.held == 0
    assert LOG == ["old"]
    assert TABLE == {"old": 1}


def test_self_is_outside_too() -> None:
    class Model:
        last: Any = None

        @gx.function
        def __call__(self, x: Any) -> Any:
            self.last = x * 2
            return x

    model = Model()
    with pytest.raises(UnimplementedError, match="attribute 'last' of a Model object"):
        model(ONE)
    assert model.last is None


def test_what_dies_with_the_function_may_hold_tensors() -> None:
    def f(x: Any) -> Any:
        rows = []
        for i in range(3):
            rows.append(x * i)  # noqa: PERF401  the append is what is tested
        holder = Holder()
        holder.held = x * 2
        table = {}
        table["x"] = x

        def inner(n: int) -> int:  # refers to itself: a cycle that holds rows
            return inner(n - 1) if n else len(rows)

        return gx.stack(rows) + holder.held + table["x"] + inner(2)

    assert gx.function(f)(ONE).tolist() == f(ONE).tolist()


def test_python_values_may_be_stored() -> None:
    calls: list[int] = []

    @gx.function(side_effects="ignore")
    def f(x: Any) -> Any:
        calls.append(1)
        return x

    f(ONE)
    f(ONE)
    assert calls == [1]


def set_key(state: Any) -> Any:
    state["n"] = state["n"] + 1
    return state["n"]


def append(items: Any) -> Any:
    items.append(items[0])
    return items[0]


def count(pair: Any) -> Any:
    pair[1]["count"] += 1
    return pair[0]


def move(point: Any) -> Any:
    point.x = point.x + 1
    return point.x


@pytest.mark.parametrize(
    ("function", "argument"),
    [(set_key, {"n": ONE}), (append, [ONE]), (count, (ONE, {"count": 0})), (move, Point(ONE, ONE))],
)
def test_an_argument_that_is_changed_is_refused(function: Any, argument: Any) -> None:
    with pytest.raises(UnimplementedError, match=rf"{function.__name__} changes a list|outlives the function"):
        gx.function(function)(argument)


def test_without_source_the_reason_is_told() -> None:
    namespace: dict[str, Any] = {}
    exec("def f(x):\n    if x > 0:\n        return x\n    return -x\n", namespace)
    with pytest.raises(
        gx.errors.UnsupportedSyntaxError, match=r"the source of function 'f' .* the file cannot be read"
    ):
        gx.function(namespace["f"])(ONE)


def test_a_trace_that_fails_leaves_no_tensor_behind() -> None:
    holder: Any = Holder()
    holder.count, holder.last = 0, None
    seen: list[Any] = []

    @gx.function
    def step(x: Any) -> Any:
        holder.count = 1
        holder.last = x * 2
        seen.append(x)
        return gx.reshape(x, (7,))

    with pytest.raises(GraphcError):
        step(gx.ones(3))
    assert holder.last is None
    assert seen == []
    assert holder.count == 1  # as after the same call of the Python function


def test_setattr_stores_as_an_assignment_does() -> None:
    holder: Any = Holder(0)

    @gx.function
    def keeps(x: Any) -> Any:
        setattr(holder, "held", x * 2)  # noqa: B010
        return x

    with pytest.raises(
        UnimplementedError, match="the assignment to attribute 'held' of a Holder object stores a tensor"
    ):
        keeps(ONE)
    assert holder.held == 0

    @gx.function
    def chooses(x: Any) -> Any:
        made = Holder(x)
        if x > 0:
            setattr(made, "held", x * 3)  # noqa: B010
        else:
            setattr(made, "other", 1)  # noqa: B010
            delattr(made, "other")
        return made.held

    assert chooses(ONE).item() == 3.0
    assert chooses(-ONE).item() == -1.0
