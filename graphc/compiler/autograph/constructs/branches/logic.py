"""``not``, ``and``, ``or`` and ``... if ... else ...``.

What is a Python number whichever way it goes stays one. In plain Python ``not t`` is a bool, so that
``(not a) + (not b)`` counts, where the sum of two tensors of truth values would be their disjunction.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn, cast

from graphc.compiler.autograph.constructs.branches.branch import (
    choose,
    condition_of,
    if_stmt,
    is_symbolic_condition,
    itself,
    predicate,
    truth,
)
from graphc.compiler.autograph.constructs.calls.call import call
from graphc.compiler.autograph.constructs.exceptions.failure import as_limit, note_raise
from graphc.compiler.autograph.constructs.exceptions.try_scope import attempt
from graphc.compiler.autograph.values.choice import over_choices, use
from graphc.compiler.autograph.values.course import PerIterationNumber, by_trip
from graphc.compiler.autograph.values.number import SymbolicNumber, assume, assuming, both, kind_of, negated, numbered
from graphc.compiler.autograph.values.protocol import operand_of, symbol_of
from graphc.compiler.base.errors import UnimplementedError
from graphc.compiler.core import SymbolicTensor, Tensor, apply
from graphc.compiler.ir import OPS
from graphc.compiler.tracing import Region, context, current_trace

Thunk = Callable[[], Any]


class _Kinds:
    """The Python types of the numbers that operands are."""

    def __init__(self) -> None:
        self.found: set[type[Any] | None] = set()  # None among them for what is no number

    def noting(self, operand: Thunk) -> Thunk:
        """Returns the operand, of whose value the kind is noted."""

        def run() -> Any:
            value = operand()
            self.found.add(kind_of(value))
            return value

        return run

    def of(self, value: Any) -> Any:
        """Returns the value of one of the operands, as a number if all are of one kind."""
        return numbered(value, next(iter(self.found)) if len(self.found) == 1 else None)


def not_(value: Any) -> Any:
    """``not a``."""
    condition = condition_of(value)
    if not is_symbolic_condition(condition):
        return not truth(condition)
    condition = negated(apply(OPS["logical_not"], (predicate(current_trace(), condition),)), condition)
    # The tensor alone has no course, by which Python knows it in each iteration.
    if isinstance(value, PerIterationNumber):
        return PerIterationNumber(value.course.loop.course(operator.not_, value.course), condition)
    return numbered(condition, bool)


def and_(*operands: Thunk) -> Any:
    """``a and b``: the first value that is false, or the last."""
    return _connected("logical_and", *operands)


def or_(*operands: Thunk) -> Any:
    """``a or b``: the first value that is true, or the last."""
    return _connected("logical_or", *operands)


def _connected(op: str, *operands: Thunk) -> Any:
    """Returns the first value that ends the evaluation, or the last."""
    kinds, ends = _Kinds(), op == "logical_or"  # the truth of such a value
    first, *others = map(kinds.noting, operands)
    value = _operand(op, first())
    for other in others:
        if is_symbolic_condition(value):
            value = _logical(op, value, other)
        elif is_symbolic_condition(decides := condition_of(value)):
            same = partial(itself, value)
            value = choose(decides, *((same, other) if ends else (other, same)), _name(op))
        elif truth(decides) is ends:
            break
        else:
            value = _operand(op, other())
    return kinds.of(value)


def if_exp(condition: Any, true: Thunk, false: Thunk) -> Any:
    """Traces a conditional expression."""
    kinds = _Kinds()
    return kinds.of(choose(condition, kinds.noting(true), kinds.noting(false)))


def truth_value(value: SymbolicTensor) -> SymbolicNumber:
    """``bool(value)``."""
    return SymbolicNumber(predicate(current_trace(), value), bool)


def and_if_plain(first: Any, second: Thunk) -> Any:
    """``first and second()`` if that cannot be told from evaluating both; else None, with nothing done."""
    if not is_symbolic_condition(first) or not _is_plain("logical_and", first, second):
        return None
    kinds = _Kinds()
    kinds.noting(lambda: first)()
    return kinds.of(_both("logical_and", first, kinds.noting(second)))


def _operand(op: str, value: Any) -> Any:
    """Returns an operand; refuses a list of unknown length, which Python gives itself and not its truth."""
    if type(value) is list and symbol_of(cast("Any", value)) is not None:
        error = UnimplementedError(
            f"{_name(op)} may be a list whose length is known at run time only; ask for its truth (`len(items) > 0`), "
            "or write an if"
        )
        raise current_trace().refuse(error)
    return operand_of(value)


def _logical(op: str, first: SymbolicTensor, second: Thunk) -> Any:
    """Evaluates ``first op second()`` where ``first`` is symbolic."""
    # Two boolean scalars are both evaluated where the second changes no variable: that costs less than a branch.
    if _is_plain(op, first, second):
        return _both(op, first, second)
    if op == "logical_and":
        return choose(first, second, lambda: first, _name(op))
    return choose(first, lambda: first, second, _name(op))


def _name(op: str) -> str:
    return f"the value of `{op.removeprefix('logical_')}`"


def _both(op: str, first: SymbolicTensor, second: Thunk) -> Any:
    """Both operands, evaluated."""
    truth = op == "logical_and"
    with assuming(first, truth):
        value = second()
    result = apply(OPS[op], (first, value))
    number = by_trip(_and if truth else _or, (first, value))
    if isinstance(number, PerIterationNumber) and number.kind is bool:
        result = PerIterationNumber(number.course, cast("SymbolicTensor", result))
    return both(result, first, value, truth)


def _and(first: Any, second: Any) -> Any:
    return first and second


def _or(first: Any, second: Any) -> Any:
    return first or second


def _is_plain(op: str, first: SymbolicTensor, second: Thunk) -> bool:
    """Returns True if both operands are boolean scalars, and evaluating the second changes nothing."""
    trace = context.trace
    assert trace is not None
    # A trial, whose nodes go: what is found plain is traced again, in the open trace.
    probe = Region(trace, f"the second operand of {op.removeprefix('logical_')!r}")
    assume(probe, first, op == "logical_and")
    with probe.tracing():
        value, _ = attempt(second)
    return _is_boolean_scalar(first) and not _changes(probe) and _is_boolean_scalar(value)


def _changes(region: Region) -> bool:
    """Returns True if running a region does more than compute its result."""
    effects = any(node.effects for node in region.builder.nodes)
    return bool(region.written() or region.journal.writes or effects)


def _is_boolean_scalar(value: Any) -> bool:
    # Of other operands `and` gives one: `2 and 3` is 3.
    return isinstance(value, bool) or (isinstance(value, Tensor) and not value.shape and value.dtype.kind == "b")


# ``assert`` and ``raise``.


def assert_stmt(condition: Any, message: Callable[[], Any] | None) -> None:
    """``assert condition, message``; on a tensor it fails, or not, when the program runs."""

    def fail() -> NoReturn:
        raise_stmt(lambda: AssertionError(*(() if message is None else (message(),))), None)

    condition = condition_of(condition)
    if is_symbolic_condition(condition):
        choose(condition, lambda: None, fail)  # Python makes the message only if the assertion fails
    elif not truth(condition):
        fail()


def raise_stmt(error: Callable[[], Any], cause: Callable[[], Any] | None) -> NoReturn:
    """``raise error from cause``."""
    _raise(error(), cause)


@over_choices(use)
def _raise(raised: Any, cause: Callable[[], Any] | None) -> NoReturn:
    if context.trace is not None:
        # `raise E` makes an E(), by an __init__ of the user's perhaps.
        if isinstance(raised, type) and issubclass(raised, BaseException):
            raised = call(cast("Any", raised))()
        if isinstance(raised, BaseException):
            note_raise(raised)
    raised = cast("BaseException", raised)  # as Python will say if it is none
    if cause is None:  # `from None` would hide the context
        raise raised
    raise raised from cause()


def require(condition: Any, error: Callable[[], Exception]) -> None:
    """Raises an error where a condition does not hold: at once, or when the program runs if it depends on tensors."""
    unless(condition, lambda: raise_stmt(error, None))


def unless(condition: Any, body: Callable[[], None]) -> None:
    """Runs statements that bind no names where a condition does not hold."""
    if_stmt(not_(condition), body, lambda: None, tuple, lambda _: None, ())


def require_limit(condition: Any, error: Callable[[], Exception]) -> None:
    """As :func:`require`, for what compiled code alone cannot do: no handler of the function catches the error."""
    require(condition, lambda: as_limit(error()))
