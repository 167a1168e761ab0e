"""Keeps what conditions say of ints that depend on tensors, where they hold and where they do not.

In the body of ``while i < n`` the number ``i`` is smaller than ``n``; after ``if found is None`` it is known which of
several values ``found`` is. That is noted with the condition, and known in the branches and bodies that it chooses. It
is known too behind a branch that raises: after ``assert i < n``, and after ``x[i]``, which checks the index.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any
from weakref import WeakKeyDictionary

from graphc.compiler.core import SymbolicTensor
from graphc.compiler.ir import Value
from graphc.compiler.tracing import Trace, context, current_trace

__all__ = [
    "Between",
    "assume",
    "assume_carried",
    "assume_passed",
    "assuming",
    "both",
    "known_of",
    "note_condition",
    "opposite",
]


@dataclass(frozen=True)
class Between:
    """The ints from ``low`` to ``high``."""

    low: int
    high: int

    def __and__(self, other: Between) -> Between:
        return Between(max(self.low, other.low), min(self.high, other.high))


Facts = Mapping[Value, Any]
"""By ints of the program, which of them they may be: some, or those between two."""

_NO_FACTS: Facts = MappingProxyType({})
# Weak, so that facts go with their graph.
_conditions: WeakKeyDictionary[Value, tuple[Facts, Facts]] = WeakKeyDictionary()
_assumed: WeakKeyDictionary[Trace, dict[Value, Any]] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class _Passed:
    """The facts of a check that fails the call where they do not hold.

    It stands among the notes of its trace, so that rolling the trace back to before the check takes them away.
    """

    facts: Facts


_passed: WeakKeyDictionary[Trace, list[_Passed]] = WeakKeyDictionary()


def note_condition(condition: SymbolicTensor, number: SymbolicTensor, true: Any, false: Any) -> None:
    """Notes what a condition says of a number.

    Args:
      true: which it may be where the condition holds: a frozenset, or a :class:`Between`.
      false: likewise where it does not hold.
    """
    _conditions[condition.raw] = ({number.raw: true}, {number.raw: false})


def known_of(number: SymbolicTensor) -> Any:
    """Gives which ints a number may be at this point, as :func:`note_condition`; None if no condition says anything."""
    found, trace = None, context.trace
    while trace is not None:  # an inner branch knows what the outer ones do
        here = [_assumed.get(trace, _NO_FACTS)]
        here += [check.facts for check in _passed.get(trace, ()) if number.raw in check.facts and _holds(trace, check)]
        for facts in here:
            known = facts.get(number.raw)
            if known is not None:
                found = known if found is None else found & known
        trace = trace.parent
    return found


def _holds(trace: Trace, check: _Passed) -> bool:
    """Returns True if a check is still part of the program."""
    return any(check is note for note in trace.root.notes)


def _facts(condition: Any, truth: bool) -> Facts:
    """Returns what is known where a condition has this truth."""
    if not isinstance(condition, SymbolicTensor):
        return _NO_FACTS
    return _conditions.get(condition.raw, (_NO_FACTS, _NO_FACTS))[0 if truth else 1]


def assume(trace: Trace, condition: Any, truth: bool) -> None:
    """Notes that what a trace holds counts only where a condition has this truth."""
    _assume(trace, _facts(condition, truth))


def _assume(trace: Trace, facts: Facts) -> None:
    if facts:
        _assumed[trace] = _joined(_assumed.get(trace, {}), facts)  # a new dict: `assuming` puts the old one back


def assume_carried(body: Trace, condition: Any, pairs: Iterable[tuple[SymbolicTensor, SymbolicTensor]]) -> None:
    """Notes that the body of a loop is run where its test holds.

    Args:
      pairs: what the loop carries, as the test and as the body see it.
    """
    facts = _facts(condition, True)
    _assume(body, {inner.raw: facts[outer.raw] for outer, inner in pairs if outer.raw in facts})


def assume_passed(trace: Trace, condition: Any, truth: bool) -> None:
    """Notes that the call has failed by now, for good, unless a condition has this truth.

    What the rest of a trace computes nobody sees if the call has failed: there the condition may be taken to hold. The
    caller makes sure that no handler catches the failure.
    """
    facts = _facts(condition, truth)
    if facts:
        check = _Passed(facts)
        trace.root.notes.append(check)
        _passed.setdefault(trace, []).append(check)


@contextmanager
def assuming(condition: Any, truth: bool) -> Generator[None]:
    """Inside, what is traced counts only where a condition has this truth."""
    trace = current_trace()
    before = _assumed.get(trace)
    assume(trace, condition, truth)
    try:
        yield
    finally:
        if before is None:
            _assumed.pop(trace, None)
        else:
            _assumed[trace] = before


def _joined(first: Facts, second: Facts) -> dict[Value, Any]:
    return {**first, **{key: places & first.get(key, places) for key, places in second.items()}}


def both(result: Any, first: Any, second: Any, truth: bool) -> Any:
    """Notes that a condition has this truth only where two others have; returns it."""
    facts = _joined(_facts(first, truth), _facts(second, truth))
    if facts and isinstance(result, SymbolicTensor):
        # Where `a and b` is false, each may be true.
        _conditions[result.raw] = (facts, _NO_FACTS) if truth else (_NO_FACTS, facts)
    return result


def opposite(result: Any, condition: Any) -> Any:
    """Notes that a condition is the opposite of another; returns it."""
    if isinstance(condition, SymbolicTensor) and isinstance(result, SymbolicTensor):
        found = _conditions.get(condition.raw)
        if found is not None:
            _conditions[result.raw] = (found[1], found[0])
    return result
