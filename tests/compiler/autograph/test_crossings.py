"""Where mechanisms meet: values that tensors choose x calls that change something, iterators x lists that change."""

from __future__ import annotations

import dataclasses
import heapq
import io
import string
from collections import OrderedDict, UserDict, deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base.errors import UnimplementedError
from tests.compiler.autograph.differential import check, f

EFFECT = "Python would do it once at trace time"
LIST = "a list becomes longer or shorter in a branch on tensors while"
LIBRARY = "is given a value that tensors chose among several"
TRUTH = "may be a list whose length is known at run time only"
FIRST, SECOND = gx.Variable(1.0), gx.Variable(3.0)


class Counting:
    def __init__(self) -> None:
        self.asked = 0

    def __contains__(self, key: object) -> bool:
        self.asked += 1
        return True

    def __eq__(self, key: object) -> bool:
        self.asked += 1
        return True

    __hash__ = None  # type: ignore[assignment]


class Formatted:
    def __init__(self, n: int) -> None:
        self.n = n

    def __format__(self, spec: str) -> str:
        return f"M{self.n}"


@dataclasses.dataclass
class Mode:
    name: str


def added_to_set(x: Any) -> Any:
    seen = set()
    seen.add("p" if x > 0 else "n")
    return len(seen)


def walked(x: Any) -> Any:
    seen, at = set(), "A"
    following = {"A": ("B", "C"), "B": ("A", "D"), "C": ("D", "A"), "D": ("A", "A")}
    for k in range(3):
        seen.add(at)
        one, other = following[at]
        at = one if x > k else other
    return len(seen)


def put_into_deque(x: Any) -> Any:
    queue = deque()
    queue.appendleft("p" if x > 0 else "n")
    return queue[0]


def written_to_file(x: Any) -> Any:
    file = io.StringIO()
    file.write("a" if x > 0 else "bb")
    return file.getvalue()


def moved_to_end(x: Any) -> Any:
    order = OrderedDict(a=1, b=2, c=3)
    order.move_to_end("a" if x > 0 else "b")
    return list(order)


def pushed(x: Any) -> Any:
    heap = ["m"]
    heapq.heappush(heap, "p" if x > 0 else "n")
    return len(heap)


def made_by_library(x: Any) -> Any:
    return UserDict(a="p" if x > 0 else "n")["a"]


def looked_up_in_iterator(x: Any) -> Any:
    letters = iter("xay")
    return ("x" if x > 0 else "a") in letters, next(letters, "end")


def taken_apart(x: Any) -> Any:
    return dataclasses.asdict(Mode("a" if x > 0 else "b"))


def substituted(x: Any) -> Any:
    return string.Template("$m").substitute(m="a" if x > 0 else "b")


def appended(x: Any) -> Any:
    items, total = [x, x * 2], x * 0
    for item in items:
        total = total + item
        if total > 100:
            items.append(item)
    return total


def popped_from_enumerated(x: Any) -> Any:
    items, total = [x, x * 2], x * 0
    for place, item in enumerate(items):
        total = total + item * place
        if total > 100:
            items.pop()
    return total


def breadth_first(x: Any) -> Any:
    todo, seen = [0], gx.zeros(4)
    for node in todo:
        seen[node] = 1.0
        for other in range(4):
            if x > node and seen[other] == 0:
                todo.append(other)
                seen[other] = 1.0
    return seen


def taken_by_next(x: Any) -> Any:
    items = [x, x * 2]
    iterator = iter(items)
    first = next(iterator)
    if first > 5:
        items.append(first)
    return first + next(iterator)


def chosen_source(x: Any) -> Any:
    chosen = FIRST if x > 0 else SECOND
    with gx.GradientTape() as tape:
        y = chosen * chosen
    return tape.gradient(y, chosen)


def list_or_none(x: Any) -> Any:
    items = [x]
    if x > 5:
        items.append(x)
    return items or None


def text_of_number_or_tensor(x: Any) -> Any:
    n = 0
    if x > 5:
        n = x
    return str(n + 1)


def raised_number_or_tensor(x: Any) -> Any:
    n = 0
    if x > 5:
        n = x
    if x > -5:
        raise LookupError("n is", [n])
    return x


def caught_number_or_tensor(x: Any) -> Any:
    n = 0
    if x > 5:
        n = x
    try:
        raise ValueError(n + 1)
    except ValueError as error:
        return str(error)


def asserted_number_or_tensor(x: Any) -> Any:
    n = 0
    while n > x:
        n = n - x
    assert x > 100, n


def text_of_numpy_scalar(x: Any) -> Any:
    n = np.float32(1) if x > 0 else np.float32(2)
    return f"{n}", f"{n * 2!r}"


def class_of_numpy_scalar(x: Any) -> Any:
    n = np.float32(1)
    while n < x:
        n = n + np.float32(1)
    return isinstance(n, np.floating)


def text_after_a_loop(x: Any) -> Any:
    best = 0
    for item in gx.stack([x, x * 2]):
        if item > 3.5:
            best = item
    return f"{best + 1}"


@pytest.mark.parametrize(
    ("program", "message"),
    [
        *(
            (one, "is a tensor or, as in plain Python on some paths")
            for one in (
                *(text_of_number_or_tensor, text_after_a_loop),
                *(raised_number_or_tensor, caught_number_or_tensor, asserted_number_or_tensor),
                text_of_numpy_scalar,
            )
        ),
        *((one, EFFECT) for one in (added_to_set, walked, put_into_deque, written_to_file, moved_to_end, pushed)),
        *((one, EFFECT) for one in (made_by_library, looked_up_in_iterator)),
        *((one, LIBRARY) for one in (taken_apart, substituted)),
        *((one, LIST) for one in (appended, popped_from_enumerated, breadth_first, taken_by_next)),
        (class_of_numpy_scalar, "is of the class floating is not known"),
        (chosen_source, "which Variable or object this is depends on tensors"),
        (list_or_none, TRUTH),
    ],
)
def test_what_would_differ_is_refused(program: Callable[[Any], Any], message: str) -> None:
    with suppress(LookupError, AssertionError):
        program(f(1.0))
    with pytest.raises(UnimplementedError, match=rf"(?s){message}.*test_crossings"):
        gx.function(program)(f(1.0))


A, B = Formatted(1), Formatted(2)


def asked_once(x: Any) -> Any:
    one, other = Counting(), Counting()
    return ("p" if x > 0 else "n") in one, one.asked, other == ("p" if x > 0 else "n"), other.asked


def formatted_choice(x: Any) -> Any:
    return f"{A if x > 0 else B} {A if x > 0 else B:>5}"


def text_after_its_value(x: Any) -> Any:
    items = [1, 2] if x > 0 else [3, 4]
    n = 0
    while x > n:
        n += 1
    return str(items), repr(n), {"items": items, "n": n, "text": str(items), "again": repr(n)}["text"]


def chosen_variables(x: Any) -> Any:
    FIRST.assign(1.0)
    SECOND.assign(3.0)
    first, *others = max(FIRST, x * 4), min(SECOND, 2.0, FIRST), FIRST and x - 1, x - 1 or SECOND, max(FIRST, SECOND)
    by_name = max([FIRST, SECOND], key=lambda one: one.name)
    ordered = sorted([FIRST, SECOND], key=lambda one: one.name)
    FIRST.assign(5.0)
    SECOND.assign(7.0)
    return first + 1.0, [one + 1.0 for one in (*others, *ordered)], by_name + 1.0


def appended_choice(x: Any) -> Any:
    items = []
    items.append("p" if x > 0 else "n")
    items.insert(0, "q" if x > 0 else "r")
    return items, len(items)


@pytest.mark.parametrize(
    "program", [chosen_variables, asked_once, formatted_choice, text_after_its_value, appended_choice]
)
@pytest.mark.parametrize("value", [1.0, -1.0])
def test_what_is_the_same(program: Callable[[Any], Any], value: float) -> None:
    check(program, f(value))


def test_a_text_shows_digits_also_behind_the_value_that_it_shows() -> None:
    def program(x: Any) -> Any:
        items = [1, 2] if x > 0 else [3, 4]
        return items, str(items)

    assert gx.function(program)(f(1.0))[1] == "[1, 2]"


SCALAR = gx.TensorSpec((), "float32")


def power(x: Any) -> Any:
    n = 2
    first = gx.call_jax(lambda v: v**n, x)
    n = 3
    return first, gx.call_jax(lambda v, scale: v**n * scale, x, scale=x)


def gradient(x: Any) -> Any:
    n = 2
    found = gx.grad(lambda q: gx.call_jax(lambda v: v**n, q))(x)
    n = 3
    return found, n


def unrolled_host_calls(x: Any) -> Any:
    return [gx.pyfunc(lambda v: np.float32(v * k), SCALAR, x) for k in range(3)]  # noqa: B023


def rebound_parameter(x: Any) -> Any:
    def scaled(k: Any) -> Any:
        def through() -> Any:
            return k

        found = gx.call_jax(lambda v: v * through(), x), gx.pyfunc(lambda v: np.float32(v * through()), SCALAR, x)
        k = k + 100
        return found

    return scaled(1), scaled(2)


def captured_tensor(x: Any) -> Any:
    double, whole = x * 2, int(x)
    return gx.pyfunc(lambda v: np.float32(v * double) if type(whole) is int else v, SCALAR, x)


def index_in_a_helper(x: Any) -> Any:
    def scaled(k: Any) -> Any:
        return gx.pyfunc(lambda v: np.float32(v * k), SCALAR, x)

    total = x * 0
    for k in range(6):
        total = total * 2 + scaled(k)
    return total


def recursive(x: Any) -> Any:
    k = 2

    def product(n: int) -> Any:
        return k if n < 1 else n * product(n - 1)

    found = gx.call_jax(lambda v: v * product(3), x), gx.pyfunc(lambda v: np.float32(v * product(3)), SCALAR, x)
    k = 5
    return found, k


@pytest.mark.parametrize(
    "program", [power, gradient, unrolled_host_calls, rebound_parameter, captured_tensor, index_in_a_helper, recursive]
)
def test_functions_that_run_later_hold_what_they_captured(program: Callable[[Any], Any]) -> None:
    check(program, f(2.0))


def test_what_functions_that_run_later_read_from_outside_is_read_at_each_call() -> None:
    k = 1.0

    @gx.function
    def program(x: Any) -> Any:
        return gx.call_jax(lambda v: v * k, x), gx.pyfunc(lambda v: np.float32(v * k), SCALAR, x)

    assert [value.item() for value in program(f(2.0))] == [2.0, 2.0]
    k = 3.0
    assert [value.item() for value in program(f(2.0))] == [6.0, 6.0]


def test_graphs_built_by_hand_hold_what_a_jax_function_captured() -> None:
    with gx.Graph().as_default() as graph:
        n = 2
        y = gx.call_jax(lambda v: v**n, gx.asarray(2.0))
        n = 3
    with gx.Session(graph=graph) as session:
        assert session.run(y) == 4.0


def test_a_host_function_cannot_assign_a_variable_of_the_compiled_function() -> None:
    def program(x: Any) -> Any:
        count = 0

        def counted(v: Any) -> Any:
            nonlocal count
            count += 1
            return v * count

        return gx.pyfunc(counted, SCALAR, x)

    with pytest.raises(UnimplementedError, match=r"assigns 'count', a variable of the compiled function"):
        gx.function(program)(f(1.0))


def test_a_host_function_can_assign_a_variable_from_outside() -> None:
    count = 0

    def counted(v: Any) -> Any:
        nonlocal count
        count += 1
        return v * count

    @gx.function
    def program(x: Any) -> Any:
        return gx.pyfunc(counted, SCALAR, x) + gx.pyfunc(lambda v: counted(v), SCALAR, x)

    assert [program(f(1.0)).item() for _ in range(2)] == [3.0, 7.0]


class Equal:
    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def __eq__(self, other: object) -> Any:
        return self.answer

    __hash__ = None  # pyright: ignore[reportAssignmentType]


@pytest.mark.parametrize("answer", [0, 5, "", [1], True])
def test_in_gives_a_bool_whatever_equality_gives(answer: Any) -> None:
    one = Equal(answer)

    def program(x: Any) -> Any:
        return [one in (1, 2), one not in [3, 4], 1 in [one, one], x * 0]

    x = gx.asarray(1.0)
    assert gx.function(program)(x)[:3] == program(x)[:3]
    assert {type(part) for part in gx.function(program)(x)[:3]} == {bool}


def test_a_dict_that_cannot_be_iterated_over_is_refused() -> None:
    class Lazy(dict[str, int]):
        def __iter__(self) -> Any:
            raise KeyError("gone")

    table = Lazy(a=1)
    with pytest.raises(UnimplementedError, match=r"outer table .* cannot be followed: .* KeyError\('gone'\)"):
        gx.function(lambda x: (str({"k": table}), x))(gx.asarray(1.0))
