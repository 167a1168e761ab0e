"""Names: unique ones within one namespace, and those of classes in messages."""

from __future__ import annotations

import threading

__all__ = ["UniqueNames", "with_article"]

_VOWELS = tuple("aeiou")
_SPOKEN_AS_YOU = ("ufunc", "uni", "us", "ut", "uu")


def with_article(name: str) -> str:
    """Returns a name, as that of a class, with its indefinite article.

    Example:
      >>> with_article("int"), with_article("list"), with_article("Account"), with_article("UserDict")
      ('an int', 'a list', 'an Account', 'a UserDict')
    """
    spoken = name.lstrip("_").lower()
    an = spoken.startswith(_VOWELS) and not spoken.startswith(_SPOKEN_AS_YOU)
    return f"an {name}" if an else f"a {name}"


class UniqueNames:
    """A generator of unique names: ``w``, ``w_1``, ``w_2``. Safe to share between threads.

    Example:
      >>> names = UniqueNames()
      >>> names("w"), names("w"), names("b")
      ('w', 'w_1', 'b')
    """

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
