"""A tape that is asked in a branch by what tensors hold: as often as Python allows, and not in a loop around it."""

from __future__ import annotations

from typing import Any

import pytest

import graphc as gx
from graphc.compiler.base.errors import FailedPreconditionError, UnimplementedError


def _cube(x: Any) -> Any:
    with gx.GradientTape() as tape:
        tape.watch(x)
        y = x * x * x
    return tape, y


def test_a_tape_is_asked_once_on_each_path() -> None:
    @gx.function
    def program(x: Any) -> Any:
        tape, y = _cube(x)
        slope = tape.gradient(y, x) if y > 5 else y
        return slope + tape.gradient(y, x)

    @gx.function
    def after_another_branch(x: Any) -> Any:
        tape, y = _cube(x)
        slope = tape.gradient(y, x) if y > 5 else y
        try:
            slope = slope + tape.gradient(y, x) if y > 6 else y
        except RuntimeError:  # no handler answers for what only the program knows
            slope = x
        return slope

    for one in (program, after_another_branch):
        with pytest.raises(UnimplementedError, match="a branch may have called it before on this GradientTape"):
            one(gx.asarray(3.0))


def test_a_tape_is_not_asked_in_a_loop_that_it_was_opened_outside_of() -> None:
    @gx.function
    def program(x: Any) -> Any:
        tape, y = _cube(x)
        while x < 5:
            x = x + tape.gradient(y, x)
        return x

    with pytest.raises(FailedPreconditionError, match="outside the function or loop body that opened"):
        program(gx.asarray(3.0))


def test_a_tape_is_not_asked_in_a_branch_while_it_is_open() -> None:
    @gx.function
    def program(x: Any) -> Any:
        with gx.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = x * x * x
            return tape.gradient(y, x) if y > 5 else y

    with pytest.raises(FailedPreconditionError, match="or in a branch while it is open"):
        program(gx.asarray(3.0))


def test_a_persistent_tape_is_asked_in_branches_and_after_them() -> None:
    @gx.function
    def program(x: Any) -> Any:
        with gx.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = x * x * x
        slope = tape.gradient(y, x) if y > 5 else y
        return slope + tape.gradient(y, x)

    assert program(gx.asarray(3.0)).item() == 54.0
    assert program(gx.asarray(1.0)).item() == 4.0
