"""Parts of datasets that a compiled function makes while it is traced: they run later, with the program."""

from __future__ import annotations

import operator
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from graphc.compiler.autograph import pyfunc
from graphc.compiler.base import has_mark
from graphc.compiler.base.errors import UnimplementedError
from graphc.compiler.core import SymbolicTensor
from graphc.compiler.tracing import closures_now, current_trace, graph_by_hand, root_trace


def in_program() -> bool:
    """Returns True while a function is traced: what Python does then once, the program does at each call."""
    return root_trace() is not None and graph_by_hand() is None


class Runs(Iterator[int]):
    """Counts how often a dataset was iterated; a program that makes the dataset starts the count anew."""

    def __init__(self) -> None:
        self._next = 0
        if in_program():
            pyfunc(self._restart, None)

    def __next__(self) -> int:
        self._next += 1
        return self._next - 1

    def _restart(self) -> None:
        self._next = 0


class LateSeed:
    """A seed that a program draws where it makes a dataset."""

    def __init__(self, draw: Callable[[], int]) -> None:
        self._draw, self._value = draw, 0
        pyfunc(self._drawn, None)

    def __int__(self) -> int:
        return self._value

    def __repr__(self) -> str:
        return "drawn at each call"

    def _drawn(self) -> None:
        self._value = self._draw()


class Origin:
    """Where a part of a dataset was made: in a trace of a function, or outside."""

    def __init__(self) -> None:
        root = root_trace()
        self._trace = weakref.ref(root) if root is not None and in_program() else None

    def as_now(self, function: Any) -> Any:
        """Returns a function with what it captures now if the open trace has made it: a program calls it later."""
        root = root_trace()
        if root is None or self._trace is None or self._trace() is not root:
            return function
        return closures_now(_kept).of(function)


def _kept(value: Any) -> Any:
    """Returns what a function of elements holds of a variable."""
    if has_mark(value, "__graphc_index__"):
        return operator.index(value)  # the loop around is unrolled
    if isinstance(value, SymbolicTensor):
        error = UnimplementedError(
            f"a function of a dataset's elements uses a value that the compiled function computes ({value.type}, "
            f"{value.made_at()}), but the dataset is made before it has one; use it in the body of the loop over the "
            "dataset, or make the dataset outside"
        )
        raise current_trace().refuse(error)
    return value
