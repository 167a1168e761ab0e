"""The switch for examining op results, which ``gx.config.check_numerics`` sets.

A layer above registers the examiner; see ``graphc.compiler.autograph.constructs.numerics``.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any

from jax.core import Tracer

from graphc.compiler.base import Location, config, user_location
from graphc.compiler.core import dispatch
from graphc.compiler.core.context import EXAMINED, set_slow
from graphc.compiler.core.tensor import Tensor
from graphc.compiler.ir import Attrs, OpDef, Value

__all__ = ["examine", "examined_line", "is_examining", "pulling_back", "register_examiner", "unexamined"]


class _Paused(threading.local):
    active: bool = False
    line: Location | None = None


_paused = _Paused()
_lines: dict[int, tuple[weakref.ref[Any], Location | None]] = {}
"""The user's lines of examined eager ops, by the identity of their output arrays."""


def is_examining() -> bool:
    """Returns True if this thread's ops are examined now."""
    return config.check_numerics and not _paused.active


@contextmanager
def unexamined() -> Generator[None]:
    """Disables examining inside the scope."""
    before, _paused.active = _paused.active, True
    try:
        yield
    finally:
        _paused.active = before


def examine(op: OpDef, values: Sequence[Any], attrs: Attrs, outputs: Sequence[Tensor]) -> None:
    """Examines an op that was applied in an :func:`unexamined` scope, once its own checks are registered."""
    if is_examining():
        dispatch.look_at(op, values, attrs, (), outputs)


@contextmanager
def pulling_back(outputs: Sequence[Tensor]) -> Generator[None]:
    """Opens a scope that computes the gradient of a step, so that errors in it report the step's own line."""
    before = _paused.line
    raw = outputs[0].raw if outputs else None
    if isinstance(raw, Value):
        _paused.line = None if raw.node is None else raw.node.location
    else:
        reference, line = _lines.get(id(raw), (None, None))
        _paused.line = line if reference is not None and reference() is raw else None
    try:
        yield
    finally:
        _paused.line = before


def examined_line() -> Location | None:
    """Returns the user's line for an op: in a gradient, the line of the differentiated step; else the running line."""
    return _paused.line or user_location()


def _note_line(outputs: Sequence[Tensor]) -> None:
    for output in outputs:
        raw = output.raw
        if not isinstance(raw, Value | Tracer):
            number = id(raw)
            _lines[number] = weakref.ref(raw, lambda _, number=number: _lines.pop(number, None)), user_location()


def register_examiner(examine: Callable[..., None]) -> None:
    """Registers the function that examines an op, its inputs, attributes, regions and outputs; called once."""

    def examined(*applied: Any) -> None:
        if not _paused.active:
            _note_line(applied[-1])
            with unexamined():
                examine(*applied)

    def switch(enabled: bool) -> None:
        dispatch.set_examiner(examined if enabled else None)
        set_slow(EXAMINED, enabled)

    config.register_numerics(switch)
