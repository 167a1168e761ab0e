"""``for`` over everything that can become one node: ranges, tensors, ``zip`` and its like of these."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphc as gx
from graphc import Tensor
from graphc.compiler.autograph.constructs.loops.ranges import TensorRange
from graphc.compiler.base.errors import InvalidArgumentError, UnimplementedError
from tests.compiler.autograph.differential import check, f, kinds_of, loops_of, n
from tests.draws import examples

CASES: list[Any] = []
ROLLED, UNROLLED, WHILE = ["rolled"], ["unrolled"], ["while"]

V = f(1.0, -2.0, 3.0, -4.0, 5.0, 6.0)
W = f(0.5, 0.25, -1.0, 2.0)
M = gx.asarray(np.arange(12, dtype=np.float32).reshape(4, 3))


def case(*args: Any, loops: list[str] | None = None) -> Callable[[Any], Any]:
    """A program: the arguments (tuples for several runs), and what its loops become."""
    runs = args if isinstance(args[0], tuple) else (args,)

    def add(fn: Any) -> Any:
        CASES.append(pytest.param(fn, runs, loops, id=fn.__name__))
        return fn

    return add


# --- what is run over


@case(V, loops=ROLLED)
def enumerated(x: Tensor) -> Any:
    total = gx.zeros(())
    for i, v in enumerate(x, 2):
        total = total * 0.5 + i * v
    return total, i, v


@case(V, W, loops=ROLLED)
def zipped_to_the_shortest(x: Tensor, y: Tensor) -> Any:
    total = gx.zeros(())
    for a, b in zip(x, y):  # noqa: B905
        total = total * 0.5 + a * b
    return total, a, b


@case(V, loops=ROLLED)
def zipped_with_ranges(x: Tensor) -> Any:
    total = gx.zeros(())
    for j, v, k in zip(range(10, 0, -2), x, range(100)):  # noqa: B905
        total = total * 0.5 + j * v - k
    return total, j, k


@case(V, loops=ROLLED)
def reversed_rows(x: Tensor) -> Any:
    total = gx.zeros(())
    for v in reversed(x):
        total = total * 0.5 + v
    return total, v


@case(V, W, loops=ROLLED)
def nested_iterators_and_targets(x: Tensor, y: Tensor) -> Any:
    total = gx.zeros(())
    for i, (a, (j, b)) in enumerate(zip(reversed(x), enumerate(y, 10)), 5):  # noqa: B905
        total = total * 0.5 + a * b + i * j
    return total, i, j, a


@case(M, loops=ROLLED)
def rows_of_a_matrix_unpacked(x: Tensor) -> Any:
    total = gx.zeros(())
    for i, (a, b, c) in enumerate(x):
        total = total + a * b - c * i
    return total


@case(M, loops=["rolled", "rolled"])
def rows_of_rows(x: Tensor) -> Any:
    total = gx.zeros(())
    for row in x:
        for k, v in enumerate(row):
            total = total * 0.5 + v * k
    return total


@case(V, loops=ROLLED)
def arange(x: Tensor) -> Any:
    total = gx.zeros(())
    for i in gx.arange(6):
        total = total + x[i] * i
    return total


@case(f(2.0), loops=ROLLED)
def reversed_range(x: Tensor) -> Any:
    for i in reversed(range(2, 20, 3)):
        x = x * 0.5 + i
    return x, i


@case(V, loops=ROLLED)
def mapped(x: Tensor) -> Any:
    total = gx.zeros(())
    for v in map(lambda a, b: a * b if a > 0 else a, x, reversed(x)):
        total = total * 0.5 + v
    return total


@case(V, loops=ROLLED)
def a_generator_expression(x: Tensor) -> Any:
    total = gx.zeros(())
    for v in (u * i for i, u in enumerate(x) if u > 0):
        total = total * 0.5 + v
    return total


@case(V, loops=["rolled", "rolled"])
def a_generator_expression_of_two_loops(x: Tensor) -> Any:
    total = gx.zeros(())
    for v in (u * w for u in x if u > 0 for w in x if w < u):
        total = total * 0.5 + v
    return total


@case(V, loops=UNROLLED)
def a_list_among_what_is_zipped(x: Tensor) -> Any:
    total = gx.zeros(())
    for v, name in zip(x, ["a", "b", "c"]):  # noqa: B905
        total = total + v if name != "b" else total - v
    return total


@case((V, n(4)), (V, n(0)), (V, n(99)), (V, n(-3)), loops=WHILE)
def zipped_with_a_tensor_range(x: Tensor, count: Tensor) -> Any:
    total = gx.zeros(())
    for i, v in zip(range(count), x):  # noqa: B905
        total = total * 0.5 + i * v
    return total


@case((f(1.0), n(2), n(20), n(3)), (f(1.0), n(20), n(2), n(-3)), (f(1.0), n(2), n(20), n(-1)), loops=WHILE)
def a_tensor_range_with_all_bounds(x: Tensor, start: Tensor, stop: Tensor, step: Tensor) -> Any:
    for i in range(start, stop, step):
        x = x * 0.5 + i
    return x


@case((f(1.0), n(5)), (f(1.0), n(0)), loops=WHILE)
def a_tensor_range_backwards(x: Tensor, count: Tensor) -> Any:
    for i in reversed(range(3, count * 3, 2)):
        x = x * 0.5 + i
    return x


@case((f(1.0), n(3)), (f(1.0), n(0)), loops=WHILE)
def an_enumerated_tensor_range(x: Tensor, start: Tensor) -> Any:
    for k, i in enumerate(range(start), start):
        x = x * 0.5 + i * k
    return x


@case((f(1.0), gx.asarray([1, 2], dtype="uint8")[1]), loops=WHILE)
def the_items_of_a_range_are_ints_whatever_the_dtype(x: Tensor, count: Tensor) -> Any:
    small = gx.asarray([1], dtype="int8")
    for i in range(count, count + 3):
        small = small + i
    return small, x


@case(gx.zeros((0, 3)))
def no_rows(x: Tensor) -> Any:
    total = 1.0
    for i, (row, other) in enumerate(zip(x, reversed(x), strict=True)):
        total = total + gx.sum(row * other) * i
    return total


@case(gx.ones((1, 3)), loops=ROLLED)
def one_row(x: Tensor) -> Any:
    for i, row in enumerate(x):  # noqa: B007
        pass
    return i, row


# --- breaks, continues, returns, else


@case((V, f(3.0)), (V, f(99.0)), loops=ROLLED)
def break_and_else(x: Tensor, wanted: Tensor) -> Any:
    total = gx.zeros(())
    for i, (a, b) in enumerate(zip(x, reversed(x), strict=True)):
        if a == wanted:
            break
        if b < 0:
            continue
        total = total + a * i
    else:
        total = total + 1000
    return total, i


@case((V, f(3.0)), (V, f(99.0)), loops=ROLLED)
def return_from_a_zip(x: Tensor, wanted: Tensor) -> Any:
    for a, b in zip(x, x * 2, strict=True):
        if a == wanted:
            return b
    return wanted


@case((V, n(5), f(3.0)), (V, n(2), f(3.0)), (V, n(0), f(3.0)), loops=WHILE)
def return_from_a_tensor_range(x: Tensor, count: Tensor, wanted: Tensor) -> Any:
    for i in range(count):
        if x[i] == wanted:
            return i * 10
    else:
        return -1


# --- items that change meanwhile


@case(V)
def the_next_row_is_assigned(x: Tensor) -> Any:
    y = x + 0
    total = gx.zeros(())
    for i, v in enumerate(y):
        total = total * 0.5 + v
        if i < 5:
            y[i + 1] = v + 1
    return total, y


@case(V, loops=ROLLED)
def rows_are_copies(x: Tensor) -> Any:
    y = gx.stack([x, x + 1])
    for row in y:
        row[0] = 100.0
    return y


# --- after the loop


@case(f(1.0), loops=ROLLED)
def names_computed_from_the_index(x: Tensor) -> Any:
    for i in range(0, 20, 3):
        j, pair = 2 * i + 1, (i % 4, -i)
        x = x + j
    return x, i, j, pair


@case((V, n(4)), (V, n(0)), loops=WHILE)
def a_target_that_had_a_value(x: Tensor, count: Tensor) -> Any:
    i = -1
    for i in range(count):
        x = x + i
    return x, i


@case((V, n(6)), (V, n(1)), loops=WHILE)
def a_target_after_a_break(x: Tensor, count: Tensor) -> Any:
    total = gx.zeros(())
    for i in range(count):
        if x[i] < 0:
            break
        total = total + i
    return total, i


@case((V, n(0)), (V, n(2)), loops=WHILE)
def a_target_that_may_not_be_bound(x: Tensor, count: Tensor) -> Any:
    for i, v in zip(range(count), x):  # noqa: B905, B007
        pass
    return i, v


@case((V, n(0), f(1.0)), (V, n(2), f(1.0)), (V, n(0), f(-1.0)), loops=WHILE)
def a_name_that_is_read_where_it_is_bound(x: Tensor, count: Tensor, flag: Tensor) -> Any:
    for i in range(count):
        last = x[i] * 2
    if flag > 0:
        return last
    return flag


@case((f(5.0),), (f(0.0),), loops=WHILE)
def a_name_first_bound_in_a_while(x: Tensor) -> Any:
    while x > 1:
        last = x * 2
        x = x - 1
    return last


# --- iterators as objects


@case(V, loops=ROLLED)
def partly_consumed(x: Tensor) -> Any:
    pairs = zip(x, reversed(x))  # noqa: B905
    first = next(pairs)
    total = gx.zeros(())
    for a, b in pairs:
        total = total * 0.5 + a * b
    return first, total, next(pairs, None), list(pairs)


@case(V, W, loops=ROLLED)
def what_zip_leaves_of_the_longer(x: Tensor, y: Tensor) -> Any:
    longer, shorter = iter(x), iter(y)
    total = gx.zeros(())
    for a, b in zip(longer, shorter):  # noqa: B905
        total = total + a * b
    return total, list(longer), list(shorter)


@case(V, loops=ROLLED)
def passed_on(x: Tensor) -> Any:
    def consume(pairs: Any) -> Any:
        total = gx.zeros(())
        for i, v in pairs:
            total = total + i * v
        return total

    pairs = enumerate(x)
    return consume(pairs), list(pairs)


@case(V)
def made_into_lists(x: Tensor) -> Any:
    return list(zip(x, range(3))), tuple(enumerate(x, 1))[2], dict(enumerate(reversed(x)))[0], [*map(abs, x)]  # noqa: B905


@case(V, loops=UNROLLED)
def one_iterator_twice(x: Tensor) -> Any:
    it = iter(x)
    total = gx.zeros(())
    for a, b in zip(it, it):  # noqa: B905
        total = total * 0.5 + a * b
    return total


@case(V, loops=UNROLLED)
def the_body_takes_items(x: Tensor) -> Any:
    it = iter(x)
    total = gx.zeros(())
    for a in it:
        total = total * 0.5 + a * next(it)
    return total


@case(V)
def stopped_by_python(x: Tensor) -> Any:
    it = enumerate(x)
    for i, _ in it:
        if x.shape[0] - i == 4:
            break
    return list(it)


@case(V)
def strict_lengths(x: Tensor) -> Any:
    total = gx.zeros(())
    for a, b in zip(x, x[2:], strict=True):
        total = total + a * b
    return total


@case(V, loops=ROLLED)
def zero_that_becomes_a_vector(x: Tensor) -> Any:
    total: Any = 0
    for row in gx.stack([x, x * 2, x * 3]):
        total = total + row
    return total


@case(V, loops=UNROLLED)
def rows_with_a_python_table(x: Tensor) -> Any:
    table = ["one", "two", "three", "four", "five", "six"]
    total = gx.zeros(())
    for i, v in enumerate(x):
        total = total + v * len(table[i])
    return total


@pytest.mark.drawn(3)
@pytest.mark.parametrize(("fn", "runs", "loops"), CASES)
def test_a_program_means_the_same_eagerly_and_compiled(fn: Any, runs: Any, loops: list[str] | None) -> None:
    for args in runs:
        check(fn, *args)
    if loops is not None:
        assert kinds_of(fn, *runs[0]) == loops


@pytest.mark.parametrize("program", [enumerated, reversed_rows, nested_iterators_and_targets, break_and_else])
def test_gradients_are_those_of_the_eager_tape(program: Any) -> None:
    args = (V, f(3.0)) if program is break_and_else else (V, W) if program is nested_iterators_and_targets else (V,)
    compiled = gx.function(program)
    gradients: list[Any] = []
    for fn in (program, compiled):
        with gx.GradientTape() as tape:
            tape.watch(args[0])
            total = fn(*args)[0]
        gradients.append(tape.gradient(total, args[0]))
    np.testing.assert_allclose(gradients[0].numpy(), gradients[1].numpy(), rtol=1e-5)


def test_a_loop_over_rows_is_one_node() -> None:
    def program(x: Tensor, y: Tensor) -> Any:
        total = gx.zeros(())
        for i, (a, b) in enumerate(zip(x, y, strict=True)):
            total = total * 0.5 + a * b * i
        return total

    graph = gx.function(program).graph(gx.ones(1000), gx.ones(1000))
    assert [node.op.name for node in graph.nodes].count("scan") == 1
    assert len(graph.nodes) < 5


def test_a_loop_may_not_go_on_with_an_iterator_that_stopped_somewhere() -> None:
    def rows(x: Tensor) -> Any:
        it = iter(x)
        for v in it:
            if v < 0:
                break
        return list(it)

    def numbers(x: Tensor, count: Tensor) -> Any:
        it = iter(range(count))
        for i in it:
            x = x + i
        return x, next(it, None)

    def of_a_list(x: Tensor) -> Any:
        it = iter([x, x * 2])
        for v in it:
            if v < 0:
                break
        return list(it)

    def expression(x: Tensor) -> Any:
        values = (v * 2 for v in x)
        for v in values:
            if v < 0:
                break
        return list(values)

    for program, args in ((rows, (V,)), (numbers, (V, n(2))), (of_a_list, (f(1.0),)), (expression, (V,))):
        with pytest.raises(UnimplementedError, match=r"what is\s+left of") as caught:
            gx.function(program)(*args)
        assert "test_for_loops.py" in str(caught.value)


def test_an_iterator_that_nobody_else_holds_may_stop_somewhere() -> None:
    def program(x: Tensor) -> Any:
        total = gx.zeros(())
        for a, b in zip([x, x * 2, x * 3], [1.0, 2.0, 3.0], strict=True):
            if a > 3:
                break
            total = total + a * b
        return total

    for value in (1.0, 2.0, 9.0):
        check(program, f(value))


def test_strict_zip_that_may_stop_is_refused() -> None:
    def program(x: Tensor) -> Any:
        for a, b in zip(x, x[2:], strict=True):
            if a > b:
                break
        return a

    def as_long_as_a_tensor(x: Tensor, count: Tensor) -> Any:
        for a, _ in zip(x, range(count), strict=True):
            x = x + a
        return x

    for fn, args in ((program, (V,)), (as_long_as_a_tensor, (V, n(6)))):
        with pytest.raises(UnimplementedError, match=r"zip\(strict=True\)"):
            gx.function(fn)(*args)


def test_a_range_with_a_step_of_zero_raises_as_in_python() -> None:
    def program(x: Tensor, step: Tensor) -> Any:
        for i in range(0, 5, step):
            x = x + i
        return x

    check(program, f(1.0), n(2))
    check(program, f(1.0), n(0))


def test_a_range_that_int32_does_not_hold_is_refused() -> None:
    def program(x: Tensor, start: Tensor) -> Any:
        for i in range(start, 2**40):
            x = x + i
        return x

    with pytest.raises(InvalidArgumentError, match=r"does not hold all values of the bound 1099511627776"):
        gx.function(program)(f(1.0), n(0))


def test_bounds_that_are_indices_of_loops_bound_the_numbers_so_that_nothing_is_checked() -> None:
    def sums(x: Tensor) -> Any:
        total = 0.0
        for i in range(2, 20):
            for j in range(19 - i):
                total = total + x[j] * x[j + 1]
            for k in range(i * i, 400, i):
                total = total - x[k]
        return total

    check(sums, gx.linspace(0.0, 1.0, 400))
    graph = gx.function(sums).graph(gx.zeros(400))
    assert len(graph.outputs) == 1  # no place in which a check would be told
    assert len([*graph.walk()]) < 50


EXTREMES = st.one_of(st.integers(-20, 20), st.sampled_from([-(2**31), -(2**31) + 1, 2**31 - 2, 2**31 - 1]))


@gx.function
def number_of_items(start: Tensor, stop: Tensor, step: Tensor) -> Any:
    return TensorRange(start, stop, step, sign=0, most=None, span=None).space().length


@settings(max_examples=examples(200))
@given(start=EXTREMES, stop=EXTREMES, step=EXTREMES.filter(bool))
def test_the_length_of_a_tensor_range_is_exact(start: int, stop: int, step: int) -> None:
    found = number_of_items(*[gx.asarray(np.int32(bound)) for bound in (start, stop, step)])
    assert found.item() == len(range(start, stop, step))


@given(data=st.data())
@settings(max_examples=examples(25))
def test_random_nests_of_iterators(data: st.DataObject) -> None:
    """Whatever is nested in what, the items and their order are those of Python."""

    def make(depth: int) -> Callable[[Tensor], Any]:
        kind = data.draw(st.sampled_from(["rows", "back", "range", *["zip", "enumerate"] * (2 * (depth > 0))]))
        if kind == "range":
            bounds = data.draw(st.sampled_from([(6,), (2, 20, 3), (9, -3, -2), (0,), (5, 6)]))
            return lambda x: range(*bounds)
        if kind in ("rows", "back"):
            return lambda x: x if kind == "rows" else reversed(x)
        parts = [make(depth - 1) for _ in range(1 if kind == "enumerate" else data.draw(st.integers(1, 3)))]
        if kind == "enumerate":
            return lambda x: enumerate(parts[0](x), 3)
        return lambda x: zip(*[part(x) for part in parts])  # noqa: B905

    source = make(2)

    def program(x: Tensor) -> Any:
        total = gx.zeros(())
        count = gx.zeros((), dtype="int32")
        for item in source(x):
            count = count + 1
            for leaf in flat(item):
                total = total * 0.5 + leaf * count
        return total, count

    check(program, V)


def flat(item: Any) -> list[Any]:
    return [leaf for part in item for leaf in flat(part)] if isinstance(item, tuple) else [item]


def test_reasons() -> None:
    def program(x: Tensor, count: Tensor) -> Tensor:
        for k in (1.0, 2.0):
            x = x + k
        k = 0
        while k < 3:
            k = k + 1
        for i, v in enumerate(gx.ones(6)):
            x = x + v * i
        while x < 100:
            x = x * 2
        return x

    assert loops_of(program, f(1.0), n(3)) == [
        ("unrolled", "it runs over a tuple, whose items Python takes one by one"),
        ("unrolled", "its test is a Python value"),
        ("rolled", "it runs over the 6 rows of a tensor"),
        ("while", "its test is a tensor"),
    ]


def test_a_loop_inside_is_reported_once_although_the_body_is_traced_twice() -> None:
    def program(x: Tensor) -> Any:
        total: Any = 0.0
        for row in gx.stack([x, x, x, x, x]):
            count = 0
            for v in row:
                count = count + v
            total = total + count
        return total

    assert sorted(kinds_of(program, V)) == ["rolled", "rolled"]
