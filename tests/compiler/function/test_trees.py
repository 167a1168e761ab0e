"""Nested lists and dicts from outside: many guards as one, which still sees every change."""

from __future__ import annotations

import copy
import importlib
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphc as gx
from graphc.compiler.function.entry import folded
from graphc.compiler.tracing import ReadGuard
from tests.draws import examples

X = gx.asarray(1.0)

Change = tuple[Any, Callable[[Any], None]]


def settings_of_layers() -> dict[str, Any]:
    return {
        "layers": [{"rate": 0.5 * place, "size": place, "on": True, "name": f"n{place}"} for place in range(6)],
        "table": [[float(row + column) for column in range(10)] for row in range(6)],
        "tags": [("a", ["b", 1]), {1, 2}, {"deep": {"deeper": [0.0, None]}}],
    }


def swapped(rows: list[Any]) -> None:
    rows[0], rows[1] = rows[1], rows[0]


CHANGES: dict[str, Callable[[dict[str, Any]], object]] = {
    "a number": lambda d: d["layers"][3].update(rate=7.0),
    "an int for an equal float": lambda d: d["table"][2].__setitem__(0, 2),
    "the sign of zero": lambda d: d["tags"][2]["deep"]["deeper"].__setitem__(0, -0.0),
    "True for 1": lambda d: d["layers"][1].update(size=True),
    "an item moves to the next row": lambda d: d["table"][1].insert(0, d["table"][0].pop()),
    "rows are swapped": lambda d: swapped(d["table"]),
    "an item is added": lambda d: d["tags"][0][1].append(2),
    "an item of a set": lambda d: d["tags"][1].add(3),
    "the order of keys": lambda d: d["layers"][0].update(rate=d["layers"][0].pop("rate")),
    "another row": lambda d: d["table"].__setitem__(5, [1.0] * 10),
    "a tuple for a list": lambda d: d["table"].__setitem__(5, tuple(d["table"][5])),
    "None for a dict": lambda d: d["tags"][2].update(deep=None),
    "all at once": lambda d: d.update(layers=[]),
}


def count_folded(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Counts the guards of each entry that is made from now on."""
    counts: list[int] = []

    def counted(guards: Any, find: Any) -> list[ReadGuard]:
        found = folded(guards, find)
        counts.append(len(found))
        return found

    monkeypatch.setattr(importlib.import_module("graphc.compiler.function.entry"), "folded", counted)
    return counts


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_anywhere_is_seen(monkeypatch: pytest.MonkeyPatch, change: str) -> None:
    made = count_folded(monkeypatch)
    known = settings_of_layers()
    compiled = gx.function(lambda x: (x, repr(known)))
    for _ in range(3):
        assert compiled(X)[1] == repr(known)
    assert compiled.num_traces == 1
    assert made
    assert made[0] < 8
    CHANGES[change](known)
    for _ in range(3):
        assert compiled(X)[1] == repr(known)
    assert compiled.num_traces == 2


def test_equal_containers_in_their_place_need_no_trace() -> None:
    known = settings_of_layers()
    compiled = gx.function(lambda x: (x, repr(known)))
    for _ in range(30):
        compiled(X)
        for name, part in settings_of_layers().items():
            known[name] = part
    known["layers"][5]["size"] = 6
    assert compiled(X)[1] == repr(known)
    assert compiled.num_traces == 2


def test_items_that_are_not_read_may_change() -> None:
    known = [{"rate": 0.5 * place, "unread": 0} for place in range(4)]
    compiled = gx.function(lambda x: x * (known[0]["rate"] + known[1]["rate"] + known[2]["rate"] + known[3]["rate"]))
    for place in range(60):
        assert compiled(X).item() == 3.0
        known[place % 4]["unread"] += 1
    assert compiled.num_traces == 1
    known[2]["rate"] = 0.0
    assert compiled(X).item() == 2.0


def test_rows_that_become_one_row() -> None:
    known = [[0.5] * 10 for _ in range(6)]
    compiled = gx.function(lambda x: x * sum(sum(row) for row in known))
    assert compiled(X).item() == 30.0
    known[3] = known[0]
    assert compiled(X).item() == 30.0
    known[0][2] = 1.5
    assert compiled(X).item() == 32.0
    known[3] = [0.5] * 10
    assert compiled(X).item() == 31.0


def test_a_change_by_another_thread_between_calls_is_seen() -> None:
    known = settings_of_layers()
    compiled = gx.function(lambda x: (x, repr(known)), on_retrace="ignore")
    barrier = threading.Barrier(2, timeout=60)

    def change() -> None:
        for row in known["table"]:
            barrier.wait()
            row[0] += 1.0
            barrier.wait()

    thread = threading.Thread(target=change)
    thread.start()
    for _ in known["table"]:
        assert compiled(X)[1] == repr(known)
        barrier.wait()
        barrier.wait()
        assert compiled(X)[1] == repr(known)
    thread.join()
    assert compiled.num_traces == 7


def weighted(known: list[list[float]], x: gx.Tensor) -> gx.Tensor:
    return x * sum(sum(row) for row in known)


def test_sizes_that_pay(monkeypatch: pytest.MonkeyPatch) -> None:
    made = count_folded(monkeypatch)
    for size, count in ((3, 18), (30, 5)):  # fourteen guards of numbers and containers; one tree
        known = [[float(row + column) for column in range(size)] for row in range(size)]
        gx.function(partial(weighted, known))(X)
        assert made.pop() == count


class Model:
    def __init__(self, size: float) -> None:
        self.settings = [[size, 2.0, 3.0] for _ in range(10)]

    @gx.function
    def __call__(self, x: gx.Tensor) -> gx.Tensor:
        return x * sum(sum(row) for row in self.settings)


def test_the_settings_of_each_object_are_its_own() -> None:
    one, other = Model(1.0), Model(5.0)
    for _ in range(3):
        assert one(X).item() == 60.0
        assert other(X).item() == 100.0
    one.settings[3][0] = 2.0
    assert (one(X).item(), other(X).item()) == (61.0, 100.0)


LEAVES = st.one_of(st.integers(-2, 2), st.sampled_from([0.0, -0.0, 1.0, 2.0]), st.booleans(), st.none(), st.just("a"))
TREES = st.recursive(LEAVES, lambda part: st.lists(part, max_size=4) | st.dictionaries(st.sampled_from("abcd"), part))


@settings(max_examples=examples(40), deadline=None)
@given(st.lists(TREES, min_size=10, max_size=14), st.data())
def test_random_trees_that_change(known: list[Any], data: st.DataObject) -> None:
    compiled = gx.function(lambda x: (x, repr(known)), on_retrace="ignore")
    for _ in range(4):
        for _ in range(2):
            assert compiled(X)[1] == repr(known)
        place: Any = known
        while True:
            kind: Any = type(place)
            keys = list(place) if kind is dict else range(len(place))
            key = data.draw(st.sampled_from(keys)) if len(place) else None
            if key is None or type(place[key]) not in (list, dict) or data.draw(st.booleans()):
                break
            place = place[key]
        new: Any = copy.deepcopy(data.draw(TREES))
        if key is not None:
            place[key] = new
        elif kind is list:
            place.append(new)
