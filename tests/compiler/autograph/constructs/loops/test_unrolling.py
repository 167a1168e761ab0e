"""Loops that Python unrolls: how many nodes they may add."""

from __future__ import annotations

import itertools
import linecache
from typing import Any

import pytest

import graphc as gx
from graphc import Tensor
from graphc.compiler.base.errors import InvalidArgumentError
from tests.compiler.autograph.differential import check, f

TABLE = [1.0] * 1_000_000


def with_a_table(x: Tensor) -> Any:
    for i in range(1_000_000):
        x = x * 0.5 + TABLE[i]
    return x


def over_a_list(x: Tensor) -> Any:
    for k in TABLE:
        x = x * 0.5 + k
    return x


def endless(x: Tensor) -> Any:
    for k in itertools.count():
        if x > 100:
            break
        x = x + k
    return x


def python_while(x: Tensor) -> Any:
    k = 0
    while k < 1_000_000:
        x = x + k
        k = k + 1
    return x


def nested(x: Tensor) -> Any:
    for k in TABLE[:1000]:
        for j in TABLE[:1000]:
            x = x * k + j
    return x


warned_of = pytest.mark.filterwarnings("ignore:.* copies of its body")


@warned_of
@pytest.mark.parametrize(
    ("fn", "message"),
    [
        (with_a_table, r"this for loop is unrolled, because an index or a size needs the loop's index as a Python int; "
                       r"after \d[\d,]* of 1,000,000 iterations it would add about [\d,]+ nodes in all, more than the "
                       r"1,000 of gx\.config\.max_unrolled_nodes\. Write its body without"),
        (over_a_list, r"because it runs over a list.* of 1,000,000 iterations .*Stack the items into one tensor"),
        (endless, r"because it runs over a count, .*; after [\d,]+ iterations it has added [\d,]+ nodes"),
        (python_while, r"this while loop is unrolled, because its test is a Python value; .* Make its test depend on"),
        (nested, r"of 1,000 iterations it would add about [\d,]+ nodes in all"),
    ],
)  # fmt: skip
def test_a_loop_that_would_add_too_many_nodes_is_refused_early(
    fn: Any, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gx.config, "max_unrolled_nodes", 1000)
    with pytest.raises(InvalidArgumentError, match=message) as caught:
        gx.function(fn)(f(1.0))
    line = {nested: "for j in TABLE"}.get(fn, "for " if fn is not python_while else "while ")
    assert f"in {fn.__name__}\n    {line}" in str(caught.value)


@warned_of
def test_most_of_it_is_not_traced_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gx.config, "max_unrolled_nodes", 100_000)
    traced = 0

    def program(x: Tensor) -> Any:
        nonlocal traced
        for k in TABLE:
            traced += 1
            x = x * 0.5 + k
        return x

    with pytest.raises(InvalidArgumentError, match="would add about"):
        gx.function(program)(f(1.0))
    assert traced < 2_000


def test_what_comes_after_the_first_iterations_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gx.config, "max_unrolled_nodes", 10_000)

    def program(x: Tensor) -> Any:
        for k in TABLE[:6_000]:
            if len(TABLE) == 1_000_000 and k > 0 and x.shape == ():
                pass
            else:
                x = x + k
        for k, _ in enumerate(TABLE[:6_000]):
            if k < 50:
                x = x * 0.5 + k
        return x

    check(program, f(1.0))


def test_nodes_in_branches_and_loops_inside_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gx.config, "max_unrolled_nodes", 300)

    def program(x: Tensor) -> Any:
        for k in TABLE[:30]:
            if x > 0:
                for row in gx.ones(3):
                    x = x * k + row * k - row / 2 + gx.sin(row) - gx.cos(row) * x
        return x

    with pytest.raises(InvalidArgumentError, match=r"of 30 iterations it would add about \d\d\d nodes"):
        gx.function(program)(f(1.0))


def _scaled(x: Tensor, numbers: list[float]) -> Any:
    for k in numbers:
        x = x * 0.5 + k
    return x


def test_explain_says_what_the_copies_of_a_body_cost() -> None:
    found = gx.explain(_scaled, f(1.0), [1.0] * 30, compile=False)
    (loop,) = found.loops
    assert (loop.kind, loop.copies) == ("unrolled", 30)
    assert loop.nodes == sum(node.op.name != "call_status" for node in gx.function(_scaled).trace(
        f(1.0), [1.0] * 30
    ).notes.unoptimized.nodes)  # fmt: skip
    assert loop.why.startswith("it runs over a list, whose items Python takes one by one; 30 copies of its body have ")
    assert loop.why.endswith(f" {loop.nodes} nodes, rolled about 2")
    text = " ".join(str(found).split())
    assert text.count(f"30 copies of its body have {loop.nodes} nodes, rolled about 2") == 2


def test_many_nodes_are_warned_of_where_the_body_could_be_another() -> None:
    def program(x: Tensor) -> Tensor:
        for i in range(40):
            for _ in range(60):
                gx.loop_options(unroll=True)
                x = gx.sin(x) + 0.1
            x = x + gx.sum(gx.ones(i + 1))
        return x

    with pytest.warns(
        gx.base.errors.GraphcWarning, match=r"this for loop is unrolled, because .* it becomes 40 copies"
    ) as told:
        gx.function(program)(f(1.0))
    assert [warning.lineno for warning in told] == [program.__code__.co_firstlineno + 1]


def test_many_copies_are_warned_of_once_and_at_their_line() -> None:
    def program(x: Tensor) -> Any:
        for _ in range(3):
            x = _scaled(x, [1.0] * 201)
        return x

    with pytest.warns(gx.errors.GraphcWarning) as caught:
        gx.function(program).trace(f(1.0))
    (warning,) = caught
    message = str(warning.message)
    assert message == (
        "this for loop is unrolled, because it runs over a list, whose items Python takes one by one; it becomes 201 "
        "copies of its body of about 2 nodes each, which take long to compile, where a rolled loop has one. Stack the "
        "items into one tensor and loop over its rows, so that it becomes one node"
    )
    assert warning.filename == __file__
    assert "for k in numbers:" in linecache.getline(__file__, warning.lineno)


def test_copies_that_are_few_or_wanted_or_empty_are_not_warned_of() -> None:
    @gx.function
    def wanted(x: Tensor) -> Any:
        for _ in range(210):
            gx.loop_options(unroll=True)
            x = x + 1
        return x

    @gx.function
    def empty(x: Tensor) -> Any:
        total = 0.0
        for k in TABLE[:1000]:
            total = total + k
        return x + total

    gx.function(_scaled).trace(f(1.0), [1.0] * 200)
    wanted.trace(f(1.0))
    assert empty(f(1.0)).item() == 1001
