"""The user's names for the values of a graph: the Python variables that hold them.

A graph knows ops and no variables. So while a function is traced for a stepper, each call that its code makes, and each
return, is a moment to look at its variables: those that hold tensors of the trace give their names to the values.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeVar

from graphc.compiler.base import is_internal_file, is_library_file
from graphc.compiler.core import SymbolicTensor
from graphc.compiler.ir import Value

__all__ = ["Names"]

T = TypeVar("T")


class Names:
    """The names of values, by the values themselves."""

    def __init__(self) -> None:
        self._found: dict[int, tuple[Value, dict[str, None]]] = {}

    def of(self, value: Value) -> list[str]:
        """Returns the names of a value."""
        found = self._found.get(id(value))
        return [] if found is None else list(found[1])

    def noted(self, call: Callable[[], T]) -> T:
        """Calls a function that traces, and notes the names meanwhile."""
        with self._watching():
            return call()

    @contextmanager
    def _watching(self) -> Generator[None]:
        before = sys.getprofile()
        sys.setprofile(self._look)
        try:
            yield
        finally:
            sys.setprofile(before)

    def _look(self, frame: FrameType, event: str, argument: Any) -> None:
        del argument
        if event == "return":
            self._note(frame)
        elif event == "call" and frame.f_back is not None:
            self._note(frame.f_back)

    def _note(self, frame: FrameType) -> None:
        code = frame.f_code
        if is_internal_file(code.co_filename) or is_library_file(code.co_filename):
            return
        for name, value in frame.f_locals.items():
            if isinstance(value, SymbolicTensor) and not name.startswith(("ag__", ".")):
                raw = value.raw
                self._found.setdefault(id(raw), (raw, {}))[1].setdefault(name)
