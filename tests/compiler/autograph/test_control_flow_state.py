"""Variables, random numbers and reports of loops and branches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc import Tensor
from graphc.compiler.base.errors import UnimplementedError
from tests.compiler.autograph.differential import f, kinds_of, loops_of, n, run
from tests.conformance.comparing import difference

Program = Callable[..., Any]


def branch(v: gx.Variable, w: gx.Variable, x: Tensor) -> Any:
    if x > 0:
        v.assign(v + x)
    else:
        w.assign_sub(x * v)
        v.assign(w)
    return v + w


def one_branch(v: gx.Variable, w: gx.Variable, x: Tensor) -> Any:
    before = v.value()
    if x > 0:
        v.assign_add(1.0)
    return before, v.value()


def rolled(v: gx.Variable, w: gx.Variable, x: Tensor) -> Any:
    for i in range(9):
        v.assign(v * 0.5 + w * i)
        x = x + v
    return x


def branch_in_loop(v: gx.Variable, w: gx.Variable, x: Tensor) -> Any:
    for i in range(9):
        if v < w:
            v.assign_add(1.0)
        elif i % 2 == 0:
            w.assign_add(3.0)
        x = x + v * w
    return x


def unrolled(v: gx.Variable, w: gx.Variable, x: Tensor) -> Any:
    log = []
    for i in range(6):
        v.assign_add(i)
        log.append(v.value())
    return log


def loop_while(v: gx.Variable, w: gx.Variable, x: Tensor) -> Any:
    while v < 20:
        v.assign(v * 2 + 1)
        w.assign_add(1.0)
    return x + w


def variable_in_the_test_only(v: gx.Variable, w: gx.Variable, x: Tensor) -> Any:
    while x < v:
        x = x + w
    return x


def over_rows(v: gx.Variable, w: gx.Variable, x: Tensor) -> Any:
    for row in gx.arange(5.0):
        v.assign(v + row)
        if v > 4:
            break
    return v.value()


def nested(v: gx.Variable, w: gx.Variable, x: Tensor) -> Any:
    for i in range(6):
        for j in range(6):
            v.assign_add(w * i * j)
        w.assign(w * 0.5)
    return x


def second_operand(v: gx.Variable, w: gx.Variable, x: Tensor) -> Any:
    def bump() -> Any:
        v.assign_add(1.0)
        return v > 0

    if x > 0 and bump():
        x = x + 1
    return x


def read_after_assignment(v: gx.Variable, w: gx.Variable, x: Tensor) -> Any:
    first = v * 1.0
    v.assign(x)
    second = v * 1.0
    for _ in range(6):
        v.assign_add(1.0)
    return first, second, v * 1.0


PROGRAMS: list[Program] = [
    branch, one_branch, rolled, branch_in_loop, unrolled, loop_while, variable_in_the_test_only, over_rows, nested,
    second_operand, read_after_assignment,
]  # fmt: skip


@pytest.mark.drawn(3)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
@pytest.mark.parametrize("x", [2.0, -2.0])
def test_variables_hold_the_same_eagerly_and_compiled(program: Program, x: float) -> None:
    pairs = [(gx.Variable(3.0), gx.Variable(4.0)) for _ in range(2)]
    ways = (program, gx.function(program))
    for _ in range(2):  # the second call starts from what the first one left
        eager, compiled = (way(*pair, f(x)) for way, pair in zip(ways, pairs, strict=True))
        assert difference(eager, compiled) is None
        np.testing.assert_allclose([v.numpy() for v in pairs[0]], [v.numpy() for v in pairs[1]], rtol=1e-6)


def test_a_refused_loop_changes_no_variable() -> None:
    v = gx.Variable(3.0)

    @gx.function
    def refused(x: Tensor) -> Tensor:
        v.assign(7.0)
        while x < 3:
            v.assign_add(1.0)
            x = gx.ones(3)
        return x

    _, error = run(refused, f(1.0))
    assert error is not None
    assert v.numpy() == 3.0


def test_random_numbers_are_the_same_and_differ_between_iterations() -> None:
    def draws(x: Tensor) -> Any:
        rows = gx.zeros(8)
        for i in range(8):
            rows = rows.at[i].set(gx.random.normal(()))
        if x > 0:
            x = x + gx.random.uniform(())
        count = gx.asarray(0)
        while gx.random.uniform(()) < 0.7:
            count = count + 1
        return rows, x, count, gx.random.uniform(())

    assert kinds_of(draws, f(1.0)) == ["rolled", "while"]
    for value in (1.0, -1.0):
        gx.random.seed(5)
        eager = draws(f(value))
        gx.random.seed(5)
        compiled = gx.function(draws)(f(value))
        assert difference(eager, compiled) is None
        assert len(set(compiled[0].tolist())) == 8


# --- reports and options


def counted(x: Tensor) -> Tensor:
    for i in range(12):
        x = x * 0.5 + i
    return x


def test_reports_name_kind_reason_and_line() -> None:
    trace = gx.function(counted).trace(f(1.0))
    (loop,) = trace.loops
    assert (loop.kind, loop.reason) == ("rolled", "its 12 iterations do the same work")
    assert loop.location is not None
    assert loop.location.file.endswith("test_control_flow_state.py")
    assert "for i in range(12):" in str(loop.location)


def test_unroll_decides_by_hand() -> None:
    assert loops_of(counted, f(1.0), unroll=True) == [("unrolled", "unroll=True")]
    assert gx.function(counted, unroll=True)(f(1.0)).item() == pytest.approx(counted(f(1.0)).item())

    def short(x: Tensor) -> Tensor:
        for i in range(2):
            x = x + i
        return x

    assert loops_of(short, f(1.0)) == [("unrolled", "it has fewer than 5 iterations")]
    assert [kind for kind, _ in loops_of(short, f(1.0), unroll=False)] == ["rolled"]


def test_unroll_false_refuses_what_cannot_be_rolled() -> None:
    def listing(x: Tensor) -> Any:
        for i in range(8):
            x = x + len(["a", "b", "cc", "d", "e", "ff", "g", "h"][i])
        return x

    with pytest.raises(UnimplementedError, match=r"unroll=False, but this loop cannot be rolled: an index or a size"):
        gx.function(listing, unroll=False)(f(1.0))


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (lambda x, i, log: log.insert(0, i), "the call of insert needs the loop's index as a Python int"),
        (lambda x, i, log: [*"abcdef"][i], "an index or a size needs the loop's index as a Python int"),
        (lambda x, i, log: {i: 1}, "a key of a dict or set needs the loop's index as a Python int"),
        (lambda x, i, log: chr(i), "the call of chr needs the loop's index as a Python int"),
        (
            lambda x, i, log: gx.zeros(9)[: i + 1],
            "a slice whose width changes, or is not known, needs the loop's index as a Python int",
        ),
    ],
)
def test_reasons_to_unroll(body: Any, reason: str) -> None:
    def program(x: Tensor) -> Tensor:
        log: list[Any] = []
        for i in range(6):
            body(x, i, log)
            x = x + 1
        return x

    assert loops_of(program, f(1.0)) == [("unrolled", reason)]


def test_the_loops_of_a_failed_attempt_are_not_reported() -> None:
    def program(x: Tensor) -> Any:
        log = []
        for i in range(6):
            for j in range(7):
                x = x + j
            log.append(str(i))
        return x, log

    kinds = kinds_of(program, f(1.0))
    assert sorted(kinds) == ["rolled"] * 6 + ["unrolled"]


def test_kinds_of_nested_and_symbolic_loops() -> None:
    def program(x: Tensor, count: Tensor) -> Tensor:
        for i in range(count):
            x = x + i
        for row in gx.ones(6):
            x = x + row
        while x < 100:
            x = x * 2
        return x

    assert loops_of(program, f(1.0), n(3)) == [
        ("while", "its range has a tensor bound"),
        ("rolled", "it runs over the 6 rows of a tensor"),
        ("while", "its test is a tensor"),
    ]


def test_a_rolled_loop_is_one_node_whatever_the_trip_count() -> None:
    def program(count: int) -> Any:
        def loop(x: Tensor) -> Tensor:
            for i in range(count):
                x = x * 0.5 + i
            return x

        return gx.function(loop).graph(f(1.0))

    assert len(program(10).nodes) == len(program(100_000).nodes) <= 3


def test_a_return_that_always_happens_ends_a_loop_in_a_branch() -> None:
    def over_a_range(x: Any, t: Any) -> Any:
        if x < 1:
            while x < 0:
                return t
            for _ in range(6):
                t = (t + t) % 3
                return t  # noqa: RET504
        return t

    def over_rows(x: Any, rows: Any) -> Any:
        total = gx.zeros(())
        if x < 1:
            while x < 0:
                return total
            for row in rows:
                total = total + gx.sum(row)
                return total  # noqa: RET504
        return total

    def first_row(rows: Any) -> Any:
        for row in rows:
            return row * 2
        return rows[0]

    def breaks(x: Any, rows: Any) -> Any:
        total = gx.zeros(())
        if x > 0:
            for row in rows:
                total = total + gx.sum(row)
                break
        return total

    rows = gx.asarray([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    for x in (-1.0, 0.0, 2.0):
        for function, argument in ((over_a_range, gx.asarray(1)), (over_rows, rows), (breaks, rows)):
            eager = function(gx.asarray(x), argument)
            assert gx.function(function)(gx.asarray(x), argument).item() == eager.item()
    assert gx.function(first_row)(rows).tolist() == [2.0, 4.0]
