"""How a function that takes functions calls them while tracing: as converted code would.

Whoever converts code is a layer above and registers here, so that ``grad`` and ``custom_gradient`` need not know it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphc.core.context import context

__all__ = ["converted", "register_converter"]

_converter: Callable[[Any], Any] | None = None


def register_converter(converter: Callable[[Any], Any]) -> None:
    """Says what stands for a function in converted code; the module that converts code calls this once."""
    global _converter
    _converter = converter


def converted(function: Any) -> Any:
    """Returns the function, or while tracing what converted code would call in its place."""
    return function if context.trace is None or _converter is None else _converter(function)
