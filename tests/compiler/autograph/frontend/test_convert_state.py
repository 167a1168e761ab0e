"""Which names an ``if`` or a loop hands to its operator."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from graphc.compiler.autograph import convert
from tests.compiler.autograph.frontend.reference_operators import Plain


class Recording(Plain):
    """Notes the state of each construct, with the line order of the program, and what was unbound."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, ...]] = []
        self.marked: list[set[str]] = []

    def note(self, get_state: Callable[[], tuple[Any, ...]], names: tuple[str, ...]) -> None:
        self.seen.append(names)
        values = zip(names, get_state(), strict=True)
        self.marked.append({name for name, value in values if isinstance(value, self.Unbound)})

    def if_stmt(self, test, body, orelse, get_state, set_state, names, unread=None) -> None:  # noqa: ANN001
        self.note(get_state, names)
        super().if_stmt(test, body, orelse, get_state, set_state, names)

    def while_stmt(self, test, body, get_state, set_state, names, stored=tuple) -> None:  # noqa: ANN001
        self.note(get_state, names)
        super().while_stmt(test, body, get_state, set_state, names)

    def for_stmt(self, items, keep_going, body, get_state, set_state, names, stored=tuple) -> None:  # noqa: ANN001
        self.note(get_state, names)
        super().for_stmt(items, keep_going, body, get_state, set_state, names)


def states(fn: Callable[..., Any], *args: object) -> list[tuple[str, ...]]:
    return record(fn, *args).seen


def record(fn: Any, *args: object) -> Recording:
    operators = Recording()
    convert(fn, operators=operators)(*args)
    return operators


def test_a_branch_hands_over_what_is_read_behind_it() -> None:
    def fn(x: int) -> int:
        if x:
            kept, lost = 1, 2
        else:
            kept = lost = 3
        lost = 4
        return kept + lost

    found = record(fn, 1)
    assert found.seen == [("kept",)]
    assert found.marked == [{"kept"}]


def test_a_name_that_only_the_branch_reads_is_copied_and_not_state() -> None:
    def fn(x: int) -> int:
        t = 5
        if x:
            t = t + 1
            y = t
        else:
            y = 0
        return y

    assert states(fn, 1) == [("y",)]
    assert convert(fn, operators=Recording())(1) == 6


def test_a_loop_carries_what_the_next_iteration_or_the_rest_reads() -> None:
    def fn(n: int) -> tuple[int, int]:
        carried = after = 0
        for i in range(n):
            inside = carried + i
            carried = inside
            after = inside * 2
        return carried, after

    found = record(fn, 2)
    assert found.seen == [("after", "carried")]
    assert found.marked == [set()]


def test_the_target_is_state_when_it_is_read_behind_the_loop() -> None:
    def fn(n: int) -> int:
        for i in range(n):  # noqa: B007
            pass
        return i

    found = record(fn, 2)
    assert found.seen == [("i",)]
    assert found.marked == [{"i"}]


def test_a_while_test_keeps_its_names_alive() -> None:
    def fn(n: int) -> int:
        i = 0
        while i < n:
            i += 1
        return n

    assert states(fn, 2) == [("i",)]


def test_a_nested_construct_hands_over_only_what_the_body_needs() -> None:
    def fn(n: int) -> int:
        total = 0
        for i in range(n):
            if i > 1:
                step = 2
            else:
                step = 1
            total += step
        return total

    found = record(fn, 1)
    assert found.seen == [("total",), ("step",)]
    assert found.marked == [set(), {"step"}]


def test_names_that_a_closure_reads_are_always_state() -> None:
    def fn(n: int) -> list[int]:
        later = []
        for i in range(n):
            w = i
            later.append(lambda: w)  # noqa: B023
        return [f() for f in later]

    assert states(fn, 2) == [("w",)]


def test_a_comprehension_reads_at_once() -> None:
    def fn(n: int) -> int:
        total = 0
        for i in range(n):
            w = i
            total += sum(w * k for k in range(2)) + len([w for _ in range(2)])
        return total

    assert states(fn, 2) == [("total",)]


def test_names_that_an_inner_function_rebinds_are_always_state() -> None:
    def fn(n: int) -> int:
        count = 0

        def bump() -> None:
            nonlocal count
            count += 1

        for _ in range(n):
            bump()
        return count

    assert states(fn, 1) == [("count",)]


def test_a_handler_keeps_names_alive_in_the_body_it_guards() -> None:
    def fn(x: int) -> int:
        y = 0
        try:
            if x:
                y = 1
                raise ValueError
        except ValueError:
            return y
        return 3

    operators = Recording()
    assert convert(fn, operators=operators)(1) == 1
    assert "y" in operators.seen[0]


def test_a_context_manager_known_to_swallow_keeps_names_alive() -> None:
    def fn(x: int) -> float:
        total = y = 0.0
        for i in range(2):
            with contextlib.suppress(ZeroDivisionError):
                y = i / x
            total += y
        return total

    def plain_manager(n: int) -> int:
        total = 0
        for i in range(n):
            with contextlib.nullcontext():
                y = i
            total += y
        return total

    assert states(fn, 0) == [("total", "y")]
    assert states(plain_manager, 2) == [("total",)]


def test_early_return_needs_no_flag_where_a_branch_always_returns() -> None:
    def fn(x: int) -> int:
        if x > 0:
            return 1
        y = x * 2
        return y + 1

    assert states(fn, 1) == [("ag__return",)]


def test_return_in_a_loop_carries_value_and_flag() -> None:
    def fn(n: int) -> int:
        for i in range(n):
            if i == 2:
                return i
        return -1

    found = states(fn, 1)
    assert found[0] == ("ag__done", "ag__return")


def test_a_raise_needs_neither_flag_nor_state() -> None:
    def fn(x: int) -> int:
        if x < 0:
            raise ValueError
        return x

    assert states(fn, 1) == [()]
