"""Every program of the suite means the same in plain Python, compiled, and under a tape."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any
from zlib import crc32

import pytest

from tests.compiler.autograph.differential import kinds_of
from tests.conformance.harness import (
    MOVED,
    Differs,
    Program,
    Refused,
    TapePlace,
    check,
    check_gradients,
    check_moved,
    fresh,
    programs,
)
from tests.conformance.table import PAGE, page

PROGRAMS = programs()
# What becomes of Variables is not in the graph alone: the compiled program takes them, and gives their new values.
_OF_VARIABLES = "state/"
# A gap is either of what graphc refuses, or of what it does differently; a test that fails in another way is red.
SECONDS = 60


def rows(chosen: Iterable[Program]) -> list[Any]:
    """Parameters for the gradients of programs; those with a gap of today must fail, in the way that the gap says."""
    return [pytest.param(program, id=program.name, marks=_gaps(program, gradients=True)) for program in chosen]


def checks() -> Iterator[Any]:
    """Parameters for the values of each program, and next for its gradients, where eager code needs its kernels."""
    for program in PROGRAMS:
        marks = [
            *_gaps(program, gradients=False),
            *([pytest.mark.xla] if program.name.startswith(_OF_VARIABLES) else []),
            pytest.mark.drawn(3),
        ]
        yield pytest.param(program, check, id=program.name, marks=marks)
        if program.gradient:
            marks = [*_gaps(program, gradients=True), pytest.mark.drawn(3)]
            yield pytest.param(program, check_its_gradients, id=f"{program.name}-gradients", marks=marks)


def _gaps(program: Program, *, gradients: bool) -> list[pytest.MarkDecorator]:
    gap = program.known_gap or program.known_difference
    if gradients and (gap or program.gradient_gap):
        # Where values fail gradients may be right.
        return [pytest.mark.xfail(reason=gap or program.gradient_gap, raises=(Refused, Differs), strict=gap is None)]
    if gap:
        return [pytest.mark.xfail(reason=gap, raises=Refused if program.known_gap else Differs, strict=True)]
    return []


def place_of(program: Program) -> TapePlace:
    """Where the tape is that the gradients of a program are compared with: one half has it there, one half here."""
    return "inside" if crc32(program.name.encode()) % 2 else "around"


def check_its_gradients(program: Program) -> None:
    check_gradients(program, ("around", "inside") if program.gradient_gap else (place_of(program),))


@pytest.mark.timeout(SECONDS, method="signal")
@pytest.mark.parametrize(("program", "checked"), list(checks()))
def test_program(program: Program, checked: Callable[[Program], None]) -> None:
    checked(program)


@pytest.mark.slow
@pytest.mark.timeout(SECONDS, method="signal")
@pytest.mark.parametrize("program", rows(row for row in PROGRAMS if row.gradient and not row.gradient_gap))
def test_gradients_with_the_tape_elsewhere(program: Program) -> None:
    check_gradients(program, ("around" if place_of(program) == "inside" else "inside",))


def moved() -> Iterator[Any]:
    """Parameters for the gradients of programs whose tape is moved, a tenth of them in a run."""
    for program in PROGRAMS:
        if program.gradient and not (program.gradient_gap or program.known_gap or program.known_difference):
            for place in MOVED:
                yield pytest.param(program, place, id=f"{program.name}-{place}", marks=pytest.mark.drawn(10))


@pytest.mark.timeout(SECONDS, method="signal")
@pytest.mark.parametrize(("program", "place"), list(moved()))
def test_gradients_with_the_tape_in_a_branch_or_loop_or_behind_a_return(program: Program, place: str) -> None:
    check_moved(program, place)


@pytest.mark.parametrize("program", [pytest.param(row, id=row.name) for row in PROGRAMS if row.loops is not None])
def test_what_became_of_the_loops(program: Program) -> None:
    assert tuple(kinds_of(program.fn, *fresh(program.inputs[0]))) == program.loops


def test_there_are_enough() -> None:
    assert len(PROGRAMS) >= 200
    assert all(len(program.inputs) >= 1 for program in PROGRAMS)


def test_the_documentation_says_what_the_suite_says() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run python -m tests.conformance.table"
