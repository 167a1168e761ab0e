"""Which inputs the gradients of which outputs reach, found in graphs alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import graphc as gx
from graphc.compiler.gradients.records import reach
from graphc.compiler.ir import OPS, Attrs, Node
from graphc.compiler.ops import CALL

ONE = gx.asarray(1.0)


def node_of(function: Callable[..., Any], op: str, *args: Any, **options: Any) -> Node:
    return next(node for node in gx.function(**options)(function).graph(*args).walk() if node.op.name == op)


def places(node: Node) -> list[set[int]]:
    found = reach(node.op, node.attrs, node.regions)
    assert found is not None
    return list(map(set, found))


def test_a_call() -> None:
    variable, other = gx.Variable(1.0), gx.Variable(2.0)

    def function(x: Any, n: Any) -> Any:
        y = x * variable
        other.assign(y)
        return y + n, gx.stop_gradient(x), other + x, n

    graph = gx.function(function).graph(ONE, gx.asarray(3))
    found = reach(CALL, Attrs(), (graph,))
    # The inputs are the variables, the written ones first, and the arguments.
    assert found == [{1, 2}, set(), {0, 2}, set(), {0}]


def test_a_branch() -> None:
    def function(x: Any, y: Any, z: Any) -> Any:
        if x > 0:
            return x * y, y, x
        return x, y * y, x

    node = node_of(function, "cond", ONE, ONE, ONE)
    operands = [value.name for value in node.inputs]
    named = [{operands[place] for place in found} for found in places(node)]
    assert named[:2] == [{"x", "y"}, {"y"}]


def test_a_loop_carries_on_what_an_iteration_reaches() -> None:
    def function(x: Any, y: Any, z: Any) -> Any:
        a = b = c = x * 0
        for _ in range(20):
            a, b, c = b + 1, c * y, c + gx.stop_gradient(z)
        return a, b, c

    node = node_of(function, "scan", ONE, ONE, ONE, unroll=False)
    operands = [value.name for value in node.inputs]
    found = places(node)
    assert all("z" not in operands[place] for reached in found for place in reached)
    carried = node.attrs["num_carry"]
    assert [any(place >= carried for place in reached) for reached in found] == [True, True, False]


@pytest.mark.parametrize("op", ["jvp", "custom_gradient", "vjp"])
def test_of_others_nothing_is_known(op: str) -> None:
    assert reach(OPS[op], Attrs(), ()) is None
