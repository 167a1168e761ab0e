"""A table that a lower layer owns and a higher layer fills."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Generic, TypeVar

from graphc.compiler.base.errors import InternalError, NotFoundError

__all__ = ["Registry"]

V = TypeVar("V")


class Registry(Mapping[str, V], Generic[V]):
    """A mapping from names to entries in which each name is registered only once.

    Args:
      kind: the kind of entry, for messages ("op", "pass").

    Example:
      >>> colours = Registry[int]("colour")
      >>> colours.add("red", 1)
      1
      >>> colours["red"]
      1
      >>> colours.add_later("blue", lambda: 2)
      >>> sorted(colours.items())
      [('blue', 2), ('red', 1)]
    """

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._entries: dict[str, V] = {}
        self._makers: dict[str, Callable[[], V]] = {}
        self._making = threading.RLock()  # a maker may need another entry
        self._load: Callable[[], object] | None = None

    def add(self, name: str, entry: V) -> V:
        """Adds an entry and returns it; raises :class:`InternalError` if the name is taken."""
        self._check_free(name)
        self._entries[name] = entry
        return entry

    def add_later(self, name: str, make: Callable[[], V]) -> None:
        """Adds an entry that is made at its first lookup; see :meth:`add`."""
        self._check_free(name)
        self._makers[name] = make

    def rest_from(self, load: Callable[[], object]) -> None:
        """Sets a function that adds missing entries by importing modules, called at a failed lookup or a listing."""
        self._load = load

    def _known(self, name: object) -> bool:
        return name in self._entries or name in self._makers

    def _complete(self) -> None:
        # No lock is held during imports. Two threads that get here both wait for Python's import lock.
        if self._load is not None:
            self._load()
            self._load = None

    def _check_free(self, name: str) -> None:
        if self._known(name):
            raise InternalError(f"the {self._kind} {name!r} is registered twice")

    def __getitem__(self, name: str) -> V:
        try:
            return self._entries[name]
        except KeyError:
            if name not in self:
                raise NotFoundError(f"there is no {self._kind} {name!r} among the {len(self)} registered") from None
        with self._making:
            if name not in self._entries:  # unless another thread has made it
                self._entries[name] = self._makers[name]()
            return self._entries[name]

    def __iter__(self) -> Iterator[str]:
        self._complete()
        return iter({**self._makers, **self._entries})

    def __len__(self) -> int:
        self._complete()
        return len({**self._makers, **self._entries})

    def __contains__(self, name: object) -> bool:
        if not self._known(name):
            self._complete()
        return self._known(name)
