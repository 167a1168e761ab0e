"""Parts of datasets that a compiled function makes while it is traced: they run later, with the program."""

from __future__ import annotations

import operator
import weakref
from typing import Any

from graphc.compiler.base import has_mark
from graphc.compiler.base.errors import UnimplementedError
from graphc.compiler.core import SymbolicTensor
from graphc.compiler.tracing import current_trace, frozen, graph_by_hand, root_trace

__all__ = ["Origin"]


class Origin:
    """Where a part of a dataset was made: in a trace of a function, or outside."""

    def __init__(self) -> None:
        root = root_trace()
        self._trace = None if root is None or graph_by_hand() is not None else weakref.ref(root)

    def as_now(self, function: Any) -> Any:
        """Returns a function with what it captures now if the open trace has made it: a program calls it later."""
        root = root_trace()
        if root is None or self._trace is None or self._trace() is not root:
            return function

        return frozen(function, _kept)[0]


def _kept(value: Any) -> Any:
    """Returns what a function of elements holds of a variable.

    Raises:
      UnimplementedError: it has no value while the function is traced.
    """
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
