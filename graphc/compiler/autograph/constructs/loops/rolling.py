"""Loops traced once into one node: a scan over a known number of iterations, or a while."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import CodeType
from typing import Any, cast
from weakref import WeakKeyDictionary

import numpy as np

from graphc.compiler.autograph.constructs.branches.logic import and_
from graphc.compiler.autograph.constructs.exceptions.failure import settles
from graphc.compiler.autograph.constructs.exceptions.try_scope import attempt
from graphc.compiler.autograph.constructs.loops.bodies import (
    BoundByLoop,
    ListLengths,
    VariableCreations,
    arguments,
    check_bound,
    condition_before,
    condition_in,
    forget_loops,
    iterate,
    restoring,
    split_maybe_unbound,
)
from graphc.compiler.autograph.constructs.loops.counts import iterations_until
from graphc.compiler.autograph.constructs.loops.options import OpenLoop
from graphc.compiler.autograph.constructs.loops.spaces import IterationDomain
from graphc.compiler.autograph.constructs.loops.state import LookedUp, LoopState, LoopVariables, TakenRows
from graphc.compiler.autograph.frontend.lower_jumps import is_flag
from graphc.compiler.autograph.values.course import HostSequences
from graphc.compiler.autograph.values.index import LoopIndex, held_as_int, loop_position
from graphc.compiler.autograph.values.number import SymbolicNumber
from graphc.compiler.autograph.values.protocol import is_bound
from graphc.compiler.autograph.values.spans import HIGHEST, ValueRange
from graphc.compiler.base import nest
from graphc.compiler.core import SymbolicTensor, Tensor, apply, scalar_array
from graphc.compiler.ir import OPS, TensorType, Value
from graphc.compiler.ops import INDEX, Trips, emit_scan, emit_while, iterations_per_step
from graphc.compiler.tracing import Region, RegionAborted, Trace, type_of_any

Test = Callable[[], Any]

_staying: WeakKeyDictionary[Trace, set[CodeType | None]] = WeakKeyDictionary()
"""For each trace of a function the bodies of loops that could be left, and were not when they were last traced."""


@dataclass(frozen=True)
class ForLoop:
    """A ``for`` statement."""

    trace: Trace
    extra_test: Test | None  # whether to go on after an iteration; None where nothing breaks or returns
    body: Callable[[Any], None]
    variables: LoopVariables
    options: OpenLoop
    held: bool  # whether it runs over an iterator that others may refer to
    follows: bool = True  # whether its numbers are taken for such as change in each iteration, before that is known
    # The iterations that were run by themselves, and the Variables that they created; None if none was.
    peeled: VariableCreations | None = None
    # The lists whose lengths changed in iterations that were run by themselves; None if none was run for that.
    windows: ListLengths | None = None


@dataclass(frozen=True)
class EarlyExit:
    """That a loop may stop before its last iteration."""

    trips: int | None  # how many iterations it runs, where nothing but its index decides; then nothing was appended


def roll(loop: ForLoop, identity: object, space: IterationDomain) -> EarlyExit | None:
    """Traces the body once and appends a node for all iterations."""
    # Whether, or when, the loop stops before its last iteration; None if it does not.
    # A body that jumps out of the loop mostly does so on tensors, and is traced for that first. One trial more than
    # needed at each level of a nest of loops would trace the innermost body twice as often with each level.
    staying = _staying.setdefault(loop.trace.root, set())
    if loop.extra_test is not None and loop.options.code not in staying:
        stops = trace_counted(loop, space, identity)
        if stops is not None:
            return stops
        staying.add(loop.options.code)
    stops = _scan(loop, identity, space, rows=bool(space.tensors()))
    if stops is None or stops.trips is not None:
        return stops
    return trace_counted(loop, space, identity, stops=True)


def _scan(loop: ForLoop, identity: object, space: IterationDomain, *, rows: bool) -> EarlyExit | None:
    """Returns a scan, unless the loop may stop; then nothing is appended."""
    trace, length = loop.trace, len(space.order)
    before = trace.checkpoint()
    variables = split_maybe_unbound(loop.variables)
    state = LoopState(variables, trace, runs=True, max_trips=length, follows=loop.follows)
    unbound = [not is_bound(value) for value in variables.get()]
    arrays = space.arrays() if rows else []
    while True:
        region = Region(trace, "the body of a for loop", attempt=identity)
        number, carried = region.argument(INDEX, "index"), arguments(region, state)
        taken = [region.argument(_row_type(array), "row") for array in arrays]
        numbers = TakenRows(region, number, space.order)
        state.bind(carried, courses=numbers.courses)
        with restoring(state), region.tracing():
            variables.own(region)
            counter = loop_position(number, space.order, region, numbers.courses)
            # Snapshots, since the body may assign to items of the row that it is given.
            item = space.item(counter, (row.snapshot() for row in taken) if rows else None)
            _try_iteration(region, partial(loop.body, item))
            _check_lists(space, region)
            # Items assigned to a tensor whose rows are taken: the rows are those that it has by then.
            changed = rows and _writes_to(region, space.tensors())
            _name_indices(variables, region, partial(_last_of, unbound))
            settled = not changed and settles(state, region)
            index = {number.raw: np.array(space.order, np.int32), **_known(numbers.courses)} if settled else {}
            stops = _stop(loop, region, (index, space.order), carried, state) if settled else None
            outputs = state.results(region) if settled else []
            if settled and stops is None:
                state.check_starts(region, carried, outputs)
        if changed or stops is not None:
            state.restore()
            trace.rollback(before)
            return stops or _scan(loop, identity, space, rows=False)
        if settled:
            break
        forget_loops(trace, before.num_loops)
    loop.options.per_step = _iterations_per_step(loop, region, state.types(), length)
    trips = Trips(length, space.order.start, space.order.step, unroll=loop.options.per_step)
    taken, arrays = [*taken, *numbers.arguments()], [*arrays, *numbers.arrays(trace)]
    with restoring(state):
        tensors = emit_scan(region, ([number], carried, taken), outputs, [], state.initial(), arrays, trips)
    state.leave(tensors, trips=length)
    return None


def _try_iteration(region: Region, body: Callable[[], None]) -> None:
    """Traces an iteration of an attempt to roll a loop."""
    _, failure = attempt(body)
    # Code that is not converted may have caught the signal by an `except BaseException`.
    region.check_aborted()
    if failure is not None:
        region.abort("every iteration raises an exception")


def _check_lists(space: IterationDomain, region: Region) -> None:
    """Gives an attempt up whose body changes a list that the loop runs over."""
    # The rows were stacked before the loop; Python's iterator would see an item that the body appends.
    if space.is_changed():
        region.abort("it changes the list that it runs over")


def _stop(
    loop: ForLoop, region: Region, index: tuple[Mapping[Value, Any], range], carried: Sequence[SymbolicTensor],
    state: LoopState,
) -> EarlyExit | None:  # fmt: skip
    """Returns when the loop stops whose body was just traced; None if it never stops early."""
    # index: what is known for all iterations, the index of the loop among it, and the values of the index.
    going_on = True if loop.extra_test is None else loop.extra_test()
    if going_on is True:
        return None
    if not isinstance(going_on, SymbolicTensor):
        return EarlyExit(None)
    numbers, order = dict(index[0]), index[1]
    # What says that a jump was taken says at the start of each iteration that none was.
    numbers.update({leaf.raw: np.False_ for name, leaf in zip(state.titles(), carried, strict=True) if is_flag(name)})
    return EarlyExit(iterations_until(region.lift(going_on), numbers, order))


def _known(courses: HostSequences | None) -> Mapping[Value, Any]:
    return {} if courses is None else courses.known()


def _iterations_per_step(loop: ForLoop, region: Region, carried: Sequence[TensorType], length: int) -> int:
    unroll = loop.options.unroll
    if unroll is None:
        # On a CPU, four at a time halve the run time of cheap arithmetic on large arrays.
        return iterations_per_step(region.builder.nodes, carried, length)
    return 1 if isinstance(unroll, bool) else min(unroll, length)  # a bool is an int to Python: min(False, 8) is 0


def trace_counted(
    loop: ForLoop, space: IterationDomain, identity: object | None = None, *, stops: bool = False, expects: bool = False
) -> EarlyExit | None:
    """Appends a while over a counter, for loops that may stop early or run as often as a tensor says."""
    # Whether, or when, the loop stops before its last iteration. In an attempt, nothing is appended for one that does
    # not, or of which it is known when.
    # stops: whether it is known that it may stop early, nobody knows when.
    trace, length, limit = loop.trace, space.length, loop.options.max_iterations
    counted, most, known_to_stop = isinstance(length, int), _most(space, limit), stops
    before = trace.checkpoint()
    first_bound = None if counted else BoundByLoop(loop.variables)
    variables = split_maybe_unbound(loop.variables) if first_bound is None else first_bound.variables
    unbound = [not is_bound(value) for value in variables.get()]
    # Courses need the number of trips, and an attempt to give up where Python cannot compute them.
    follows = counted and identity is not None and loop.follows
    state = LoopState(
        variables, trace, runs=counted, max_trips=most, jumps=loop.extra_test is not None, follows=follows,
        expects=expects,
    )  # fmt: skip
    num_loops = len(trace.root.loops)
    counter_type = TensorType((), scalar_array(0).dtype, weak=True)  # weak, as a Python int: `x * i` keeps x's dtype
    while True:
        regions = [Region(trace, f"the {part} of a for loop", attempt=identity) for part in ("test", "body")]
        counters = [region.argument(counter_type, "index") for region in regions]
        carried = [arguments(region, state) for region in regions]
        state.bind(carried[0])
        with restoring(state), regions[0].tracing():
            within = apply(OPS["less"], (counters[0], length))
            condition = condition_in(regions[0], _and(within, loop.extra_test))
        numbers = LookedUp(regions[1], counters[1], range(length)).courses if counted and identity is not None else None
        state.bind(carried[1], iteration=True, courses=numbers)
        with restoring(state), regions[1].tracing():
            variables.own(regions[1])
            if limit is not None and (space.most is None or limit < space.most):
                check_bound(counters[1], limit)
            item = space.of_position(_position(counters[1], length, space.most, regions[1], numbers), None)
            if identity is None:
                iterate(regions[1], state, partial(loop.body, item), carried[1])
            else:
                _try_iteration(regions[1], partial(loop.body, item))
                _check_lists(space, regions[1])
            regions[1].check_aborted()
            # What is a Python value in this trial may be a tensor in the next, never the other way round.
            stops = stops or identity is None or not (loop.extra_test is None or loop.extra_test() is True)
            _name_indices(variables, regions[1], partial(_at_the_end, None if identity is None else unbound))
            if first_bound is not None:
                first_bound.end_iteration(regions[1])
            settled = stops and settles(state, regions[1])
            stop = EarlyExit(None)
            if settled and identity is not None and not known_to_stop:
                order = range(len(space.order))
                index = {counters[1].raw: np.array(order, np.int32), **_known(numbers)}
                stop = _stop(loop, regions[1], (index, order), carried[1], state) or stop
            if settled and stop.trips is None:
                if identity is not None and loop.held:
                    # If it is Python values that stop it, Python knows what is left.
                    raise RegionAborted(identity, "it may stop early, and others may use what is left of the iterator")
                results = state.results(regions[1])
                if identity is not None:
                    state.check_starts(regions[1], carried[1], results)
                outputs = [regions[1].lift(apply(OPS["add"], (counters[1], 1))), *results]
                break
        if settled or not stops:
            state.restore()
            trace.rollback(before)
            return stop if stops else None
        forget_loops(trace, num_loops)
    inputs = [[counter, *values] for counter, values in zip(counters, carried, strict=True)]
    with restoring(state):
        condition = condition_before(regions[1], regions[0], condition)
        first = [trace.constant(0), *state.initial()]
        tensors = emit_while(regions[0], condition, regions[1], inputs, outputs, first, most)
    state.leave(tensors[1:], done=cast("SymbolicTensor", tensors[0]))
    if first_bound is not None:
        first_bound.leave()
    return stop


def _at_the_end(unbound: Sequence[bool] | None, index: LoopIndex, position: int) -> Any:
    """Returns what an index is after the last iteration where that is known at run time only."""
    # In an attempt a name that was bound before the loop keeps the index, which ends the attempt, as in
    # :func:`_last_of`.
    return _as_number(index) if unbound is None or (unbound[position] and index.last is not None) else index


def _most(space: IterationDomain, limit: int | None) -> int | None:
    """Returns how many iterations there are at most; None where that is not known."""
    return min((bound for bound in (space.most, limit) if bound is not None), default=None)


def _and(within: Tensor, extra_test: Test | None) -> Any:
    """Returns whether a further iteration is run."""
    return within if extra_test is None else and_(lambda: within, extra_test)


def _position(
    counter: SymbolicTensor, length: Any, most: int | None, region: Region, courses: HostSequences | None
) -> LoopIndex | SymbolicTensor:
    if isinstance(length, int):
        return loop_position(counter, range(length), region, courses)
    return SymbolicNumber(
        held_as_int(counter.snapshot()), int, span=ValueRange(0, HIGHEST - 1 if most is None else max(most - 1, 0))
    )


def _name_indices(variables: LoopVariables, region: Region, value_of: Callable[[LoopIndex, int], Any]) -> None:
    """Lets names that hold numbers made of the loop's counter hold what these are after the loop."""
    values: list[Any] = []
    for position, value in enumerate(variables.get()):
        leaves, structure = nest.flatten(value)
        mine = [isinstance(leaf, LoopIndex) and leaf.region is region for leaf in leaves]
        new = [value_of(leaf, position) if own else leaf for leaf, own in zip(leaves, mine, strict=True)]
        values.append(nest.unflatten(structure, new) if any(mine) else value)
    variables.set(tuple(values))


def _as_number(index: LoopIndex) -> SymbolicNumber:
    tensor = cast("SymbolicTensor", index.tensor)
    return SymbolicNumber(tensor, int, joined=True, span=ValueRange(index.low, index.high))


def _last_of(unbound: Sequence[bool], index: LoopIndex, position: int) -> Any:
    """Returns what an index is after the last iteration."""
    # A name that was bound before the loop keeps the index: an iteration might read it before it binds it, and see that
    # of the iteration before.
    return index.last if unbound[position] and index.last is not None else index


def _writes_to(region: Region, tensors: Sequence[Tensor]) -> bool:
    return any(written.cell.owner is tensor for written in region.journal.writes.values() for tensor in tensors)


def _row_type(array: Tensor) -> TensorType:
    type = type_of_any(array)
    return TensorType(type.shape[1:], type.dtype, type.weak)
