"""Stand-ins: objects that at run time are one of several others.

After ``if c: x = y`` the name ``x`` holds, in Python, either the object that it held before or the very object ``y``.
The trace makes a new object that has the values of the one or the other. To tell them apart takes a change (the
assignment of an item, an append): Python's change would be seen by all names of the object that it is, and the
trace's by those of the new object alone. Such a change is refused, unless nobody else can see the others.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from graphc.base.errors import UnimplementedError

__all__ = ["Alias", "AliasSet"]

_RETURN = "ag__return"
"""The name that holds what a converted function returns."""


@dataclass(eq=False)
class Alias:
    """One such object.

    Attributes:
      value: the object.
      name: the variable that held it first.
      sources: the objects that it stands for; None where they are not known, so that it may never be changed.
      held: how many references to each source there are that the user's code cannot see.
      changed: whether the object was changed.
      pending: whether it is what a function will return that has returned already, by what tensors hold. The code that
        is still to run does so only if it has not, and cannot see the object then, but for what runs in both cases.
      numbers: the Python types that it may have in plain Python, as numbers are among what it stands for.
    """

    value: Any
    name: str
    sources: tuple[Any, ...] | None
    held: int = 0
    changed: bool = False
    numbers: frozenset[type[Any]] = frozenset()
    pending: bool = False

    def error(self, what: str) -> UnimplementedError:
        """Returns the refusal of a change."""
        name = "the return value" if self.name == _RETURN else self.name
        name = name if name.startswith(("the ", "a ")) else repr(name)
        return UnimplementedError(
            f"{what} changes an object that {name} may or may not be at run time, as that depends on tensors: "
            "after an assignment in a branch or loop, or in a list whose length is known at run time only, other names "
            "would see the change or not. Change a copy (x = x.copy(), x = list(x)), or make a new object instead "
            "(x = x.at[index].set(value), x = [*x, value])"
        )


def _references(values: tuple[Any, ...]) -> list[int]:
    return [sys.getrefcount(value) for value in values]


(_UNSEEN,) = _references((object(),))
"""The reference count of an object that nothing but a tuple refers to."""


def _references_of_value() -> int:
    alias = Alias(object(), "", None)
    return sys.getrefcount(alias.value)


_UNSEEN_VALUE = _references_of_value()


class AliasSet:
    """All stand-ins of a function that is being traced.

    Attributes:
      num_leaving: how many blocks are being traced that run whether the function has returned or not.
    """

    def __init__(self) -> None:
        self.num_leaving = 0
        self._by_value: dict[int, Alias] = {}
        self._by_source: dict[int, list[Alias]] = {}

    def __len__(self) -> int:
        return len(self._by_value)

    def add(
        self,
        value: Any,
        name: str,
        sources: tuple[Any, ...] | None,
        held: int = 0,
        numbers: frozenset[type[Any]] = frozenset(),
    ) -> None:
        """Notes that an object stands for one of others, or for a number."""
        alias = Alias(value, name, sources, held, numbers=numbers, pending=name == _RETURN)
        self._by_value[id(value)] = alias
        for source in sources or ():
            self._by_source.setdefault(id(source), []).append(alias)

    def settle(self, values: Iterable[Any]) -> None:
        """Notes that a function has returned objects: who called it may see them from now on."""
        for value in values:
            alias = self._by_value.get(id(value))
            if alias is not None:
                alias.pending = False

    def get(self, value: Any) -> Alias | None:
        """Returns what is known of an object."""
        return self._by_value.get(id(value))

    def freeze(self, value: Any, name: str) -> None:
        """Notes that an object may never be changed, since copies stand for it elsewhere."""
        self.add(value, name, None)

    def is_frozen(self, value: Any) -> bool:
        """Returns True if an object may never be changed."""
        found = self._by_value.get(id(value))
        return found is not None and found.sources is None

    def changing(self, value: Any) -> Alias | None:
        """Notes that an object is about to be changed; returns the stand-in for which that must be refused."""
        own = self._by_value.get(id(value))
        if own is not None:
            chain = self._chain(own)
            if chain is None or self._is_seen(chain):
                return own
            own.changed = True
            # Two names may hold one of those objects, and no name that object itself.
            for source in [source for link in chain for source in link.sources or ()]:
                for twin in self._standing_for(source):
                    if twin not in chain and self._is_visible(twin):
                        return twin
        for other in self._standing_for(value):
            if self._is_visible(other):
                return other
        return None

    def _standing_for(self, value: Any) -> list[Alias]:
        """Returns the stand-ins for an object, those for these, and so on."""
        found = list(self._by_source.get(id(value), ()))
        for link in found:
            further = self._by_source.get(id(link.value), ())
            found.extend([other for other in further if other not in found])
        return found

    def _chain(self, alias: Alias) -> list[Alias] | None:
        """The stand-in with those that it stands for, and so on; None if one of them stands for nobody knows what."""
        chain = [alias]
        for link in chain:
            if link.sources is None:
                return None
            further = [self._by_value.get(id(source)) for source in link.sources]
            chain.extend([found for found in further if found is not None and found not in chain])
        return chain

    def _is_visible(self, alias: Alias) -> bool:
        """Returns True if code that is still to run can see the object of a stand-in."""
        return (self.num_leaving > 0 or not alias.pending) and self._is_alive(alias)

    def _is_alive(self, alias: Alias) -> bool:
        """Returns True if the user's code can still see the object of a stand-in."""
        return sys.getrefcount(alias.value) > _UNSEEN_VALUE + len(self._by_source.get(id(alias.value), ()))

    def _is_seen(self, chain: list[Alias]) -> bool:
        """Returns True if the user's code can see an object that one of a chain stands for."""

        def seen() -> bool:
            return any(
                count > _UNSEEN + own
                for link in chain
                for count, own in zip(_references(link.sources or ()), self._known(link), strict=True)
            )

        if seen():
            gc.collect()  # what only a cycle of dead objects holds is gone then
        return seen()

    def _known(self, alias: Alias) -> list[int]:
        """Returns how many references to each source, besides that by the stand-in, the user's code does not see."""
        return [
            alias.held + len(self._by_source[id(source)]) - 1 + (id(source) in self._by_value)
            for source in alias.sources or ()
        ]

    def forget(self, start: int = 0) -> None:
        """Forgets those that were added since there were so many."""
        for alias in list(self._by_value.values())[start:]:
            del self._by_value[id(alias.value)]
            for source in alias.sources or ():
                self._by_source[id(source)].remove(alias)
