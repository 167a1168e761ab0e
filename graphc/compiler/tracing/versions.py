"""Versions of dicts: CPython counts the changes of every dict (PEP 509), so that an unchanged one need not be compared.

The count stands in the dict's memory, where PEP 509 put it for guards like these. This module reads it there, after a
test that it counts every kind of change on the running Python. Pythons without it compare contents.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from typing import Any

__all__ = ["Version", "counts_changes", "version_of"]

_PLACE = object.__basicsize__ + ctypes.sizeof(ctypes.c_ssize_t)  # behind the header and the number of items
_STORES = 100  # the interpreter specializes a store after some dozens of runs


class Version:
    """The version of a dict when its contents were last found to be the expected ones.

    Args:
      owner: the dict, which must be of the class ``dict`` itself and outlive this object.
      is_same: compares a dict's contents with the expected ones.

    Attributes:
      now: its ``value`` is the current version.
      known: its ``value`` is the version at the last comparison.
    """

    def __init__(self, owner: dict[Any, Any], is_same: Callable[[Any], bool]) -> None:
        self.now = version_of(owner)
        self.known = ctypes.c_uint64(self.now.value)
        self._owner = owner
        self._is_same = is_same

    def compared(self, value: Any) -> bool:
        """Compares a dict's contents, and remembers the version if they are the same."""
        version = self.now.value  # before: another thread may change the dict meanwhile
        same = self._is_same(value)
        if same and value is self._owner:
            self.known.value = version
        return same


def version_of(owner: dict[Any, Any]) -> ctypes.c_uint64:
    """Returns a view of a dict's version, which does not keep the dict alive."""
    return ctypes.c_uint64.from_address(id(owner) + _PLACE)


class _Holder:
    """An object whose attributes are a dict."""

    value: Any


def _change(known: dict[Any, Any], step: int) -> None:
    """Changes a dict that holds something, in one of many ways."""
    match step:
        case 0:
            known["b"] = None
        case 1:
            known["b"] = 1.0
        case 2:
            del known["b"]
        case 3:
            known.update(b=2)
        case 4:
            known.pop("b")
        case 5:
            known.setdefault("b", 3)
        case 6:
            known.popitem()
        case 7:
            known |= {"b": 4}
        case 8:
            known[2] = 5
        case _:
            known.clear()


def _is_counted() -> bool:
    """Returns True if every change of a dict, and nothing else, changes the number in its place."""
    given, holder = {"a": 0}, _Holder()
    if sys.implementation.name != "cpython" or dict.__basicsize__ < _PLACE + ctypes.sizeof(ctypes.c_uint64):
        return False
    version, seen = version_of(given), set[int]()
    for step in range(10):
        before = version.value
        _ = given.get("b"), len(given), [*given.items()], given == {}, "a" in given
        if version.value != before:
            return False
        seen.add(before)
        _change(given, step)
    holder.value = -1
    attributes = vars(holder)
    version, stored = version_of(attributes), set[int]()
    for number in range(_STORES):
        stored.add(version.value)
        holder.value = number
    return len(seen | {version_of(given).value}) == 11 and len(stored | {version.value}) == _STORES + 1


counts_changes: bool = _is_counted()
"""True if this Python counts the changes of dicts."""
