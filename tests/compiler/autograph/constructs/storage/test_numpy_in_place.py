"""NumPy arrays that a loop or branch changes in place: every name and view of the array sees it, or it is refused."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base.errors import UnimplementedError


def _zeros(*shape: int) -> Any:
    return np.zeros(shape, np.float32)


def in_place_operators(x: Any) -> Any:
    a, b, c = _zeros(3), _zeros(3) + 1, np.zeros(3, np.int32)
    others = a, b, c
    for _ in range(6):
        a += 5.0
        b *= 2.0
        c |= 4
    return x * sum(map(gx.asarray, others))


def view_of_a_row(x: Any) -> Any:
    a = _zeros(2, 3)
    row, turned = a[0], a.T
    for _ in range(6):
        row += 1.0
        turned *= 2.0
    return x * gx.asarray(a)


def changed_and_replaced(x: Any) -> Any:
    a = _zeros(3)
    b = a
    for _ in range(6):
        a[0] += 1
        a = a * 2
    return x * (gx.asarray(a) + gx.asarray(b))


def exchanged(x: Any) -> Any:
    a, b = _zeros(3), _zeros(3) + 1
    c = a
    for _ in range(7):
        a, b = b, a
        a += 1
    return x * gx.asarray(c)


def nested(x: Any) -> Any:
    a = _zeros(3)
    b = a
    for _ in range(6):
        for _ in range(5):
            a += 1
        a = a * 1
    return x * gx.asarray(b)


def functions(x: Any) -> Any:
    a = _zeros(8)
    b = a
    for i in range(6):
        np.add(a, 1, a)
        np.multiply(a, 2, out=(a,))
        np.add.at(a, [0], 1)
        np.copyto(a[1:2], a[2:3])
        np.put(a, [3], i)
        a = operator.iadd(a, 1)
        a = a.__iadd__(1)
        a.__setitem__(4, a[4] + 1)
        a.flat[5] += 1
        memoryview(a)[6] = a[6] + 1.0
        a[::-1].sort()
    return x * gx.asarray(b)


def replaced_only(x: Any) -> Any:
    a = _zeros(3)
    b = a
    for _ in range(9):
        a = a + x
    return gx.asarray(b) + a


PROGRAMS = (in_place_operators, view_of_a_row, changed_and_replaced, exchanged, nested, functions, replaced_only)


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_name_of_the_array_sees_the_change(program: Callable[[Any], Any]) -> None:
    compiled = gx.function(program)
    for x in (gx.asarray(1.0), gx.asarray(2.0)):
        assert compiled(x).tolist() == program(x).tolist()
    assert all(loop.kind == "unrolled" for loop in compiled.trace(x).loops) or program is replaced_only


def test_a_loop_that_replaces_an_array_is_rolled() -> None:
    assert [loop.kind for loop in gx.function(replaced_only).trace(gx.asarray(1.0)).loops] == ["rolled"]


def in_a_while_loop(x: Any) -> Any:
    a = _zeros(3)
    while x < 100:
        a += 1.0
        x = x * 2
    return x * gx.asarray(a)


def in_a_branch(x: Any) -> Any:
    a = _zeros(3)
    if x > 0:
        np.add(a, 1, a)
    return x * gx.asarray(a)


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (in_a_while_loop, r"the in-place operator \+= on a ndarray inside the body of a while loop(.|\n)*a \+= 1.0"),
        (in_a_branch, r"the call of numpy.add, which changes a ndarray, inside the true branch(.|\n)*np.add\(a"),
    ],
)
def test_where_tensors_decide_it_is_refused(program: Callable[[Any], Any], message: str) -> None:
    with pytest.raises(UnimplementedError, match=message):
        gx.function(program)(gx.asarray(1.0))
