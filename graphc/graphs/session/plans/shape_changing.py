"""Loops that change shapes, branches with different shapes, and host calls in either.

XLA cannot compile these. Such a part of a graph runs node by node. Each branch and iteration without host calls is a
separate program, compiled once for each combination of shapes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from graphc.compiler.base import check_interrupted, nest
from graphc.compiler.core import array_of, kernel, type_of
from graphc.compiler.ir import CONSTANT, LATE, LATE_CONSTANT, Graph, Interpreter, Node
from graphc.compiler.ir.passes import NotSpecializedError, run_passes, shape_inputs, specialize
from graphc.compiler.lowering import lower
from graphc.compiler.ops import ASSIGN_VARIABLE, COND, READ_VARIABLE, SWITCH, WHILE
from graphc.graphs.session.state import SessionState, check_type

Evaluation = Callable[..., Sequence[Any]]
"""A function that computes an op on known values: see :func:`graphc.compiler.ir.passes.specialize`."""

_KEPT = 64
"""Maximum number of programs that a body keeps, one for each combination of shapes."""


def has_host_ops(node: Node) -> bool:
    """Returns True for a host op, and for an op with one in its bodies."""
    return node.op.host or any(inner.op.host for region in node.regions for inner in region.walk())


def on_host(arrays: Sequence[Any]) -> list[Any]:
    """Converts arrays for host ops."""
    return [np.asarray(array) if isinstance(array, jax.Array) else array for array in arrays]


class Stepped(Interpreter):
    """Runs a graph node by node, with branches and loops in Python.

    Args:
      state: the state of the Session; None inside of branches and bodies, which have no Variables.
    """

    def __init__(self, graph: Graph, state: SessionState | None, evaluate: Evaluation) -> None:
        super().__init__(graph)
        self._state = state
        self._evaluate = evaluate
        self._bodies: dict[Graph, _Body] = {}
        self._lock = threading.Lock()

    def run_node(self, node: Node, inputs: list[Any]) -> Sequence[Any]:
        """Runs a node; see :class:`graphc.compiler.ir.Interpreter`."""
        if node.op is READ_VARIABLE:
            return [self._read(node)]
        if node.op is ASSIGN_VARIABLE:
            assert self._state is not None
            self._state.put(node.attrs["variable"], jax.numpy.asarray(inputs[0]))
            return ()
        if node.op in (COND, SWITCH):
            return self._branch(node, inputs)
        if node.op is WHILE:
            return self._loop(node, inputs)
        if node.op is CONSTANT and node.outputs[0].type.weak:
            return [node.attrs["value"].array.item()]  # a Python number, whose dtype is weak
        if node.op.host:
            return nest.as_tuple(node.op.impl(*on_host(inputs), **node.attrs))
        if node.op in (LATE, LATE_CONSTANT) or node.op.name == "vjp":  # whose attributes are values
            return super().run_node(node, inputs)
        return nest.as_tuple(kernel(node.op, node.attrs, node.regions)(*inputs))

    def _read(self, node: Node) -> Any:
        assert self._state is not None
        variable = self._state.find(node.attrs["variable"])
        if variable is None:
            raise self._state.uninitialized(node.attrs["variable"], node)
        if node.attrs["variable"] not in self._state.graph.trace.open_variables:
            check_type(node.attrs["variable"], variable, node.outputs[0].type)
        return array_of(variable)

    def _branch(self, node: Node, inputs: list[Any]) -> Sequence[Any]:
        choice = int(np.asarray(inputs[0]))
        last = len(node.regions) - 1
        index = 1 - bool(choice) if node.op is COND else min(max(choice, 0), last)
        return self._body(node.regions[index])(inputs[1:])

    def _loop(self, node: Node, inputs: list[Any]) -> Sequence[Any]:
        test, body = map(self._body, node.regions)
        count = node.attrs["num_carry"]
        carry, rest = inputs[:count], inputs[count:]
        while bool(np.asarray(test([*carry, *rest])[0])):
            check_interrupted(lambda: f"an iteration of the loop {node.name!r}")
            carry = list(body([*carry, *rest]))
        return carry

    def _body(self, graph: Graph) -> _Body:
        with self._lock:
            body = self._bodies.get(graph)
            if body is None:
                body = self._bodies[graph] = _Body(graph, self._evaluate)
            return body


class _Body:
    """A branch, test or body, with its programs by the types of their inputs, and by the sizes among them."""

    def __init__(self, graph: Graph, evaluate: Evaluation) -> None:
        self._graph = graph
        self._evaluate = evaluate
        self._steps = Stepped(graph, None, evaluate).run if any(map(has_host_ops, graph.nodes)) else None
        self._sizes = shape_inputs(graph)
        self._programs: dict[Any, Callable[..., Any]] = {}

    def __call__(self, arrays: Sequence[Any]) -> Sequence[Any]:
        arrays = [
            array if isinstance(array, jax.Array) else np.asarray(array, value.type.dtype)
            for array, value in zip(arrays, self._graph.inputs, strict=True)
        ]
        if self._steps is not None:
            return self._steps(*arrays)
        types = tuple(map(type_of, arrays))
        values = {index: np.asarray(arrays[index]) for index in self._sizes}
        key = types, tuple([value.tobytes() for value in values.values()])
        program: Any = self._programs.get(key)
        if program is None:
            while len(self._programs) >= _KEPT:
                self._programs.pop(next(iter(self._programs)), None)
            try:
                graph = run_passes(specialize(self._graph, types, self._evaluate, values))
                program = jax.jit(lower(graph).function)
            except NotSpecializedError:
                program = Stepped(self._graph, None, self._evaluate).run
            self._programs[key] = program
        return program(*arrays)
