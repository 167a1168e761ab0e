"""Structured control flow: the ops cond, switch, while and scan, and their construction from regions.

The regions of a node are closed graphs. Outside values that they use become operands: loop-carried values first,
scanned ones next, invariant ones last. A variable that a body assigns is an extra carried value (of a loop) or output
(of a branch), read before the node and assigned after it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jax import lax as _lax

from graphc.compiler.base.errors import UnimplementedError
from graphc.compiler.core import SymbolicTensor, Tensor, Variable, apply_all
from graphc.compiler.ir import Attrs, Graph, OpDef, define_op
from graphc.compiler.ops.control_flow_types import (
    branch_entries,
    check_branches,
    check_scan,
    check_while,
    cond_types,
    first_true_types,
    scan_entries,
    scan_types,
    while_entries,
    while_types,
)
from graphc.compiler.ops.derivatives.modes import is_stored, repeated, slots_for
from graphc.compiler.ops.derivatives.reverse_while import while_loop
from graphc.compiler.tracing import CallState, Region, Trace, check_loop

lax: Any = _lax  # its functions are only partly annotated


def _cond(
    pred: Any, *operands: Any, assigned: Any = (), true: Callable[..., Any], false: Callable[..., Any]
) -> tuple[Any, ...]:
    del assigned
    return lax.cond(pred, true, false, *operands)


def _switch(index: Any, *operands: Any, assigned: Any = (), branches: Sequence[Callable[..., Any]]) -> tuple[Any, ...]:
    del assigned
    return lax.switch(index, branches, *operands)


def _first_true(*conditions: Any) -> Any:
    # Selects, which XLA fuses into one kernel: for 200 conditions this compiles in a twentieth of the time of a stack.
    chosen: Any = np.int32(len(conditions))
    for index in reversed(range(len(conditions))):
        chosen = lax.select(conditions[index], np.int32(index), chosen)
    return chosen


def _detached(carried: Sequence[Any], assigned: Sequence[str]) -> tuple[Any, ...]:
    """Returns the carried values with the variables, which come last, cut off from gradients, as assignment does."""
    count = len(carried) - len(assigned)
    return (*carried[:count], *map(lax.stop_gradient, carried[count:]))


def _while(
    *values: Any, num_carry: int, assigned: Sequence[str] = (), max_iterations: int | None = None,
    test: Callable[..., Any], body: Callable[..., Any],
) -> tuple[Any, ...]:  # fmt: skip
    def going_on(carry: Sequence[Any], invariant: Sequence[Any]) -> Any:
        return test(*carry, *invariant)[0]

    def iteration(carry: Sequence[Any], invariant: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(body(*_detached(carry, assigned), *invariant))

    # The loop may exceed the bound: gradients then take longer, but are the same.
    carry = values[:num_carry]
    slots, stores = slots_for(carry, max_iterations), is_stored(carry)
    return while_loop(going_on, iteration, carry, values[num_carry:], slots, stores=stores)


def _scan(
    *values: Any, num_carry: int, num_xs: int, num_ys: int, length: int, start: int = 0, step: int = 1,
    reverse: bool = False, unroll: int = 1, assigned: Sequence[str] = (), body: Callable[..., Any],
) -> tuple[Any, ...]:  # fmt: skip
    carry, xs, invariant = values[:num_carry], values[num_carry : num_carry + num_xs], values[num_carry + num_xs :]
    if reverse:  # the index is that of the row, so it runs backwards too
        start, step = start + step * (length - 1), -step
    if not num_xs and not num_ys:
        # fori_loop keeps one counter; scan with a separate index would carry two.
        def plain(count: Any, carried: Any) -> tuple[Any, ...]:
            index = count if (start, step) == (0, 1) else start + step * count
            with repeated():
                return body(index, *_detached(carried, assigned), *invariant)

        def several(count: Any, carried: Any) -> tuple[Any, ...]:
            for offset in range(unroll):
                carried = plain(count * unroll + offset, carried)
            return carried

        steps = length // unroll
        carry = lax.fori_loop(0, steps, plain if unroll == 1 else several, carry)
        for count in range(steps * unroll, length):
            carry = plain(count, carry)
        return tuple(carry)

    def iteration(state: Any, elements: Any) -> tuple[Any, Any]:
        index, carried = state
        with repeated():
            outputs = body(index, *_detached(carried, assigned), *elements, *invariant)
        return (index + step, outputs[:num_carry]), outputs[num_carry:]

    (_, last), ys = lax.scan(iteration, (start, carry), xs, length=length, reverse=reverse, unroll=unroll)
    return (*last, *ys)


COND = define_op(
    "cond",
    impl=_cond,
    infer=cond_types,
    params=("pred", "*operands"),
    regions=("true", "false"),
    entries=branch_entries,
    verify=check_branches,
    doc="Runs one of two branches, chosen by a boolean scalar.",
)
SWITCH = define_op(
    "switch",
    impl=_switch,
    infer=cond_types,
    params=("index", "*operands"),
    regions=("*branches",),
    entries=branch_entries,
    verify=check_branches,
    doc="Runs one of several branches, chosen by an integer scalar, which is clamped.",
)
FIRST_TRUE = define_op(
    "first_true",
    impl=_first_true,
    infer=first_true_types,
    params=("*conditions",),
    differentiable=False,
    doc="The index of the first true boolean scalar; their number if none is true.",
)
WHILE = define_op(
    "while",
    impl=_while,
    infer=while_types,
    params=("*values",),
    regions=("test", "body"),
    entries=while_entries,
    verify=check_while,
    doc="Repeats a body while a test is true.",
)
SCAN = define_op(
    "scan",
    impl=_scan,
    infer=scan_types,
    params=("*values",),
    regions=("body",),
    entries=scan_entries,
    verify=check_scan,
    doc="Repeats a body a fixed number of times, over the rows of arrays, collecting rows.",
)


def _flows(variable: Variable | CallState) -> bool:
    """Returns True if gradients flow from reads of a variable to its assigned value."""
    return isinstance(variable, CallState) and variable.differentiable


@dataclass
class _Operands:
    """The outside values of regions: captured tensors, and variables."""

    captured: dict[int, Tensor]
    variables: dict[str, Variable | CallState]
    written: list[Variable | CallState]

    @classmethod
    def of(cls, regions: Sequence[Region]) -> _Operands:
        captured = {key: outer for region in regions for key, (outer, _) in region.captures.items()}
        variables = {name: state.variable for region in regions for name, state in region.states.items()}
        written = {variable.name: variable for region in regions for variable in region.written()}
        # Those with gradients come first: the last ones are cut off.
        ordered = sorted(written.values(), key=lambda variable: not _flows(variable))
        return cls(captured, variables, ordered)

    @property
    def unwritten(self) -> list[Variable | CallState]:
        names = {variable.name for variable in self.written}
        return [variable for name, variable in self.variables.items() if name not in names]

    @property
    def assigned(self) -> dict[str, Any]:
        """The attribute with the names of assigned variables; gradients with respect to them stop here."""
        cut = tuple(variable.name for variable in self.written if not _flows(variable))
        return {"assigned": cut} if cut else {}

    def invariants(self) -> list[Tensor]:
        """Returns the invariant operands: captured tensors and the values of read-only variables."""
        return [*self.captured.values(), *(variable.value() for variable in self.unwritten)]

    def invariant_arguments(self, region: Region) -> list[SymbolicTensor]:
        """Returns the region's inputs for :meth:`invariants`, adding those that the region does not use."""
        inputs = [
            region.captures[key][1] if key in region.captures else region.argument(outer.type, f"unused_{index}")
            for index, (key, outer) in enumerate(self.captured.items())
        ]
        return [*inputs, *(region.state(variable).entry for variable in self.unwritten)]

    def entries(self, region: Region) -> list[SymbolicTensor]:
        """Returns the region's inputs for the variables that some region writes."""
        return [region.state(variable).entry for variable in self.written]

    def results(self, region: Region) -> list[SymbolicTensor]:
        """Returns the final values of these variables in the region."""
        return [region.state(variable).current for variable in self.written]


def _assign(written: Sequence[Variable | CallState], values: Sequence[Tensor], parent: Trace) -> None:
    for variable, value in zip(written, values, strict=True):
        parent.assign(variable, value)


def emit_branches(
    op: OpDef, selector: Tensor, regions: Sequence[Region], outputs: Sequence[Sequence[SymbolicTensor]]
) -> list[Tensor]:
    """Appends a cond or switch to the trace that encloses the regions; returns the outputs of the chosen branch."""
    shared = _Operands.of(regions)
    graphs = [
        region.close(
            [*shared.invariant_arguments(region), *shared.entries(region)], [*results, *shared.results(region)]
        )
        for region, results in zip(regions, outputs, strict=True)
    ]
    operands = [*shared.invariants(), *(variable.value() for variable in shared.written)]
    values = apply_all(op, (selector, *operands), Attrs(shared.assigned), graphs)
    count = len(outputs[0])
    _assign(shared.written, values[count:], regions[0].parent)
    return values[:count]


def emit_while(
    test: Region, test_output: SymbolicTensor, body: Region, arguments: Sequence[Sequence[SymbolicTensor]],
    outputs: Sequence[SymbolicTensor], initial: Sequence[Tensor], max_iterations: int | None = None,
) -> list[Tensor]:  # fmt: skip
    """Appends a while to the trace that encloses the regions; returns the carried values after the loop."""
    # max_iterations: the expected maximum number of iterations, whose carried values are stored for gradients; it does
    # not stop the loop. None if it is unknown.
    for region, carried_arguments in zip((test, body), arguments, strict=True):
        check_loop(region, carried_arguments, body, outputs, initial)
    shared = _Operands.of((test, body))

    def inputs(region: Region, carried: Sequence[SymbolicTensor]) -> list[SymbolicTensor]:
        return [*carried, *shared.entries(region), *shared.invariant_arguments(region)]

    graphs = (
        test.close(inputs(test, arguments[0]), [test_output]),
        body.close(inputs(body, arguments[1]), [*outputs, *shared.results(body)]),
    )
    if not shared.written and _is_endless(*graphs, len(outputs)):
        raise body.parent.refuse(
            UnimplementedError(
                "this while loop would never end: its body changes nothing that its test depends on; "
                "change it there, or leave the loop with break, return or raise"
            )
        )
    carried = [*initial, *(variable.value() for variable in shared.written)]
    bound = {} if max_iterations is None else {"max_iterations": max_iterations}
    attrs = Attrs({**shared.assigned, **bound}, num_carry=len(carried))
    results = apply_all(WHILE, (*carried, *shared.invariants()), attrs, graphs)
    _assign(shared.written, results[len(initial) :], body.parent)
    return results[: len(initial)]


def _is_endless(test: Graph, body: Graph, num_carry: int) -> bool:
    """Returns True if neither the test nor any effect depends on what an iteration changes."""
    if any(node.effects or node.op.opaque for graph in (test, body) for node in graph.walk()):
        return False
    changing = {test.inputs[index] for index in range(num_carry) if body.outputs[index] is not body.inputs[index]}
    for node in test.nodes:
        if not changing.isdisjoint(node.inputs):
            changing.update(node.outputs)
    return test.outputs[0] not in changing


@dataclass(frozen=True)
class Trips:
    """The iteration range of a scan."""

    length: int
    start: int = 0
    step: int = 1
    reverse: bool = False  # whether to iterate from the last index to the first, also over the rows
    unroll: int = 1  # the number of iterations in one step of the XLA loop


def emit_scan(
    body: Region, arguments: Sequence[Sequence[SymbolicTensor]], outputs: Sequence[SymbolicTensor],
    ys: Sequence[SymbolicTensor], initial: Sequence[Tensor], xs: Sequence[Tensor], trips: Trips,
) -> list[Tensor]:  # fmt: skip
    """Appends a scan to the trace that encloses the region; returns the carried values, then the collected arrays."""
    index, carried_arguments, rows = arguments
    check_loop(body, carried_arguments, body, outputs, initial)
    shared = _Operands.of((body,))
    graph = body.close(
        [*index, *carried_arguments, *shared.entries(body), *rows, *shared.invariant_arguments(body)],
        [*outputs, *shared.results(body), *ys],
    )
    carried = [*initial, *(variable.value() for variable in shared.written)]
    optional = {"start": trips.start, "step": trips.step, "reverse": trips.reverse, "unroll": trips.unroll}
    defaults = {"start": 0, "step": 1, "reverse": False, "unroll": 1}
    attrs = Attrs(
        {**shared.assigned, **{name: value for name, value in optional.items() if value != defaults[name]}},
        num_carry=len(carried),
        num_xs=len(xs),
        num_ys=len(ys),
        length=trips.length,
    )
    results = apply_all(SCAN, (*carried, *xs, *shared.invariants()), attrs, (graph,))
    count = len(initial)
    _assign(shared.written, results[count : len(carried)], body.parent)
    return [*results[:count], *results[len(carried) :]]
