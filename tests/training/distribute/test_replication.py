"""What differs between replicas, in graphs that passes have rewritten."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.training.distribute import DataParallel, all_mean
from graphc.training.distribute.replicated import differing_outputs


def test_behind_a_test_that_differs_no_branch_of_a_switch_is_reached_by_all() -> None:
    first, other = gx.Variable(1.0), gx.Variable(1.0)

    def step(x: Any) -> Any:
        total = gx.sum(x)
        if first > 1:
            return total
        elif other > 4:
            return total + 1
        elif other > 3:
            return all_mean(total)
        elif other > 2:
            return total + 2
        return total + 3

    nodes = DataParallel(["cpu:0", "cpu:1"]).function(step).graph(np.ones(2, np.float32)).nodes
    (replicas,) = [node for node in nodes if node.op.name == "replicas"]
    graph = replicas.regions[0]
    assert [node.op.name for node in graph.walk()].count("first_true") == 1
    part, *variables = graph.inputs
    differing_outputs(graph, [value is part for value in graph.inputs])
    with pytest.raises(ValueError, match="pmean runs under a condition that differs between replicas"):
        differing_outputs(graph, [value in (part, variables[0]) for value in graph.inputs])
