"""Lists that grow and shrink in loops and branches."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphc as gx
from graphc import Tensor
from graphc.compiler.base.errors import GraphcError, InvalidArgumentError, InvalidTypeError, UnimplementedError
from tests.compiler.autograph.differential import check, kinds_of
from tests.draws import examples

XS = [1.0, -2.0, 3.0, 4.0, -1.0, 2.0]


def rnn(xs: Tensor) -> Any:
    h = gx.zeros(3)
    outputs = []
    for x in xs:
        h = gx.tanh(h * 0.5 + x)
        outputs.append(h)
    return gx.stack(outputs), outputs[-1], len(outputs)


def fibonacci(xs: Tensor) -> Any:
    numbers = [xs[0], xs[1]]
    for _ in range(20):
        numbers.append(numbers[-1] + numbers[-2] * 0.5)
    return gx.stack(numbers), numbers[3]


def in_one_branch(xs: Tensor) -> Any:
    ys = [xs[0]]
    if xs[0] > 0:
        ys.append(xs[1])
    return len(ys) + xs[0]


def filtered(xs: Tensor) -> Any:
    out = []
    for x in xs:
        if x > 0:
            out.append(x)
    return out


def filtered_twice(xs: Tensor) -> Any:
    out = []
    for x in xs:
        if x > 0:
            out.append(x)
        elif x < -1:
            out.extend([x, -x])
    return out, len(out) + xs[0]


def popped(xs: Tensor) -> Any:
    out = []
    for x in xs:
        if x > 0:
            out.append(x)
    total = xs[0] * 0
    while out:
        total = total * 0.5 + out.pop()
    return total


def queue(xs: Tensor) -> Any:
    waiting = [xs[0], xs[1], xs[2]]
    total = xs[0] * 0
    for x in xs:
        first = waiting.pop(0)
        total = total * 0.5 + first
        waiting.append(first + x)
    return total, waiting


def nested_loops(xs: Tensor) -> Any:
    out = []
    for i in range(10):
        for j in range(6):
            out.append(xs[i % 3] * j)
    return gx.stack(out)


def nested_filter(xs: Tensor) -> Any:
    out = []
    for x in xs:
        for y in xs:
            if x < y:
                out.append(x * y)
    return out


def list_of_pairs(xs: Tensor) -> Any:
    pairs = []
    total = xs[0] * 0
    for x in xs:
        total = total + x
        pairs.append((x, {"sum": total}))
    return pairs


def items_replaced(xs: Tensor) -> Any:
    out = []
    for x in xs:
        out.append(x)
        out[0] = out[0] + x
        out[-1] = out[-1] * 2
    return out


def in_a_called_function(xs: Tensor) -> Any:
    def keep(into: list[Any], value: Any) -> None:
        if value > 0:
            into.append(value)

    out: list[Any] = []
    for x in xs:
        keep(out, x)
    return out


def cleared(xs: Tensor) -> Any:
    out = []
    for x in xs:
        out.append(x)
        if x < 0:
            out.clear()
    return out


def looked_through(xs: Tensor) -> Any:
    out = []
    for x in xs:
        if x > 0:
            out.append(x)
    total = xs[0] * 0
    for i in range(len(out)):
        total = total * 0.5 + out[i]
    return total


def iterated(xs: Tensor) -> Any:
    out = []
    for x in xs:
        if x > 0:
            out.append(x)
    total = xs[0] * 0
    for y in out:
        total = total * 0.5 + y
    return total


def copied_rows(xs: Tensor) -> Any:
    grid = []
    for x in xs:
        row = gx.zeros(2)
        row[0] = x
        grid.append(row)
    return gx.stack(grid)


def bounded_while(xs: Tensor) -> Any:
    history = []
    error = gx.abs(xs[0]) + 8.0
    while error > 1.0:
        gx.loop_options(max_iterations=20)
        error = error / 2
        history.append(error)
    return history, error


PROGRAMS: list[Callable[[Tensor], Any]] = [
    rnn, fibonacci, in_one_branch, filtered, filtered_twice, popped, queue, nested_loops, nested_filter, list_of_pairs,
    items_replaced, in_a_called_function, cleared, looked_through, iterated, copied_rows, bounded_while,
]  # fmt: skip


@pytest.mark.drawn(3)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_lists_hold_what_python_would_put_there(program: Callable[[Tensor], Any]) -> None:
    check(program, gx.asarray(XS))
    check(program, gx.asarray([-1.0, -3.0, 5.0, 0.5, 0.25, 1.0]))


def test_loops_that_fill_lists_are_rolled() -> None:
    for program in (rnn, fibonacci, filtered, nested_loops, queue):
        assert set(kinds_of(program, gx.asarray(XS))) == {"rolled"}, program.__name__


def test_a_stack_of_what_a_loop_appended_is_the_loop_s_array() -> None:
    text = str(gx.function(rnn).graph(gx.asarray(XS)))
    assert "stack(" not in text
    assert len(text.splitlines()) < 40


def test_gradients_flow_through_lists() -> None:
    def loss(xs: Tensor) -> Tensor:
        stacked, last, _ = rnn(xs)
        return gx.sum(stacked * stacked) + gx.sum(last)

    x = gx.asarray(XS)
    np.testing.assert_allclose(gx.function(gx.grad(loss))(x).numpy(), gx.grad(loss)(x).numpy(), rtol=1e-5)


def test_gradients_flow_through_lists_of_unknown_length() -> None:
    def loss(xs: Tensor) -> Tensor:
        return popped(xs) ** 2

    x = gx.asarray(XS)
    np.testing.assert_allclose(gx.function(gx.grad(loss))(x).numpy(), gx.grad(loss)(x).numpy(), rtol=1e-5)


def test_numbers_put_into_a_list_stay_numbers() -> None:
    def program(x: Tensor) -> Any:
        seen = []
        for i in range(8):
            x = x + i
            seen.append(i * 2)
        return x, seen

    check(program, gx.asarray(1.0))
    assert kinds_of(program, gx.asarray(1.0)) == ["rolled"]


def test_an_unbounded_loop_asks_for_a_bound() -> None:
    def program(x: Tensor) -> Any:
        history = []
        while x > 1:
            x = x / 2
            history.append(x)
        return history

    with pytest.raises(InvalidArgumentError, match=r"list.append.*loop_options\(max_iterations") as caught:
        gx.function(program)(gx.asarray(9.0))
    assert Path(__file__).name in str(caught.value)


def test_an_empty_list_has_nothing_to_pop() -> None:
    def program(x: Tensor) -> Any:
        stack = [x]
        if x > 0:
            stack.pop()
        stack.pop()
        return x

    check(program, gx.asarray(-1.0))
    with pytest.raises(IndexError, match="pop from empty list"):
        gx.function(program)(gx.asarray(1.0))


def test_an_index_out_of_range_is_an_error_as_in_python() -> None:
    def program(x: Tensor) -> Any:
        items = [x]
        if x > 0:
            items.append(x)
        return items[1]

    check(program, gx.asarray(1.0))
    with pytest.raises(IndexError, match="list index out of range"):
        gx.function(program)(gx.asarray(-1.0))


@pytest.mark.parametrize(
    "use",
    [
        lambda items: gx.stack(items),
        lambda items: list(zip(items, items)),
        lambda items: sorted(items),
        lambda items: items.index(1.0),
        lambda items: items[0:2:2],
        lambda items: (lambda a, *b: a)(*items),
    ],
)  # fmt: skip
def test_a_list_of_unknown_length_is_not_used_as_a_whole(use: Callable[[Any], Any]) -> None:
    def program(x: Tensor) -> Any:
        items = [x]
        if x > 0:
            items.append(x)
        return use(items)

    with pytest.raises(GraphcError, match="a list whose length is known at run time only"):
        gx.function(program)(gx.asarray(1.0))


def test_items_of_other_shapes_are_refused_with_both() -> None:
    def program(xs: Tensor) -> Any:
        items = [gx.zeros(2)]
        for x in xs:
            if x > 0:
                items.append(x)
        return len(items)

    with pytest.raises(InvalidArgumentError, match=r"shapes \(2,\) and \(\) differ"):
        gx.function(program)(gx.asarray(XS))


def test_items_of_other_dtypes_are_refused_with_both() -> None:
    def program(xs: Tensor) -> Any:
        items = [gx.asarray(1, dtype="int32")]
        for x in xs:
            if x > 0:
                items.append(x)
        return len(items)

    with pytest.raises(InvalidTypeError, match=r"int32 and float32 differ"):
        gx.function(program)(gx.asarray(XS))


def test_texts_are_not_kept_in_a_list_of_unknown_length() -> None:
    def program(xs: Tensor) -> Any:
        items = []
        for x in xs:
            if x > 0:
                items.append("positive")
        return len(items)

    with pytest.raises(UnimplementedError, match="only tensors and numbers"):
        gx.function(program)(gx.asarray(XS))


OPERATIONS = st.lists(
    st.sampled_from(["append", "pop", "pop_first", "append_if", "replace", "clear_if", "read"]), min_size=1, max_size=5
)


@settings(max_examples=examples(25), deadline=None)
@given(OPERATIONS, st.lists(st.floats(-2, 2, width=16), min_size=3, max_size=6))
def test_random_operations(operations: list[str], values: list[float]) -> None:
    def program(xs: Tensor) -> Any:
        items = [xs[0], xs[1]]
        total = xs[0] * 0
        for x in xs:
            for operation in operations:
                if operation == "append":
                    items.append(x)
                elif operation == "pop":
                    if items:
                        total = total * 0.5 + items.pop()
                elif operation == "pop_first":
                    if len(items) > 0:
                        total = total * 0.5 + items.pop(0)
                elif operation == "append_if":
                    if x > 0:
                        items.append(x + total)
                elif operation == "replace":
                    if items:
                        items[-1] = items[-1] + x
                elif operation == "clear_if":
                    if x > 1:
                        items.clear()
                elif items:
                    total = total + items[0] - items[-1]
        return items, total

    check(program, gx.asarray(values))


def positive(xs: Tensor) -> list[Tensor]:
    found = []
    for x in xs:
        if x > 0:
            found.append(x)
    return found


def appended_after(xs: Tensor) -> Any:
    found = positive(xs)
    found.append(xs[0] + 10)
    found.append(xs[1] + 20)
    return len(found), found[-1], found[-2], found


def branches_one_after_the_other(xs: Tensor) -> Any:
    found = [xs[0]]
    if xs[1] > 0:
        found.append(xs[1])
    if xs[2] > 0:
        found.append(xs[2])
        found.append(xs[2] * 2)
    elif xs[3] > 0:
        found.append(xs[3])
    found.append(xs[4])
    return found[-1], found


def unrolled_after(xs: Tensor) -> Any:
    found = positive(xs)
    for k in range(3):
        found.append(xs[k] * 2)
    return found[-1], found


def rolled_after(xs: Tensor) -> Any:
    found = positive(xs)
    for x in xs:
        found.append(x * 2)
        if x > 0:
            found.append(x * 3)
    for x in xs:
        found.append(x * 4)
    return found[-1], found


def nested_after(xs: Tensor) -> Any:
    found = positive(xs)
    for x in xs:
        for y in xs:
            if x > y:
                found.append(x - y)
        found.append(x)
    found.append(xs[0] * 7)
    return found[-1], len(found), found


def walked(xs: Tensor) -> Any:
    found = positive(xs)
    total = xs[0] * 0
    for k, x in enumerate(found):
        total = total * 0.5 + x * (k + 1)
    for x in reversed(found):
        total = total * 0.5 + x
    for x, y in zip(found, xs, strict=False):
        total = total * 0.5 + x * y
    for k, x in enumerate(reversed(found), 2):
        total = total * 0.5 + x * k
    return total


def inside_another_loop(xs: Tensor) -> Any:
    total = xs[0] * 0
    for x in xs:
        found = positive(xs * x)
        found.append(x)
        found.append(x * 2)
        total = total * 0.5 + found[-1] + found[0] * len(found)
    return total


@pytest.mark.drawn(4)
@pytest.mark.parametrize(
    "program",
    [
        appended_after, branches_one_after_the_other, unrolled_after, rolled_after, nested_after,
        inside_another_loop, walked,
    ],
)  # fmt: skip
@pytest.mark.parametrize("values", [XS, [1.0] * 6, [-1.0] * 6, [-1.0, 2.0, 3.0, -4.0, 5.0, 6.0]])
def test_a_full_list_gets_more_room(program: Callable[[Any], Any], values: list[float]) -> None:
    check(program, gx.asarray(values))


def test_gradients_flow_through_a_list_that_got_more_room() -> None:
    def loss(xs: Tensor) -> Tensor:
        found = positive(xs)
        found.append(found[0] * xs[1])
        return found[-1] ** 2

    x = gx.asarray([1.0, 2.0, 3.0])
    np.testing.assert_allclose(gx.function(gx.grad(loss))(x).numpy(), gx.grad(loss)(x).numpy(), rtol=1e-5)


def test_assert_asks_whether_a_list_holds_something() -> None:
    def program(xs: Tensor) -> Any:
        found = positive(xs)
        assert found, "nothing is positive"
        return found[0]

    check(program, gx.asarray(XS))
    with pytest.raises(AssertionError, match="nothing is positive"):
        gx.function(program)(gx.asarray([-1.0, -2.0]))


@pytest.mark.parametrize(
    "use",
    [
        lambda xs: tuple(positive(xs)),
        lambda xs: list(reversed(positive(xs))),
        lambda xs: dict(enumerate(positive(xs))),
        lambda xs: positive(xs) * 2,
        lambda xs: [xs[0]] + positive(xs),  # noqa: RUF005
        lambda xs: positive(xs) + [xs[0]],  # noqa: RUF005
        lambda xs: positive(xs)[-2:],
        lambda xs: positive(xs).insert(0, xs[0]),
        lambda xs: positive(xs).insert(1, xs[0]),
        lambda xs: positive(xs) == [],
        lambda xs: positive(xs) != [],
        lambda xs: positive(xs) < [xs[0]],
    ],
)  # fmt: skip
def test_a_list_of_unknown_length_is_not_taken_for_its_buffer(use: Callable[[Any], Any]) -> None:
    with pytest.raises(GraphcError, match="a list whose length is known at run time only"):
        gx.function(use)(gx.asarray(XS))


def test_a_loop_does_not_change_the_list_that_it_runs_over() -> None:
    def program(xs: Tensor) -> Any:
        found = positive(xs)
        for k, x in enumerate(found):
            if k < 2:
                found.append(x)
        return found

    with pytest.raises(GraphcError, match="a list whose length is known at run time only"):
        gx.function(program)(gx.asarray(XS))
