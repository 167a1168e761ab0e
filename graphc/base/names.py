"""Unique names within one namespace."""

from __future__ import annotations

import threading

__all__ = ["UniqueNames"]


class UniqueNames:
    """Hands out names that are used once: ``w``, ``w_1``, ``w_2``. Safe to share between threads.

    Example:
      >>> names = UniqueNames()
      >>> names("w"), names("w"), names("b")
      ('w', 'w_1', 'b')
    """

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._taken: set[str] = set()
        self._lock = threading.Lock()

    def __call__(self, wish: str) -> str:
        """The name that is wished for, or the next free one after it."""
        with self._lock:
            name, count = self._free(wish)
            if count:
                self._counts[wish] = count
            self._taken.add(name)
            return name

    def next(self, wish: str) -> str:
        """The name that the next call would give; it stays free."""
        with self._lock:
            return self._free(wish)[0]

    def _free(self, wish: str) -> tuple[str, int]:
        name, count = wish, self._counts.get(wish, 0)
        while name in self._taken:
            count += 1
            name = f"{wish}_{count}"
        return name, count
