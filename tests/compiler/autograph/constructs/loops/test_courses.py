"""Loops whose Python numbers change in each iteration are one node where no tensor decides about the numbers."""

from __future__ import annotations

import linecache
import math
import os
import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

import graphc as gx
from graphc import Tensor
from graphc.compiler.base.errors import GraphcError
from tests.compiler.autograph.differential import check, compile_quietly, f, loops_of, run
from tests.conformance.comparing import difference


class Counter:
    """State in a plain object."""

    def __init__(self) -> None:
        self.count = 0
        self.rate = 0.5


def rate_that_decays(x: Tensor) -> Any:
    rate = 0.1
    for _ in range(9):
        x = x - rate * x
        rate *= 0.97
    return x, rate


def power_of_the_index(x: Tensor) -> Any:
    for step in range(1, 20):
        x = x / (1 - 0.9**step)
    return x


def counter_in_an_object(x: Tensor) -> Any:
    state = Counter()
    for _ in range(8):
        state.count += 1
        x = x + 1 / state.count
    return x / state.count, state


def numbers_of_numbers(x: Tensor) -> Any:
    low, high, bits = 0, 1, 1
    for i in range(3, 40, 4):
        low, high = high, (low + high) % 1009
        bits = (bits << 1) ^ (i & 5)
        x = x * 0.5 + low // 3 + (bits % 7) + 7 % i + math.sqrt(i)
    return x, low, high, bits


def place_that_is_counted(x: Tensor) -> Any:
    place = 2
    total = x[0]
    for _ in range(7):
        total = total + x[place]
        place += 1
    return total, place


def exact_comparisons(x: Tensor) -> Any:
    limit, hits = 0.0, 0
    for _ in range(12):
        limit += 0.1
        if limit < 0.3:
            x = x + 1
        hits = hits + (limit > 0.7)
        x = x + int(limit * 100)
    return x, hits


def last_index(x: Tensor) -> Any:
    last = -1
    for i in range(10, 0, -2):
        x = x + last
        last = i
    return x, last


def bound_in_the_loop(x: Tensor) -> Any:
    for i in range(1, 8):
        share = 1 / i
        x = x + share
    return x * share, share  # pyright: ignore[reportPossiblyUnboundVariable]


def moving_windows(x: Tensor) -> Any:
    out = gx.zeros(9)
    for i in range(9):
        out[i] = gx.sum(x[i : i + 4])
    return out


def windows_of_a_counted_place(x: Tensor) -> Any:
    place = 0
    total = gx.zeros(3)
    for _ in range(5):
        total = total + x[place : place + 3]
        place += 2
    return total, place


def windows_from_the_end(x: Tensor) -> Any:
    total = gx.zeros(2)
    for i in range(6, 0, -1):
        total = total * 2 + x[-i - 2 : -i]
    return total


def assigned_blocks(x: Tensor) -> Any:
    out = gx.zeros((12, 12))
    for i in range(0, 12, 2):
        for j in range(6):
            out[i : i + 2, 2 * j : 2 * (j + 1)] = x[i : i + 2] * j
    return out


def numbers_that_conditions_choose(x: Tensor) -> Any:
    rate, flag, size = 0.1, True, 0
    for i in range(9):
        if i % 3 == 2:
            rate *= 0.5
        elif rate < 0.06 and i < 7:
            size += 2
        flag = not flag
        x = x * rate + (1 if flag else i)
    return x, rate, flag, gx.zeros(size)


def stops_when_a_number_says(x: Tensor) -> Any:
    rate, size = 1.0, 0
    for i in range(100):
        rate *= 0.8
        x = x * rate + i
        size += 1
        if rate < 0.1:
            break
    return x, rate, gx.zeros(size)


def _filled(x: Tensor) -> list[Any]:
    rows: list[Any] = []
    for i in range(8):
        x = gx.sin(x * 1.5 + i)
        rows.append((x, x.sum()))
    return rows


def list_read_backwards(x: Tensor) -> Any:
    rows = _filled(x)
    for i in range(7, -1, -1):
        x = x * 0.5 + rows[i][0] * rows[i // 2][1]
    return x


def list_reversed(x: Tensor) -> Any:
    rows = _filled(x)
    for place, (row, total) in enumerate(reversed(rows)):
        x = x * 0.5 + row * total + place
    return x


def lists_side_by_side(x: Tensor) -> Any:
    first, second = [row for row, _ in _filled(x)], [row for row, _ in _filled(x * 2)]
    for one, other in zip(first, reversed(second), strict=True):
        x = x * 0.5 + one * other
    return x, gx.stack(first, axis=1), gx.stack(second, axis=-1)


def list_of_numbers(x: Tensor) -> Any:
    weights = [0.5 * k for k in range(9)]
    for i in range(9):
        x = x * weights[i] + weights[-i]
    return x


def list_that_numbers_fill(x: Tensor) -> Any:
    rate = 1.0
    kept: list[Any] = []
    for i in range(9):
        rate *= 0.7
        x = x * rate
        if rate < 0.3 and i % 2 == 0:
            kept.append(x)
    return gx.stack(kept)


ROLLED = [
    list_that_numbers_fill,
    list_read_backwards, list_reversed, lists_side_by_side, list_of_numbers,
    numbers_that_conditions_choose, stops_when_a_number_says,
    moving_windows, windows_of_a_counted_place, windows_from_the_end, assigned_blocks,
    rate_that_decays, power_of_the_index, counter_in_an_object, numbers_of_numbers, place_that_is_counted,
    exact_comparisons, last_index, bound_in_the_loop,
]  # fmt: skip


@pytest.mark.drawn(3)
@pytest.mark.parametrize("fn", ROLLED)
def test_is_one_loop(fn: Callable[..., Any]) -> None:
    x = f(*np.linspace(0.5, 2, 12))
    check(fn, x)
    assert {kind for kind, _ in loops_of(fn, x)} == {"rolled"}


def test_numbers_of_a_loop_that_may_stop() -> None:
    def fn(x: Tensor) -> Any:
        rate, steps = 1.0, 0
        for i in range(30):
            if x.sum() > 20:
                break
            rate *= 0.9
            steps += 2
            x = x + rate * i
        return x, rate, steps

    check(fn, f(1.0, 2.0))
    check(fn, f(30.0, 2.0))
    assert [kind for kind, _ in loops_of(fn, f(1.0, 2.0))] == ["rolled"]


def test_an_int_that_becomes_a_float_is_one_loop_after_the_first_iteration() -> None:
    def fn(x: Tensor) -> Any:
        rate = 1
        for _ in range(9):
            x = x * rate
            rate = rate * 0.5
        return x, rate

    check(fn, f(3.0))
    assert ("rolled", "its 8 iterations do the same work") in loops_of(fn, f(3.0))


def test_a_list_that_the_body_changes_is_pythons() -> None:
    def fn(x: Tensor) -> Any:
        rows = [row for row, _ in _filled(x)]
        for row in rows:
            x = x * 0.5 + row
            if len(rows) < 11:
                rows.append(x)
        for row in reversed(rows):
            rows.pop()
            x = x + row
        return x, rows

    check(fn, f(0.1, 0.2))


def test_gradients_of_a_list_that_is_read_backwards() -> None:
    def fn(x: Tensor) -> Any:
        return list_read_backwards(x)[0] + list_reversed(x)[1]

    x = f(0.1, 0.2, 0.3)
    np.testing.assert_allclose(gx.function(gx.grad(fn))(x).numpy(), gx.grad(fn)(x).numpy(), rtol=1e-4)
    np.testing.assert_allclose(gx.grad(gx.function(fn))(x).numpy(), gx.grad(fn)(x).numpy(), rtol=1e-4)


def test_gradients_inside_by_a_list() -> None:
    def fn(x: Tensor) -> Any:
        with gx.GradientTape() as tape:
            tape.watch(x)
            rows = [row for row, _ in _filled(x)]
            total = gx.zeros_like(x)
            for row in rows:
                total = total * 0.5 + row * row
            for i in range(8):
                total = total + rows[i] * i
            total = total.sum()
        return tape.gradient(total, x)

    check(fn, f(0.1, 0.2, 0.3))


def test_windows_that_are_cut_off_are_what_python_has() -> None:
    def fn(x: Tensor) -> Any:
        total = gx.asarray(0.0)
        for i in range(12):
            total = total * 2 + x[i : i + 4].sum() + x[i - 3 : i + 1].sum() + x[:i].sum()
        return total

    check(fn, f(*range(12)))


def test_a_number_that_stays_may_be_a_shape() -> None:
    def fn(x: Tensor) -> Any:
        size = 4
        for i in range(6):
            x = x.reshape(size, -1) + i
            size = size * 1
        return x, size

    check(fn, f(*range(12)))


def test_what_python_raises_is_raised() -> None:
    def fn(x: Tensor) -> Any:
        left = 5
        for _ in range(9):
            left -= 1
            x = x + 1 / left
        return x

    check(fn, f(1.0))


def test_a_float_is_shown_as_python_has_it(capsys: pytest.CaptureFixture[str]) -> None:
    def fn(x: Tensor) -> Any:
        rate = 0.1
        for _ in range(6):
            rate *= 0.97
            print(rate)
        return x * rate

    for _ in range(2):
        gx.function(fn)(f(1.0))
        gx.wait_all()
    shown = capsys.readouterr().out.split()
    assert shown[:6] == [repr(0.1 * 0.97), *[repr(value) for value in _course(0.1 * 0.97, 5)]]


def _course(first: float, count: int) -> list[float]:
    values: list[float] = []
    for _ in range(count):
        first *= 0.97
        values.append(first)
    return values


STATEMENTS = [
    "a += {k}", "a -= i", "a = (a * 3 + {k}) % 17", "a = i // {p}", "a = max(a, i) % 50", "a = a << 1 & 255", "a = -a",
    "a = int(b * 3) % 11", "a, c = c, a", "c = c + 1", "c = abs(a) % 7", "c = i * {k} + a % 3",
    "b *= 0.97", "b = b / 2 + 0.1", "b = 0.9 ** (i % 9)", "b = (b + a) % 10.0", "b = 1 / ({p} + c * c)", "b /= i + 0.5",
    "b = math.floor(b * 10) / 10", "b = min(b, 0.25 * i)", "b = round(b, 1)", "b = float(a % 5)",
    "s.count += 1", "s.count = s.count * 2 % 31", "s.rate = s.rate * 0.5 + i * 0.25", "s.count += a % 2",
    "y = y * 0.5 + b", "y = y + a % 7", "y = y * 0.5 + s.rate", "y[0:2] = y[i % 3:i % 3 + 2]",
    "y = y + gx.sum(y[c % 5:c % 5 + 2])",
    "y = y + y[i:i + 3].sum()",
    "y = y + y[i % 4]", "y = y + y[c % 4] * 0.25",
    "y = y + (b > 0.3)", "y = gx.clip(y, -9.0, 9.0)",
    "if a % 3 == {r}: y = y + 1", "if b > 0.2: y = y - b", "if c > {p}: a = a + 1", "if y[0] > 3: c = 0",
    "if y[1] > 8: break", "if a % 5 == 4: continue", "if i == {p}: return y, a, b, c, s",
    "for j in range(6): y = y * 0.9 + b * j", "for j in range(5): a = (a + j * i) % 13", "d = a + b\ny = y + d * 0.1",
]  # fmt: skip


@st.composite
def programs(draw: st.DrawFn) -> str:
    """A loop over a range with random statements about numbers and tensors."""
    count = draw(st.integers(2, 6))
    lines: list[str] = []
    for _ in range(count):
        statement = draw(st.sampled_from(STATEMENTS))
        numbers = {"k": draw(st.integers(-3, 4)), "p": draw(st.integers(1, 5)), "r": draw(st.integers(0, 2))}
        lines += statement.format(**numbers).split("\n")
    start, trips = draw(st.integers(-3, 3)), draw(st.sampled_from([0, 1, 5, 6, 9]))
    step = draw(st.sampled_from([1, 2, -1, -3]))
    loop = f"for i in range({start}, {start + trips * step}, {step}):"
    body = textwrap.indent("\n".join([loop, *(f"    {line}" for line in lines), "return y, a, b, c, s"]), "    ")
    first = draw(st.sampled_from(["1", "0", "2.0", "True"]))
    return f"def program(y):\n    a, b, c, s = 1, 0.5, {first}, Counter()\n{body}\n"


@settings(max_examples=int(os.environ.get("GRAPHC_RANDOM_PROGRAMS", "40")))
@given(programs())
def test_random_bodies_mean_what_they_mean_eagerly(source: str) -> None:
    note(source)
    name = f"<courses {hash(source)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    namespace: dict[str, Any] = {"gx": gx, "math": math, "Counter": Counter}
    exec(compile(source, name, "exec"), namespace)
    program = namespace["program"]
    eager, expected = run(program, f(0.5, -1.0, 2.0, 3.5))
    compiled, found = run(compile_quietly(program), f(0.5, -1.0, 2.0, 3.5))
    if isinstance(found, GraphcError) and expected is None:
        return
    assert type(found) is type(expected), (found, expected)
    if expected is None:
        problem = difference(eager, compiled)
        assert problem is None, problem


def test_a_list_of_such_numbers_holds_pythons_own() -> None:
    def rates(x: Tensor) -> Any:
        found: list[float] = []
        rate = 0.5
        for _ in range(9):
            rate = rate**1.1
            found.append(rate)
            x = x * rate
        return x, found

    check(rates, f(1.0))
    _, found = gx.function(rates)(f(1.0))
    assert [type(rate) for rate in found] == [float] * 9
