"""Objects that at run time are one of several others."""

from __future__ import annotations

from typing import Any

from graphc.compiler.tracing import AliasSet


class Thing:
    """Something that can be changed."""


def test_an_object_that_stands_for_what_nobody_sees_may_change() -> None:
    known = AliasSet()
    value = Thing()
    known.add(value, "x", (Thing(), Thing()))
    assert known.changing(value) is None
    found = known.get(value)
    assert found is not None
    assert found.changed


def test_an_object_that_stands_for_what_somebody_sees_may_not() -> None:
    known = AliasSet()
    value, seen = Thing(), Thing()
    known.add(value, "x", (seen, Thing()))
    refused = known.changing(value)
    assert refused is known.get(value)
    assert refused is not None
    assert "'x' may or may not be at run time" in str(refused.error("the call of list.append"))


def test_of_two_stand_ins_for_one_object_one_may_change_when_the_other_is_gone() -> None:
    known = AliasSet()
    first: Any = Thing()
    second = Thing()

    source = Thing()
    known.add(first, "x", (source,))
    known.add(second, "y", (source,))
    del source
    assert known.changing(second) is known.get(first)
    del first
    assert known.changing(second) is None


def test_references_that_the_user_cannot_see_do_not_count() -> None:
    known = AliasSet()
    value, source = Thing(), Thing()
    known.add(value, "x", (source,), references=1)
    assert known.changing(value) is None


def test_a_source_may_not_change_while_its_stand_in_is_seen() -> None:
    known = AliasSet()
    value: Any = Thing()
    source = Thing()
    known.add(value, "x", (source,))
    assert known.changing(source) is known.get(value)
    del value
    assert known.changing(source) is None


def test_what_was_frozen_may_never_change() -> None:
    known = AliasSet()
    value = Thing()
    assert not known.is_frozen(value)
    known.freeze(value, "the item of a list")
    assert known.is_frozen(value)
    assert known.changing(value) is not None


def test_what_was_added_since_is_forgotten() -> None:
    known = AliasSet()
    first, second = Thing(), Thing()
    known.freeze(first, "a")
    known.freeze(second, "b")
    known.forget(1)
    assert len(known) == 1
    assert known.is_frozen(first)
    assert not known.is_frozen(second)
