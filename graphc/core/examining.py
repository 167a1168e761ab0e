"""Whether each op is looked at when it has run: the switch, which ``gx.config.check_numerics`` turns.

What looks is a layer above, which says so once; see ``graphc.autograph.constructs.exceptions.numerics``.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any

from jax.core import Tracer

from graphc.base import Location, config, user_location
from graphc.core import dispatch
from graphc.core.context import EXAMINED, set_slow
from graphc.core.tensor import Tensor
from graphc.ir import Attrs, OpDef, Value

__all__ = ["examine", "examined_line", "is_examining", "pulling_back", "register_examiner", "unexamined"]


class _Paused(threading.local):
    active: bool = False
    line: Location | None = None


_paused = _Paused()
_lines: dict[int, tuple[weakref.ref[Any], Location | None]] = {}
"""Where eager ops that were looked at stand, by their outputs' arrays."""


def is_examining() -> bool:
    """Returns True if ops are looked at in this thread now."""
    return config.check_numerics and not _paused.active


@contextmanager
def unexamined() -> Generator[None]:
    """Inside the scope no op is looked at."""
    before, _paused.active = _paused.active, True
    try:
        yield
    finally:
        _paused.active = before


def examine(op: OpDef, values: Sequence[Any], attrs: Attrs, outputs: Sequence[Tensor]) -> None:
    """Looks at an op that was applied unexamined, now that what it says of the call has been taken note of."""
    if is_examining():
        dispatch.look_at(op, values, attrs, (), outputs)


@contextmanager
def pulling_back(outputs: Sequence[Tensor]) -> Generator[None]:
    """Inside the scope the gradient of a step is computed: what is wrong with it is told at the step's own line.

    Args:
      outputs: of the step.
    """
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
    """Returns the user's line that an op belongs to: that of the step whose gradient it is, or the one that is run."""
    return _paused.line or user_location()


def _note_line(outputs: Sequence[Tensor]) -> None:
    for output in outputs:
        raw = output.raw
        if not isinstance(raw, Value | Tracer):
            number = id(raw)
            _lines[number] = weakref.ref(raw, lambda _, number=number: _lines.pop(number, None)), user_location()


def register_examiner(examine: Callable[..., None]) -> None:
    """Says what looks at an op, its inputs, attributes, regions and outputs; called once."""

    def looked_at(*applied: Any) -> None:
        if not _paused.active:
            _note_line(applied[-1])
            with unexamined():
                examine(*applied)

    def switch(enabled: bool) -> None:
        dispatch.set_examiner(looked_at if enabled else None)
        set_slow(EXAMINED, enabled)

    config.register_numerics(switch)
