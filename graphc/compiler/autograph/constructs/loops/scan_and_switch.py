"""Traces the functions ``scan`` and ``switch``, which stand for no Python statement."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import Any

from graphc.compiler.autograph.constructs.exceptions.failure import Ended, RegionFailure, settles
from graphc.compiler.autograph.constructs.exceptions.try_scope import attempt
from graphc.compiler.autograph.constructs.loops.state import LoopState, LoopVariables
from graphc.compiler.autograph.values.join import Join, note_aliases, to_tensors, zeros_of
from graphc.compiler.autograph.values.number import Kinds, joined
from graphc.compiler.autograph.values.spans import common_span
from graphc.compiler.base import nest
from graphc.compiler.base.errors import UnimplementedError
from graphc.compiler.core import FUNCTIONS, SymbolicTensor, apply, operand, trace_scope
from graphc.compiler.ir import OPS, Attrs, TensorType
from graphc.compiler.ops import INDEX, SWITCH, Trips, emit_branches, emit_scan
from graphc.compiler.tracing import Region, context


def trace_switch(index: SymbolicTensor, branches: Sequence[Callable[[], Any]]) -> Any:
    """Returns a switch node over what the branches return."""
    trace = context.trace
    assert trace is not None
    regions = [Region(trace, f"branch {position} of a switch") for position in range(len(branches))]
    results: list[Any] = []
    failures: list[RegionFailure | None] = []
    for region, branch in zip(regions, branches, strict=True):
        with region.tracing():
            result, failure = attempt(branch)
            if failure is None:
                results.append(result)
            else:
                failure.happens()
            failures.append(failure)
        if region.journal.writes:
            cell = next(iter(region.journal.writes.values())).cell
            error = UnimplementedError(f"{cell.what} in a branch of gx.switch; return the new value, or write an if")
            raise trace.refuse(error)
    selector = apply(OPS["astype"], (index,), Attrs(dtype=INDEX.dtype))
    if not results:  # every branch fails, so nothing after the switch runs
        emit_branches(SWITCH, selector, regions, [[] for _ in regions])
        raise Ended
    join = Join(("in one branch", "in another"), trace.refuse)
    joins = [join.values("the result of switch", results[0], result) for result in results]
    leaves = tuple(_widest(column) for column in zip(*(entry.leaves for entry in joins), strict=True))
    found_first = joins[0]
    outputs: list[list[SymbolicTensor]] = []
    entry = iter(results)
    for region, failure in zip(regions, failures, strict=True):
        with trace_scope(region):
            # What a branch gives that always fails is never looked at.
            if failure is None:
                outputs.append(to_tensors(region, nest.flatten(next(entry))[0], leaves))
            else:
                outputs.append([zeros_of(region, type) for type in leaves if type is not None])
    supply = iter(emit_branches(SWITCH, selector, regions, outputs))
    kinds = [_all_kinds(column) for column in zip(*(entry.kinds for entry in joins), strict=True)]
    spans = [reduce(common_span, column) for column in zip(*(entry.spans for entry in joins), strict=True)]
    columns = zip(found_first.kept, leaves, kinds, spans, strict=True)
    parts = [leaf if type is None else joined(next(supply), kinds, span) for leaf, type, kinds, span in columns]
    chosen = nest.unflatten(found_first.structure, parts)
    note_aliases(trace, "the result of switch", chosen, results)
    return chosen


def _all_kinds(columns: Sequence[Kinds | None]) -> Kinds | None:
    """Returns the Python types that a result may have; None if it may be no number."""
    numeric = [kinds for kinds in columns if kinds is not None]
    return frozenset[Any]().union(*numeric) if len(numeric) == len(columns) else None


def _widest(types: Sequence[TensorType | None]) -> TensorType | None:
    """Returns the type that all branches' types meet in; they met the first branch's one by one."""
    present = [type for type in types if type is not None]
    strong = [type for type in present if not type.weak]
    return strong[0] if strong else present[-1] if present else None


def trace_scan(
    function: Callable[[Any, Any], tuple[Any, Any]], init: Any, xs: Any, length: int, *, reverse: bool
) -> tuple[Any, Any]:
    """Returns a scan node."""
    trace = context.trace
    assert trace is not None
    box = [init]

    def set_box(values: tuple[Any, ...]) -> None:
        (box[0],) = values

    state = LoopState(LoopVariables(lambda: (box[0],), set_box, ("the carried state",)), trace, runs=True)
    leaves, structure = nest.flatten(xs)
    tensors = [trace.lift(operand(leaf)) for leaf in leaves]
    row_types = [TensorType(tensor.type.shape[1:], tensor.type.dtype, tensor.type.weak) for tensor in tensors]
    result: Any = None
    while True:
        region = Region(trace, "the body of a scan")
        index = region.argument(INDEX, "index")
        carried = [region.argument(type, f"carry_{position}") for position, type in enumerate(state.types())]
        # Not carried: a scan cuts the rows itself.
        rows = [region.argument(type, f"row_{position}") for position, type in enumerate(row_types)]
        state.bind(carried)
        with region.tracing():
            arguments = (box[0], nest.unflatten(structure, [row.snapshot() for row in rows]))
            results, failure = attempt(partial(function, *arguments))
            if results is not None:
                # The carried state goes through a name's place, so that it settles as a loop's variables do.
                box[0], result = results
            if results is not None and settles(state, region):
                outputs = state.results(region)
                result_leaves, result_structure = nest.flatten(result)
                ys = [region.lift(operand(FUNCTIONS["asarray"](leaf))).snapshot() for leaf in result_leaves]
                break
        if failure is not None:  # every step fails, so the first does
            state.restore()
            first = length - 1 if reverse else 0
            return function(init, nest.unflatten(structure, [tensor[first] for tensor in tensors]))
    trips = Trips(length, reverse=reverse)
    initial = state.initial()
    outcome = emit_scan(region, ([index], carried, rows), outputs, ys, initial, tensors, trips)
    state.leave(outcome[: len(initial)])
    return box[0], nest.unflatten(result_structure, outcome[len(initial) :])
