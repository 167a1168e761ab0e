"""Registries: entries that are there, and entries that are made when somebody looks for them."""

from __future__ import annotations

import threading

import pytest

from graphc.compiler.base import Registry
from graphc.compiler.base.errors import InternalError, NotFoundError


def test_an_entry_is_made_when_it_is_first_looked_for() -> None:
    made: list[str] = []
    colours = Registry[str]("colour")
    colours.add("red", "r")
    colours.add_later("blue", lambda: made.append("blue") or "b")
    assert list(colours) == ["blue", "red"]
    assert len(colours) == 2
    assert "blue" in colours
    assert not made
    assert colours["blue"] + colours["blue"] == "bb"
    assert made == ["blue"]
    for add in (lambda: colours.add("blue", "x"), lambda: colours.add_later("red", lambda: "x")):
        with pytest.raises(InternalError, match="is registered twice"):
            add()
    with pytest.raises(NotFoundError, match="there is no colour 'green' among the 2 registered"):
        colours["green"]


def test_what_is_missed_may_come_from_modules_that_are_imported_then() -> None:
    loaded: list[int] = []
    colours = Registry[str]("colour")
    colours.add("red", "r")
    colours.rest_from(lambda: loaded.append(len(loaded)) or colours.add("blue", "b"))
    assert colours["red"] == "r"
    assert not loaded
    assert colours["blue"] == "b"
    assert "green" not in colours
    assert loaded == [0]
    names = Registry[str]("name")
    names.rest_from(lambda: names.add("only", "one"))
    assert list(names) == ["only"]


def test_threads_that_look_at_once_get_one_entry() -> None:
    asked = threading.Barrier(4)
    entries = Registry[object]("entry")

    def make() -> object:
        return entries["part"], object()  # a maker may look for another entry

    entries.add_later("part", object)
    entries.add_later("whole", make)
    found: list[object] = []

    def ask() -> None:
        asked.wait()
        found.append(entries["whole"])

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert len(set(map(id, found))) == 1
