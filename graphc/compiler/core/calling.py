"""Conversion of function arguments: how ``grad`` and the like call a user's function while tracing.

The converter is in a layer above and registers here, so that ``grad`` and ``custom_gradient`` do not depend on it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphc.compiler.core.context import context

__all__ = ["converted", "register_converter"]

_converter: Callable[[Any], Any] | None = None


def register_converter(converter: Callable[[Any], Any]) -> None:
    """Sets the function that converts functions; the converting module calls this once."""
    global _converter
    _converter = converter


def converted(function: Any) -> Any:
    """Returns the function, or while tracing its converted form."""
    return function if context.trace is None or _converter is None else _converter(function)
