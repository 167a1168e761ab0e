"""Code of the user's that Python calls by itself: its effects are as many as the program has, or it is refused."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base.errors import UnimplementedError


class _Counting:
    """Counts how often it is compared."""

    def __init__(self) -> None:
        self.n = 0

    def __lt__(self, other: Any) -> bool:
        self.n += 1
        return True

    def __gt__(self, other: Any) -> bool:
        self.n += 1
        return False


def sorted_in_a_branch(x: Any) -> Any:
    a, b = _Counting(), _Counting()
    if x < 0:
        sorted([a, b])
        sorted((1, 2), key=lambda k: a if k == 1 else b)
        [a, b].sort()
        max(a, b)
        min([a, b])
    return a.n + b.n


def sorted_in_a_loop(x: Any) -> Any:
    a, b = _Counting(), _Counting()
    for _ in range(9):
        sorted([a, b])
    return x * (a.n + b.n)


def classes_in_a_loop(x: Any) -> Any:
    made: list[int] = []

    class Base:
        def __init_subclass__(cls) -> None:
            made.append(1)

    for _ in range(9):

        class Derived(Base): ...

    return x * len(made)


def dropped_in_a_loop(x: Any) -> Any:
    dropped: list[int] = []

    class Kept:
        def __del__(self) -> None:
            dropped.append(1)

    for _ in range(9):
        Kept()
    return x * len(dropped)


@pytest.mark.parametrize("program", [sorted_in_a_branch, sorted_in_a_loop, classes_in_a_loop, dropped_in_a_loop])
def test_effects_are_as_many_as_in_plain_python(program: Callable[[Any], Any]) -> None:
    compiled = gx.function(program)
    for value in (2.0, -2.0):
        x = gx.asarray(value)
        assert gx.asarray(compiled(x)).item() == gx.asarray(program(x)).item()


def class_in_a_branch(x: Any) -> Any:
    if x < 0:

        class Made: ...

    return x


def class_by_type(x: Any) -> Any:
    if x < 0:
        type("Made", (), {})
    return x


class _Ending:
    def __del__(self) -> None: ...


def dropped_in_a_branch(x: Any) -> Any:
    if x < 0:
        _Ending()
    return x


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (class_in_a_branch, "the definition of the class Made inside the true branch of an if"),
        (class_by_type, "the definition of the class Made inside the true branch of an if"),
        (dropped_in_a_branch, "the call of _Ending.__del__ inside the true branch of an if"),
    ],
)
def test_what_cannot_be_followed_is_refused_in_branches(program: Callable[[Any], Any], message: str) -> None:
    with pytest.raises(UnimplementedError, match=message):
        gx.function(program)(gx.asarray(1.0))


def test_a_class_that_the_function_makes_may_change() -> None:
    @gx.function(side_effects="error")
    def program(x: Any) -> Any:
        class Counter:
            n = 0

            def __init__(self) -> None:
                self.mine = 0

        counter = Counter()
        counter.mine += 1
        Counter.n += 2
        return x * Counter.n * counter.mine

    assert program(gx.asarray(3.0)).item() == 6.0


def test_the_remedy_for_data_is_told() -> None:
    batches = iter([1.0, 2.0])

    @gx.function
    def step(x: Any) -> Any:
        return x * next(batches)

    with pytest.warns(gx.errors.SideEffectWarning, match=r"(?s)list_iterator.*Compile a step that is given one batch"):
        step(gx.asarray(1.0))


def test_code_that_changes_nothing_is_not_told() -> None:
    class Loader:
        def __init__(self) -> None:
            self.batches = [1.0, 2.0]

        def __iter__(self) -> Any:
            yield from self.batches

    loader, used_up = Loader(), iter([])

    @gx.function(side_effects="error")
    def total(x: Any) -> Any:
        for batch in loader:
            x = x + batch
        return x + sum(loader) + len(list(zip(loader, loader, strict=True))) + next(used_up, 1.0)

    assert total(gx.asarray(0.0)).item() == 9.0


def test_data_that_is_taken_before_variables_are_made_is_not_lost() -> None:
    batches = iter([1.0, 2.0, 3.0])

    class Net:
        def __init__(self, initial: Callable[[Any], Any]) -> None:
            self.weight: Any = None
            self.initial = initial

        @gx.function
        def __call__(self, x: Any) -> Any:
            mine = sum(zip_of_its_own[0] for zip_of_its_own in zip([1.0], [2.0], strict=True))
            batch = next(batches)
            if self.weight is None:
                self.weight = gx.Variable(self.initial(x))
            return x * self.weight * batch * mine

    assert [Net(lambda x: 2.0)(gx.asarray(1.0)).item() for _ in range(2)] == [2.0, 4.0]
    # What depends on the arguments is made in an eager call, which would take the next batch.
    with pytest.raises(
        UnimplementedError, match=r"(?s)list_iterator.*makes Variables in its first call.*next\(batches"
    ):
        Net(lambda x: x)(gx.asarray(1.0))


class _ByPlace:
    def __init__(self) -> None:
        self.asked = 0

    def __getitem__(self, place: int) -> int:
        self.asked += 1
        if place > 2:
            raise IndexError
        return self.asked


class _Drawing:
    def __init__(self) -> None:
        self.rng = np.random.default_rng(0)

    def __iter__(self) -> Any:
        for place in self.rng.permutation(4):
            yield int(place)


def test_loaders_in_a_loop_are_asked_as_often_as_in_plain_python() -> None:
    def program(x: Any, loader: Any) -> Any:
        for _ in range(8):
            for item in loader:
                x = x * 2 + item
        return x

    for kind in (_ByPlace, _Drawing):
        loader = kind()
        compiled = gx.function(functools.partial(program, loader=loader), side_effects="ignore")
        assert compiled(gx.asarray(1.0)).item() == program(gx.asarray(1.0), kind()).item()


def test_a_loader_that_draws_is_refused_in_a_branch() -> None:
    loader = _Drawing()

    @gx.function
    def program(x: Any) -> Any:
        if x > 0:
            for item in loader:
                x = x + item
        return x

    with pytest.raises(UnimplementedError, match=r"the call of _Drawing.__iter__ inside the true branch of an if"):
        program(gx.asarray(1.0))
