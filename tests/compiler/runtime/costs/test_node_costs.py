"""What nodes cost, and what is in memory while they run."""

from __future__ import annotations

from typing import Any

import graphc as gx
from graphc.compiler.ir import Graph
from graphc.compiler.runtime.costs import NodeCost, node_costs

X = gx.ones((8, 8))
PRODUCT = 2 * 8**3
MATRIX = 4 * 8 * 8


def graph_of(function: Any, *args: Any) -> Graph:
    return gx.function(function).graph(*args)


def costs_of(graph: Graph) -> dict[str, list[NodeCost]]:
    found: dict[str, list[NodeCost]] = {}
    for node, cost in node_costs(graph).items():
        found.setdefault(node.op.name, []).append(cost)
    return found


def test_a_loop_of_a_known_length_costs_all_its_iterations() -> None:
    def function(x: Any) -> Any:
        for _ in range(50):
            x = gx.tanh(x @ x)
        return x

    found = costs_of(graph_of(function, X))
    (product,), (loop,) = found["matmul"], found["scan"]
    assert product == NodeCost(50 * PRODUCT, 50 * 2 * MATRIX, 50)
    assert loop.flops == 50 * (PRODUCT + 64)  # tanh is one for each element


def test_a_loop_that_the_program_ends_costs_one_iteration_and_a_branch_the_dearer_side() -> None:
    def function(x: Any) -> Any:
        while gx.sum(x) > 1:
            x = x @ x
        if gx.sum(x) > 0:
            x = x @ x @ x
        else:
            x = -x
        return x

    found = costs_of(graph_of(function, X))
    assert found["while"][0].per_iteration
    assert [cost.per_iteration for cost in found["matmul"]] == [True, False, False]
    assert found["cond"][0].flops == 2 * PRODUCT


def test_what_the_host_does_is_not_counted() -> None:
    found = costs_of(graph_of(lambda x: gx.print(x), X))
    assert all(cost.flops in (None, 0.0) for costs in found.values() for cost in costs)
