"""``match``: how patterns are tried, and those that need not look into their subject.

Where a tensor meets a value, the comparison becomes part of the test that the pattern has passed. All else is decided
while the function is traced, in Python's order.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

from graphc.autograph.constructs.branches.branch import if_stmt, is_symbolic_condition, not_, predicate, truth
from graphc.autograph.constructs.expressions.comparisons import compare
from graphc.autograph.constructs.expressions.identity import is_
from graphc.autograph.constructs.failures.try_scope import attempt
from graphc.autograph.values.choice import Choice
from graphc.autograph.values.kinds import stands_for_bool
from graphc.base.errors import UnimplementedError
from graphc.core import apply
from graphc.ir import OPS
from graphc.tracing import Region, context

__all__ = [
    "Found",
    "Pattern",
    "Step",
    "in_order",
    "match",
    "match_as",
    "match_or",
    "match_singleton",
    "match_star",
    "match_value",
]


@dataclass(frozen=True)
class Found:
    """How a pattern matches.

    Attributes:
      test: True, or the boolean scalar that says at run time whether it does.
      bound: what its names stand for.
    """

    test: Any = True
    bound: dict[str, Any] = field(default_factory=dict[str, Any])

    def then(self, other: Found) -> Found:
        """Returns how both match."""
        tests = [test for test in (self.test, other.test) if test is not True]
        both = apply(OPS["logical_and"], tuple(tests)) if len(tests) == 2 else tests[0] if tests else True
        return Found(both, {**self.bound, **other.bound})


Step = Callable[[bool], Found | None]
"""One step of a match; None if it fails. Its argument says whether a tensor decides if the step is taken."""


def in_order(steps: Sequence[Step], tried: bool) -> Found | None:
    """Takes steps one after the other, until one fails."""
    found = Found()
    for position, step in enumerate(steps):
        if found.test is not True and not tried:
            later = _perhaps(partial(in_order, steps[position:]))
            return None if later is None else found.then(later)
        more = step(tried)
        if more is None:
            return None
        found = found.then(more)
    return found


def _perhaps(step: Step) -> Found | None:
    """Takes a step that Python takes only if a tensor says so; it is always taken, so nobody may see that it is.

    Raises:
      UnimplementedError: it changes something.
    """
    trace = context.trace
    assert trace is not None
    probe = Region(trace, "a pattern")
    with probe.tracing():
        _, failure = attempt(partial(step, True))
    if failure is not None or probe.written() or probe.writes:
        error = UnimplementedError(
            "matching a pattern runs code that changes something or fails, after a part of the pattern that depends on "
            "a tensor; match the two parts one after the other, in two statements"
        )
        raise trace.refuse(error)
    return step(True)


class Pattern(ABC):
    """A pattern of Python's."""

    is_wildcard: ClassVar[bool] = False

    @abstractmethod
    def find(self, subject: Any, tried: bool) -> Found | None:
        """Returns how it matches an object; None if it does not.

        Args:
          subject: the object.
          tried: whether a tensor decides if it comes to this.
        """


@dataclass(frozen=True)
class match_value(Pattern):  # noqa: N801  operators are written as functions are
    """``case 0:`` or ``case Color.RED:``.

    Args:
      value: gives the value.
    """

    value: Callable[[], Any]

    def find(self, subject: Any, tried: bool) -> Found | None:
        """Compares."""
        equal = compare("==", subject, self.value())
        if is_symbolic_condition(equal):
            assert context.trace is not None
            return Found(predicate(context.trace, equal))
        return Found() if truth(equal) else None


@dataclass(frozen=True)
class match_singleton(Pattern):  # noqa: N801
    """``case None:``, ``case True:``, ``case False:``, which ask for the very object."""

    value: bool | None

    def find(self, subject: Any, tried: bool) -> Found | None:
        """Compares by identity; what is a truth value in Python and a tensor here, by value."""
        if isinstance(subject, Choice):
            found = is_(subject, self.value)
            return Found(found) if is_symbolic_condition(found) else Found() if found else None
        if self.value is not None and stands_for_bool(subject):
            return Found(subject if self.value else not_(subject))
        return Found() if subject is self.value else None


@dataclass(frozen=True)
class match_as(Pattern):  # noqa: N801
    """``case name:``, ``case _:`` or ``case pattern as name:``."""

    name: str | None = None
    pattern: Pattern | None = None

    @property
    def is_wildcard(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """True if it is ``_``."""
        return self.name is None

    def find(self, subject: Any, tried: bool) -> Found | None:
        """Binds the name."""
        found = Found() if self.pattern is None else self.pattern.find(subject, tried)
        if found is None or self.name is None:
            return found
        return Found(found.test, {**found.bound, self.name: subject})


class match_star(match_as):  # noqa: N801
    """``*name`` or ``*_`` among the patterns of a sequence."""


class match_or(Pattern):  # noqa: N801
    """``case a | b:``."""

    def __init__(self, *patterns: Pattern) -> None:
        self._patterns = patterns

    def find(self, subject: Any, tried: bool) -> Found | None:
        """Returns the first that matches; where tensors decide which, one of several."""
        for position, pattern in enumerate(self._patterns):
            found = pattern.find(subject, tried)
            if found is None:
                continue
            others = self._patterns[position + 1 :]
            if found.test is True or not others:
                return found
            other = partial(match_or(*others).find, subject)
            later = other(True) if tried else _perhaps(other)
            return found if later is None else _either(found, later)
        return None


def _either(first: Found, second: Found) -> Found:
    test: Any = True if second.test is True else apply(OPS["logical_or"], (first.test, second.test))
    names = [name for name, value in first.bound.items() if value is not second.bound[name]]
    bound = dict(first.bound)

    def choose(found: Found) -> None:
        bound.update({name: found.bound[name] for name in names})

    def get() -> tuple[Any, ...]:
        return tuple(bound[name] for name in names)

    def put(values: tuple[Any, ...]) -> None:
        bound.update(zip(names, values, strict=True))

    if names:
        if_stmt(first.test, partial(choose, first), partial(choose, second), get, put, names)
    return Found(test, bound)


def match(subject: Any, pattern: Pattern, names: Sequence[str]) -> tuple[Any, ...]:
    """Matches a pattern.

    Args:
      subject: what is matched.
      pattern: the pattern.
      names: the names in it.

    Returns:
      Whether it matches: a bool, or a boolean scalar; and what the names stand for if it does.
    """
    if isinstance(subject, Choice) and len(subject.left) == 1:
        subject = subject.options[subject.left[0]]
    found = pattern.find(subject, False)
    if found is None:
        return False, *[None] * len(names)
    return found.test, *[found.bound[name] for name in names]
