"""Nested structures: what is taken apart is put together again."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphc as gx
from graphc.compiler.base import errors, nest


class Point(NamedTuple):
    x: Any
    y: Any


@dataclass
class Pair:
    left: Any
    right: Any
    made: int = field(default=0, init=False)


@dataclass(frozen=True)
class Frozen:
    value: Any


@dataclass
class Counts:
    value: Any

    def __post_init__(self) -> None:
        raise AssertionError("must not run again")


containers = st.recursive(
    st.integers() | st.none(),
    lambda items: (
        st.lists(items, max_size=3)
        | st.lists(items, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=2), items, max_size=3)
        | st.dictionaries(st.text(max_size=2), items, max_size=3).map(OrderedDict)
        | st.builds(Point, items, items)
        | st.builds(Pair, items, items)
        | st.builds(Frozen, items)
    ),
    max_leaves=8,
)


@given(containers)
def test_unflatten_undoes_flatten(value: Any) -> None:
    leaves, structure = nest.flatten(value)
    assert nest.unflatten(structure, leaves) == value
    assert structure.num_leaves == len(leaves)
    assert hash(structure) == hash(nest.flatten(value)[1])


@given(containers)
def test_paths_are_expressions_that_reach_the_leaves(value: Any) -> None:
    for path, leaf in nest.flatten_with_paths(value, "value"):
        assert eval(path, {"value": value}) == leaf
    assert [leaf for _, leaf in nest.flatten_with_paths(value)] == nest.flatten(value)[0]


@given(containers)
def test_map_structure_keeps_the_structure(value: Any) -> None:
    doubled = nest.map_structure(lambda a, b: a + b, value, value)
    assert nest.flatten(doubled) == ([2 * leaf for leaf in nest.flatten(value)[0]], nest.flatten(value)[1])


def test_a_dict_keeps_its_order() -> None:
    leaves, structure = nest.flatten({"b": 1, "a": 2})
    assert leaves == [1, 2]
    assert list(nest.unflatten(structure, leaves)) == ["b", "a"]
    assert structure != nest.flatten({"a": 1, "b": 2})[1]


def test_a_defaultdict_keeps_its_factory() -> None:
    value = defaultdict(list, {"x": 1})
    again = nest.unflatten(*reversed(nest.flatten(value)))
    assert again == {"x": 1}
    assert again["missing"] == []


def test_a_defaultdict_comes_back_as_a_dict() -> None:
    leaves, structure = nest.flatten(defaultdict(int, a=1))
    assert nest.unflatten(structure, leaves) == {"a": 1}


def test_none_is_a_structure_without_leaves() -> None:
    leaves, structure = nest.flatten([None, 1])
    assert leaves == [1]
    assert str(structure) == "[None, *]"


def test_a_dataclass_is_rebuilt_without_running_its_init() -> None:
    pair = Pair(1, 2)
    pair.made = 7
    leaves, structure = nest.flatten(pair)
    assert leaves == [1, 2, 7]
    assert nest.unflatten(structure, leaves) == pair
    counts = object.__new__(Counts)
    counts.value = 3
    assert nest.unflatten(*reversed(nest.flatten(counts))).value == 3


def test_a_class_is_a_leaf() -> None:
    assert nest.flatten(Pair)[0] == [Pair]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1, "*"),
        ((1, [2]), "(*, [*])"),
        ({"a": 1}, "{a: *}"),
        (Point(1, 2), "Point(x: *, y: *)"),
        (Frozen(None), "Frozen(value: None)"),
    ],
)
def test_a_structure_prints_as_it_looks(value: Any, text: str) -> None:
    assert str(nest.flatten(value)[1]) == text


@pytest.mark.parametrize(
    ("first", "second"), [((1,), [1]), ([1], [1, 2]), ({"a": 1}, {"b": 1}), (Point(1, 2), (1, 2)), (None, 1)]
)
def test_structures_that_differ(first: Any, second: Any) -> None:
    assert nest.flatten(first)[1] != nest.flatten(second)[1]
    with pytest.raises(errors.InvalidArgumentError, match="the structures differ: "):
        nest.map_structure(max, first, second)


def test_the_number_of_leaves_must_be_right() -> None:
    _, structure = nest.flatten((1, 2))
    with pytest.raises(errors.InvalidArgumentError, match="fewer leaves than the structure has"):
        nest.unflatten(structure, [1])
    with pytest.raises(errors.InvalidArgumentError, match=r"more leaves than the structure \(\*, \*\) has \(2\)"):
        nest.unflatten(structure, [1, 2, 3])


def test_opaque_containers_are_leaves() -> None:
    inner = [1]
    leaves, structure = nest.flatten({"a": inner, "b": [2]}, {id(inner)})
    assert leaves[0] is inner
    assert str(structure) == "{a: *, b: [*]}"


def test_shared_containers_are_those_that_stay_where_they_are() -> None:
    kept, moved, twice = [1], {"x": 2}, Frozen([3])
    first = {"a": kept, "b": moved, "c": (twice, twice.value), "d": kept}
    second = {"b": [5], "a": kept, "c": (twice, twice.value), "e": moved, "d": kept}
    assert nest.shared(first, second) == {id(kept), id(twice.value)}
    assert nest.shared([kept, kept], [kept, moved]) == frozenset()


def test_what_can_be_changed_in_place() -> None:
    assert nest.is_mutable([])
    assert nest.is_mutable({})
    assert not any(map(nest.is_mutable, [(), Point(1, 2), Frozen(1), 1, None]))


def test_rebuilt_containers_are_of_the_same_kind() -> None:
    assert nest.rebuilt(Point(1, 2), [3, 4]) == Point(3, 4)
    assert nest.rebuilt({"a": 1}, [3, 4], ["b", "c"]) == {"b": 3, "c": 4}
    made = nest.rebuilt(defaultdict(list, a=1), [2])
    assert made == {"a": 2}
    assert made["b"] == []


def test_repeats_are_built_once() -> None:
    inner: list[Any] = [1]
    value = ([inner, 2], {"a": inner}, [1])
    leaves, structure = nest.flatten(value, repeats=True)
    assert leaves == [1, 2, 1]
    built = nest.unflatten(structure, leaves)
    assert built == value
    assert built[0][0] is built[1]["a"]
    assert built[2] is not built[1]["a"]
    leaves, structure = nest.flatten(value)
    assert leaves == [1, 2, 1, 1]
    built = nest.unflatten(structure, leaves)
    assert built[0][0] is not built[1]["a"]


def test_a_container_that_contains_itself_is_refused() -> None:
    def of_list(x: Any) -> Any:
        items: list[Any] = [x]
        items.append(items)
        return items[1][0]

    def of_dict(x: Any) -> Any:
        items: dict[str, Any] = {"v": x}
        items["me"] = [items]
        return items["me"][0]["v"]

    for function in (of_list, of_dict):
        assert function(gx.asarray(1.0)).item() == 1.0
        with pytest.raises(errors.UnimplementedError, match=r"that contains itself(.|\n)*test_nest.py"):
            gx.function(function)(gx.asarray(1.0))
    deep: Any = 1.0
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(RecursionError):
        nest.flatten(deep)
