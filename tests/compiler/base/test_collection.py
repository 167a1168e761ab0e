"""Garbage of a time when the collector is paused."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest

from graphc.compiler.base import collect_since, collection_paused, collections_so_far


class Knot:
    """Refers to itself, so that only the collector frees it."""

    def __init__(self) -> None:
        self.itself: Any = self


def full_collections() -> int:
    return gc.get_stats()[2]["collections"]


@pytest.mark.parametrize("survives_another", [False, True])
def test_garbage_of_the_pause_is_collected(survives_another: bool) -> None:
    with collection_paused():
        before, full = collections_so_far(), full_collections()
        knot = Knot()
        found = weakref.ref(knot)
        if survives_another:
            gc.collect(0)
        del knot
        assert found() is not None
        collect_since(before)
        assert found() is None
        assert full_collections() - full == survives_another


def test_where_the_collector_runs_all_is_looked_at() -> None:
    gc.enable()  # a thread that a deadline of another test has given up may have paused it
    before, full = collections_so_far(), full_collections()
    collect_since(before)
    assert full_collections() > full
