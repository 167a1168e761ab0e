"""Objects that are changed by code which nobody converts: iterators, readers, queues, generators of random numbers.

Converted code tells the trace what it is about to change. What a library, a builtin or a generator does is not known
before. So the state of what it is given is looked at, before and after: by kind, not by a list of functions. What has
changed, and outlives the call, is told as any other side effect.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, cast

import numpy as np

from graphc.compiler.autograph.constructs.storage.cells import ObjectCell
from graphc.compiler.autograph.constructs.storage.visible_state import (
    OPAQUE,
    equal_states,
    is_internal,
    state_of,
)
from graphc.compiler.base import with_article
from graphc.compiler.tracing import Cell, context

__all__ = [
    "StatePlace",
    "memories_of",
    "memory_of",
    "note_consumed",
    "note_identity",
    "note_state",
    "run_watched",
]

_BATCHES = (
    "compile a step that is given one batch and call it in a Python loop, or stack the batches into one tensor and "
    "loop over its rows"
)
_GIVING = ("__next__", "get_nowait", "readline")
"""Methods of objects that give data."""
_NO_STATE = (*OPAQUE, tuple, frozenset, range)
_VIEWS = (np.ndarray, np.flatiter, np.void, memoryview)
_CONTAINERS: frozenset[type[Any]] = frozenset((list, dict, set, np.ndarray, bytearray, deque))
"""Classes from which items are taken without a change."""


class StatePlace(ObjectCell):
    """The state of an object, as far as it shows.

    Args:
      what: what changes it, for messages.
      consumed: whether items are taken from it: of most iterators nobody can see how many are left, so that they count
        as changed.
    """

    __slots__ = ("_consumed",)

    restorable = False

    def __init__(self, owner: Any, what: str, *, consumed: bool = False) -> None:
        super().__init__(owner, f"the state of {with_article(type(owner).__name__)}", what)
        self._consumed = consumed

    @property
    def remedy(self) -> str:
        """For what gives data, how to give it to a compiled function."""
        return _BATCHES if self._consumed or any(hasattr(self.owner, name) for name in _GIVING) else ""

    def get(self) -> Any:
        """Returns the state, as a list to compare."""
        return state_of(self.owner, self._consumed or isinstance(self.owner, Iterator))

    def set(self, value: Any) -> None:
        """Does nothing: what such code did cannot be taken back."""

    def holds(self, before: Any) -> bool:
        """Returns True if the state is as it was, as far as it can be seen."""
        return equal_states(before, self.get())


class _IdentityPlace(Cell):
    """The identity of an object, which differs in each call."""

    __slots__ = ()

    @property
    def remedy(self) -> str:
        """Returns how to do without."""
        return "tell objects apart by an attribute, or by `is`"

    def get(self) -> None:
        """Nothing that is kept."""

    def set(self, value: None) -> None:
        """Does nothing."""

    def holds(self, before: None) -> bool:
        """No."""
        del before
        return False


def note_identity(value: Any, what: str) -> None:
    """Says that Python code gets to know which object an object is.

    A call checks that of what it finds again; of others that outlive the call it is told.

    Args:
      what: the use, for messages.
    """
    trace = context.trace
    if trace is None or isinstance(value, _NO_STATE):
        return
    if trace.root.reads.source(value) is not None:
        trace.root.reads.identify(value)
    else:
        trace.journal.note_native(_IdentityPlace(value, "", what), None)


def note_state(owner: Any, what: str) -> None:
    """Notes the state of an object that code which is not converted is about to change."""
    if context.trace is not None:
        place = StatePlace(owner, what)
        context.trace.journal.note_native(place, place.get())


def note_consumed(value: Any, what: str) -> None:
    """Says that Python is about to take items from an object, outside branches and loops on tensors.

    Args:
      value: an iterator, or what one is made of.
      what: the use, for messages.
    """
    trace = context.trace
    if trace is None or trace.parent is not None or type(value) in _CONTAINERS or not _has_state(value):
        return
    place = StatePlace(value, what, consumed=True)
    trace.journal.note_native(place, place.get())


def memory_of(value: Any) -> Any:
    """Returns the array into whose memory a view, a record or an iterator of an array looks; other values as they are.

    A view lives as long as the expression that makes it, and the array outlives the call.
    """
    while isinstance(value, _VIEWS) and not isinstance(value, np.ma.MaskedArray):  # which has a mask besides
        whole = cast("Any", value).obj if isinstance(value, memoryview) else cast("Any", value).base
        if not isinstance(whole, np.ndarray):
            break
        value = cast("Any", whole)
    return cast("Any", value)


def memories_of(value: Any) -> list[Any]:
    """As :func:`memory_of`, as a list; of a masked array, which may be a view, also those of its items and its mask."""
    if not isinstance(value, np.ma.MaskedArray):
        return [memory_of(value)]
    array = cast("Any", value)
    mask = cast("Any", np.ma.getmask(array))
    return [array, memory_of(array.data), *([] if mask is np.ma.nomask else [memory_of(mask)])]


def run_watched(run: Callable[[], Any], given: Iterable[Any], what: str) -> Any:
    """Runs code that is not converted, and notes what it changes of what it is given.

    Args:
      what: the code, for messages.
    """
    trace = context.trace
    if trace is None:
        return run()
    if trace.parent is not None:
        return _run_in_region(run, given, what)
    whole = [memory for value in given for memory in memories_of(value)]
    places = [StatePlace(value, what) for value in whole if _has_state(value)]
    before = [(place, place.get()) for place in places]
    try:
        return run()
    finally:  # code that raises may have changed them before
        for place, state in before:
            if not place.holds(state):
                trace.journal.note_native(place, state)


def _has_state(value: Any) -> bool:
    return not isinstance(value, _NO_STATE) and not is_internal(value)


def _run_in_region(run: Callable[[], Any], given: Iterable[Any], what: str) -> Any:
    """As :func:`run_watched`, in a branch or loop: an array or list must not change there, and is put back."""
    held: list[Any] = [value for value in given if isinstance(value, np.ndarray | list)]
    before: list[tuple[Any, Any]] = [(value, value.copy()) for value in held]
    result = run()
    for value, old in before:
        is_array = isinstance(value, np.ndarray)
        # By bytes: a NaN equals itself.
        same = value.tobytes() == old.tobytes() if is_array else [*map(id, value)] == [*map(id, old)]
        if not same:
            value[... if is_array else slice(None)] = old
            assert context.trace is not None
            context.trace.side_effect(f"{what}, which changes {with_article(type(value).__name__)},")
    return result
