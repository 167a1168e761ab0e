"""What the functions ``scan`` and ``switch`` trace, which no Python statement does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from graphc.autograph.operators.merging import Meet, to_tensors
from graphc.autograph.operators.state import LoopState, LoopVariables
from graphc.base import nest
from graphc.core import FUNCTIONS, Region, SymbolicTensor, apply, context, operand, trace_scope
from graphc.ir import OPS, Attrs, TensorType
from graphc.ops import INDEX, SWITCH, Trips, emit_branches, emit_scan

__all__ = ["trace_scan", "trace_switch"]


def trace_switch(index: SymbolicTensor, branches: Sequence[Callable[[], Any]]) -> Any:
    """A switch node over what the branches return."""
    trace = context.trace
    assert trace is not None
    regions = [Region(trace, f"branch {position} of a switch") for position in range(len(branches))]
    results: list[Any] = []
    for region, branch in zip(regions, branches, strict=True):
        with trace_scope(region):
            results.append(branch())
    meet = Meet(("in one branch", "in another"), trace.refuse)
    met = [meet.values("the result of switch", results[0], result) for result in results]
    leaves = tuple(_widest(column) for column in zip(*(found.leaves for found in met), strict=True))
    outputs: list[list[SymbolicTensor]] = []
    for region, result in zip(regions, results, strict=True):
        with trace_scope(region):
            outputs.append(to_tensors(region, nest.flatten(result)[0], leaves))
    selector = apply(OPS["astype"], (index,), Attrs(dtype=INDEX.dtype))
    supply = iter(emit_branches(SWITCH, selector, regions, outputs))
    kept = met[0].kept
    return nest.unflatten(
        met[0].structure,
        [leaf if type is None else next(supply) for leaf, type in zip(kept, leaves, strict=True)],
    )


def _widest(types: Sequence[TensorType | None]) -> TensorType | None:
    """The type that all branches' types meet in; they met the first branch's one by one."""
    found = [type for type in types if type is not None]
    strong = [type for type in found if not type.weak]
    return strong[0] if strong else found[-1] if found else None


def trace_scan(
    function: Callable[[Any, Any], tuple[Any, Any]], init: Any, xs: Any, length: int, *, reverse: bool
) -> tuple[Any, Any]:
    """A scan node."""
    trace = context.trace
    assert trace is not None
    box = [init]

    def set_box(values: tuple[Any, ...]) -> None:
        (box[0],) = values

    state = LoopState(LoopVariables(lambda: (box[0],), set_box, ("the carried state",)), trace, runs=True)
    leaves, structure = nest.flatten(xs)
    tensors = [trace.lift(operand(leaf)) for leaf in leaves]
    row_types = [TensorType(tensor.type.shape[1:], tensor.type.dtype, tensor.type.weak) for tensor in tensors]
    while True:
        region = Region(trace, "the body of a scan")
        index = region.argument(INDEX, "index")
        carried = [region.argument(type, f"carry_{position}") for position, type in enumerate(state.types())]
        rows = [region.argument(type, f"row_{position}") for position, type in enumerate(row_types)]
        state.bind(carried)
        with trace_scope(region):
            box[0], result = function(box[0], nest.unflatten(structure, rows))
            if state.settle(region):
                outputs = state.results(region)
                result_leaves, result_structure = nest.flatten(result)
                ys = [region.lift(operand(FUNCTIONS["asarray"](leaf))) for leaf in result_leaves]
                break
    trips = Trips(length, reverse=reverse)
    initial = state.initial()
    found = emit_scan(region, ([index], carried, rows), outputs, ys, initial, tensors, trips)
    state.leave(found[: len(initial)])
    return box[0], nest.unflatten(result_structure, found[len(initial) :])
