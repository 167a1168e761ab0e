"""A table that a lower layer owns and a higher layer fills."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Generic, TypeVar

from graphc.compiler.base.errors import InternalError, NotFoundError

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


ABOVE: Registry[Any] = Registry("name of a layer above")
"""What a layer calls of those above it, such as ``Graph.draw`` of the drawing; ``graphc/__init__.py`` fills it."""


# Names: unique ones within one namespace, and those of classes in messages.

_VOWELS = tuple("aeiou")
_SPOKEN_AS_YOU = ("ufunc", "uni", "us", "ut", "uu")


def with_article(name: str) -> str:
    """Returns a name with its indefinite article, by sound: ``an int``, ``an Account``, ``a UserDict``."""
    spoken = name.lstrip("_").lower()
    an = spoken.startswith(_VOWELS) and not spoken.startswith(_SPOKEN_AS_YOU)
    return f"an {name}" if an else f"a {name}"


class UniqueNames:
    """A generator of unique names: ``w``, ``w_1``, ``w_2``. Safe to share between threads."""

    def __init__(self) -> None:
        # The last number given out for each requested name, 0 for the name itself; a list of all names would grow.
        self._last: dict[str, int] = {}
        self._lock = threading.Lock()

    def __call__(self, wish: str) -> str:
        """Returns the requested name, or the next free one after it."""
        with self._lock:
            name, number = self._free(wish)
            self._last[wish] = number
            return name

    def next(self, wish: str) -> str:
        """Returns the name that the next call would return, without reserving it."""
        with self._lock:
            return self._free(wish)[0]

    def _free(self, wish: str) -> tuple[str, int]:
        if wish not in self._last and not self._is_numbered(wish):
            return wish, 0
        number = self._last.get(wish, 0) + 1
        while (name := f"{wish}_{number}") in self._last:
            number += 1
        return name, number

    def _is_numbered(self, name: str) -> bool:
        """Returns True if a name with a number was given out for a request without one."""
        wish, _, digits = name.rpartition("_")
        last = self._last.get(wish, 0)
        return last > 0 and len(digits) < 20 and digits.isdecimal() and digits[0] != "0" and int(digits) <= last
