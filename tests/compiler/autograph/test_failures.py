"""``raise`` and ``assert`` on tensors: the compiled call raises what the Python function raises, and does nothing else.

PYTEST_DONT_REWRITE: what ``assert`` raises is what is tested.
"""

from __future__ import annotations

import contextlib
import copy
import gc
import pickle
import threading
import traceback
import weakref
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphc as gx
from graphc import Tensor
from graphc.compiler.base.errors import GraphcError, InvalidArgumentError, UnimplementedError
from tests.compiler.autograph.outcomes import compiled, outcome, same, watchdog  # noqa: F401  the fixture
from tests.draws import examples

pytestmark = pytest.mark.usefixtures("watchdog")


def f(*values: float) -> Tensor:
    return gx.asarray(values[0] if len(values) == 1 else list(values))


class OwnError(Exception):
    """Has an ``__init__``, an attribute and a text of its own."""

    def __init__(self, value: Any, why: str) -> None:
        super().__init__(f"{why}: {value}")
        self.value = value

    def __str__(self) -> str:
        return f"<{self.args[0]}>"


class Plain(ValueError):
    limit = 3


def positive(x: Tensor, what: str = "x") -> Tensor:
    if x <= 0:
        raise ValueError(f"{what} is {x:.2f}", x)
    return x


# What is raised


def test_assert() -> None:
    def program(x: Tensor) -> Tensor:
        assert x > 0, f"not positive: {x}"
        assert x < 100
        return x * 2

    found = same(program, 1.0, -1.0, 200.0)
    assert [result.error and result.error[:2] for result in found] == [
        None,
        (("AssertionError", ("not positive: -1.0",), {}, None), "not positive: -1.0"),
        (("AssertionError", (), {}, None), ""),
    ]


def test_the_message_is_evaluated_only_if_the_assertion_fails() -> None:
    def program(x: Tensor) -> Tensor:
        assert x > 0, print("message", x)  # noqa: RUF030
        return x

    assert [result.printed for result in same(program, 1.0, -1.0)] == ["", "message -1.0\n"]


@pytest.mark.parametrize(
    "make",
    [
        lambda x: ValueError("text", x, [x, {"a": (x * 2, 3)}]),
        lambda x: KeyError(x),
        lambda x: OwnError(x, "sum"),
        lambda x: OwnError([x, 1], why="list"),
        lambda x: Plain(f"{x:.1f}"),
        lambda x: OSError(2, f"no {x}", "file"),
        lambda x: StopIteration(x),
        lambda x: gx.errors.InvalidArgumentError(f"{x} is wrong"),
        lambda x: ZeroDivisionError(),
        lambda x: ExceptionGroup("some", [ValueError("a"), KeyError("b")]),
        lambda x: UnicodeDecodeError("utf-8", b"abc", 0, 1, "why"),
    ],
)  # fmt: skip
def test_the_exception_is_the_users(make: Any) -> None:
    def program(x: Tensor) -> Tensor:
        if x > 0:
            raise make(x)
        return x

    first, second = same(program, 1.0, -1.0)
    assert first.error is not None
    assert second.error is None


def test_a_class_without_a_call_and_a_cause() -> None:
    def program(x: Tensor) -> Tensor:
        if x > 3:
            raise Plain
        if x > 2:
            raise KeyError("outer") from OwnError(x, "cause")
        if x > 1:
            raise KeyError("none") from None
        return x

    found = same(program, 4.0, 3.0, 2.0, 1.0)
    assert found[1].error[0][3] == ("OwnError", ("cause: 3.0",), {"value": 3.0}, None)


def test_attributes_that_are_set_before_the_raise() -> None:
    class Slotted(Exception):
        __slots__ = ("x",)

    def program(x: Tensor) -> Tensor:
        if x > 0:
            error = Slotted("text")
            error.x = x + 1
            error.extra = [x]
            raise error
        return x

    call = compiled(program)
    with pytest.raises(Slotted) as caught:
        call(f(1.0))
    assert (caught.value.x.item(), caught.value.extra[0].item()) == (2.0, 1.0)  # type: ignore[attr-defined]


def test_each_call_raises_an_exception_of_its_own() -> None:
    call = compiled(positive)
    errors = []
    for value in (-1.0, -2.0):
        with pytest.raises(ValueError, match="x is") as caught:
            call(f(value))
        errors.append(caught.value)
    assert errors[0] is not errors[1]
    assert [error.args[1].item() for error in errors] == [-1.0, -2.0]
    assert isinstance(errors[0].args[1], Tensor)
    assert errors[0].__notes__ == ["raised by the compiled function 'positive'"]
    assert call.num_traces == 1


def test_an_object_in_the_exception_is_that_very_object() -> None:
    class Model:
        def __init__(self) -> None:
            self.name = "m"

        @gx.function
        def check(self, x: Tensor, limits: list[float]) -> Tensor:
            if x > 0:
                raise ValueError(self, marker)
            return x + limits[0]

    marker = [1, 2]
    first, second = Model(), Model()
    for model in (first, second, first):
        with pytest.raises(ValueError) as caught:  # noqa: PT011
            model.check(f(1.0), [0.5])
        assert caught.value.args[0] is model
        assert caught.value.args[1] is marker


def test_the_traceback_goes_through_the_users_functions() -> None:
    def inner(x: Tensor) -> Tensor:
        for _ in range(6):
            x = positive(x - 1, "inner")
        return x

    def program(x: Tensor) -> Tensor:
        y = x * 2
        return inner(y) if y > 0 else y

    frames: list[Any] = []
    for call in (program, compiled(program)):
        with pytest.raises(ValueError, match="inner is") as caught:
            call(f(2.0))
        entries = [(entry.lineno, entry.name) for entry in traceback.extract_tb(caught.value.__traceback__)]
        frames.append([entry for entry in entries if entry[1] in ("program", "inner", "positive")])
    assert frames[0] == frames[1]
    assert [name for _, name in frames[0]] == ["program", "inner", "positive"]


# Where it is raised


def nested_ifs(x: Tensor) -> Any:
    if x > 0:
        if x > 10:
            raise ValueError("ten")
        y = x + 1
    elif x < -10:
        raise KeyError(x)
    else:
        y, z = x - 1, 3
        if x == -1:
            raise OwnError(y * z, "minus one")
    return y


def both_branches(x: Tensor) -> Tensor:
    if x > 0:
        raise ValueError("positive")
    raise KeyError("other")


def both_branches_of_a_part(x: Tensor) -> Tensor:
    if x > 0:
        if x > 10:
            raise ValueError("ten")
        else:
            raise KeyError("one")
    return x


def names_of_the_other_branch(x: Tensor) -> Any:
    if x > 0:
        made = {"a": x + 1, "n": 3, "text": "t"}
        other = [x]
    else:
        raise ValueError("nothing made")
    return made["a"] * made["n"], made["text"], other


def expressions(x: Tensor) -> Any:
    y = positive(x, "first") if x < 5 else x
    return y, x > 1 and positive(x - 10, "second") > 5


def rolled(x: Tensor) -> Tensor:
    for i in range(20):
        x = x * 1.5
        if x > 50:
            raise ValueError(f"step {i}", i, x)
    return x


def unrolled(x: Tensor) -> Tensor:
    names = ["a", "b", "c", "d", "e", "f"]
    for i in range(6):
        x = x + 1
        assert x < 4, names[i]
    return x


def rows(x: Tensor) -> Tensor:
    total = gx.asarray(0.0)
    for row in x:
        total = total + positive(row, "row")
    return total


def every_row(x: Tensor) -> Tensor:
    for row in x:
        raise ValueError("row", row)
    return x


def every_index(x: Tensor) -> Tensor:
    for i in range(10):
        raise ValueError("index", i, x)
    return x


def with_break(x: Tensor) -> Tensor:
    for i in range(20):
        x = x * 1.5
        if x > 70:
            break
        assert i < 5, f"i={i}"
    else:
        x = x - 1000
    return x


def collatz(n: Tensor) -> Any:
    assert n > 0, "n must be positive"
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def endless(x: Tensor) -> Tensor:
    while True:
        x = x * 2
        if x > 100:
            raise OverflowError("too large", x)


def endless_from_the_start(x: Tensor) -> Tensor:
    assert x > 0
    while True:
        x = x * 2
        assert x < 100, x


def while_that_always_raises(x: Tensor) -> Tensor:
    while x > 0:
        raise ValueError("once", x)
    return x


def failing_test(x: Tensor) -> Tensor:
    def small(v: Tensor) -> Any:
        assert v < 40, f"test of {v}"
        return v < 30

    while small(x):
        x = x * 2 + 10
    return x


def tensor_range(n: Tensor) -> Any:
    total = 0
    for i in range(n):
        if i == 7:
            raise IndexError(f"seven {i:>3}")
        total = total + i
    return total


def inner_loop_comes_first(x: Tensor) -> Tensor:
    for _ in range(6):
        while x < 5:
            x = x + 1
        positive(50 - x)
        x = x * -1.5 - 100
        x = x + 120 if x < -110 else x
    return x


def nested_loops(x: Tensor) -> Tensor:
    for i in range(6):
        for j in range(6):
            x = x + i * j
            if x > 60:
                raise ValueError("indices", i, j, x)
    return x


def explicit(x: Tensor) -> Tensor:
    def body(v: Tensor) -> Tensor:
        assert v < 20, f"body {v}"
        return v * 2

    y = gx.cond(x > 3, lambda v: positive(v - 5, "cond"), lambda v: v, x)
    return gx.while_loop(lambda v: v < 30, body, y)


def explicit_loops(x: Tensor) -> Any:
    y = gx.fori_loop(0, 8, lambda i, v: positive(v - i, f"fori {i}"), x)
    return gx.scan(lambda c, r: (positive(c - r, "scan"), c), y, gx.arange(6.0))


def switch(x: Tensor) -> Any:
    def bad(v: Tensor) -> Tensor:
        raise ValueError("case", v)

    return gx.switch(gx.astype(x, "int32"), [lambda v: v, bad, lambda v: positive(v - 5)], x)


def every_case(x: Tensor) -> Any:
    def bad(v: Tensor) -> Tensor:
        raise ValueError("case", v)

    return gx.switch(gx.astype(x, "int32"), [bad, bad], x)


def first_of_many(x: Tensor) -> Tensor:
    if x > 3:
        raise ValueError("first")
    if x > 2:
        raise ValueError("second")
    assert x <= 1, "third"
    return x


def from_called_functions(x: Tensor) -> Any:
    check = compiled(positive)
    return check(x, "inlined") + check(x - 1, "again")


PROGRAMS: list[tuple[Any, tuple[Any, ...]]] = [
    (nested_ifs, (5.0, 11.0, -20.0, -1.0, -5.0)),
    (both_branches, (1.0, -1.0)),
    (both_branches_of_a_part, (11.0, 5.0, -1.0)),
    (names_of_the_other_branch, (2.0, -2.0)),
    (expressions, (-1.0, 0.5, 3.0, 20.0, 12.0)),
    (rolled, (0.01, 1.0, 100.0)),
    (unrolled, (-5.0, 0.0, 10.0)),
    (rows, ([1.0, 2.0], [1.0, -2.0, 3.0], [-1.0, -2.0])),
    (every_row, ([1.0, 2.0],)),
    (every_index, (1.0,)),
    (with_break, (0.01, 9.0, 50.0)),
    (collatz, (27, 1, 0, -5)),
    (endless, (1.0, 500.0)),
    (endless_from_the_start, (1.0, -1.0)),
    (while_that_always_raises, (1.0, -1.0)),
    (failing_test, (1.0, 31.0, 50.0)),
    (tensor_range, (3, 7, 8)),
    (inner_loop_comes_first, (0.0, 100.0, 40.0)),
    (nested_loops, (-300.0, 0.0, 50.0)),
    (explicit, (1.0, 4.0, 8.0, 30.0)),
    (explicit_loops, (100.0, 3.0, 36.0)),
    (switch, (0.0, 1.0, 2.0, 7.0)),
    (every_case, (0.0, 1.0)),
    (first_of_many, (4.0, 3.0, 2.0, 1.0)),
    (from_called_functions, (2.0, 0.5, -1.0)),
]


@pytest.mark.drawn(3)
@pytest.mark.parametrize(("program", "inputs"), PROGRAMS, ids=[program.__name__ for program, _ in PROGRAMS])
def test_programs(program: Any, inputs: tuple[Any, ...]) -> None:
    found = same(program, *inputs)
    assert any(result.error for result in found)


@pytest.mark.parametrize("program", [rolled, nested_loops, rows])
def test_loops_that_raise_stay_rolled(program: Any) -> None:
    loops = compiled(program).trace(gx.ones(5) if program is rows else f(1.0)).loops
    assert {loop.kind for loop in loops} == {"rolled"}


@settings(max_examples=examples(25))
@given(st.lists(st.integers(-6, 6), min_size=1, max_size=6), st.integers(-8, 8))
def test_the_first_failure_wins(limits: list[int], start: int) -> None:
    """A chain of steps and checks raises what comes first in the program."""

    def program(x: Tensor) -> Tensor:
        for place, limit in enumerate(limits):
            x = x + limit
            if x > 5:
                raise ValueError(place, x)
            assert x > -5, (place, x)
        return x

    same(program, start)


# What a failed call leaves behind


def test_variables_and_arguments_stay_as_they_were() -> None:
    v = gx.Variable([1.0, 2.0])
    count = gx.Variable(0)

    @gx.function
    def step(x: Tensor, data: Tensor) -> Tensor:
        count.assign_add(1)
        data[0] = x
        v.assign(v.value() + x)
        if gx.any(v.value() > 5):
            raise ValueError("too large")
        v.assign(v.value() * 2)
        return v.value()

    data = f(7.0, 8.0)
    kept = v.value()
    step(f(1.0), data)
    assert (v.numpy().tolist(), count.numpy(), data.tolist()) == ([4.0, 6.0], 1, [1.0, 8.0])
    with pytest.raises(ValueError, match="too large"):
        step(f(3.0), data)
    with pytest.raises(ValueError, match="too large"), gx.GradientTape():
        step(f(3.0), data)
    assert (v.numpy().tolist(), count.numpy(), data.tolist()) == ([4.0, 6.0], 1, [1.0, 8.0])
    assert kept.tolist() == [1.0, 2.0]
    v.assign([0.0, 0.0])
    step(f(1.0), data)
    assert v.numpy().tolist() == [2.0, 2.0]


def test_random_numbers_are_drawn_again_after_a_failure() -> None:
    @gx.function
    def draw(x: Tensor) -> Tensor:
        found = gx.random.uniform(())
        assert x > 0
        return found

    gx.random.seed(3)
    first = draw(f(1.0)).item()
    gx.random.seed(3)
    with pytest.raises(AssertionError):
        draw(f(-1.0))
    assert draw(f(1.0)).item() == first


def test_threads_take_turns() -> None:
    total = gx.Variable(0.0)

    @gx.function
    def add(x: Tensor) -> None:
        assert x > 0
        total.assign_add(x)

    def work() -> None:
        for value in (1.0, -1.0) * 10:
            with contextlib.suppress(AssertionError):
                add(f(value))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert total.numpy() == 40.0


def test_a_trace_that_fails_by_itself_is_not_kept() -> None:
    table: dict[str, float] = {}

    def program(x: Tensor) -> Any:
        assert x > 0, "first"
        return table["missing"] * x

    call = compiled(program)
    with pytest.raises(AssertionError, match="first"):
        call(f(-1.0))
    with pytest.raises(KeyError, match="missing") as caught:
        call(f(1.0))
    assert traceback.extract_tb(caught.value.__traceback__)[-1].name == "program"
    assert call.num_traces == 0
    table["missing"] = 2.0
    assert call(f(1.0)).item() == 2.0


def test_a_raise_that_depends_on_nothing_is_raised_when_traced() -> None:
    def program(x: Tensor, mode: str) -> Tensor:
        if mode == "bad":
            raise ValueError(f"mode {mode}")
        return x

    call = compiled(program)
    with pytest.raises(ValueError, match="mode bad") as caught:
        call(f(1.0), "bad")
    assert not hasattr(caught.value, "__notes__")
    assert not vars(caught.value)
    assert call.num_traces == 0
    assert call(f(1.0), "good").item() == 1.0


def test_a_raise_that_always_happens_and_holds_a_tensor() -> None:
    def program(x: Tensor) -> Tensor:
        raise ValueError("always", x)

    same(program, 1.0, 2.0)


def test_nothing_is_kept_alive() -> None:
    class Thing:
        pass

    def program(x: Tensor) -> Tensor:
        thing = Thing()
        found.append(weakref.ref(thing))
        if x > 0:
            raise ValueError("x")
        return x

    found: list[Any] = []
    call = gx.function(program, side_effects="ignore")
    call(f(-1.0))
    gc.collect()
    assert found[0]() is None


# Gradients


def test_gradients_go_around_failures() -> None:
    def program(x: Tensor) -> Tensor:
        y = x
        for _ in range(6):
            y = y * x
            if y > 1000:
                raise ValueError("large", y)
        assert y < 900
        return y

    def gradient(fn: Any) -> Any:
        def run(x: Tensor) -> Any:
            with gx.GradientTape() as tape:
                tape.watch(x)
                y = fn(x)
            return tape.gradient(y, x)

        return run

    eager = gradient(program)
    for value in (1.5, 5.0, 2.65):
        expected = outcome(eager, f(value))
        assert outcome(gradient(compiled(program)), f(value)) == expected
        assert outcome(compiled(eager), f(value)) == expected


# try, except, finally, with


def caught_where_it_is_raised(x: Tensor) -> Tensor:
    if x > 0:
        try:
            if True:
                raise ValueError("inner", x)
        except (KeyError, ValueError) as error:
            print("caught", error, error.args[1])
            x = x + error.args[1] * 2
        else:
            x = x * 0
    return x


def raised_again(x: Tensor) -> Tensor:
    if x > 0:
        try:
            raise ValueError("inner", x)
        except ValueError:
            print("handler")
            raise
    return x


def raised_from_a_handler(x: Tensor) -> Tensor:
    if x > 0:
        try:
            raise ValueError("inner", x)
        except ValueError as error:
            raise OwnError(x, "outer") from error
    return x


def finally_in_a_branch(x: Tensor) -> Tensor:
    if x > 0:
        try:
            raise ValueError("branch")
        finally:
            print("finally")
    return x


def other_handlers(x: Tensor) -> Tensor:
    try:
        if x > 0:
            raise ValueError("a")
        print("fine")
    except KeyError:
        print("handler")
    except (TypeError, OSError):
        print("other handler")
    else:
        print("else")
    return x


def context_managers(x: Tensor) -> Tensor:
    with gx.device("cpu:0"), contextlib.nullcontext():
        positive(x)
    return x


TRIES: list[tuple[Any, tuple[Any, ...]]] = [
    (caught_where_it_is_raised, (1.0, -1.0)),
    (raised_again, (1.0, -1.0)),
    (raised_from_a_handler, (1.0, -1.0)),
    (finally_in_a_branch, (1.0, -1.0)),
    (other_handlers, (1.0, -1.0)),
    (context_managers, (1.0, -1.0)),
]


@pytest.mark.parametrize(("program", "inputs"), TRIES, ids=[program.__name__ for program, _ in TRIES])
def test_try_and_with(program: Any, inputs: tuple[Any, ...]) -> None:
    same(program, *inputs)


def suppressed(x: Tensor) -> Tensor:
    with contextlib.suppress(ValueError):
        positive(x)
    return x


class Swallows:
    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> bool:
        return True


def own_manager(x: Tensor) -> Tensor:
    with Swallows():
        positive(x)
    return x


@pytest.mark.parametrize(
    ("program", "what"), [(suppressed, "`with` on a suppress"), (own_manager, "`with` on a Swallows")]
)
def test_handlers_that_tensors_decide_on_are_refused(program: Any, what: str) -> None:
    with pytest.raises(
        UnimplementedError, match=f"the ValueError that is raised at .* would be caught by {what} at"
    ) as e:
        gx.function(program)(f(1.0))
    assert "test_failures.py" in str(e.value)
    assert "gx.where" in str(e.value)


def test_an_exception_of_pythons_own_has_the_users_lines() -> None:
    def third(values: list[float], x: Any) -> Any:
        return x * values[2]

    @gx.function
    def scaled(x: Any) -> Any:
        if x > 0:
            x = third([1.0, 2.0], x)
        return x

    assert scaled(gx.asarray(-1.0)).item() == -1.0
    with pytest.raises(IndexError, match="list index out of range") as raised:
        scaled(gx.asarray(1.0))
    entries = [(entry.name, entry.line) for entry in traceback.extract_tb(raised.value.__traceback__)]
    assert ("scaled", "x = third([1.0, 2.0], x)") in entries
    assert entries[-1] == ("third", "return x * values[2]")


def test_a_refusal_is_no_failure() -> None:
    def program(x: Tensor) -> Any:
        assert x > 0
        return np.asarray(x)

    for value in (1.0, -1.0):
        with pytest.raises(GraphcError, match="NumPy array"):
            gx.function(program)(f(value))


def test_the_graph_prints_and_parses() -> None:
    graph = gx.function(rolled).graph(f(1.0))
    assert str(gx.parse_graph(str(graph))) == str(graph)


def test_exceptions_can_be_copied_and_pickled() -> None:
    with pytest.raises(ValueError, match="x is") as caught:
        compiled(positive)(f(-1.0))
    for again in (copy.copy(caught.value), pickle.loads(pickle.dumps(caught.value))):
        assert again.args[1].item() == -1.0


def test_a_name_that_nothing_binds_is_an_error_of_the_calls_that_read_it() -> None:
    def program(x: Tensor) -> Tensor:
        if x > 0:
            y = x
        else:
            y = x + late  # noqa: F821  which is what this is about
        late = y * 2
        return late + x

    call = compiled(program)
    assert call(f(1.0)).item() == 3.0
    with pytest.raises(NameError, match="'late'") as caught:
        call(f(-1.0))
    line = traceback.extract_tb(caught.value.__traceback__)[-1].line
    assert line is not None
    assert line.startswith("y = x + late")


class Held:
    def __init__(self, value: Any) -> None:
        self.value = value

    def __repr__(self) -> str:
        return f"Held({self.value})"


def test_an_object_with_tensors_in_an_exception_is_refused() -> None:
    def program(x: Tensor) -> Any:
        if x > 0:
            raise ValueError(Held(x + 1))
        return x

    with pytest.raises(UnimplementedError, match="the ValueError carries a Held whose attribute 'value' is a tensor"):
        gx.function(program)(f(-1.0))


def test_an_exception_with_tensors_is_not_one_of_several_values() -> None:
    def program(x: Tensor) -> Any:
        last = None
        if x > 0:
            last = ValueError("positive", x)
        print(last)
        return x

    with pytest.raises(InvalidArgumentError, match="the variable 'last' is a ValueError"):
        gx.function(program)(f(1.0))


def test_a_refusal_does_not_ask_the_users_objects_how_they_look() -> None:
    def program(x: Tensor) -> Any:
        held = Held(x) if x > 0 else Held(x + 1)
        return held.value

    with pytest.raises(UnimplementedError, match="a Held when the condition is true"):
        gx.function(program)(f(1.0))


@pytest.mark.parametrize("made", [lambda: {"step": 0}, lambda: [0], lambda: np.zeros(1), lambda: ([0], {"step": 0})])
def test_an_exception_holds_what_the_function_made_as_it_was(made: Any) -> None:
    def program(x: Any) -> Any:
        state = made()
        for i in range(4):
            for part in state if isinstance(state, tuple) else (state,):
                part["step" if isinstance(part, dict) else 0] = i
            if x * i > 3:
                raise ValueError(state)
        return x

    compiled = gx.function(program)
    for _ in range(2):  # what a handler does with it is in no other call's
        with pytest.raises(ValueError, match=r".") as found:
            compiled(gx.asarray(4.0))
        with pytest.raises(ValueError, match=r".") as expected:
            program(gx.asarray(4.0))
        assert repr(found.value.args) == repr(expected.value.args)
        if isinstance(found.value.args[0], dict):
            found.value.args[0]["step"] = "handled"


def test_an_exception_shows_the_items_of_a_list_that_grows() -> None:
    @gx.function
    def program(x: Any) -> Any:
        seen: list[Any] = []
        for i in range(6):
            seen.append(i)
            if x * i > 4:
                raise ValueError("diverged", seen)
        return x

    with pytest.raises(ValueError, match=r".") as found:
        program(gx.asarray(4.0))
    assert [int(item) for item in found.value.args[1]] == [0, 1, 2]
