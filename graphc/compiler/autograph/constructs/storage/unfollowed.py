"""Changes of objects that branches and loops do not follow: sets, deques, byte arrays and NumPy's arrays.

Outside branches and loops on tensors such an object changes when the function is traced, as Python does it. If the
object outlives the call that is told, as a change of a list is; elsewhere the change is refused.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Any, cast

import numpy as np

from graphc.compiler.autograph.constructs.storage.cells import ContentsCell, ObjectCell
from graphc.compiler.autograph.constructs.storage.native_state import memories_of, note_state
from graphc.compiler.base import with_article
from graphc.compiler.tracing import context

__all__ = ["is_noted", "note_change"]


def _fill_array(array: Any, values: Any) -> None:
    array[...] = values  # in place: others hold this very array, and views of it


def _refill(owner: Any, items: Any) -> None:
    owner.clear()
    (owner.update if isinstance(owner, set) else owner.extend)(items)


_KINDS: dict[type[Any], tuple[Callable[[Any], Any], Callable[[Any, Any], None]]] = {
    set: (set.copy, _refill),
    deque: (list, _refill),
    bytearray: (bytes, _refill),
    np.ndarray: (np.ndarray.copy, _fill_array),
}
"""By class, what copies the contents and what puts them back."""


class _UnfollowedPlace(ObjectCell):
    """The contents of an object of one of these classes."""

    __slots__ = ("_kind",)

    def __init__(self, owner: Any, kind: type[Any], what: str) -> None:
        super().__init__(owner, f"{with_article(type(owner).__name__)} that is changed", what)
        self._kind = kind

    def get(self) -> Any:
        """Returns a copy of the contents."""
        return _KINDS[self._kind][0](self.owner)

    def set(self, value: Any) -> None:
        """Puts the contents back."""
        _KINDS[self._kind][1](self.owner, value)


def _kind(owner: Any) -> type[Any] | None:
    if isinstance(owner, np.ma.MaskedArray):
        return None
    return next((kind for kind in _KINDS if isinstance(owner, kind)), None)


def is_noted(owner: Any) -> bool:
    """Returns True if the open trace's journal has what a container held before its first change."""
    if context.trace is None or not isinstance(owner, list | dict | set | deque | bytearray):
        return False
    keys = ContentsCell.key_of(owner), (_UnfollowedPlace, id(cast("Any", owner)))
    return not {*keys}.isdisjoint(context.trace.journal.writes)


def note_change(owner: Any, what: str) -> None:
    """Says that Python code is about to change an object in a way that no branch or loop follows.

    Args:
      what: the statement or call, for messages.

    Raises:
      RegionAborted, UnimplementedError: as :meth:`graphc.compiler.tracing.Trace.side_effect`.
    """
    trace = context.trace
    if trace is None:
        return
    trace.side_effect(what)
    if isinstance(owner, OrderedDict):  # whose order changes
        trace.journal.note(ContentsCell(cast("Any", owner), what))
        return
    for memory in memories_of(owner):
        kind = _kind(memory)
        if kind is None:
            note_state(memory, what)
        else:
            trace.journal.note(_UnfollowedPlace(memory, kind, what))
