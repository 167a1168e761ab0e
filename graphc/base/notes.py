"""What is known of objects, by identity."""

from __future__ import annotations

import weakref
from typing import TypeVar

__all__ = ["remember"]

T = TypeVar("T")


def remember(notes: dict[int, T], owner: object, note: T) -> T:
    """Notes something of an object under its ``id``, for as long as it lives.

    Code objects are kept track of in this way: two that are equal may be of two files, and to compare those that hold
    others, as the code of nested branches does, takes Python a time exponential in how deep they are nested.

    Returns:
      The note.
    """
    notes[id(owner)] = note
    weakref.finalize(owner, notes.pop, id(owner), None).atexit = False
    return note
