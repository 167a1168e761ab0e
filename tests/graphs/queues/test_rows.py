"""What holds the rows: nothing stays of rows that were taken."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

from graphc.compiler.ir import OPEN, TensorType
from graphc.graphs.queues.rows import Entry, Run, joined, rows_in
from graphc.graphs.queues.state import FifoRows, ShuffledRows

NUMBERS = (TensorType((), np.dtype("int32")),)


def run(start: int, stop: int) -> Run:
    return Run((np.arange(stop, dtype=np.int32),), start, stop)


def row(number: int) -> Entry:
    return (np.array(number, np.int32),)


@pytest.mark.parametrize("make", [FifoRows, lambda: ShuffledRows(1)])
def test_what_was_taken_is_not_kept(make: type[FifoRows]) -> None:
    rows = make()
    entry = run(0, 20)
    kept = weakref.ref(entry.columns[0])
    rows.put(entry)
    rows.put(row(20))
    del entry
    taken = [rows.take_row(), *rows.take(3), *rows.take(12)]
    rows.put_back(taken)
    assert rows.size == 21
    del taken
    found = joined(rows.take(21), NUMBERS)[0]
    assert sorted(found.tolist()) == list(range(21))
    gc.collect()
    assert rows.size == 0
    assert kept() is None


def test_parts_of_a_run_that_follow_each_other_are_one() -> None:
    rows, whole = FifoRows(), run(0, 10)
    for start in range(10):
        rows.put(Run(whole.columns, start, start + 1))
    (entry,) = rows.take(10)
    assert rows_in(entry) == 10
    assert joined([entry], NUMBERS)[0] is whole.columns[0]


def test_rows_that_are_put_back_are_first_again() -> None:
    rows = FifoRows()
    rows.put(run(0, 5))
    rows.put(row(5))
    first, then = rows.take(2), rows.take(4)
    rows.put_back(then)
    rows.put_back(first)
    assert joined(rows.take(6), NUMBERS)[0].tolist() == [0, 1, 2, 3, 4, 5]


def test_rows_of_several_sizes_are_filled_up_wherever_they_come_from() -> None:
    rows = ShuffledRows(2)
    types = (TensorType((OPEN,), np.dtype("int32")),)
    rows.put(Run((np.ones((3, 2), np.int32),), 0, 3))
    rows.put((np.full(4, 2, np.int32),))
    found = joined(rows.take(4), types)[0]
    assert sorted(found.tolist()) == [[1, 1, 0, 0]] * 3 + [[2, 2, 2, 2]]
