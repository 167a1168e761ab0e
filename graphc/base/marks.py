"""Marks: class attributes by which graphc's own kinds of objects are told from the user's."""

from __future__ import annotations

from typing import Any

__all__ = ["is_marked"]


def is_marked(value: Any, mark: str) -> bool:
    """Returns True if the class of an object has a mark.

    The object itself is not asked: a user's ``__getattr__`` may answer for every name, or raise any exception.

    Args:
      value: any object.
      mark: the name of the class attribute.
    """
    return hasattr(type(value), mark)
