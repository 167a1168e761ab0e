"""Adds the graph of one replica to a trace, to run on several devices at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np

from graphc.compiler.base import Location, nest, user_location, warn_at
from graphc.compiler.base.errors import GraphcWarning, InvalidArgumentError, UnimplementedError
from graphc.compiler.core import SymbolicTensor, Tensor, Variable, apply, apply_all, context, replica_scope
from graphc.compiler.function import MappedArguments
from graphc.compiler.ir import OPS, Attrs, Graph, Node, Rewriter, TensorType, Value
from graphc.compiler.ops import (
    AXIS_INDEX,
    BAD_VALUES,
    COLLECTIVES,
    COND,
    FIRST_TRUE,
    FOLD_IN_AXIS,
    HOST_CALL,
    HOST_CALLS,
    INDEX,
    REPLICAS,
    SAME_ON_ALL,
    STATUS,
    SWITCH,
    UNORDERED_HOST_CALL,
    VMAP,
)
from graphc.compiler.tracing import CallState, Region, Trace, current_trace
from graphc.training.distribute.collectives import Replica

# Analysis of which values in a replica's graph are the same on all replicas.
#
# Variables are replicated, so every replica must assign the same value; and a collective must be reached by all
# replicas or by none. A walk over the graph decides both before anything runs.


def differing_outputs(graph: Graph, inputs: Sequence[bool]) -> Analysis:
    """Finds the outputs of a graph that differ between replicas, as these inputs do (parts of the batch) or do not."""
    if any(node.op in _FAILING for node in graph.walk()):
        Analysis(failing=True).walk(graph, inputs, uniform=True)
    analysis = Analysis(failing=False)
    analysis.outputs = analysis.walk(graph, inputs, uniform=True)
    return analysis


def check_law(graph: Graph, analysis: Analysis) -> None:
    """Warns if gradients of a loss that is already reduced over the replicas are summed over them again."""
    # Each replica's gradient of such a loss is ``num_replicas`` times its share, so the mean over the replicas is the
    # gradient of the loss, and the sum is ``num_replicas`` times as large.
    counted: set[Value] = set()
    for node in graph.nodes:
        if node.op.name == "vjp" and node.attrs["op"] in ("psum", "pmean"):
            cotangents = node.inputs[len(node.inputs) - sum(node.attrs["cotangents"]) :]
            if not any(analysis.differs[value] for value in cotangents):
                counted.update(node.outputs)
        elif counted.isdisjoint(node.inputs):
            continue
        elif node.op.name == "psum":
            text = (
                "gradients of a loss that is itself summed or averaged over the replicas are summed over them, so that "
                "they count once for each replica; average them, with gx.pmean or gx.distribute.all_mean, or take the "
                "gradient of each replica's own loss"
            )
            warn_at(GraphcWarning(text), node.location)
            return
        elif node.op.name not in SAME_ON_ALL:
            counted.update(node.outputs)


def reduced_once(graph: Graph, analysis: Analysis) -> Graph:
    """Removes means over the replicas of values that are the same on all, such as already averaged gradients."""
    rewriter = Rewriter(graph)
    controls = {control for node in graph.nodes for control in node.control_inputs}
    for node in graph.nodes:
        same = node.op.name == "pmean" and not any(analysis.differs[value] for value in node.inputs)
        if same and not node.control_inputs and node not in controls:
            rewriter.substitute(node.outputs, rewriter.inputs(node))
        else:
            rewriter.keep(node)
    return rewriter.finish()


class Analysis:
    """The result of the analysis: the values that differ between replicas.

    Args:
      failing: whether some replicas may fail while others do not. If one fails, the whole call fails and its results
        are discarded; but a failing replica leaves its loops, and others would wait for it in a collective.
    """

    def __init__(self, *, failing: bool) -> None:
        self.failing = failing
        self.differs: dict[Value, bool] = {}  # in the body of a loop, whether it differs in any iteration
        self.outputs: tuple[bool, ...] = ()

    def walk(self, graph: Graph, inputs: Sequence[bool], *, uniform: bool) -> tuple[bool, ...]:
        """Walks a graph and returns for each output whether it differs; all replicas run the graph if ``uniform``."""
        differs = self.differs
        differs.update(zip(graph.inputs, inputs, strict=True))
        for node in graph.nodes:
            operands = [differs[value] for value in node.inputs]
            if node.op in (COND, SWITCH):
                flags = self._branches(node, operands, _choices(node, differs), uniform=uniform)
            else:
                flags = self._outputs(node, operands, uniform=uniform)
            differs.update(zip(node.outputs, flags, strict=True))
        return tuple(differs[value] for value in graph.outputs)

    def _outputs(self, node: Node, flags: list[bool], *, uniform: bool) -> Sequence[bool]:
        name, count = node.op.name, len(node.outputs)
        if name == "vjp" and node.attrs["op"] in COLLECTIVES:
            if not uniform:
                _refuse_collective(node, name)
            # The gradient of a sum is a sum; other gradients give each replica its own part of the cotangent.
            return [node.attrs["op"] not in ("psum", "pmean") or any(flags)] * count
        if name in COLLECTIVES:
            if not uniform:
                _refuse_collective(node, name)
            return [name not in SAME_ON_ALL] * count
        if node.op in _FAILING:
            states = {HOST_CALL: 2, UNORDERED_HOST_CALL: 1}.get(node.op, count)
            return [self.failing] * states + [True] * (count - states)
        if node.op in _SOURCES:
            return [True] * count
        if name == "while":
            return self._while(node, flags, uniform=uniform)
        if name == "scan":
            return self._scan(node, flags, uniform=uniform)
        if node.op is VMAP:
            return self.walk(node.regions[0], flags, uniform=uniform)
        return self._opaque(node, flags, uniform=uniform)

    def _opaque(self, node: Node, flags: list[bool], *, uniform: bool) -> Sequence[bool]:
        """Analyzes a node of which only the inputs, and the ops in its regions at any depth, are known."""
        inside = [inner.op for region in node.regions for inner in region.walk()]
        collective = next((op.name for op in inside if op.name in COLLECTIVES), None)
        if collective is not None and not uniform:
            _refuse_collective(node, collective)
        return [any(flags) or any(op in _SOURCES for op in inside)] * len(node.outputs)

    def _branches(self, node: Node, flags: list[bool], choices: Sequence[bool], *, uniform: bool) -> Sequence[bool]:
        results = [
            self.walk(region, flags[1:], uniform=uniform and not choice)
            for region, choice in zip(node.regions, choices, strict=True)
        ]
        return [flags[0] or any(column) for column in zip(*results, strict=True)]

    def _while(self, node: Node, flags: list[bool], *, uniform: bool) -> Sequence[bool]:
        test, body = node.regions
        num_carry = node.attrs["num_carry"]
        carry = flags[:num_carry]
        while True:
            condition = self.walk(test, [*carry, *flags[num_carry:]], uniform=True)[0]
            after = self.walk(body, [*carry, *flags[num_carry:]], uniform=uniform and not condition)
            widened = [condition or before or now for before, now in zip(carry, after, strict=True)]
            if widened == carry:
                return carry
            carry = widened

    def _scan(self, node: Node, flags: list[bool], *, uniform: bool) -> Sequence[bool]:
        num_carry = node.attrs["num_carry"]
        carry, rest = flags[:num_carry], flags[num_carry:]
        while True:
            after = self.walk(node.regions[0], [False, *carry, *rest], uniform=uniform)
            widened = [before or now for before, now in zip(carry, after[:num_carry], strict=True)]
            if widened == carry:
                return [*carry, *after[num_carry:]]
            carry = widened


_SOURCES = (AXIS_INDEX, FOLD_IN_AXIS, *HOST_CALLS)
_FAILING = (BAD_VALUES, *HOST_CALLS)


def _choices(node: Node, differs: Mapping[Value, bool]) -> list[bool]:
    """Returns for each branch whether only some replicas may take it."""
    tests = node.inputs[0].node
    if tests is None or tests.op is not FIRST_TRUE:
        return [differs[node.inputs[0]]] * len(node.regions)
    # Whether this is the first test that holds says nothing about the following ones.
    partial = list(accumulate((differs[test] for test in tests.inputs), max))
    return [*partial, partial[-1]]


def _refuse_collective(node: Node, name: str) -> None:
    _refuse(node, f"{name} runs under a condition that differs between replicas, so some replicas would wait forever")


def _refuse(node: Node, why: str) -> None:
    raise InvalidArgumentError(why).at(node.location)


_LATER = 2**30


@dataclass(frozen=True)
class Places:
    """The devices that replicas run on. ``groups``: the number of replicas; each has the same number of devices."""

    devices: tuple[str, ...]
    groups: int
    axis: str


class _ReplicaRegion(Region):
    """The trace of one replica, which records where Variables are assigned."""

    def __init__(self, parent: Trace, name: str) -> None:
        super().__init__(parent, name, once=object())
        self.assignments: dict[str, Location | None] = {}

    def assign(self, variable: Variable | CallState, value: Any) -> None:
        """Records the line, and assigns like any region."""
        self.assignments[variable.name] = user_location()
        super().assign(variable, value)


def emit_replicas(
    fn: Callable[..., Any], mapped: MappedArguments, layout: Places, replica: Replica, what: str, name: str, *,
    lifts: bool = True,  # whether Python values in the function's result become tensors
) -> tuple[list[Any], list[bool], nest.Structure, Any]:  # fmt: skip
    """Traces a function for one replica, and adds the program of all replicas to the trace."""
    around = current_trace()  # callers are compiled in every mode
    label = f"the function {name!r} that {what} runs on several devices"
    refuse_pins(label)
    region = _ReplicaRegion(around, label)
    parts = [
        region.argument(_part(value.type, mapped.axes[index], layout.groups), mapped.paths[index])
        for index, value in mapped.values.items()
    ]
    with replica_scope(replica):
        leaves, structure, result = mapped.traced(region, fn, parts, what, name, lifts=lifts)
    outputs = [leaf for leaf in leaves if isinstance(leaf, SymbolicTensor)]
    region.refuse_writes(label)
    if mapped.assigned:
        raise UnimplementedError(
            f"{label} assigns items of the argument {mapped.assigned[0]!r}, of which each replica has its own part, so "
            "the caller's would stay as it is; assign to a copy, gx.asarray(x, copy=True)"
        ).here()
    states = list(region.states.values())
    written = [state for state in states if state.written]
    shared = [(outer, inner) for outer, inner in region.captures.values()]
    shared += [(state.variable.value(), state.entry) for state in states]
    results = [*outputs, *(state.current for state in written)]
    values = [*map(around.lift, mapped.values.values()), *(outer for outer, _ in shared)]
    in_axes = [*(mapped.axes[index] for index in mapped.values), *[None] * len(shared)]
    graph = region.close([*parts, *(inner for _, inner in shared)], results)
    _check_pins(graph, label)
    analysis = differing_outputs(graph, [axis is not None for axis in in_axes])
    check_law(graph, analysis)
    differs = [*analysis.outputs]
    for index, state in enumerate(written, len(outputs)):
        if isinstance(state.variable, CallState):
            differs[index] = True  # each replica reports whether it has failed
        elif differs[index]:
            _refuse_assignment(state.variable.name, region.assignments.get(state.variable.name))
    attrs = Attrs(
        devices=layout.devices, groups=layout.groups, axis=layout.axis, in_axes=tuple(in_axes), differs=tuple(differs)
    )
    emitted = apply_all(REPLICAS, values, attrs, (reduced_once(graph, analysis),))
    _leave(around, [state.variable for state in written], emitted[len(outputs) :])
    supply = zip(emitted, differs, strict=True)
    analysis = [next(supply) if isinstance(leaf, SymbolicTensor) else (leaf, False) for leaf in leaves]
    return [leaf for leaf, _ in analysis], [different for _, different in analysis], structure, result


def refuse_pins(label: str) -> None:
    """Raises an error if a device scope pins what replicas make."""
    if context.device:
        raise UnimplementedError(f"{label} is called inside a device scope; call it outside").here()


def _part(type: TensorType, axis: int, groups: int) -> TensorType:
    shape = list(type.shape)
    shape[axis] //= groups
    return TensorType(tuple(shape), type.dtype, type.weak)


def _check_pins(graph: Graph, label: str) -> None:
    pinned = next((node for node in graph.walk() if node.device), None)
    if pinned is not None:
        raise UnimplementedError(f"{label} pins ops to {pinned.device}; take the pin out of it").at(pinned.location)


def _refuse_assignment(name: str, location: Location | None) -> None:
    raise InvalidArgumentError(
        f"Variable {name!r} is assigned a value that differs between replicas, but replicas share their variables; "
        "reduce it first, with gx.distribute.all_mean(...) or gx.pmean(...), or in a data-parallel step update it "
        "through an optimizer, which does"
    ).at(location)


def _leave(around: Trace, variables: Sequence[Variable | CallState], values: Sequence[Tensor]) -> None:
    """Sets the new values of Variables, and the call states to those of the replica that failed first."""
    # Results of a failed replica reach others through collectives, so that they may fail later as well.
    pairs = list(zip(variables, values, strict=True))
    for variable, value in pairs:
        if isinstance(variable, Variable):
            around.assign(variable, value)
    status = next((value for variable, value in pairs if variable.name == STATUS.name), None)
    if status is None:
        return
    # The program numbers its failures in order. Python's exceptions come first: they have negative numbers, in the
    # order in which they were raised.
    python = apply(OPS["where"], (apply(OPS["less"], (status, np.int32(0))), np.int32(0), np.int32(_LATER)))
    rank = apply(OPS["add"], (apply(OPS["abs"], (status,)), python))
    rank = apply(OPS["where"], (apply(OPS["equal"], (status, np.int32(0))), np.int32(2 * _LATER - 1), rank))
    first = apply(OPS["argmin"], (rank,), Attrs(axis=None))
    first = apply(OPS["astype"], (first,), Attrs(dtype=INDEX.dtype))
    for variable, value in pairs:
        if isinstance(variable, CallState):
            around.assign(variable, value[first])
