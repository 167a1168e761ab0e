"""``while``: run by Python as long as its test is a Python value, then one node."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from graphc.compiler.autograph.constructs.branches.branch import condition_of, is_symbolic_condition, truth
from graphc.compiler.autograph.constructs.exceptions.failure import may_have_failed, settles
from graphc.compiler.autograph.constructs.exceptions.try_scope import attempt
from graphc.compiler.autograph.constructs.loops.bodies import (
    BoundByLoop,
    TripCounter,
    VariableCreations,
    arguments,
    condition_before,
    condition_in,
    expecting,
    forget_loops,
    going_on,
    iterate,
    restoring,
    split_maybe_unbound,
)
from graphc.compiler.autograph.constructs.loops.for_loops import NodeLimit
from graphc.compiler.autograph.constructs.loops.options import OpenLoop, open_loop, report_unrolled, with_options
from graphc.compiler.autograph.constructs.loops.state import LoopState, LoopVariables
from graphc.compiler.autograph.values.join import same_values
from graphc.compiler.autograph.values.number import assume_carried
from graphc.compiler.base.errors import UnimplementedError
from graphc.compiler.ops import emit_while
from graphc.compiler.tracing import Region, RegionAborted, Trace, context

# The first iteration of a ``while`` whose test is a Python value before it, and depends on tensors after it.


def makes_test_symbolic(
    trace: Trace, test: Callable[[], Any], body: Callable[[], None], variables: LoopVariables
) -> bool:
    """Tells if the test of a loop depends on tensors once an iteration has run, as ``while stack:`` does."""
    # The iteration is traced on trial, and leaves nothing behind. It counts as one that needs Python if it has effects
    # outside the trace, which the trial does not run.
    before, identity = trace.checkpoint(), object()
    state = LoopState(variables, trace, runs=True)
    region = Region(trace, "the body of a while loop", attempt=identity)
    try:
        state.bind(arguments(region, state), iteration=True)
        with region.tracing():
            variables.own(region)
            _, failure = attempt(body)
            region.check_aborted()
            symbolic = failure is None and is_symbolic_condition(test())
    except RegionAborted as aborted:
        if aborted.attempt is not identity:
            raise
        symbolic = False
    except Exception:
        symbolic = False  # what Python knows in the first iteration, the trial does not
    finally:
        state.restore()
        forget_loops(trace, before.num_loops)
        trace.rollback(before)
    return symbolic


Test = Callable[[], Any]

_REASON = "its test is a Python value"
_REMEDY = "Make its test depend on a tensor, such as a counter gx.asarray(0), so that it becomes one node"


def while_stmt(
    test: Test, body: Callable[[], None], get_state: Callable[[], tuple[Any, ...]],
    set_state: Callable[[tuple[Any, ...]], None], names: Sequence[str], stored: Callable[[], tuple[Any, ...]] = tuple,
    *, statement: Any = None,
) -> None:  # fmt: skip
    """A ``while`` statement; see :func:`graphc.compiler.autograph.constructs.loops.for_loops.for_stmt`."""
    # ``statement`` is the body that the user wrote, which may say the loop's options, where that is not ``body``.
    # Python runs it as long as the test is a Python value. From the first iteration on in which the test is a tensor,
    # what is left of the loop becomes one while node. If the first iteration makes the test a tensor, all of the loop
    # becomes that node where possible, so that its body is compiled once.
    trace = context.trace
    if trace is None:
        while truth(test()):
            body()
        return
    code = getattr(test, "__code__", None)
    # A test that looks at nothing is a constant; a callable without code may look at anything.
    looks = code is None or bool(code.co_freevars or code.co_names)
    test = partial(_condition, test)
    with open_loop(trace, body if statement is None else statement) as options:
        limit = NodeLimit(trace, "while", _REASON, _REMEDY, None)
        variables = LoopVariables(get_state, set_state, names, stored=stored)
        creations = VariableCreations(trace)
        while True:
            before = trace.checkpoint()
            condition = test()
            if is_symbolic_condition(condition):
                trace.rollback(before)  # the node evaluates it
                break
            if not truth(condition):
                if limit.done:
                    limit.copies.put_into(report_unrolled(trace, options, _REASON))
                return
            # Else Python runs the first iteration of `while stack:` by itself, and the body is compiled twice.
            if looks and not limit.done and _becomes_whole_node(trace, test, body, variables, options):
                return
            body()
            limit.check()
            creations.end_iteration()
            if not looks and may_have_failed(trace):
                break  # `while True` that only an exception ends: how often it runs is known at run time only
        _become_node(trace, test, body, variables, options, creations)


def _condition(test: Test) -> Any:
    return condition_of(test())


def _becomes_whole_node(
    trace: Trace, test: Test, body: Callable[[], None], variables: LoopVariables, options: OpenLoop
) -> bool:
    """Makes the loop one node if its test, which is true by now, is a tensor after an iteration; False if it cannot."""
    if not makes_test_symbolic(trace, test, body, variables) or options.unroll is True:
        return False
    before, start = trace.checkpoint(), variables.get()
    try:
        _become_node(trace, test, body, variables, options, VariableCreations(trace), runs=True)
    except Exception:
        # What fails as a node may still run once by Python; what is the user's fault fails there again.
        variables.set(start)
        trace.rollback(before)
        return False
    return True


def _become_node(
    trace: Trace, test: Test, body: Callable[[], None], variables: LoopVariables, options: OpenLoop,
    before: VariableCreations, *, runs: bool = False,
) -> None:  # fmt: skip
    """Makes what is left of the loop, whose test is a tensor, one node."""
    # runs: whether the test is true at first.

    def run(expects: bool) -> None:
        _trace(trace, test, body, variables, options.max_iterations, expects=expects, runs=runs)

    with_options(trace, options, lambda: expecting(trace, options.code, run))
    # The body says its options, so they are known only when it has been traced.
    if options.said is not None and options.said.unroll is True:
        raise trace.refuse(UnimplementedError("unroll=True, but this loop cannot be unrolled: its test is a tensor"))
    done = before.iterations
    reason = before.rolled() if before.any else "its test is a tensor" + f" from iteration {done} on" * bool(done)
    trace.report_loop("while", reason, creates=before.any)


def _trace(
    trace: Trace, test: Test, body: Callable[[], None], variables: LoopVariables, most: int | None, *, expects: bool,
    runs: bool,
) -> None:  # fmt: skip
    """Appends a while of at most so many iterations, if that is known."""
    # runs: whether its test is true before the first iteration.
    names, countdown = variables, TripCounter(variables, most)
    # A loop that runs binds its names; only one that may run zero times must tell.
    first_bound = None if runs else BoundByLoop(countdown.variables)
    variables = split_maybe_unbound(countdown.variables) if first_bound is None else first_bound.variables
    state = LoopState(variables, trace, runs=runs, max_trips=most, jumps=True, expects=expects)
    num_loops = len(trace.root.loops)
    while True:
        regions = (Region(trace, "the test of a while loop"), Region(trace, "the body of a while loop"))
        carried = [arguments(region, state) for region in regions]
        state.bind(carried[0])
        with restoring(state), regions[0].tracing():
            tested = test()
            condition = condition_in(regions[0], tested)
        if not _only_looks(regions[0]):
            state.restore()
            if expects:
                # The bounds that a trial finds may show that the test cannot fail; those that are expected do not.
                _trace(trace, test, body, names, most, expects=False, runs=runs)
            else:
                _trace_rotated(trace, test, body, names, most)
            return
        # The body runs only where the test holds: `while i < n` bounds i there.
        assume_carried(regions[1], tested, zip(*carried, strict=True))
        state.bind(carried[1], iteration=True)
        with restoring(state), regions[1].tracing():
            variables.own(regions[1])
            countdown.begin_iteration()
            iterate(regions[1], state, body, carried[1])
            if first_bound is not None:
                first_bound.end_iteration(regions[1])
            if settles(state, regions[1]):
                outputs = state.results(regions[1])
                break
        forget_loops(trace, num_loops)
    with restoring(state):
        condition = condition_before(regions[1], regions[0], condition)
        results = emit_while(regions[0], condition, regions[1], carried, outputs, state.initial(), most)
    state.leave(results)
    if first_bound is not None:
        first_bound.leave()


def _only_looks(test: Region) -> bool:
    """Returns True if a test that was traced changes nothing, neither a variable nor what it was bound to."""
    start = {cell.key: value for cell, value in test.bound}
    return not test.written() and all(
        key in start and same_values(start[key], written.after) for key, written in test.journal.writes.items()
    )


def _trace_rotated(
    trace: Trace, test: Test, body: Callable[[], None], variables: LoopVariables, most: int | None
) -> None:
    """A while whose test changes something (draws a random number): it is run before the loop and after each body."""
    # The test of a loop node only looks; what it would assign has nowhere to go.
    first = going_on(trace, test())
    countdown = TripCounter(variables, most)
    first_bound = BoundByLoop(countdown.variables)
    variables = first_bound.variables
    state = LoopState(variables, trace, runs=False, max_trips=most, jumps=True, expects=False)
    num_loops = len(trace.root.loops)
    while True:
        regions = (Region(trace, "the test of a while loop"), Region(trace, "the body of a while loop"))
        conditions = [region.argument(first.type, "condition") for region in regions]
        carried = [arguments(region, state) for region in regions]
        state.bind(carried[1], iteration=True)
        with restoring(state), regions[1].tracing():
            variables.own(regions[1])
            countdown.begin_iteration()
            iterate(regions[1], state, body, carried[1])
            first_bound.end_iteration(regions[1])
            following = going_on(regions[1], test())
            if settles(state, regions[1]):
                outputs = [following, *state.results(regions[1])]
                break
        forget_loops(trace, num_loops)
    inputs = [[condition, *values] for condition, values in zip(conditions, carried, strict=True)]
    with restoring(state):
        results = emit_while(regions[0], conditions[0], regions[1], inputs, outputs, [first, *state.initial()], most)
    state.leave(results[1:])
    first_bound.leave()
