"""Long chains of conditions: one switch, however they are written."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Any

import pytest

import graphc as gx

KINDS = ("elif", "return", "match")


def chain(kind: str, size: int, folder: str = "") -> Callable[..., Any]:
    """A function that looks its result up by its first argument, in as many branches."""
    lines = ["def look_up(n, x):", *(["    match n:"] if kind == "match" else [])]
    for place in range(size):
        result = f"x * {place} + {place / 2}"
        if kind == "match":
            lines += [f"        case {place}:", f"            y = {result}"]
        elif kind == "return":
            lines += [f"    if n == {place}:", f"        return {result}"]
        else:
            lines += [f"    {'elif' if place else 'if'} n == {place}:", f"        y = {result}"]
    lines += {"match": ["        case _:", "            y = x"], "return": ["    y = x"]}.get(
        kind, ["    else:", "        y = x"]
    )
    source = "\n".join([*lines, "    return y"])
    file = f"<{folder}chain {kind} {size}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    namespace: dict[str, Any] = {}
    exec(compile(source, file, "exec"), namespace)
    return namespace["look_up"]


def ops(graph: Any) -> list[str]:
    return [node.op.name for node in graph.walk()]


@pytest.mark.parametrize("kind", KINDS)
def test_three_hundred_branches_are_one_switch(kind: str) -> None:
    found = ops(gx.function(chain(kind, 300)).graph(gx.asarray(1), gx.asarray(2.0)))
    assert found.count("switch") == 1
    assert "cond" not in found


@pytest.mark.parametrize("kind", KINDS)
def test_a_chain_means_what_it_means_eagerly(kind: str) -> None:
    plain = chain(kind, 8)
    compiled = gx.function(plain)
    for n in (-1, 0, 3, 4, 7, 8):
        gradients: list[float] = []
        for function in (plain, compiled):
            x = gx.asarray(2.0)
            with gx.GradientTape() as tape:
                tape.watch(x)
                y = function(gx.asarray(n), x)
            gradients += [y.item(), tape.gradient(y, x).item()]
        assert gradients[:2] == gradients[2:]


def test_its_gradient_inside_the_function_is_that_of_the_switch() -> None:
    look_up = chain("elif", 8)

    @gx.function
    def step(n: Any, x: Any) -> Any:
        with gx.GradientTape() as outer:
            outer.watch(x)
            with gx.GradientTape() as tape:
                tape.watch(x)
                y = look_up(n, x) * x
            slope = tape.gradient(y, x)
        return y, slope, outer.gradient(slope, x)

    found = ops(step.graph(gx.asarray(1), gx.asarray(2.0)))
    assert "cond" not in found
    assert found.count("first_true") == 1
    assert [value.item() for value in step(gx.asarray(3), gx.asarray(2.0))] == [15.0, 13.5, 6.0]
    assert [value.item() for value in step(gx.asarray(9), gx.asarray(2.0))] == [4.0, 4.0, 2.0]


def test_equal_functions_of_two_files_are_told_apart() -> None:
    # To compare their code, Python would take a time exponential in how deep its branches are nested.
    for folder in ("first/", "second/"):
        graph = gx.function(chain("elif", 60, folder)).graph(gx.asarray(1), gx.asarray(2.0))
        assert {node.location.file for node in graph.walk() if node.location} == {f"<{folder}chain elif 60>"}
