"""Attributes of classes as Python finds them."""

from __future__ import annotations

from typing import Any

__all__ = ["found_on"]


def found_on(kind: type[Any], name: str) -> Any:
    """What Python finds for an attribute in a class and its bases, as it is there; None if there is nothing."""
    for base in kind.__mro__:
        if name in base.__dict__:
            return base.__dict__[name]
    return None
