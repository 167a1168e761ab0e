"""A table that a lower layer owns and a higher layer fills."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Generic, TypeVar

from graphc.base.errors import InternalError, NotFoundError

__all__ = ["Registry"]

V = TypeVar("V")


class Registry(Mapping[str, V], Generic[V]):
    """A mapping from names to entries in which a name is taken once.

    Args:
      kind: what an entry is, for messages ("op", "pass").

    Example:
      >>> colours = Registry[int]("colour")
      >>> colours.add("red", 1)
      1
      >>> colours["red"]
      1
    """

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._entries: dict[str, V] = {}

    def add(self, name: str, entry: V) -> V:
        """Adds an entry and returns it; a name that is taken raises :class:`InternalError`."""
        if name in self._entries:
            raise InternalError(f"the {self._kind} {name!r} is registered twice")
        self._entries[name] = entry
        return entry

    def __getitem__(self, name: str) -> V:
        try:
            return self._entries[name]
        except KeyError:
            raise NotFoundError(f"there is no {self._kind} {name!r}; there are {len(self._entries)} others") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, name: object) -> bool:
        return name in self._entries
