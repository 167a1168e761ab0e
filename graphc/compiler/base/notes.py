"""Notes about objects, by identity; and marks, by which lower layers know values of higher ones."""

from __future__ import annotations

import weakref
from typing import TypeVar

__all__ = ["has_mark", "remember"]

T = TypeVar("T")


def remember(notes: dict[int, T], owner: object, note: T) -> T:
    """Stores a note about an object under its ``id``, for as long as the object lives.

    Code objects are tracked this way: equal code objects may come from two files, and comparing nested ones, such as
    the code of nested branches, takes time exponential in the nesting depth.

    Returns:
      The note.
    """
    notes[id(owner)] = note
    weakref.finalize(owner, notes.pop, id(owner), None).atexit = False
    return note


def has_mark(value: object, name: str) -> bool:
    """Returns True if the class of a value has an attribute of graphc's.

    The value itself is not asked: one of the user's may answer to any name, or raise anything but an AttributeError.

    Example:
      >>> class Tolerant:
      ...     def __getattr__(self, name):
      ...         return {}[name]
      >>> has_mark(Tolerant(), "__graphc_number__")
      False
    """
    return hasattr(type(value), name)
