"""Aliases: objects that at run time are one of several other objects.

After ``if c: x = y``, Python's ``x`` is either the object that it was before or the very object ``y``. The trace makes
a new object that holds the values of one or the other. The two differ only when the object is changed in place (an
item assignment, an append): Python's change would be visible through every name of the chosen object, the trace's
change only through names of the new object. graphc therefore refuses such a change, unless no other code can see the
source objects.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from graphc.base.errors import UnimplementedError
from graphc.core import SymbolicTensor
from graphc.ir import Value

__all__ = ["Alias", "AliasSet"]

_RETURN = "ag__return"
"""Name of the variable that holds the return value of a converted function."""


@dataclass(eq=False)
class Alias:
    """An object that represents one of several source objects.

    Attributes:
      value: the object.
      name: the variable that held it first.
      sources: the objects that it may be; None if they are unknown, in which case it must never be changed.
      held: the number of references to each source that the user's code cannot see.
      changed: True once the object has been changed.
      pending: True if it is the return value of a function that may have returned already, depending on tensors. Code
        that is still to run executes only if the function has not returned, and so cannot see the object, except for
        code that runs in both cases.
      numbers: the Python types that it may have in plain Python, if some of its sources are numbers.
      memory: the arguments, by position, whose memory it may have if they are NumPy arrays; None if its value tells.
    """

    value: Any
    name: str
    sources: tuple[Any, ...] | None
    held: int = 0
    changed: bool = False
    numbers: frozenset[type[Any]] = frozenset()
    pending: bool = False
    memory: frozenset[int] | None = None

    def error(self, what: str) -> UnimplementedError:
        """Returns the error that refuses a change."""
        name = "the return value" if self.name == _RETURN else self.name
        name = name if name.startswith(("the ", "a ")) else repr(name)
        return UnimplementedError(
            f"{what} changes an object that {name} may or may not be at run time, depending on tensors: "
            "after an assignment in a branch or loop, or in a list whose length is known only at run time, other names "
            "may or may not see the change. Change a copy (x = x.copy(), x = list(x)), or make a new object instead "
            "(x = x.at[index].set(value), x = [*x, value])"
        )


def _references(values: tuple[Any, ...]) -> list[int]:
    return [sys.getrefcount(value) for value in values]


(_UNSEEN,) = _references((object(),))
"""Reference count of an object that only a tuple refers to."""


def _references_of_value() -> int:
    alias = Alias(object(), "", None)
    return sys.getrefcount(alias.value)


_UNSEEN_VALUE = _references_of_value()


class AliasSet:
    """All aliases of a function that is being traced.

    Attributes:
      num_leaving: the number of open blocks that are traced whether or not the function has returned.
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
        """Registers an object as an alias of several others, or of a number."""
        alias = Alias(value, name, sources, held, numbers=numbers, pending=name == _RETURN)
        self._by_value[id(value)] = alias
        for source in sources or ():
            self._by_source.setdefault(id(source), []).append(alias)

    def settle(self, values: Iterable[Any]) -> None:
        """Notes that a function has returned objects, which its caller may see from now on."""
        for value in values:
            alias = self._by_value.get(id(value))
            if alias is not None:
                alias.pending = False

    def get(self, value: Any) -> Alias | None:
        """Returns the alias record of an object; None if it has none."""
        return self._by_value.get(id(value))

    def freeze(self, value: Any, name: str, memory: frozenset[int] | None = None) -> None:
        """Marks an object as unchangeable, because copies represent it elsewhere."""
        self.add(value, name, None)
        self._by_value[id(value)].memory = memory

    def is_frozen(self, value: Any) -> bool:
        """Returns True if an object may never be changed."""
        found = self._by_value.get(id(value))
        return found is not None and found.sources is None

    def chosen(self) -> set[Value]:
        """Returns the graph's values that an index chose of several, such as items of lists."""
        found: set[Value] = set()
        for alias in self._by_value.values():
            if isinstance(alias.value, SymbolicTensor) and getattr(alias.value, "is_used", True):
                node = alias.value.raw.node
                # A frozen tensor with a memory was taken from a list; without, it was put into one.
                if alias.memory is not None or (alias.sources and node is not None and not node.regions):
                    found.add(alias.value.raw)
        return found

    def changing(self, value: Any) -> Alias | None:
        """Notes that an object is about to be changed; returns the alias that forbids the change, if any."""
        own = self._by_value.get(id(value))
        if own is not None:
            chain = self._chain(own)
            if chain is None or self._is_seen(chain):
                return own
            own.changed = True
            # Two names may hold one of the sources although no name holds that source itself.
            for source in [source for link in chain for source in link.sources or ()]:
                for twin in self._standing_for(source):
                    if twin not in chain and self._is_visible(twin):
                        return twin
        for other in self._standing_for(value):
            if self._is_visible(other):
                return other
        return None

    def _standing_for(self, value: Any) -> list[Alias]:
        """Returns the aliases of an object, the aliases of those, and so on."""
        found = list(self._by_source.get(id(value), ()))
        for link in found:
            further = self._by_source.get(id(link.value), ())
            found.extend([other for other in further if other not in found])
        return found

    def _chain(self, alias: Alias) -> list[Alias] | None:
        """Returns an alias and, transitively, its sources that are aliases; None if one of them has unknown sources."""
        chain = [alias]
        for link in chain:
            if link.sources is None:
                return None
            further = [self._by_value.get(id(source)) for source in link.sources]
            chain.extend([found for found in further if found is not None and found not in chain])
        return chain

    def _is_visible(self, alias: Alias) -> bool:
        """Returns True if code that is still to run can see the alias's object."""
        return (self.num_leaving > 0 or not alias.pending) and self._is_alive(alias)

    def _is_alive(self, alias: Alias) -> bool:
        """Returns True if the user's code can still see the alias's object."""
        return sys.getrefcount(alias.value) > _UNSEEN_VALUE + len(self._by_source.get(id(alias.value), ()))

    def _is_seen(self, chain: list[Alias]) -> bool:
        """Returns True if the user's code can see a source of an alias in the chain."""

        def seen() -> bool:
            return any(
                count > _UNSEEN + own
                for link in chain
                for count, own in zip(_references(link.sources or ()), self._known(link), strict=True)
            )

        if seen():
            gc.collect()  # frees objects that only a cycle of dead objects holds
        return seen()

    def _known(self, alias: Alias) -> list[int]:
        """Returns, for each source, the number of references that neither the alias nor the user's code holds."""
        return [
            alias.held + len(self._by_source[id(source)]) - 1 + (id(source) in self._by_value)
            for source in alias.sources or ()
        ]

    def forget(self, start: int = 0) -> None:
        """Drops the aliases added after the first ``start``."""
        for alias in list(self._by_value.values())[start:]:
            del self._by_value[id(alias.value)]
            for source in alias.sources or ():
                self._by_source[id(source)].remove(alias)
