"""In-place changes of NumPy arguments are refused, whatever name or view they go through; tensors have none."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base.errors import InvalidArgumentError


def plain(a: Any) -> Any:
    a += 1
    return a * 2


def alias(a: Any) -> Any:
    b = a
    a *= 2
    return b * 1


def view(a: Any) -> Any:
    b = a[1:]
    b -= 1
    return a.sum()


def item_of_a_view(a: Any) -> Any:
    b = a[1:]
    b[0] = 9
    return a.sum()


def transposed(a: Any) -> Any:
    b = a.reshape(1, -1).T
    b /= 2
    return a.sum()


def by_numpys_functions(a: Any) -> Any:
    b = np.flip(np.split(np.expand_dims(a, 0), 3, axis=1)[0])
    b += 1
    return a.sum()


def real_part(a: Any) -> Any:
    b = a.real
    b += 1
    return a.sum()


def rows_in_a_rolled_loop(a: Any) -> Any:
    for row in np.broadcast_to(a, (20, 3)):
        row += 1
    return a.sum()


def _matrix(a: Any) -> Any:
    return a.reshape(3, 1)


def rows_in_a_list(a: Any) -> Any:
    rows = [row for row in _matrix(a)]  # noqa: C416
    rows[0] += 1
    return rows[0] * 1


def appended_rows(a: Any) -> Any:
    rows = [_matrix(a)[0]]
    for row in _matrix(a):
        rows += [row]
    for row in rows + rows:
        row += 1
    return rows[0] * 1


def row_of_a_list_in_a_branch(a: Any) -> Any:
    row = [row for row in _matrix(a)][gx.argmax(a)]  # noqa: C416
    if a.sum() > 1:
        row += 1
    return row * 1


def copied_before(a: Any) -> Any:
    b = gx.asarray(a)
    a += 1
    return b.sum()


def _change(a: Any) -> None:
    a **= 2


def helper(a: Any) -> Any:
    _change(a)
    return a * 1


def by_function(a: Any) -> Any:
    operator.iadd(a, 1)
    return a * 1


def loop(a: Any) -> Any:
    b = a
    while b.sum() < 9:
        b += 1
    return b * 1


def after_a_loop(a: Any) -> Any:
    while a.sum() < 1:
        a = a * 2
    a += 1
    return a


def branch(a: Any) -> Any:
    if a.sum() > 1:
        a += 1
    return a * 1


def after_a_branch(a: Any) -> Any:
    if a.sum() < 1:
        a = a * 2
    a += 1
    return a


IN_PLACE = [
    plain, alias, view, item_of_a_view, transposed, by_numpys_functions, real_part, rows_in_a_rolled_loop,
    rows_in_a_list, appended_rows, row_of_a_list_in_a_branch, copied_before, helper, by_function, loop, after_a_loop,
    branch, after_a_branch,
]  # fmt: skip


def test_what_a_loop_carries_may_stand_for_itself() -> None:
    @gx.function
    def compiled(values: Any, n: Any) -> Any:
        best = values
        other = values
        while n > 0:
            if n % 2 == 0:
                best, other = other, best
            n = n - 1
        best += 1
        return best

    with pytest.raises(InvalidArgumentError, match="changes the argument 'values' with"):
        compiled(np.ones(3, np.float32), gx.asarray(4))


@pytest.mark.parametrize("function", IN_PLACE)
def test_in_place_changes_of_numpy_arguments_are_refused(function: Callable[..., Any]) -> None:
    with pytest.raises(InvalidArgumentError, match="was passed as a NumPy array: the compiled function would change"):
        gx.function(function)(np.ones(3, np.float32))


@pytest.mark.parametrize("function", [f for f in IN_PLACE if f != item_of_a_view])
def test_tensors_are_bound_anew(function: Callable[..., Any]) -> None:
    x = gx.ones(3)
    np.testing.assert_array_equal(gx.function(function)(x), function(gx.ones(3)))
    np.testing.assert_array_equal(x, np.ones(3))


def test_asarray_copies_arrays_and_returns_tensors() -> None:
    @gx.function
    def compiled(a: Any) -> Any:
        b = gx.asarray(a)
        b[0] = 5
        return a * 1

    array, tensor = np.ones(3, np.float32), gx.ones(3)
    for given, result in ((array, [1, 1, 1]), (tensor, [5, 1, 1])):
        for _ in range(2):
            np.testing.assert_array_equal(compiled(given), result)
            np.testing.assert_array_equal(given, result)


def test_each_call_is_checked() -> None:
    compiled = gx.function(plain)
    for _ in range(2):
        np.testing.assert_array_equal(compiled(gx.ones(3)), [4, 4, 4])
        for _ in range(2):
            with pytest.raises(InvalidArgumentError, match=r"plain changes the argument 'a' with \+=") as caught:
                compiled(np.ones(3, np.float32))
            assert "a += 1" in str(caught.value)


def test_arrays_in_arguments_are_named() -> None:
    @gx.function
    def compiled(parts: Any) -> Any:
        for part in parts:
            part += 1
        return parts[0] * 1

    with pytest.raises(InvalidArgumentError, match=r"changes the argument 'parts\[0\]' with \+="):
        compiled((np.ones(3, np.float32),))


def rebound(a: Any) -> Any:
    a = a + 1
    a += 1
    return a


def made_a_tensor(a: Any) -> Any:
    a = gx.asarray(a)
    a += 1
    b = a[1:]
    b += 1
    return b


def copied(a: Any) -> Any:
    a = gx.copy(a)
    a += 1
    a[0] = 5
    return a


def converted(a: Any) -> Any:
    a = a.astype("float32")
    a += 1
    return a


def reshaped(a: Any) -> Any:
    a = gx.reshape(a, (3, 1))
    a += 1
    return a


def element(a: Any) -> Any:
    b = a[0]
    b += 1
    return b


def selected(a: Any) -> Any:
    b = a[[0, 1]]
    b += 1
    return b


def another_list(a: Any) -> Any:
    rows, others = [row for row in _matrix(a)], [row * 2 for row in _matrix(a)]  # noqa: C416
    others[0] += rows[0]
    return others[0]


def elements(a: Any) -> Any:
    found = [element for element in a]  # noqa: C416
    found[0] += 1
    return found[0]


def both_branches(a: Any) -> Any:
    a = a * 2 if a.sum() > 1 else a * 3
    a += 1
    return a


def certain_loop(a: Any) -> Any:
    for _ in range(20):
        a = a * 1
        a += 1
    a += 1
    return a


@pytest.mark.parametrize(
    "function",
    [
        rebound,
        made_a_tensor,
        copied,
        converted,
        reshaped,
        element,
        selected,
        another_list,
        elements,
        both_branches,
        certain_loop,
    ],
)
def test_names_of_new_tensors_may_change(function: Callable[..., Any]) -> None:
    array = np.ones(3, np.float32)
    np.testing.assert_array_equal(gx.function(function)(array), function(gx.ones(3)))
    np.testing.assert_array_equal(array, np.ones(3))


def test_scalars_are_no_arrays() -> None:
    assert float(gx.function(plain)(np.float32(2))) == 6


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda a: np.add.at(a, [0], 1), r"numpy.add.at changes an array in place.*Write x.at\[index\]"),
        (lambda a: np.multiply(a, 2, out=a), r"numpy.multiply with out= .*Write x = gx.multiply\(...\) instead"),
        (lambda a: a.fill(4), r"'fill', which changes an array in place; write x = gx.full_like"),
        (lambda a: a.sort(), r"'sort', which changes an array in place; write x = gx.sort\(x\)"),
        (
            lambda a: np.fill_diagonal(a, 4),
            r"numpy.fill_diagonal changes an array in place.*x = gx.fill_diagonal\(x, value\)",
        ),
        (lambda a: np.copyto(a, 4), r"numpy.copyto changes an array in place.*Write x\[...\] = values"),
        (lambda a: np.sum(a, out=a), r"numpy.sum with out= changes an array in place.*Write x = gx.sum\(...\)"),
        (lambda a: a.std(where=a > 0), r"the method std of a tensor: gx.std has no argument 'where'"),
        (lambda a: np.std(a, where=a > 0), r"numpy.std of a tensor: gx.std has no argument 'where'; it has x, axis"),
    ],
)
def test_numpy_functions_that_change_arrays_name_the_remedy(function: Callable[..., Any], message: str) -> None:
    with pytest.raises((TypeError, AttributeError), match=message):
        gx.function(function)(np.ones(3, np.float32))
