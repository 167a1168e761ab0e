"""Variables where Python asks for a value: the same as with ``value()``, in both modes."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import pytest

import graphc as gx
from graphc.compiler.base.errors import ConcretizationError, UnimplementedError

V, YES, ZERO = gx.Variable(3), gx.Variable(True), gx.Variable(0.0)
ITEMS = [10.0, 20.0, 30.0, 40.0]


def conditions() -> Any:
    found: list[Any] = []
    if YES:
        found.append(1.0)
    else:
        found.append(2.0)
    found.append(1.0 if ZERO else 2.0)
    found.append(not V)
    assert YES
    count = 0
    while not ZERO:
        ZERO.assign_add(1.0)
        count += 1
    while ZERO:
        ZERO.assign_sub(0.5)
        count += 1
    found.append(count)
    found.append((YES and ZERO < 1.0, ZERO or ZERO + 2.0, V and V + 1))
    return found


def numbers() -> Any:
    total = 0
    for k in range(V):
        total += k
    stored = [1.0, 2.0, 3.0, 4.0]
    stored[V] = 7.0
    found = [int(V) + 1, float(V) / 2, bool(V), complex(ZERO), round(ZERO), V.item() + 1, math.ceil(V), total]
    return found, ITEMS[V], stored, (any([ZERO, YES]), all((YES, ZERO))), max(V, 1), min([V, 5])


@pytest.mark.parametrize("program", [conditions, numbers])
def test_variables_are_asked_for_their_values(program: Callable[[], Any]) -> None:
    def plain(result: Any) -> Any:
        if isinstance(result, list | tuple):
            return [plain(part) for part in result]
        return result.numpy().item() if isinstance(result, gx.Tensor | gx.Variable) else result

    compiled = gx.function(program)
    assert plain(compiled()) == plain(program())
    V.assign(2)
    assert plain(compiled()) == plain(program())
    V.assign(3)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (bool, r"bool\(\) needs a value"),
        (int, r"int\(\) needs a value.*gx\.astype"),
        (float, r"float\(\) needs a value"),
        (complex, r"complex\(\) needs a value"),
        (operator.index, "an index or a size needs a value"),
        (gx.Variable.item, r"item\(\) needs a value"),
    ],
)
def test_code_that_is_not_converted_gets_the_remedy_for_what_it_asks(ask: Any, message: str) -> None:
    with pytest.raises(ConcretizationError, match=message):
        gx.function(gx.do_not_convert(lambda: ask(V)))()
    assert ask(V) in (3, True)


@pytest.mark.parametrize("way", [lambda f: f, gx.function], ids=["eager", "compiled"])
def test_in_place_operators_of_variables_are_refused(way: Any) -> None:
    class Model:
        w = gx.Variable(1.0, name="weight")

        def down(self) -> None:
            self.w -= 1.0

        def up(self) -> None:
            self.w **= 2.0

    model = Model()
    with pytest.raises(
        UnimplementedError, match=r"-= of Variable 'weight\w*' .*variable\.assign_sub\(value\)"
    ) as caught:
        way(model.down)()
    assert "self.w -= 1.0" in str(caught.value)
    with pytest.raises(UnimplementedError, match=r"variable\.assign\(variable \*\* value\)"):
        way(model.up)()
    assert model.w.item() == 1.0
    items = gx.Variable([1.0, 2.0])

    def assign() -> None:
        items[0] += 1.0

    way(assign)()
    assert items.tolist() == [2.0, 2.0]
