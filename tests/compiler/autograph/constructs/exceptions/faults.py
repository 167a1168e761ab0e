"""Faults as graphc's own code would make them: no ``raise`` statement of graphc's is to be seen in the traceback."""

from __future__ import annotations

from typing import Any

__all__ = ["fail", "failing"]

_TEXT = """
def fail(error):
    (0 for _ in ()).throw(error)

def failing(error):
    return lambda *args: fail(error)
"""
_names: dict[str, Any] = {}
exec(compile(_TEXT, "<graphc fault>", "exec"), _names)

fail, failing = _names["fail"], _names["failing"]
