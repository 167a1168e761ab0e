"""``while`` and ``for``: run by Python, or traced once into one loop node.

A ``range`` loop is rolled when its body does the same graph work in every iteration. To find out, the body is traced
once with a :class:`LoopIndex` in a region that gives up at the first thing that only Python can do
(an *attempt*); the loop is then unrolled, and nothing of the attempt remains.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from graphc.autograph.operators.branches import and_, if_stmt, is_symbolic_condition, predicate, truth
from graphc.autograph.operators.calls import call
from graphc.autograph.operators.loop_index import TensorRange, loop_index
from graphc.autograph.operators.state import LoopState, LoopVariables
from graphc.autograph.operators.watch import check_iterator, special_method
from graphc.base import config
from graphc.base.errors import InvalidArgumentError, UnimplementedError
from graphc.core import (
    Checkpoint,
    Region,
    RegionAborted,
    SymbolicTensor,
    Tensor,
    Trace,
    apply,
    context,
    operand,
    trace_scope,
    type_of_any,
)
from graphc.ir import OPS, TensorType
from graphc.ops import INDEX, Trips, emit_scan, emit_while

__all__ = ["for_stmt", "while_stmt"]

UNROLL_BELOW = 5
"""A ``range`` of fewer iterations than this is unrolled without an attempt to roll it."""

Test = Callable[[], Any]
Body = Callable[[Any], None]


def _trace() -> Trace:
    trace = context.trace
    assert trace is not None
    return trace


def while_stmt(
    test: Test,
    body: Callable[[], None],
    get_state: Callable[[], tuple[Any, ...]],
    set_state: Callable[[tuple[Any, ...]], None],
    names: Sequence[str],
) -> None:
    """A ``while`` statement.

    Python runs it as long as the test is a Python value. From the first iteration on in which the test is a tensor,
    what is left of the loop becomes one while node.
    """
    while True:
        if context.trace is None:
            symbolic, condition = False, test()
        else:
            symbolic, condition = _probe(context.trace, test)
        if symbolic:
            _trace_while(test, body, LoopVariables(get_state, set_state, names))
            return
        if not truth(condition):
            return
        body()
        _check_size("while")


def _probe(trace: Trace, test: Test) -> tuple[bool, Any]:
    """The value of a test, and whether it is symbolic; if so, nothing of its evaluation stays in the trace."""
    before = trace.checkpoint()
    condition = test()
    symbolic = is_symbolic_condition(condition)
    if symbolic:
        trace.rollback(before)
    return symbolic, condition


def _check_size(kind: str) -> None:
    trace = context.trace
    if trace is not None and len(trace.root.builder.nodes) > config.max_unrolled_nodes:
        error = InvalidArgumentError(
            f"unrolling this {kind} loop passed {config.max_unrolled_nodes} nodes; loop over a tensor or use "
            "gx.fori_loop so that the loop is rolled, or raise gx.config.max_unrolled_nodes"
        )
        raise trace.refuse(error)


def _trace_while(test: Test, body: Callable[[], None], variables: LoopVariables) -> None:
    trace = _trace()
    state = LoopState(variables, trace, runs=False)
    while True:
        regions = (Region(trace, "the test of a while loop"), Region(trace, "the body of a while loop"))
        arguments = [_arguments(region, state) for region in regions]
        state.bind(arguments[0])
        with trace_scope(regions[0]):
            condition = predicate(regions[0], regions[0].lift(operand(test())))
        if regions[0].written():
            state.restore()
            _trace_rotated_while(test, body, variables)
            return
        state.bind(arguments[1])
        with trace_scope(regions[1]):
            variables.own(regions[1])
            body()
            if state.settle(regions[1]):
                outputs = state.results(regions[1])
                break
    trace.report_loop("while", "its test is a tensor")
    state.leave(emit_while(regions[0], condition, regions[1], arguments, outputs, state.initial()))


def _trace_rotated_while(test: Test, body: Callable[[], None], variables: LoopVariables) -> None:
    """A while whose test assigns a variable (draws a random number): it is run before the loop and after each body.

    The test of a loop node only looks; what it would assign has nowhere to go.
    """
    trace = _trace()
    first = predicate(trace, trace.lift(operand(test())))
    state = LoopState(variables, trace, runs=False)
    while True:
        regions = (Region(trace, "the test of a while loop"), Region(trace, "the body of a while loop"))
        conditions = [region.argument(first.type, "condition") for region in regions]
        arguments = [_arguments(region, state) for region in regions]
        state.bind(arguments[1])
        with trace_scope(regions[1]):
            variables.own(regions[1])
            body()
            following = predicate(regions[1], regions[1].lift(operand(test())))
            if state.settle(regions[1]):
                outputs = [following, *state.results(regions[1])]
                break
    trace.report_loop("while", "its test is a tensor")
    inputs = [[condition, *carried] for condition, carried in zip(conditions, arguments, strict=True)]
    found = emit_while(regions[0], conditions[0], regions[1], inputs, outputs, [first, *state.initial()])
    state.leave(found[1:])


def _may_stop(extra_test: Test | None) -> bool:
    """Whether a break or return may have happened in the iteration that was just traced: on a tensor, or always."""
    return extra_test is not None and extra_test() is not True


def _arguments(region: Region, state: LoopState) -> list[SymbolicTensor]:
    return [region.argument(type, f"carry_{position}") for position, type in enumerate(state.types())]


def for_stmt(
    iterable: Any,
    extra_test: Test | None,
    body: Body,
    get_state: Callable[[], tuple[Any, ...]],
    set_state: Callable[[tuple[Any, ...]], None],
    names: Sequence[str],
) -> None:
    """A ``for`` statement.

    Args:
      iterable: what to run over.
      extra_test: whether to go on, where the body may break or return; None where it cannot.
      body: one iteration, given the item.
      get_state: the values of ``names``.
      set_state: binds ``names``.
      names: what is carried from one iteration to the next, or read after the loop.
    """
    variables = LoopVariables(get_state, set_state, names)
    if context.trace is None:
        _run_in_python(iterable, extra_test, body, variables)
    elif isinstance(iterable, TensorRange):
        _trace_tensor_range(iterable, extra_test, body, variables)
    elif isinstance(iterable, Tensor):
        _trace_rows(iterable, extra_test, body, variables)
    elif isinstance(iterable, range):
        _roll_or_unroll(iterable, extra_test, body, variables)
    else:
        check_iterator(iterable)
        iterate = special_method(iterable, "__iter__")
        if iterate is not None:
            iterable = call(iterate)(iterable)
        _run_in_python(iterable, extra_test, body, variables)


def _run_in_python(iterable: Iterable[Any], extra_test: Test | None, body: Body, variables: LoopVariables) -> None:
    going_on: Any = True
    for item in iterable:
        if is_symbolic_condition(going_on):
            # A break or return on a tensor: the iterations after it are there, but do nothing.
            if_stmt(going_on, partial(body, item), _nothing, variables.get, variables.set, variables.names)
        else:
            body(item)
        _check_size("for")
        going_on = True if extra_test is None else extra_test()
        if not is_symbolic_condition(going_on) and not going_on:
            return


def _nothing() -> None:
    pass


def _roll_or_unroll(
    indices: range, extra_test: Test | None, body: Body, variables: LoopVariables, peeled: bool = False
) -> None:
    trace = _trace()
    unroll = trace.root.unroll
    if unroll is None and len(indices) < UNROLL_BELOW:
        reason = f"it has fewer than {UNROLL_BELOW} iterations"
    elif unroll is True:
        reason = "unroll=True"
    elif not len(indices):
        return
    else:
        attempt, before, initial = object(), trace.checkpoint(), variables.get()
        try:
            _roll(trace, attempt, variables, indices, extra_test, body)
        except RegionAborted as aborted:
            if aborted.attempt is not attempt:
                raise
            _undo(trace, before, variables, initial)
            reason = aborted.reason
            if aborted.unsettled and not peeled:
                # `s = 0` before `s = s + x`: after one iteration run by itself, s has the type it keeps.
                _run_in_python(indices[:1], extra_test, body, variables)
                _roll_or_unroll(indices[1:], extra_test, body, variables, peeled=True)
                return
        except Exception as error:
            # Where Python has a number, a trace of the body has an index without a value, and may fail for that alone.
            # Unrolled, the body fails again if the fault is the user's.
            if unroll is False:
                raise
            _undo(trace, before, variables, initial)
            reason = f"tracing its body once for all iterations failed: {error}"
        else:
            trace.report_loop("rolled", f"its {len(indices)} iterations do the same work")
            return
        if unroll is False:
            raise trace.refuse(UnimplementedError(f"unroll=False, but this loop cannot be rolled: {reason}"))
    trace.report_loop("unrolled", reason)
    _run_in_python(indices, extra_test, body, variables)


def _undo(trace: Trace, before: Checkpoint, variables: LoopVariables, initial: tuple[Any, ...]) -> None:
    trace.rollback(before)
    variables.set(initial)


def _roll(
    trace: Trace, attempt: object, variables: LoopVariables, indices: range, extra_test: Test | None, body: Body
) -> None:
    """Traces the body once and appends the loop; raises RegionAborted where Python is needed."""
    state = LoopState(variables, trace, runs=True)
    while True:
        region = Region(trace, "the body of a for loop", attempt=attempt)
        number = region.argument(INDEX, "index")
        carried = _arguments(region, state)
        index = loop_index(number, indices, region)
        state.bind(carried)
        with trace_scope(region):
            variables.own(region)
            body(index)
            region.check_aborted()
            if state.settle(region, index):
                stops = _may_stop(extra_test)
                outputs = state.results(region)
                break
    if stops:
        state.restore()
        bounds = TensorRange(indices.start, indices.stop, indices.step)
        _counted_while(
            bounds, LoopState(variables, trace, runs=True), extra_test, body,
            lambda counter, region: loop_index(counter, indices, region), attempt,
        )  # fmt: skip
        return
    trips = Trips(len(indices), indices.start, indices.step)
    state.leave(emit_scan(region, ([number], carried, []), outputs, [], state.initial(), [], trips), indices[-1])


def _counted_while(
    bounds: TensorRange, state: LoopState, extra_test: Test | None, body: Body,
    item: Callable[[SymbolicTensor, Region], Any], attempt: object | None = None,
) -> None:  # fmt: skip
    """A while over an index that stays within ``bounds``, for as long as ``extra_test`` holds."""
    trace = _trace()
    comparison = OPS["less" if bounds.step > 0 else "greater"]
    first = trace.lift(operand(bounds.start))
    while True:
        regions = [Region(trace, f"the {part} of a for loop", attempt=attempt) for part in ("test", "body")]
        counters = [region.argument(first.type, "index") for region in regions]
        arguments = [_arguments(region, state) for region in regions]
        state.bind(arguments[0])
        with trace_scope(regions[0]):
            within = apply(comparison, (counters[0], bounds.stop))
            condition = within if extra_test is None else and_(lambda within=within: within, extra_test)
            condition = predicate(regions[0], regions[0].lift(condition))
        state.bind(arguments[1])
        with trace_scope(regions[1]):
            state.own(regions[1])
            element = item(counters[1], regions[1])
            body(element)
            regions[1].check_aborted()
            state.name_index(element)
            if state.settle(regions[1]):
                following = regions[1].cast(apply(OPS["add"], (counters[1], bounds.step)), first.type)
                outputs = [following, *state.results(regions[1])]
                break
    inputs = [[counter, *carried] for counter, carried in zip(counters, arguments, strict=True)]
    found = emit_while(regions[0], condition, regions[1], inputs, outputs, [first, *state.initial()])
    state.leave(found[1:])


def _trace_tensor_range(indices: TensorRange, extra_test: Test | None, body: Body, variables: LoopVariables) -> None:
    trace = _trace()
    for bound in (indices.start, indices.stop, indices.step):
        if isinstance(bound, Tensor) and (bound.shape or bound.dtype.kind not in "iu"):
            raise trace.refuse(InvalidArgumentError(f"range() needs integer scalars, got a tensor {bound.type}"))
    if not isinstance(indices.step, int) or indices.step == 0:
        raise trace.refuse(UnimplementedError("range() with a tensor bound needs a step that is a Python int, not 0"))
    trace.report_loop("while", "its range has a tensor bound")
    _counted_while(indices, LoopState(variables, trace, runs=False), extra_test, body, lambda counter, region: counter)


def _trace_rows(rows: Tensor, extra_test: Test | None, body: Body, variables: LoopVariables) -> None:
    """A loop over the first axis of a tensor."""
    trace = _trace()
    type = type_of_any(rows)
    if not type.shape:
        raise trace.refuse(InvalidArgumentError(f"iteration over a 0-d tensor {type}"))
    length = type.shape[0]
    if not length:
        return
    state = LoopState(variables, trace, runs=True)
    row_type = TensorType(type.shape[1:], type.dtype, type.weak)
    while True:
        region = Region(trace, "the body of a for loop")
        number, carried = region.argument(INDEX, "index"), _arguments(region, state)
        row = region.argument(row_type, "row")
        state.bind(carried)
        with trace_scope(region):
            variables.own(region)
            body(row)
            if state.settle(region):
                stops = _may_stop(extra_test)
                outputs = state.results(region)
                break
    trace.report_loop("rolled", f"it runs over the {length} rows of a tensor")
    if stops:
        state.restore()
        state = LoopState(variables, trace, runs=True)
        _counted_while(TensorRange(0, length), state, extra_test, body, lambda counter, region: rows[counter])
        return
    tensors = emit_scan(region, ([number], carried, [row]), outputs, [], state.initial(), [rows], Trips(length))
    state.leave(tensors)
