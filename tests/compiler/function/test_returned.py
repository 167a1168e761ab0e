"""Python objects in results: made anew for each call, the caller's own, or refused."""

from __future__ import annotations

import functools
import types
from collections import Counter, UserList, deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import graphc as gx

X = gx.asarray([1.0, 2.0])


class AttrDict(dict[str, Any]):
    __getattr__ = dict.__getitem__


class Own:
    def __init__(self, value: Any) -> None:
        self.value = value


@dataclass
class Held:
    value: Any
    seen: set[int]


MADE: dict[str, Callable[[Any], Any]] = {
    "array": lambda x: np.zeros(3),
    "set": lambda x: {1, 2},
    "deque": lambda x: deque([1]),
    "counter": lambda x: Counter("ab"),
    "bytes": lambda x: bytearray(b"ab"),
    "exception": lambda x: ValueError([]),
    "namespace": lambda x: types.SimpleNamespace(n=1),
}


@pytest.mark.parametrize("kind", MADE)
def test_what_the_function_makes_is_another_object_in_each_call(kind: str) -> None:
    make = MADE[kind]
    compiled: Any = gx.function(lambda x: (x * 2, make(x)))
    made = [compiled(X)[1] for _ in range(3)]
    assert len({id(one) for one in made}) == 3
    assert {type(one) for one in made} == {type(make(X))}
    if kind == "exception":
        assert made[0].args == make(X).args
    else:
        assert np.array_equal(made[0], make(X)) if kind == "array" else made[0] == make(X)


def test_a_change_of_a_result_is_not_in_the_next() -> None:
    compiled = gx.function(lambda x: Held(x, {1, 2}))
    for _ in range(3):
        found = compiled(X)
        assert found.seen == {1, 2}
        found.seen.add(3)


WITH_TENSORS: dict[str, Callable[[Any], Any]] = {
    "zip": lambda x: zip([x], [x], strict=True),
    "map": lambda x: map(gx.sin, [x]),
    "values": lambda x: {"a": x}.values(),
    "deque": lambda x: deque([x]),
    "UserList": lambda x: UserList([x]),
    "slice": lambda x: slice(x[0], None),
    "function": lambda x: lambda: x,
    "partial": lambda x: functools.partial(gx.add, x),
    "AttrDict": lambda x: AttrDict(y=x),
    "AttrDict ": lambda x: AttrDict(n=1),
    "Own": lambda x: Own(x + 1),
    "list_iterator": lambda x: iter([1, 2]),
}


@pytest.mark.parametrize("kind", WITH_TENSORS)
def test_what_no_call_can_make_anew_is_refused(kind: str) -> None:
    with pytest.raises(
        gx.errors.UnimplementedError, match=rf"returns an? (dict_)?{kind.strip()}, which .*Return a tuple, a list"
    ):
        gx.function(WITH_TENSORS[kind])(X)


def test_a_function_that_keeps_state_is_told() -> None:
    @gx.function
    def counting(x: Any) -> Any:
        count = [0]

        def add() -> int:
            count[0] += 1
            return count[0]

        return add

    with pytest.warns(gx.errors.SideEffectWarning, match="making the function 'add', which counting returns"):
        counting(X)


class Plain:
    count = 0


def test_an_object_of_the_users_is_told() -> None:
    @gx.function
    def counting(x: Any) -> Any:
        return x * 2, Plain()

    with pytest.warns(gx.errors.SideEffectWarning, match="making a Plain, which counting returns, happens once"):
        counting(X)


def test_a_function_without_state_may_be_returned() -> None:
    factor = 3.0
    assert gx.function(lambda x: lambda y: y * factor)(X)(2.0) == 6.0


class History:
    def __init__(self) -> None:
        self.log = [0.0]

    @gx.function
    def run(self, x: Any) -> Any:
        return x * 2, self.log


STATE: dict[str, Any] = {"inner": {"a": 1}}


def test_containers_from_outside_are_the_callers_own(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = History(), History()
    for history in (first, first, second):
        assert history.run(X)[1] is history.log
        history.log.append(1.0)
    compiled = gx.function(lambda x: (x, STATE["inner"]))
    for inner in ({"a": 1}, {"a": 1}, {"b": 2}):
        monkeypatch.setitem(STATE, "inner", inner)
        assert compiled(X)[1] is inner
    given = [1, 2]
    same = gx.function(lambda x, numbers: (x, numbers))
    assert same(X, given)[1] is given
    assert same(X, other := [1, 2])[1] is other


class Tracker:
    def __init__(self) -> None:
        self.history = [X]

    @gx.function
    def of_self(self, x: Any) -> Any:
        return {"last": self.history, "both": (x, self.history)}


PARTS: dict[str, Any] = {"weights": [X, {"bias": X}]}


def test_containers_of_tensors_from_outside_are_the_callers_own() -> None:
    tracker = Tracker()
    for _ in range(3):
        found = tracker.of_self(X)
        assert found["last"] is found["both"][1] is tracker.history
        tracker.history.append(X * 2)
    assert gx.function(lambda x: [PARTS["weights"], x])(X)[0] is PARTS["weights"]
    assert gx.function(lambda x: PARTS["weights"][1])(X) is PARTS["weights"][1]
    other = gx.function(lambda x: [*PARTS["weights"]])(X)
    assert other is not PARTS["weights"]
    assert other[1] is PARTS["weights"][1]


def test_a_copy_holds_the_very_objects_from_outside() -> None:
    history, variable = History(), gx.Variable(1.0)
    compiled = gx.function(lambda x: (x, deque([history.log, variable, [1]])))
    first, second = compiled(X)[1], compiled(X)[1]
    assert first[0] is second[0] is history.log
    assert first[1] is second[1] is variable
    assert first[2] is not second[2]


def test_a_copy_that_holds_an_argument_is_refused() -> None:
    with pytest.raises(gx.errors.UnimplementedError, match="a deque, which holds an object of the call's arguments"):
        gx.function(lambda x, history: (x, deque([history])))(X, History())


def test_masks_and_matrices_are_refused() -> None:
    masked = np.ma.array([1.0, 2.0], mask=[False, True])
    double: Any = gx.function(lambda x: x * x)
    double(np.ones(2))
    for call in (double, gx.asarray):
        with pytest.raises(gx.errors.InvalidTypeError, match=r"a tensor has no mask; use `array.filled\(value\)`"):
            call(masked)
    with pytest.raises(gx.errors.InvalidTypeError, match=r"an np.matrix, .* pass np.asarray\(m\)"):
        double(np.ones((2, 2)).view(np.matrix))
