"""Tapes and the identity of tensors: two names of one tensor are one for a tape, wherever a branch or loop stands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base.errors import FailedPreconditionError, UnimplementedError

SAME = "may be the same one as another that the target depends on"


def value(number: float) -> gx.Tensor:
    return gx.asarray(number, dtype=gx.float32)


def agree(fn: Callable[..., Any], *args: Any) -> None:
    for one, other in zip(*(gx.nest.flatten(one(*args)) for one in (gx.function(fn), fn)), strict=True):
        np.testing.assert_allclose(np.asarray(one), np.asarray(other), rtol=1e-5)


def gradient_by(w: Any, others: Any) -> Any:
    with gx.GradientTape() as tape:
        tape.watch(w)
        product = w
        for other in others:
            product = product * other
    return tape.gradient(product, w)


def clipped(x: Any, c: Any) -> Any:
    w = x
    if c > 10:
        w = w * 0.5
    return gradient_by(w, [x])


def chosen(x: Any, c: Any) -> Any:
    return gradient_by([x, c, x * 2][gx.astype(c, int)], [x])


def chosen_and_kept(x: Any, c: Any) -> Any:
    kept, w = [x], [x, c, x * 2][gx.astype(c, int)]
    if c > 0:
        kept.append(w)
    return gradient_by(w, [x])


def switched(x: Any, c: Any) -> Any:
    return gradient_by(gx.switch(gx.astype(c, int), [lambda: x, lambda: c]), [x])


def until_small(x: Any, c: Any) -> Any:
    before = x
    while x > 0.5:
        following = x - 0.1 * gradient_by(x, [before])
        before, x = x, following
    return x


@pytest.mark.parametrize("program", [clipped, chosen, chosen_and_kept, switched, until_small])
def test_a_source_that_may_be_another_tensor_is_refused(program: Callable[..., Any]) -> None:
    with pytest.raises(UnimplementedError, match=rf"(?s){SAME}.*w = x.copy\(\).*test_identity"):
        gx.function(program)(value(3), value(1))


def test_a_copy_is_a_tensor_of_its_own() -> None:
    def program(x: Any, c: Any) -> Any:
        w = x.copy()
        if c > 10:
            w = w * 0.5
        return gradient_by(w, [x])

    agree(program, value(3), value(1))


def moving_together(x: Any) -> Any:
    best = x
    for _ in range(6):
        x = x - 0.1 * gradient_by(x, [best])
        best = x
    return x


def beginning_as_one(x: Any) -> Any:
    start = x
    for _ in range(6):
        x = x - 0.1 * gradient_by(x, [start])
    return x


def with_history(x: Any) -> Any:
    history, total = [], x * 0
    for _ in range(6):
        history.append(x)
        total = total + gradient_by(x, [history[-1], history[0]])
        x = gx.sin(x)
    return total


@pytest.mark.parametrize("program", [moving_together, beginning_as_one, with_history])
def test_a_loop_over_names_of_one_tensor_is_unrolled(program: Callable[..., Any]) -> None:
    agree(program, value(0.7))
    assert "unrolled" in str(gx.explain(program, value(0.7)))


def test_a_loop_over_tensors_of_their_own_is_rolled() -> None:
    def momentum(x: Any, c: Any) -> Any:
        m = x * 0
        while x > 0.5:
            m = 0.9 * m + gradient_by(x, [m + 1, c])
            x = x - 0.1 * m
        return x, m

    agree(momentum, value(3), value(1))


def test_one_tensor_for_two_arguments_is_refused_and_two_are_not() -> None:
    compiled = gx.function(gradient_by)
    x, y = value(3), value(2)
    assert compiled(x, [y]).item() == 2
    with pytest.raises(UnimplementedError, match=SAME):
        compiled(x, [x])
    assert compiled(x, [y]).item() == 2
    assert gradient_by(x, [x]).item() == 6


def test_a_tensor_from_outside_that_is_passed_as_well_is_refused() -> None:
    outer = value(3)
    compiled = gx.function(lambda x: gradient_by(x, [outer]))
    assert compiled(value(2)).item() == 3
    with pytest.raises(UnimplementedError, match=SAME):
        compiled(outer)


def test_the_argument_of_gx_grad_is_a_tensor_of_its_own() -> None:
    agree(lambda x: gx.grad(lambda v: v * x)(x), value(3))


def watched_there(tape: Any, x: Any) -> None:
    tape.watch(x)


def forgotten_there(tape: Any, x: Any) -> None:
    tape.reset()


def stopped_there(tape: Any, x: Any) -> None:
    with tape.stop_recording():
        gx.sin(x)


@pytest.mark.parametrize("change", [watched_there, forgotten_there, stopped_there])
def test_what_an_open_tape_follows_is_not_decided_by_tensors(change: Callable[..., None]) -> None:
    def program(x: Any, c: Any) -> Any:
        with gx.GradientTape() as tape:
            tape.watch(c)
            if c > 0:
                change(tape, x)
            y = x * x * c
        return tape.gradient(y, x)

    with pytest.raises(UnimplementedError, match=r"in a branch or loop that depends on tensors.*before the branch"):
        gx.function(program)(value(3), value(1))


def test_a_tape_with_records_is_not_opened_again_in_a_branch() -> None:
    def program(x: Any, c: Any) -> Any:
        with gx.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = x * x
        if c > 0:
            with tape:
                y = y * x
        return tape.gradient(y, x)

    with pytest.raises((UnimplementedError, FailedPreconditionError), match="opened again in a branch"):
        gx.function(program)(value(3), value(1))


def rows_joined(x: Any) -> Any:
    a, b = x
    with gx.GradientTape() as tape:
        tape.watch([a, b])
        y = gx.sum(gx.stack([a, b]) ** 2) * a
    return tape.gradient(y, [a, b])


def joined_before(x: Any) -> Any:
    y = gx.stack(list(x))
    with gx.GradientTape() as tape:
        tape.watch(x)
        z = gx.sum(x * y)
    return tape.gradient(z, x)


def joined_in_a_branch(x: Any) -> Any:
    a, b = x
    with gx.GradientTape() as tape:
        tape.watch([a, b])
        y = a
        if b > 0:
            y = gx.sum(gx.stack([a, b]) ** 2)
    return tape.gradient(y, [a, b])


def looped_over(x: Any) -> Any:
    rows, total = [gx.sin(x[0] * i) for i in range(6)], x[0] * 0
    with gx.GradientTape() as tape:
        tape.watch(rows)
        for row in rows:
            total = total + row * rows[3]
    return tape.gradient(total, rows[3])


def pushed_forward(x: Any) -> Any:
    a, b = x
    with gx.ForwardAccumulator(a, gx.asarray(1.0)) as accumulator:
        y = gx.sum(gx.stack([a, b]) ** 2)
    return accumulator.jvp(y)


def two_stacks(x: Any) -> Any:
    rows = [x[0] * i for i in range(6)]
    y, z = gx.stack(rows), gx.stack(rows)
    with gx.GradientTape() as tape:
        tape.watch(y)
        total = gx.sum(y * z)
    return tape.gradient(total, y)


@pytest.mark.parametrize(
    "program", [rows_joined, joined_before, joined_in_a_branch, looped_over, pushed_forward, two_stacks]
)
def test_rows_of_an_array_and_their_stack_are_tensors_of_their_own(program: Callable[..., Any]) -> None:
    agree(program, gx.asarray([1.0, 2.0]))


def test_a_gradient_by_a_row_that_was_joined_unseen_is_refused() -> None:
    def program(x: Any) -> Any:
        with gx.GradientTape() as tape:
            tape.watch(x)
            a, b = x
            y = gx.sum(gx.stack([a, b]) ** 2)
        return tape.gradient(y, [a, b])

    with pytest.raises(UnimplementedError, match=r"rows were joined again.*tape\.watch\(row\)"):
        gx.function(program)(gx.asarray([1.0, 2.0]))
