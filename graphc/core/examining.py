"""Whether each op is looked at when it has run: the switch, which ``gx.config.check_numerics`` turns.

What looks is a layer above, which says so once; see ``graphc.autograph.constructs.exceptions.numerics``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any

from graphc.base import config
from graphc.core import dispatch
from graphc.core.context import EXAMINED, set_slow
from graphc.core.tensor import Tensor
from graphc.ir import Attrs, OpDef

__all__ = ["examine", "is_examining", "register_examiner", "unexamined"]


class _Paused(threading.local):
    active: bool = False


_paused = _Paused()


def is_examining() -> bool:
    """Whether ops are looked at in this thread now."""
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


def register_examiner(examine: Callable[..., None]) -> None:
    """Says what looks at an op, its inputs, attributes, regions and outputs; called once."""

    def looked_at(*applied: Any) -> None:
        if not _paused.active:
            with unexamined():
                examine(*applied)

    def switch(enabled: bool) -> None:
        dispatch.set_examiner(looked_at if enabled else None)
        set_slow(EXAMINED, enabled)

    config.register_numerics(switch)
