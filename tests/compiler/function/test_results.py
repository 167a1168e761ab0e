"""What compiled functions return: the containers and tensors that plain Python would."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc import Tensor


@dataclass
class Pair:
    first: Any
    second: Any


def test_a_container_that_stands_in_several_places_is_one() -> None:
    @gx.function
    def program(x: Tensor) -> Any:
        items = [x * 2]
        table = {"items": items, "others": [items, [x]]}
        pair = Pair(items, items)
        return items, table, (table, pair), [pair]

    items, table, (again, pair), (same_pair,) = program(gx.asarray(1.0))
    assert table["items"] is items
    assert table["others"][0] is items
    assert again is table
    assert pair is same_pair
    assert pair.first is pair.second is items
    other, *_ = program(gx.asarray(1.0))
    assert other is not items


def test_a_list_of_unknown_length_that_stands_in_several_places_is_one() -> None:
    @gx.function
    def program(xs: Tensor) -> Any:
        kept = []
        for x in xs:
            if x > 0:
                kept.append(x)  # noqa: PERF401  which is what this is about
        return kept, {"kept": kept}

    kept, table = program(gx.asarray([1.0, -1.0, 2.0]))
    assert table["kept"] is kept
    assert [x.item() for x in kept] == [1.0, 2.0]


def test_equal_containers_stay_apart() -> None:
    @gx.function
    def program(x: Tensor) -> Any:
        return [x], [x], (), ()

    first, second, *_ = program(gx.asarray(1.0))
    assert first is not second
    assert first[0] is second[0]


def test_what_an_inner_function_returns_twice_is_one() -> None:
    inner = gx.function(lambda x: (lambda items: (items, items))([x]))

    def program(x: Tensor) -> Any:
        first, second = inner(x)
        first.append(x * 2)
        return second

    x = gx.asarray(1.0)
    assert len(program(x)) == len(gx.function(program)(x)) == 2


def test_a_tensor_that_is_returned_as_it_came_is_that_tensor_by_the_short_way_too() -> None:
    outside = gx.asarray([1.0])
    compiled = gx.function(lambda x: {"given": x, "outside": outside, "sum": [x + outside]})
    for value in (gx.asarray([2.0]), gx.asarray([3.0]), np.float32([4.0])):
        result = compiled(value)
        assert result["outside"] is outside
        assert (result["given"] is value) is isinstance(value, gx.Tensor)
        assert result["sum"][0].tolist() == [result["given"].tolist()[0] + 1.0]


def test_numbers_in_texts_have_the_digits_that_python_shows() -> None:
    def program(x: Tensor) -> Any:
        rate, count = 0.1, 1
        if x > 2:
            rate, count = 2.0, 3
        return f"{rate} {count!r}", repr(rate), str([count])

    compiled = gx.function(program)
    for value in (1.0, 5.0):
        assert compiled(gx.asarray(value)) == program(gx.asarray(value))


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (lambda i: (i > 2) and i, "a result shows whether a number is a bool or an int"),
        (lambda i: str((i > 2) or i), r"a text shows whether a number is a bool or an int, .* convert it with int"),
        (lambda i: str(i if i > 1 else 0.5), r"a text shows whether a number is an int or a float, .* with float"),
        (lambda i: (f"{i}", ValueError(i)), "returns a ValueError, which holds a tensor that has no value yet"),
    ],
)
def test_what_would_show_another_number_than_pythons_is_refused(program: Any, message: str) -> None:
    with pytest.raises(gx.errors.GraphcError, match=message):
        gx.function(lambda x: program(int(x)))(gx.asarray(1))
