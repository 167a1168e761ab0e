"""Compiled functions without XLA: a graph is run node by node, by the kernels that eager code has compiled already.

Where a test is about the front end, about what a trace means, compiling its program takes most of the time and says
nothing. In the scope of :func:`stepwise` a graph is run as eager code is: each node goes through the one door, loops
and branches are Python's, and tapes look on. So the gradient of a loop is that of its iterations. What has bodies of
another kind (``custom_gradient``, ``call_jax``) is compiled, and so is the rest of a loop that goes on for long, and a
program that runs on several devices.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import jax.numpy as jnp
import pytest

import graphc as gx
from graphc.compiler.base.errors import InternalError
from graphc.compiler.core import apply_all, dtype_rules, type_of
from graphc.compiler.function import traced
from graphc.compiler.ir import CONSTANT, OPS, Attrs, Graph, Interpreter, Node, OpDef
from graphc.compiler.lowering import Executable, TypesDiffer, lower
from graphc.compiler.lowering.executable import kept_on_failure
from graphc.compiler.ops import (
    ASSIGN_VARIABLE,
    CALL,
    COND,
    HOST_CALL,
    HOST_CALLS,
    READ_VARIABLE,
    SCAN,
    SWITCH,
    VJP,
    WHILE,
    host_function,
    is_replaying,
    replaying,
)
from graphc.compiler.ops.indexing import get_item, update_item
from graphc.compiler.runtime import PlacedProgram, compile_graph

__all__ = ["stepwise"]

ITERATIONS = 100
"""A loop that has gone on for so long is compiled, from where it has come: from there on XLA is faster."""

Values = Sequence[Any]


class Steps(Interpreter):
    """Runs a graph on eager tensors.

    Args:
      graph: what to run.
      state: the values of the variables by name; written to as the graph assigns them.
    """

    def __init__(self, graph: Graph, state: dict[str, Any] | None = None) -> None:
        super().__init__(graph)
        self._state = {} if state is None else state

    def run_node(self, node: Node, inputs: list[Any]) -> Values:
        """Runs a node as eager code does."""
        if node.op is READ_VARIABLE:
            return (self._state[node.attrs["variable"]],)
        if node.op is ASSIGN_VARIABLE:
            self._state[node.attrs["variable"]] = gx.stop_gradient(inputs[0])
            return ()
        results = run_op(node.op, inputs, node.attrs, node.regions)
        for output, result in zip(node.outputs, results, strict=True):
            # As the lowering checks it; a constant of a weak type is a Python number.
            if isinstance(result, gx.Tensor) and (result.shape, result.dtype) != (output.type.shape, output.type.dtype):
                raise InternalError(f"{node!r} computes {result.type}, its type is {output.type}")
        return results


def run_op(op: OpDef, inputs: Values, attrs: Attrs, regions: Sequence[Graph]) -> Values:
    """Runs an op on eager tensors."""
    special = _SPECIAL.get(op.name)
    if special is None or (op is VJP and attrs["op"] not in _CONTROL_FLOW):
        return apply_all(op, inputs, attrs, regions)
    return special(op, inputs, attrs, regions)


def _constant(op: OpDef, inputs: Values, attrs: Attrs, regions: Sequence[Graph]) -> Values:
    array = attrs["value"].array
    return (array.item() if attrs.get("weak") else gx.Tensor(jnp.asarray(array)),)


def _host_call(op: OpDef, inputs: Values, attrs: Attrs, regions: Sequence[Graph]) -> Values:
    if is_replaying():
        return inputs[:2]
    function = host_function(attrs["function"])
    called = function if op is HOST_CALL else function.run
    return [gx.Tensor(jnp.asarray(value)) for value in called(*map(_raw, inputs))]


def _indexed(op: OpDef, inputs: Values, attrs: Attrs, regions: Sequence[Graph]) -> Values:
    """As eager code reads and updates items: it has one kernel for all positions."""
    index = attrs["index"]
    if any(isinstance(item, tuple) and item[0] in ("window", "mask") for item in index):
        return apply_all(op, inputs, attrs, regions)
    tensors = map(gx.asarray, inputs[len(op.params) - 1 :])
    key = tuple(_KEYS[item](tensors) if isinstance(item, str) else _plain(item) for item in index)
    if op.name == "get_item":
        return (get_item(inputs[0], key),)
    return (update_item(inputs[0], key, inputs[1], attrs["how"]),)


_KEYS: dict[str, Callable[[Iterator[Any]], Any]] = {"tensor": next, "...": lambda _: Ellipsis}


def _plain(item: Any) -> Any:
    return slice(*item) if isinstance(item, tuple) else item


def _call(op: OpDef, inputs: Values, attrs: Attrs, regions: Sequence[Graph]) -> Values:
    lowered = lower(regions[0])
    state = dict(zip(lowered.variables, inputs, strict=False))
    outputs = Steps(regions[0], state).run(*inputs[len(lowered.variables) :])
    return [*map(gx.asarray, outputs), *(state[name] for name in lowered.written)]


def _branch(op: OpDef, inputs: Values, attrs: Attrs, regions: Sequence[Graph]) -> Values:
    cases = regions[::-1] if op is COND else regions
    choice = min(max(int(inputs[0]), 0), len(cases) - 1)
    return Steps(cases[choice]).run(*inputs[1:])


def _while(op: OpDef, inputs: Values, attrs: Attrs, regions: Sequence[Graph]) -> Values:
    test, body = map(Steps, regions)
    carry, invariant = inputs[: attrs["num_carry"]], inputs[attrs["num_carry"] :]
    for _ in range(ITERATIONS):
        if not test.run(*carry, *invariant)[0]:
            return carry
        carry = body.run(*_detached(carry, attrs), *invariant)
    return apply_all(op, (*carry, *invariant), attrs, regions)


def _scan(op: OpDef, inputs: Values, attrs: Attrs, regions: Sequence[Graph]) -> Values:
    (region,), length = regions, attrs["length"]
    if length > ITERATIONS:
        return apply_all(op, inputs, attrs, regions)
    count, rest = attrs["num_carry"], attrs["num_carry"] + attrs["num_xs"]
    carry, xs, invariant = inputs[:count], list(map(gx.asarray, inputs[count:rest])), inputs[rest:]
    ys: dict[int, Values] = {}
    body = Steps(region)
    for row in range(length)[:: -1 if attrs.get("reverse") else 1]:
        index = attrs.get("start", 0) + attrs.get("step", 1) * row
        found = body.run(index, *_detached(carry, attrs), *(x[row] for x in xs), *invariant)
        carry, ys[row] = found[:count], found[count:]
    types = [value.type for value in region.outputs[count:]]
    rows = [[ys[row][place] for row in range(length)] for place in range(len(types))]
    stacked = [gx.stack(row) if row else gx.zeros((0, *t.shape), t.dtype) for row, t in zip(rows, types, strict=True)]
    return [*carry, *stacked]


def _detached(carry: Values, attrs: Attrs) -> Values:
    """Carried values, the variables among them (the last ones) cut off from gradients, as assignment does."""
    count = len(carry) - len(attrs.get("assigned", ()))
    return [*carry[:count], *map(gx.stop_gradient, carry[count:])]


def _vjp(op: OpDef, inputs: Values, attrs: Attrs, regions: Sequence[Graph]) -> Values:
    """The gradient of what is run step by step, by a tape."""
    count = len(inputs) - sum(attrs["cotangents"])
    primals = [gx.identity(value) for value in inputs[:count]]
    wrt = [primals[place] for place in attrs["wrt"]]
    with gx.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(wrt)
        with replaying():  # what the forward pass does to the world is done
            outputs = run_op(OPS[attrs["op"]], primals, Attrs(dict(attrs["attrs"])), regions)
        targets = [gx.identity(output) for output, given in zip(outputs, attrs["cotangents"], strict=True) if given]
    return tape.gradient(targets, wrt, list(inputs[count:]), unconnected_gradients="zero")


_CONTROL_FLOW = {CALL.name: _call, COND.name: _branch, SWITCH.name: _branch, WHILE.name: _while, SCAN.name: _scan}
_SPECIAL: dict[str, Callable[[OpDef, Values, Attrs, Sequence[Graph]], Values]] = {
    **_CONTROL_FLOW,
    **{host_call.name: _host_call for host_call in HOST_CALLS},
    CONSTANT.name: _constant,
    VJP.name: _vjp,
    "get_item": _indexed,
    "update_item": _indexed,
}


def _raw(value: Any) -> Any:
    return value.raw if isinstance(value, gx.Tensor) else jnp.asarray(value)


class _Program:
    """What takes the place of an executable's compiled program."""

    def __init__(self, executable: Executable) -> None:
        self._executable, self._rules = executable, dtype_rules()
        self._types = [value.type for value in executable.graph.inputs]
        self.lower = executable.jitted.lower

    def __call__(self, *arrays: Any) -> Values:
        graph, count = self._executable.optimized, len(self._executable.variables)
        if dtype_rules() != self._rules or list(map(type_of, arrays[count:])) != self._types:
            raise TypesDiffer
        results = tuple(map(_raw, _call(CALL, list(map(gx.Tensor, arrays)), Attrs(), (graph,))))
        status = self._executable.status
        return results if status is None else kept_on_failure(results, status, arrays[: self._executable.num_written])


def _compile(*args: Any) -> Executable | PlacedProgram:
    executable = compile_graph(*args)
    if isinstance(executable, Executable) and not executable.devices:
        executable.jitted = _Program(executable)
    return executable


@contextmanager
def stepwise() -> Generator[None]:
    """Runs the programs of functions that are traced in the scope step by step."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(traced, "compile_graph", _compile)
        patch.setattr(traced, "apply_all", run_op)
        yield
