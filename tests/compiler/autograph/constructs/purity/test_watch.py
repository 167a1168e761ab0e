"""The watch on side effects: a loop that has one is unrolled, a branch or a while that has one is refused.

Each action below changes something besides tensors. In a ``range`` loop Python does it once an iteration, so a body
that is traced once would do it once; under a condition it would be done whatever the condition is.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc import Tensor
from graphc.compiler.base.errors import UnimplementedError
from graphc.compiler.tracing import Journal, Trace
from tests.compiler.autograph.differential import check, compile_quietly, f, loops_of, run
from tests.conformance.comparing import difference

COUNT = 0


def bump_global() -> None:
    global COUNT
    COUNT += 1


def make_counter() -> tuple[Callable[[], None], Callable[[], int]]:
    count = 0

    def bump() -> None:
        nonlocal count
        count += 1

    return bump, lambda: count


class Thing:
    """An object whose special methods and properties have side effects."""

    def __init__(self) -> None:
        self.n = 0
        self.log: list[Any] = []

    @property
    def number(self) -> int:
        self.n += 1
        return 1

    def __getattr__(self, name: str) -> int:
        if name.startswith("__"):
            raise AttributeError(name)
        self.n += 1
        return 1

    def __call__(self) -> int:
        self.n += 1
        return 1

    def __len__(self) -> int:
        self.n += 1
        return 1

    def __iter__(self) -> Iterator[float]:
        self.n += 1
        return iter([0.5, 0.5])

    def __contains__(self, item: Any) -> bool:
        self.n += 1
        return True

    def method(self) -> int:
        self.log.append(self.n)
        return 1


@dataclass
class Checked:
    """A class that counts how often it is made."""

    value: int

    def __post_init__(self) -> None:
        bump_global()


class Static:
    count = 0


def append(x: Tensor, thing: Thing) -> Any:
    thing.log.append(1)
    return x + 1


def extend(x: Tensor, thing: Thing) -> Any:
    thing.log += [1, 2]
    return x + 1


def store_attribute(x: Tensor, thing: Thing) -> Any:
    thing.n = thing.n + 1
    return x + 1


def augment_attribute(x: Tensor, thing: Thing) -> Any:
    thing.n += 1
    return x + 1


def store_item(x: Tensor, thing: Thing) -> Any:
    thing.log[:0] = [len(thing.log)]
    return x + 1


def delete_item(x: Tensor, thing: Thing) -> Any:
    thing.log = [*thing.log, 1, 2]
    del thing.log[0]
    return x + 1


def class_attribute(x: Tensor, thing: Thing) -> Any:
    Static.count = Static.count + 1
    thing.n = Static.count * 0
    return x + 1


def global_counter(x: Tensor, thing: Thing) -> Any:
    bump_global()
    return x + 1


def own_global(x: Tensor, thing: Thing) -> Any:
    global COUNT
    COUNT += 1
    return x + 1


def closure_counter(x: Tensor, thing: Thing) -> Any:
    thing.log[0][0]()
    return x + 1


def getattr_property(x: Tensor, thing: Thing) -> Any:
    return x + getattr(thing, "number")  # noqa: B009


def call_of_an_object(x: Tensor, thing: Thing) -> Any:
    return x + thing()


def method(x: Tensor, thing: Thing) -> Any:
    return x + thing.method()


def bound_method(x: Tensor, thing: Thing) -> Any:
    add = thing.log.append
    add(3)
    return x + 1


def length(x: Tensor, thing: Thing) -> Any:
    return x + len(thing)


def truth(x: Tensor, thing: Thing) -> Any:
    return x + (1 if thing else 2)


def iteration(x: Tensor, thing: Thing) -> Any:
    for value in thing:
        x = x + value
    return x


def membership(x: Tensor, thing: Thing) -> Any:
    if 3 in thing:
        x = x + 1
    return x


def map_of_a_method(x: Tensor, thing: Thing) -> Any:
    list(map(thing.log.append, [1, 2]))
    return x + 1


def key_function(x: Tensor, thing: Thing) -> Any:
    sorted([2, 1], key=lambda value: thing.log.append(value) or value)
    return x + 1


def comprehension(x: Tensor, thing: Thing) -> Any:
    [thing.log.append(value) for value in (1, 2)]
    return x + 1


def construction(x: Tensor, thing: Thing) -> Any:
    Checked(3)
    return x + 1


def library_call(x: Tensor, thing: Thing) -> Any:
    random.seed(3)
    random.random()
    return x + 1


def numpy_random(x: Tensor, thing: Thing) -> Any:
    return x + thing.log[0].integers(0, 5) * 0


def array_in_place(x: Tensor, thing: Thing) -> Any:
    thing.log[0].sort()
    return x + 1


def array_store(x: Tensor, thing: Thing) -> Any:
    thing.log[0][0] += 1
    return x + 1


def array_out(x: Tensor, thing: Thing) -> Any:
    np.add(thing.log[0], 1, out=thing.log[0])
    return x + 1


def array_function(x: Tensor, thing: Thing) -> Any:
    np.copyto(thing.log[0], thing.log[0] + 1)
    return x + 1


def unconverted(x: Tensor, thing: Thing) -> Any:
    hidden(thing)
    return x + 1


@gx.do_not_convert
def hidden(thing: Thing) -> None:
    thing.n += 1


def gradient_of_a_function(x: Tensor, thing: Thing) -> Any:
    def loss(value: Tensor) -> Tensor:
        thing.log.append(1)
        return value * value

    return x + gx.grad(loss)(x) * 0


def next_of_an_iterator(x: Tensor, thing: Thing) -> Any:
    return x + next(thing.log[0])


def part_of_an_iterator(x: Tensor, thing: Thing) -> Any:
    for value in thing.log[0]:
        x = x + value
        break
    return x


def sum_of_an_iterator(x: Tensor, thing: Thing) -> Any:
    return x + sum(thing.log[0])


def print_a_line(x: Tensor, thing: Thing) -> Any:
    print("line")
    return x + 1


Action = Callable[[Tensor, Thing], Any]

ACTIONS: dict[Action, Callable[[], list[Any]]] = {
    **dict.fromkeys(
        [append, extend, store_attribute, augment_attribute, store_item, delete_item, class_attribute, global_counter,
         own_global, getattr_property, call_of_an_object, method, bound_method, length,
         truth, iteration, membership, map_of_a_method, key_function, comprehension, construction, library_call,
         unconverted, gradient_of_a_function, print_a_line],
        list,
    ),
    closure_counter: lambda: [make_counter()],
    numpy_random: lambda: [np.random.default_rng(3)],
    array_in_place: lambda: [np.array([3.0, 1.0, 2.0])],
    array_store: lambda: [np.zeros(2)],
    array_out: lambda: [np.zeros(2)],
    array_function: lambda: [np.zeros(2)],
    next_of_an_iterator: lambda: [itertools.count()],
    part_of_an_iterator: lambda: [iter([float(k) for k in range(30)])],
    sum_of_an_iterator: lambda: [(float(k) for k in range(5))],
}  # fmt: skip


def traces(action: Action, rows: bool = False) -> Any:
    """What is left of an action, to compare; done in a loop over numbers or over the rows of a tensor."""

    def program(x: Tensor) -> Any:
        global COUNT
        COUNT = Static.count = 0
        thing = Thing()
        thing.log[:] = ACTIONS[action]()
        for _ in gx.ones(8) if rows else range(8):
            x = action(x, thing)
        log = [entry[1]() if isinstance(entry, tuple) else entry for entry in thing.log]
        kept = [entry for entry in log if isinstance(entry, int | float | np.ndarray)]
        return x, thing.n, kept, COUNT, Static.count

    return program


NUMBERS: set[Action] = {
    append, store_attribute, augment_attribute, getattr_property, call_of_an_object, method, bound_method, length,
    truth, iteration, membership, map_of_a_method, key_function, comprehension, closure_counter, gradient_of_a_function,
}  # fmt: skip
"""What these change or append is a number that no tensor decides about: a rolled loop knows it for all iterations."""


@pytest.mark.drawn(3)
@pytest.mark.parametrize(
    "action", [action for action in ACTIONS if action is not print_a_line], ids=lambda action: action.__name__
)
@pytest.mark.parametrize("rows", [False, True])
def test_a_loop_has_its_side_effect_in_each_iteration(
    action: Action, rows: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    program = traces(action, rows)
    eager, error = run(program, f(1.0))
    assert error is None
    printed = capsys.readouterr().out
    compiled, error = run(compile_quietly(program), f(1.0))
    assert error is None, error
    assert difference(eager, compiled) is None
    assert capsys.readouterr().out == printed
    kinds = [kind for kind, _ in loops_of(program, f(1.0))]
    assert kinds[-1] == ("rolled" if action in NUMBERS else "unrolled")


FOLLOWED: set[Action] = {
    append, extend, store_attribute, augment_attribute, store_item, delete_item, getattr_property, call_of_an_object,
    method, bound_method, length, truth, iteration, membership, map_of_a_method, key_function, comprehension,
    closure_counter,
    gradient_of_a_function, print_a_line,
}  # fmt: skip
"""What these change (attributes, lists, what is printed), branches and loops follow."""


def conditional(action: Action, where: str) -> Callable[[Tensor], Any]:
    """A program that does an action in a branch or loop that depends on tensors."""

    def branch(x: Tensor) -> Any:
        thing = Thing()
        thing.log[:] = ACTIONS[action]()
        if x > 0:
            x = action(x, thing)
        return x, thing.n

    def loop(x: Tensor) -> Any:
        thing = Thing()
        thing.log[:] = ACTIONS[action]()
        while x < 5:
            x = action(x, thing) + 1
        return x, thing.n

    def rows(x: Tensor) -> Any:
        thing = Thing()
        thing.log[:] = ACTIONS[action]()
        total = x
        for row in gx.ones(7):
            total = action(total, thing) + row
        return total, thing.n

    return {"branch": branch, "while": loop, "rows": rows}[where]


@pytest.mark.parametrize(
    "action", [action for action in ACTIONS if action not in FOLLOWED], ids=lambda action: action.__name__
)
@pytest.mark.parametrize("where", ["branch", "while"])
def test_a_side_effect_that_depends_on_tensors_is_refused(action: Action, where: str) -> None:
    with pytest.raises(UnimplementedError, match="depends on tensor values") as caught:
        compile_quietly(conditional(action, where))(f(1.0))
    assert "test_watch.py" in str(caught.value)


@pytest.mark.drawn(3)
@pytest.mark.parametrize(
    "action", [action for action in ACTIONS if action in FOLLOWED], ids=lambda action: action.__name__
)
@pytest.mark.parametrize("where", ["branch", "while", "rows"])
def test_a_change_that_depends_on_tensors_is_that_of_python(action: Action, where: str) -> None:
    listing = action in (append, extend, store_item, delete_item) or where == "while"
    check(conditional(action, where), f(1.0), refuse=listing)
    check(conditional(action, where), f(-1.0), refuse=listing)


def test_attributes_that_are_calls() -> None:
    def loop(x: Tensor) -> Any:
        thing = Thing()
        for _ in range(8):
            x = x + thing.number + thing.missing
        return x, thing.n

    def branch(x: Tensor) -> Any:
        thing = Thing()
        if x > 0:
            x = x + thing.number
        return x, thing.n

    check(loop, f(1.0))
    check(branch, f(1.0))
    check(branch, f(-1.0))


def test_properties_read_by_a_function_that_a_loop_calls() -> None:
    def helper(x: Tensor, thing: Thing) -> Tensor:
        return x + thing.number

    def loop(x: Tensor) -> Any:
        thing = Thing()
        for _ in range(8):
            x = helper(x, thing)
        return x, thing.n

    check(loop, f(1.0))


def test_properties_read_in_a_conditional_expression() -> None:
    def program(x: Tensor) -> Any:
        thing = Thing()
        return (x + thing.number if x > 0 else x), thing.n

    check(program, f(-1.0), refuse=True)


def test_a_compiled_function_called_in_a_loop_is_watched() -> None:
    @gx.function
    def inner(x: Tensor, log: list[int]) -> Tensor:
        log.append(1)
        bump_global()
        return x + 1

    def loop(x: Tensor) -> Any:
        log: list[int] = []
        for _ in range(8):
            x = inner(x, log)
        return x, len(log)

    x, count = compile_quietly(loop)(f(1.0))
    assert (x.item(), count) == (9.0, 8)


@pytest.mark.parametrize("use", ["subscript", "operator", "comparison", "with"])
def test_special_methods_of_native_syntax(use: str) -> None:
    class Native:
        n = 0

        def __getitem__(self, index: int) -> float:
            self.n += 1
            return 1.0

        def __add__(self, other: Any) -> Any:
            self.n += 1
            return other

        def __lt__(self, other: Any) -> bool:
            self.n += 1
            return True

        def __enter__(self) -> None:
            self.n += 1

        def __exit__(self, *args: object) -> None:
            pass

    def program(x: Tensor) -> Any:
        thing = Native()
        for _ in range(8):
            if use == "subscript":
                x = x + thing[0]
            elif use == "operator":
                x = thing + x
            elif use == "comparison":
                x = x + (1 if thing < 3 else 2)
            else:
                with thing:
                    x = x + 1
        return x, thing.n

    check(program, f(1.0))


# --- what is not a side effect


def test_what_is_made_in_the_iteration_may_be_consumed_there() -> None:
    def program(x: Tensor) -> Tensor:
        weights = [1.0, 2.0]
        for _ in range(8):
            for k, (a, b) in enumerate(zip(weights, reversed(weights), strict=True)):
                x = x + a * b * k
            x = x + sum(w * 0.5 for w in weights) + sum(map(abs, weights)) + max(filter(None, weights))
            pairs = zip(weights, weights, strict=True)
            x = x + len(list(pairs))
        return x

    check(program, f(1.0))
    assert [kind for kind, _ in loops_of(program, f(1.0))][-1] == "rolled"


def test_what_is_made_in_a_branch_may_be_consumed_there() -> None:
    def program(x: Tensor) -> Tensor:
        if x > 0:
            for a, b in zip([1.0, 2.0], [3.0, 4.0], strict=True):
                x = x + a * b
            x = x + sum(v for v in (1.0, 2.0)) + len(sorted([2, 1], key=lambda value: -value))
        return x

    check(program, f(1.0))
    check(program, f(-1.0))


def test_nonlocal_state_is_carried() -> None:
    def program(x: Tensor) -> Any:
        total = x * 0
        count = 0

        def add(value: Tensor) -> None:
            nonlocal total
            total = total + value

        def step() -> None:
            nonlocal count
            count += 1

        for i in range(8):
            add(x * i)
        if x > 0:
            add(x)
            step()
        return total, count

    for value in (2.0, -2.0):
        check(program, f(value))
    assert [kind for kind, _ in loops_of(program, f(2.0))] == ["rolled"]


def test_pure_calls_roll() -> None:
    def scale(x: Tensor, by: float) -> Tensor:
        return x * by

    def program(x: Tensor) -> Any:
        weights = {"a": 0.5, "b": 2.0}
        for _ in range(8):
            x = scale(x, weights.get("a", 1.0)) + len(weights) + np.float32(np.sqrt(4.0)) + min(weights.values())
            point = Checked.__dataclass_fields__["value"].name
            x = x + len(point.upper())
        return x

    check(program, f(1.0))
    assert [kind for kind, _ in loops_of(program, f(1.0))] == ["rolled"]


# --- the watch is what protects


def no_watch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Trace, "side_effect", lambda self, what: None)
    monkeypatch.setattr(Journal, "note", lambda self, cell: None)


def test_without_the_watch_a_loop_would_do_its_side_effect_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def program(x: Tensor) -> Any:
        seen: list[int] = []
        for _ in range(8):
            seen.append(1)
            x = x + 1
        return x, len(seen)

    assert run(compile_quietly(program), f(1.0))[0][1] == 8
    no_watch(monkeypatch)
    x, count = compile_quietly(program)(f(1.0))
    assert x.item() == 9.0
    assert count == 1


def test_without_the_watch_both_branches_would_do_their_side_effects(monkeypatch: pytest.MonkeyPatch) -> None:
    def program(x: Tensor) -> Any:
        seen: list[str] = []
        if x > 0:
            seen.append("positive")
            x = x + 1
        else:
            seen.append("negative")
        return x, seen

    assert compile_quietly(program)(f(1.0))[1] == ["positive"]
    no_watch(monkeypatch)
    assert compile_quietly(program)(f(1.0))[1] == ["positive", "negative"]


def test_without_the_watch_the_actions_above_would_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    no_watch(monkeypatch)
    silent = [library_call, numpy_random, array_in_place, own_global]
    for action in set(ACTIONS) - set(silent):
        if action is print_a_line:
            continue
        program = traces(action)
        eager, _ = run(program, f(1.0))
        compiled, error = run(compile_quietly(program), f(1.0))
        assert error is not None or difference(eager, compiled) is not None, action.__name__
