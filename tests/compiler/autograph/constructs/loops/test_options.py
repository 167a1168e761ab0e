"""``gx.loop_options``: what the user says about a loop, and what becomes of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc import Tensor
from graphc.compiler.base.errors import FailedPreconditionError, InvalidArgumentError, UnimplementedError
from tests.compiler.autograph.differential import check, f, kinds_of, loops_of, n


def scans(fn: Any, *args: Any, **options: Any) -> list[Any]:
    return [node for node in gx.function(fn, **options).graph(*args).nodes if node.op.name == "scan"]


def test_each_loop_goes_by_its_own_options() -> None:
    def program(x: Tensor) -> Tensor:
        for i in range(3):
            gx.loop_options(unroll=False)
            x = x * 2 + i
        for i in range(10):
            gx.loop_options(unroll=True)
            x = x * 0.5 + i
        for i in range(10):
            gx.loop_options(unroll=4)
            x = x * 0.5 + i
        for i in range(10):
            gx.loop_options()
            x = x * 0.5 + i
        return x

    check(program, f(1.0))
    assert kinds_of(program, f(1.0)) == ["rolled", "unrolled", "rolled", "rolled"]
    assert [node.attrs.get("unroll", 1) for node in scans(program, f(1.0))] == [1, 4, 1]


def test_the_loop_says_more_than_the_function() -> None:
    def program(x: Tensor) -> Tensor:
        for i in range(10):
            gx.loop_options(unroll=False)
            x = x * 0.5 + i
        for i in range(10):
            x = x * 0.5 + i
        return x

    assert kinds_of(program, f(1.0), unroll=True) == ["rolled", "unrolled"]


def test_options_are_of_the_innermost_loop() -> None:
    def program(x: Tensor) -> Tensor:
        for i in range(6):
            for j in range(7):
                gx.loop_options(unroll=True)
                x = x * 0.5 + i * j
        return x

    check(program, f(1.0))
    assert kinds_of(program, f(1.0)) == ["unrolled", "rolled"]


@pytest.mark.parametrize("unroll", [2, 3, 4, 7, 30, 100])
def test_several_iterations_at_a_time(unroll: int) -> None:
    def program(x: Tensor, y: Tensor) -> Any:
        for i in range(7):
            gx.loop_options(unroll=unroll)
            x = x * 0.5 + i
        total = gx.zeros(())
        for a, b in zip(y, reversed(y), strict=True):
            gx.loop_options(unroll=unroll)
            total = total * 0.5 + a * b
        return x, total

    check(program, f(1.0), f(*map(float, range(1, 8))))
    assert [node.attrs["unroll"] for node in scans(program, f(1.0), f(*map(float, range(1, 8))))] == [
        min(unroll, 7)
    ] * 2


def test_nothing_happens_before_the_loop_begins_anew() -> None:
    seen: list[int] = []

    def program(x: Tensor) -> Tensor:
        for i in range(3):
            gx.loop_options(unroll=False)
            x = x + i
        it = enumerate(gx.ones(3))
        for i, v in it:
            gx.loop_options(unroll=True)
            seen.append(i)
            x = x + v
        return x

    with pytest.warns(gx.errors.SideEffectWarning):
        assert gx.function(program)(f(1.0)).item() == 7.0
    assert seen == [0, 1, 2]


def test_a_loop_over_a_generator_expression_has_options() -> None:
    def program(x: Tensor) -> Any:
        total = gx.zeros(())
        for v in (u * u for u in x):
            gx.loop_options(unroll=True)
            total = total + v
        return total

    check(program, f(1.0, 2.0, 3.0))
    assert kinds_of(program, f(1.0, 2.0, 3.0)) == ["unrolled"]


def test_plain_python_runs_past_it() -> None:
    total = 0
    for i in range(3):
        gx.loop_options(unroll=2, max_iterations=1)
        total += i
    assert total == 3


# --- bounds


def halve(x: Tensor) -> Any:
    count = 0
    while x > 1:
        gx.loop_options(max_iterations=3)
        x = x / 2
        count = count + 1
    return x, count


def count_up(x: Tensor, count: Tensor) -> Any:
    for i in range(count):
        gx.loop_options(max_iterations=3)
        x = x + i
    return x


def collect(x: Tensor) -> Any:
    values = []
    while x > 1:
        gx.loop_options(max_iterations=3)
        x = x / 2
        values.append(x)
    return values


@pytest.mark.parametrize("value", [0.5, 2.0, 3.0, 7.0])
def test_a_loop_that_ends_in_time(value: float) -> None:
    check(halve, f(value))
    check(collect, f(value))
    check(count_up, f(1.0), n(int(value) % 4))


@pytest.mark.parametrize(("fn", "args"), [(halve, (f(9.0),)), (collect, (f(100.0),)), (count_up, (f(1.0), n(4)))])
def test_a_loop_that_does_not_end_in_time_fails(fn: Any, args: Any) -> None:
    compiled = gx.function(fn)
    for _ in range(2):
        with pytest.raises(
            FailedPreconditionError,
            match=r"a loop has not ended after max_iterations=3 iterations(?s:.*)test_options.py",
        ):
            compiled(*args)
    assert fn(*args) is not None


def test_the_function_may_say_a_bound_for_all_loops() -> None:
    def program(x: Tensor) -> Any:
        while x > 1:
            x = x / 2
        return x

    assert gx.function(program, max_iterations=5)(f(9.0)).item() == pytest.approx(0.5625)
    with pytest.raises(FailedPreconditionError, match="max_iterations=2"):
        gx.function(program, max_iterations=2)(f(9.0))


def test_a_bound_gives_gradients_a_buffer() -> None:
    compiled = gx.function(halve)
    with gx.GradientTape() as tape:
        x = f(7.0)
        tape.watch(x)
        y, _ = compiled(x)
    np.testing.assert_allclose(tape.gradient(y, x).numpy(), 0.125)
    whiles = [node for node in compiled.graph(f(7.0)).walk() if node.op.name == "while"]
    assert [node.attrs["max_iterations"] for node in whiles] == [3]


def test_while_loop_takes_a_bound() -> None:
    def program(x: Tensor) -> Any:
        return gx.while_loop(lambda v: v > 1, lambda v: v / 2, x, max_iterations=3)

    check(program, f(7.0))
    with pytest.raises(FailedPreconditionError, match="max_iterations=3"):
        gx.function(program)(f(9.0))


# --- refusals


def listed(x: Tensor) -> Any:
    for k in [1.0, 2.0]:
        gx.loop_options(unroll=False)
        x = x + k
    return x


def with_a_table(x: Tensor) -> Any:
    for i in range(6):
        gx.loop_options(unroll=False)
        x = x + len(["a", "b", "cc", "d", "e", "ff"][i])
    return x


def python_while(x: Tensor) -> Any:
    k = 0
    while k < 3:
        gx.loop_options(unroll=False)
        k = k + 1
    return x * k


def unrolled_while(x: Tensor) -> Any:
    while x > 1:
        gx.loop_options(unroll=True)
        x = x / 2
    return x


def unrolled_range(x: Tensor) -> Any:
    for i in range(gx.astype(x, int)):
        gx.loop_options(unroll=True)
        x = x + i
    return x


@pytest.mark.parametrize(
    ("fn", "message"),
    [
        (listed, r"unroll=False, but this loop cannot be rolled: it runs over a list"),
        (with_a_table, r"unroll=False, but this loop cannot be rolled: an index or a size needs"),
        (python_while, r"unroll=False, but this loop cannot be rolled: its test is a Python value"),
        (unrolled_while, r"unroll=True, but this loop cannot be unrolled: its test is a tensor"),
        (unrolled_range, r"unroll=True, but this loop cannot be unrolled: its range has a tensor bound"),
    ],
)
def test_what_cannot_be_is_refused(fn: Any, message: str) -> None:
    with pytest.raises(UnimplementedError, match=message) as caught:
        gx.function(fn)(f(3.0))
    assert f"in {fn.__name__}" in str(caught.value)


def test_it_stands_in_a_loop() -> None:
    def outside(x: Tensor) -> Any:
        gx.loop_options(unroll=True)
        return x

    def in_a_branch(x: Tensor) -> Any:
        for i in range(9):
            if x.shape == ():
                gx.loop_options(unroll=True)
            x = x + i
        return x

    for program in (outside, in_a_branch):
        with pytest.raises(InvalidArgumentError, match="loop_options stands outside of a loop's body"):
            gx.function(program)(f(1.0))


@pytest.mark.parametrize("options", [{"unroll": 1}, {"unroll": "yes"}, {"max_iterations": 0}, {"max_iterations": True}])
def test_bad_options(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgumentError, match=f"loop_options: {next(iter(options))} must be None"):
        gx.loop_options(**options)


def test_the_report_says_what_was_said() -> None:
    def program(x: Tensor) -> Any:
        for i in range(10):
            gx.loop_options(unroll=True)
            x = x + i
        for i in range(10):
            gx.loop_options(unroll=5)
            x = x * 0.5 + i
        return x

    assert loops_of(program, f(1.0)) == [
        ("unrolled", "unroll=True"),
        ("rolled", "its 10 iterations do the same work; 5 iterations at a time, by unroll=5"),
    ]
