"""``if``, and what decides which branch runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

from graphc.compiler.autograph.constructs.branches.joining import (
    NEVER,
    Merged,
    UnchangedValue,
    fill,
    merge,
    note_merged,
)
from graphc.compiler.autograph.constructs.calls.call import call
from graphc.compiler.autograph.constructs.exceptions.failure import Ended, RegionFailure
from graphc.compiler.autograph.constructs.exceptions.origins import in_python
from graphc.compiler.autograph.constructs.exceptions.try_scope import attempt, num_handlers
from graphc.compiler.autograph.constructs.purity.watch import operator_method
from graphc.compiler.autograph.constructs.storage.cells import describe_path, held, write
from graphc.compiler.autograph.frontend.lower_jumps import RETURN, is_flag
from graphc.compiler.autograph.values.course import PerIterationNumber, by_trip, chosen
from graphc.compiler.autograph.values.growing_list import matched
from graphc.compiler.autograph.values.join import Join
from graphc.compiler.autograph.values.number import assume, assume_true
from graphc.compiler.autograph.values.protocol import is_bound, symbol_of
from graphc.compiler.base.errors import GraphcError, InvalidArgumentError, UnimplementedError
from graphc.compiler.core import SymbolicTensor, apply, read, trace_scope
from graphc.compiler.ir import OPS, Attrs
from graphc.compiler.ops import BOOL, COND, emit_branches
from graphc.compiler.tracing import Cell, Region, TensorCell, Trace, context, current_trace

Thunk = Callable[[], Any]
_NOTHING: Mapping[str, Sequence[str]] = MappingProxyType({})
_SIDES = ("when the condition is true", "when it is false")


def is_symbolic_condition(value: Any) -> bool:
    """Returns True if a condition's value is not known while the function is traced."""
    return isinstance(value, SymbolicTensor)


def itself(value: Any) -> Any:
    """Returns the value: ``partial(itself, value)`` is an operand that is known already."""
    return value


def known_length(condition: Any) -> Any:
    """Returns the condition; a list whose length is known at run time only counts as true if it holds something."""
    symbol = symbol_of(condition)
    return condition if symbol is None else symbol.condition(_asked_truth)


def condition_of(value: Any) -> Any:
    """Gives what decides whether a value counts as true: a tensor; of an object of the user's, what its method says."""
    value = known_length(read(value))
    return value if operator_method(value, "__bool__", "__len__") is None else call(bool)(value)


def _asked_truth(value: Any) -> Any:
    condition = condition_of(value)
    return predicate(current_trace(), condition) if is_symbolic_condition(condition) else truth(condition)


def truth(value: Any) -> bool:
    """Returns True if a Python value counts as true; a method of the user's that says so is a call."""
    if isinstance(value, bool):
        return value
    return in_python(bool, condition_of(value))


def known_truth(value: Any) -> bool:
    """Returns the truth of a value that decides if ``:=`` binds a name; refuses one that depends on a tensor."""
    condition = condition_of(value)
    if not is_symbolic_condition(condition):
        return truth(condition)
    error = UnimplementedError(
        f"`:=` would bind a name only if a tensor ({condition.type}, {condition.made_at()}) says so, which has no "
        "value while the function is traced; assign the name in a statement before this one, or in an `if`"
    )
    raise current_trace().refuse(error)


def predicate(trace: Trace, value: SymbolicTensor) -> SymbolicTensor:
    """Returns a condition as a boolean scalar; refuses more than one element, whose truth is ambiguous as in NumPy."""
    if value.size != 1:
        error = InvalidArgumentError(
            f"the truth of a tensor with {value.size} elements ({value.type}, {value.made_at()}) is ambiguous; "
            "use gx.any or gx.all"
        )
        raise trace.refuse(error)
    if value.shape:
        value = apply(OPS["reshape"], (value,), Attrs(shape=()))
    if isinstance(value, PerIterationNumber) and value.kind is not bool:
        value = by_trip(bool, (value,))
    if value.dtype.kind != "b" or value.type.weak:
        value = apply(OPS["astype"], (value,), Attrs(dtype=BOOL))
    return trace.lift(value)


def asked(value: Any) -> Any:
    """Returns the truth of an operand of `and` or `or` of which no more is asked: a bool or a boolean tensor."""
    value = condition_of(value)
    trace = context.trace
    return predicate(trace, value) if trace is not None and is_symbolic_condition(value) else truth(value)


def if_stmt(
    condition: Any,
    body: Callable[[], None],
    orelse: Callable[[], None],
    get_state: Callable[[], tuple[Any, ...]],
    set_state: Callable[[tuple[Any, ...]], None],
    names: Sequence[str],  # what the branches may bind and later code reads
    # By the flag that a `return`, `break` or `continue` sets, the names that nobody reads after it; the flag "" stands
    # for a jump that was taken before if the condition is false.
    unread: Mapping[str, Sequence[str]] = _NOTHING,
) -> None:
    """Runs an ``if`` statement: Python's own where the condition has a value, else a cond."""
    condition = condition_of(condition)
    if not is_symbolic_condition(condition):
        if truth(condition):
            body()
        else:
            orelse()
        return
    initial = get_state()

    def branch(statements: Callable[[], None]) -> Callable[[], tuple[Any, ...]]:
        def run() -> tuple[Any, ...]:
            # Writes to the cells of these names are no side effects: the names are merged below.
            for cell in getattr(get_state, "__closure__", None) or ():
                _region().journal.own(cell)
            set_state(initial)  # the other branch may have bound the names before
            statements()
            return get_state()

        return run

    set_state(tuple(_cond(condition, branch(body), branch(orelse), names, unread, initial)))


def _region() -> Region:
    region = context.trace
    assert isinstance(region, Region)
    return region


def choose(condition: Any, true: Thunk, false: Thunk, name: str = "the conditional expression") -> Any:
    """Returns one of two values: Python's own choice where the condition has a value, else a cond."""
    condition = condition_of(condition)
    if not is_symbolic_condition(condition):
        return true() if truth(condition) else false()
    return _cond(condition, lambda: (true(),), lambda: (false(),), (name,))[0]


def _cond(
    condition: SymbolicTensor,
    true: Thunk,
    false: Thunk,
    names: Sequence[str],
    unread: Mapping[str, Sequence[str]] = _NOTHING,
    before: Sequence[Any] = (),
) -> list[Any]:
    """Traces both branches, and merges what each leaves in ``names``."""
    trace = context.trace
    assert trace is not None
    selector, choice = predicate(trace, condition), object()
    regions = (
        Region(trace, "the true branch of an if", once=choice),
        Region(trace, "the false branch of an if", once=choice),
    )
    states: list[Sequence[Any]] = []
    failures: list[RegionFailure | None] = []
    for region, thunk, side in zip(regions, (true, false), (True, False), strict=True):
        assume(region, condition, side)
        with region.tracing():
            state, failure = attempt(thunk)
        states.append([NEVER] * len(names) if state is None else state)
        failures.append(failure)
    _fail(selector, regions, failures)
    for failure, side in zip(failures, (True, False), strict=True):
        if failure is not None and not num_handlers():
            assume_true(trace, condition, not side)
    for flag, others in unread.items():
        _leave_out(names, states, flag, others)
    cells = _written_cells(regions)
    titles = [*names, *(cell.title for cell in cells)]
    pairs = [*zip(*states, strict=True), *(_left(cell, regions, failures) for cell in cells)]
    tensors: tuple[list[SymbolicTensor], list[SymbolicTensor]] = ([], [])
    # Two names that hold one object in each branch hold one object after it.
    outcomes: dict[tuple[int, int], UnchangedValue | Merged] = {}
    for name, (first, second) in zip(titles, pairs, strict=True):
        if (id(first), id(second)) not in outcomes:
            number = NotImplemented if is_flag(name) else chosen(condition, first, second)
            if number is not NotImplemented:
                outcomes[id(first), id(second)] = UnchangedValue(number)
                continue
            join = Join(_sides_of(name, names, before, first, second), partial(_refuse, trace, cells, name))
            outcomes[id(first), id(second)] = merge(join, regions, tensors, name, first, second)
    # A cond that gives nothing and writes nothing has no use.
    outputs = iter(emit_branches(COND, selector, regions, tensors) if tensors[0] or _writes(regions) else ())
    merged = {key: fill(value, outputs) for key, value in outcomes.items()}
    values = [merged[id(first), id(second)] for first, second in pairs]
    for name, pair, value, cell in zip(titles, pairs, values, [*[None] * len(names), *cells], strict=True):
        if value is not pair[0] and not isinstance(cell, TensorCell):  # which takes the values, not the object
            note_merged(trace, name, value, outcomes[id(pair[0]), id(pair[1])])
    for cell, value in zip(cells, values[len(names) :], strict=True):
        write(cell, value, certain=True)
    return values[: len(names)]


def _leave_out(names: Sequence[str], states: list[Sequence[Any]], flag: str, unread: Sequence[str]) -> None:
    """Takes from the branch that always jumps what nobody reads after the jump."""
    jumps = [state[names.index(flag)] is True for state in states] if flag else [False, True]
    if sum(jumps) == 1:
        side = jumps.index(True)
        states[side] = [
            NEVER if name in unread and other is not NEVER else value  # NEVER on both sides would reach the name
            for name, value, other in zip(names, states[side], states[1 - side], strict=True)
        ]


def _written_cells(regions: Sequence[Region]) -> list[Cell]:
    """Returns the places outside that one of the branches wrote."""
    return list({key: written.cell for region in regions for key, written in region.journal.writes.items()}.values())


def _fail(selector: SymbolicTensor, regions: Sequence[Region], failures: Sequence[RegionFailure | None]) -> None:
    """Says how branches fail that always do; raises :class:`Ended` where both do, since nothing comes after them."""
    for region, failure, side, other in zip(regions, failures, (True, False), regions[::-1], strict=True):
        if failure is None:
            continue
        # Where neither branch computes anything, a selection does, which costs less than a branch.
        if None in failures and not other.builder.nodes and not other.written() and failure.is_known_around(region):
            failure.happens(selector if side else apply(OPS["logical_not"], (selector,)))
            continue
        with trace_scope(region):
            failure.happens()
    if None not in failures:
        emit_branches(COND, selector, regions, ([], []))
        raise Ended


def _left(cell: Cell, regions: Sequence[Region], failures: Sequence[RegionFailure | None]) -> tuple[Any, ...]:
    """Returns what each branch left in a place."""
    writes = [region.journal.writes.get(cell.key) for region in regions]
    before = cell.get()
    left = [held(cell, before if written is None else written.after) for written in writes]
    if any(failures):
        return tuple([value if failure is None else NEVER for value, failure in zip(left, failures, strict=True)])
    return matched(regions, cell.title, left) if isinstance(cell.owner, list) else tuple(left)


def _writes(regions: Sequence[Region]) -> bool:
    """Returns True if a branch is there for more than its values: it assigns a Variable, or holds a breakpoint."""
    effective = any(node.effects and not node.outputs for region in regions for node in region.builder.nodes)
    return effective or any(region.written() for region in regions)


def _sides_of(name: str, names: Sequence[str], before: Sequence[Any], first: Any, second: Any) -> tuple[str, str]:
    """Names the two sides for messages: a return that was reached before has no condition here."""
    if name == RETURN and before:
        value = before[names.index(name)]
        if is_bound(value) and (value is first or value is second):
            there, here = "where it returned before", "where it did not return before"
            return (there, here) if value is first else (here, there)
    return _SIDES


def _refuse(trace: Trace, cells: Sequence[Cell], title: str, error: GraphcError) -> GraphcError:
    """Returns an error ready to be raised, which names a list or dict as the user does."""
    return trace.refuse(describe_path(error, [cell for cell in cells if cell.title == title]))
