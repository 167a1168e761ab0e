"""Notes about objects, by identity."""

from __future__ import annotations

import weakref
from typing import TypeVar

__all__ = ["remember"]

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
