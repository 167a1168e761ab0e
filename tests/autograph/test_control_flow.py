"""Programs of the table mean the same eagerly and compiled."""

from __future__ import annotations

import pytest

from tests.autograph.operators.differential import check, kinds_of
from tests.autograph.operators.programs import PROGRAMS, Row


@pytest.mark.parametrize("row", PROGRAMS, ids=lambda row: row.fn.__name__)
def test_a_program_means_the_same_eagerly_and_compiled(row: Row) -> None:
    for inputs in row.inputs:
        check(row.fn, *inputs)


@pytest.mark.parametrize("row", [row for row in PROGRAMS if row.loops is not None], ids=lambda row: row.fn.__name__)
def test_what_became_of_the_loops(row: Row) -> None:
    assert tuple(kinds_of(row.fn, *row.inputs[0])) == row.loops


def test_the_table_is_large() -> None:
    names = [row.fn.__name__ for row in PROGRAMS]
    assert len(names) == len(set(names)) >= 80
