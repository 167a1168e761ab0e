"""``match``: how patterns are tried, and those that need not look into their subject.

The converter turns patterns that only compare their subject into ``if`` statements, which tensors may decide. All
others come here, and are decided while the function is traced: a tensor inside a structure may be bound to a name, but
not be compared.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from graphc.autograph.constructs.branches.branch import is_symbolic_condition, truth
from graphc.autograph.constructs.expressions.comparisons import compare
from graphc.autograph.constructs.expressions.identity import is_
from graphc.autograph.values.protocol import alternatives, settled
from graphc.base.errors import UnimplementedError
from graphc.core import SymbolicTensor
from graphc.tracing import current_trace

__all__ = [
    "Bound",
    "Pattern",
    "all_of",
    "known",
    "match",
    "match_as",
    "match_or",
    "match_singleton",
    "match_star",
    "match_value",
]

Bound = dict[str, Any]
"""By the names of a pattern, their values."""


class Pattern(ABC):
    """A pattern of Python's."""

    is_wildcard: ClassVar[bool] = False

    @abstractmethod
    def find(self, subject: Any) -> Bound | None:
        """Returns what its names stand for if it matches an object; None if it does not."""


def all_of(found: Iterable[Bound | None]) -> Bound | None:
    """Returns what the names of several patterns stand for; None if one does not match, which ends it."""
    bound: Bound = {}
    for one in found:
        if one is None:
            return None
        bound |= one
    return bound


def known(condition: Any) -> bool:
    """Returns the truth of a comparison inside a pattern.

    Raises:
      UnimplementedError: it depends on tensors.
    """
    if not is_symbolic_condition(condition):
        return truth(condition)
    error = UnimplementedError(
        "a pattern compares a tensor inside a list, tuple, dict or object, or beside such a pattern, and the tensor "
        "has no value while the function is traced; bind it to a name, and compare it in a guard: "
        "`case (kind, x) if x == 0:`"
    )
    raise current_trace().refuse(error)


@dataclass(frozen=True)
class match_value(Pattern):  # noqa: N801  operators are written as functions are
    """``case 0:`` or ``case Color.RED:``.

    Args:
      value: gives the value.
    """

    value: Callable[[], Any]

    def find(self, subject: Any) -> Bound | None:
        """Compares."""
        return {} if known(compare("==", subject, self.value())) else None


@dataclass(frozen=True)
class match_singleton(Pattern):  # noqa: N801
    """``case None:``, ``case True:``, ``case False:``, which ask for the very object."""

    value: bool | None

    def find(self, subject: Any) -> Bound | None:
        """Compares by identity; what is a truth value in Python and a tensor here, by value."""
        symbolic = alternatives(subject) is not None or isinstance(subject, SymbolicTensor)
        return {} if (known(is_(subject, self.value)) if symbolic else subject is self.value) else None


@dataclass(frozen=True)
class match_as(Pattern):  # noqa: N801
    """``case name:``, ``case _:`` or ``case pattern as name:``."""

    name: str | None = None
    pattern: Pattern | None = None

    @property
    def is_wildcard(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """True if it is ``_``."""
        return self.name is None

    def find(self, subject: Any) -> Bound | None:
        """Binds the name."""
        found = {} if self.pattern is None else self.pattern.find(subject)
        return found if found is None or self.name is None else {**found, self.name: subject}


class match_star(match_as):  # noqa: N801
    """``*name`` or ``*_`` among the patterns of a sequence."""


class match_or(Pattern):  # noqa: N801
    """``case a | b:``."""

    def __init__(self, *patterns: Pattern) -> None:
        self._patterns = patterns

    def find(self, subject: Any) -> Bound | None:
        """Returns what the names of the first that matches stand for."""
        tried = (pattern.find(subject) for pattern in self._patterns)
        return next((found for found in tried if found is not None), None)


def match(subject: Any, pattern: Pattern, names: Sequence[str]) -> tuple[Any, ...]:
    """Matches a pattern.

    Args:
      subject: what is matched.
      pattern: the pattern.
      names: the names in it.

    Returns:
      Whether it matches, and what the names stand for if it does.
    """
    found = pattern.find(settled(subject))
    return (False, *[None] * len(names)) if found is None else (True, *[found[name] for name in names])
