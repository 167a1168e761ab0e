"""A number meets a tensor of few bits: compiled code means what Python means, or is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphc as gx
from tests.compiler.autograph.differential import check, n
from tests.draws import examples

INTS = ("int8", "uint8", "int16", "uint32", "int32")
DTYPES = (*INTS, "float16", "bfloat16", "float32")
NUMBERS = (0, 1, -1, 2, 100, 200, 257, 300, 2049, 70000, 16777217, 2**31 - 1, -(2**31), 0.5, 0.1, -1e9, 1e300, 1e-50,
           float("inf"), float("nan"), True)  # fmt: skip

Join = Callable[[Any, Any, Any], Any]


class Box:
    found: Any = None


def by_if(number: Any, x: Any, s: Any) -> Any:
    found = number
    if s > 1:
        found = x[0]
    return found


def by_expression(number: Any, x: Any, s: Any) -> Any:
    return x[0] if s > 1 else number


def by_return(number: Any, x: Any, s: Any) -> Any:
    if s > 1:
        return x[0]
    return number


def in_loop(number: Any, x: Any, s: Any) -> Any:
    found = number
    for item in x:
        if item > s:
            found = item
    return found


def in_while(number: Any, x: Any, s: Any) -> Any:
    found, i = number, 0
    while i < s:
        found = x[i]
        i += 1
    return found


def in_attribute(number: Any, x: Any, s: Any) -> Any:
    box = Box()
    box.found = number
    for item in x:
        if item > s:
            box.found = item
    return box.found


def in_dict(number: Any, x: Any, s: Any) -> Any:
    table = {"found": number}
    if s > 1:
        table["found"] = x[0]
    return table["found"]


def in_list(number: Any, x: Any, s: Any) -> Any:
    return [number, x[0]][int(s) // 2]


def in_nonlocal(number: Any, x: Any, s: Any) -> Any:
    found = number

    def take() -> None:
        nonlocal found
        found = x[0]

    if s > 1:
        take()
    return found


def by_max(number: Any, x: Any, s: Any) -> Any:
    return max((item for item in x if item > s), default=number)


def by_else(number: Any, x: Any, s: Any) -> Any:
    for item in x:
        if item > s:
            found = item
            break
    else:
        found = number
    return found


def by_none(number: Any, x: Any, s: Any) -> Any:
    best = None
    for item in x:
        if item > s:
            best = item
    return number if best is None else best


JOINS: tuple[Join, ...] = (
    by_if, by_expression, by_return, in_loop, in_while, in_attribute, in_dict, in_list, in_nonlocal,
    by_max, by_else, by_none,
)  # fmt: skip


@settings(max_examples=examples(90), deadline=None)
@given(st.sampled_from(JOINS), st.sampled_from(DTYPES), st.sampled_from(NUMBERS), st.sampled_from((0, 2, 9)))
def test_a_number_on_one_path_is_the_number_or_refused(join: Join, dtype: str, number: Any, s: int) -> None:
    def program(x: Any, s: Any) -> Any:
        found = join(number, x, s)
        return found, found < 0, found == number

    check(program, gx.asarray([3, 4, 5], dtype), n(s), refuse=True)


@settings(max_examples=examples(40), deadline=None)
@given(st.sampled_from(JOINS), st.sampled_from(DTYPES), st.sampled_from((0, 7, -1, 300, 2049)), st.sampled_from((0, 9)))
def test_an_int_that_depends_on_tensors_is_the_int_or_refused(join: Join, dtype: str, number: int, s: int) -> None:
    def program(x: Any, s: Any, k: Any) -> Any:
        return join(int(k), x, s), join(int(k) % 5, x, s)

    check(program, gx.asarray([3, 4, 5], dtype), n(s), n(number), refuse=True)


@settings(max_examples=examples(30), deadline=None)
@given(st.sampled_from(JOINS), st.sampled_from(("uint8", "float16", "float32", "int32")), st.booleans())
def test_a_weak_tensor_keeps_its_dtype_or_is_refused(join: Join, dtype: str, low: bool) -> None:
    def program(x: Any, s: Any) -> Any:
        found = join((s > 5) * 300, x, s)
        return found, gx.asarray(found).dtype == "int32"

    check(program, gx.asarray([3, 4, 5], dtype), n(0 if low else 9), refuse=True)


@pytest.mark.parametrize("join", JOINS)
def test_a_number_that_fits_is_compiled_and_one_that_does_not_is_refused(join: Join) -> None:
    x = gx.asarray([3, 4, 5], "uint8")
    check(lambda x, s: join(7, x, s), x, n(0))
    check(lambda x, s: join(int(s) % 9, x, s), x, n(0))
    with pytest.raises(gx.errors.InvalidArgumentError, match=r"-1 does not fit uint8; convert the tensor, for example"):
        gx.function(lambda x, s: join(-1, x, s))(x, n(0))


def test_a_sum_of_bools_does_not_become_a_float() -> None:
    def hits(xs: Any, s: Any) -> Any:
        hits = sum(x > s for x in xs)
        if hits > 1:
            hits = hits * 0.5
        return hits

    with pytest.raises(gx.errors.InvalidTypeError, match="the dtypes float32 and int32 differ"):
        gx.function(hits)(gx.asarray([1.0, 2.0]), gx.asarray(9.0))


def test_what_may_be_a_float_meets_no_tensor_of_ints() -> None:
    def scaled(x: Any, s: Any) -> Any:
        k = 2
        if s > 5:
            k = 0.5
        return x * k

    check(scaled, gx.asarray([1.0, 2.0]), n(0))
    with pytest.raises(gx.errors.ConcretizationError, match="arithmetic with a tensor of ints shows whether a number"):
        gx.function(scaled)(gx.asarray([1, 2]), n(0))


@pytest.mark.parametrize("value", [7, 300])
def test_a_list_of_numbers_has_a_dtype_that_does_not_yield(value: int) -> None:
    x = gx.asarray([1, 2], "uint8")
    check(lambda x, k: (x * [int(k), 1], gx.concat([x, [int(k)]]), x * [[float(k), 1]]), x, n(value))


def as_item(t: Any, number: Any) -> Any:
    t[0] = number
    return t


def as_items(t: Any, number: Any) -> Any:
    t[:] = number
    return t


PLACES: tuple[Callable[[Any, Any], Any], ...] = (
    as_item,
    as_items,
    lambda t, number: t.at[1].set(number),
    lambda t, number: gx.asarray(number, t.dtype),
    lambda t, number: gx.asarray([1, number], t.dtype),
    lambda t, number: gx.full((2,), number, t.dtype),
    lambda t, number: gx.full_like(t, number),
    lambda t, number: t**number,
    lambda t, number: gx.power(t, number),
    lambda t, number: (t < number, t == number, number >= t, t != number),
)


def from_tensor(k: Any) -> Any:
    return int(k)


def from_branch(k: Any) -> Any:
    return 300 if k > 299 else -1 if k < 0 else 3


def from_counter(k: Any) -> Any:
    count = 0
    for _ in range(40):
        if count < k:
            count += 10
    return count - 1


@settings(max_examples=examples(60), deadline=None)
@given(
    st.sampled_from(PLACES),
    st.sampled_from(INTS),
    st.sampled_from((from_tensor, from_branch, from_counter)),
    st.sampled_from((-1, 0, 3, 130, 256, 300)),
)
def test_an_int_goes_into_a_tensor_that_holds_it_or_raises(place: Any, dtype: str, source: Any, k: int) -> None:
    check(lambda k: place(gx.ones(2, dtype), source(k)), n(k))


@pytest.mark.parametrize("trips", [6, 300])
def test_numbers_of_a_loop_go_into_a_tensor_that_holds_them_or_raise(trips: int) -> None:
    def fill(trips: Any) -> Any:
        t, c = gx.zeros(3, "uint8"), 0
        for i in range(trips):
            c += 30
            t[0] = i
            t[i % 3] = c
        return t

    check(fill, 6 if trips == 6 else n(trips))
    check(fill, n(trips))


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint32"])
def test_a_tensor_compares_to_a_counter_by_value(dtype: str) -> None:
    def below(x: Any) -> Any:
        count, i = 0, -20
        while i < 300:
            i += 7
            if x < i:
                count += 1
        return count, [x > -1, x == -1, x != 261, x < 300]

    assert check(below, gx.asarray(5, dtype))[0] == 43
