"""Where op results are examined while ``gx.config.check_numerics`` is set; see ``autograph/constructs/numerics.py``."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from jax.core import Tracer

from graphc.compiler.base import ABOVE, Location, user_location
from graphc.compiler.core.context import is_examining, unexamined
from graphc.compiler.ir import Attrs, Graph, OpDef, Value

if TYPE_CHECKING:
    from graphc.compiler.core.tensor import Tensor


class _Gradient(threading.local):
    line: Location | None = None  # of the step that is differentiated


_gradient = _Gradient()
_lines: dict[int, tuple[weakref.ref[Any], Location | None]] = {}
"""The user's lines of examined eager ops, by the identity of their output arrays."""


def examine(
    op: OpDef, values: Sequence[Any], attrs: Attrs, regions: Sequence[Graph], outputs: Sequence[Tensor]
) -> None:
    """Examines the outputs of an op that was applied, unless this thread is in an :func:`unexamined` scope."""
    if is_examining():
        _note_line(outputs)
        with unexamined():
            ABOVE["examine_op"](op, values, attrs, regions, outputs)


@contextmanager
def pulling_back(outputs: Sequence[Tensor]) -> Generator[None]:
    """Opens a scope that computes the gradient of a step, so that errors in it report the step's own line."""
    before = _gradient.line
    raw = outputs[0].raw if outputs else None
    if isinstance(raw, Value):
        _gradient.line = None if raw.node is None else raw.node.location
    else:
        reference, line = _lines.get(id(raw), (None, None))
        _gradient.line = line if reference is not None and reference() is raw else None
    try:
        yield
    finally:
        _gradient.line = before


def examined_line() -> Location | None:
    """Returns the user's line for an op: in a gradient, the line of the differentiated step; else the running line."""
    return _gradient.line or user_location()


def _note_line(outputs: Sequence[Tensor]) -> None:
    for output in outputs:
        raw = output.raw
        if not isinstance(raw, Value | Tracer):
            number = id(raw)
            _lines[number] = weakref.ref(raw, lambda _, number=number: _lines.pop(number, None)), user_location()
