"""Guards of what a function leaves as it was in a container from outside that it changes.

The change itself happens once and is told. What else the function read of the container counts as in any other one.
"""

from __future__ import annotations

from collections import deque
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from graphc.compiler.tracing.read_kinds import ReadGuard
from graphc.compiler.tracing.same import is_fixed, same_items
from graphc.compiler.tracing.sources import Source, item

if TYPE_CHECKING:
    from graphc.compiler.tracing.reads import Reads

__all__ = ["record_unchanged"]

_INLINE = 8
_SECONDS_AN_ITEM = 5e-8
_MAX_ARRAY_BYTES = 1 << 20
_ABSENT = object()


def record_unchanged(reads: Reads, owner: Any, before: Any) -> None:
    """Records the items of a container that a trace changed, apart from those that it put in or replaced.

    Args:
      before: its contents when the trace began; for other containers and objects, what their cell gives.
    """
    source = reads.source(owner)
    if source is None:
        return
    now, then = owner, before  # untyped, whatever they are found to be below
    if isinstance(owner, dict) and isinstance(before, dict):
        _record_items(reads, source, [pair for pair in now.items() if then.get(pair[0], _ABSENT) is pair[1]])
    elif isinstance(owner, list | deque) and isinstance(before, list):
        pairs = enumerate(zip(now, then, strict=False))
        _record_items(reads, source, [(place, value) for place, (value, old) in pairs if value is old])
    elif isinstance(owner, set) and isinstance(before, set):
        if kept := frozenset(now & then):
            _add(reads, source, "{0} <= {v}", kept, len(kept))
    elif _is_plain_array(owner) and _is_plain_array(before):
        where = np.asarray(now == then)
        if where.any():
            _add(reads, source, "{0}({v})", partial(_has_elements, where, now[where]), now.size)


def _is_plain_array(value: Any) -> bool:
    return type(value) is np.ndarray and value.dtype.kind in "biufc" and value.nbytes <= _MAX_ARRAY_BYTES


def _record_items(reads: Reads, source: Source, kept: list[tuple[Any, Any]]) -> None:
    fixed = [pair for pair in kept if is_fixed(pair[1])]
    if len(fixed) > _INLINE:
        keys, values = zip(*fixed, strict=True)
        _add(reads, source, "{0}({v})", partial(_has_items, keys, values), len(fixed))
        kept = [pair for pair in kept if not is_fixed(pair[1])]
    for key, value in kept:
        reads.record(item(source, key), value)


def _add(reads: Reads, source: Source, test: str, given: Any, size: int) -> None:
    guard = ReadGuard(source, test, (given,), "what the function leaves as it is", size=size, each=_SECONDS_AN_ITEM)
    reads.guards[*source.key, "unchanged"] = guard


def _has_items(keys: tuple[Any, ...], values: tuple[Any, ...], owner: Any) -> bool:
    return same_items([owner[key] for key in keys], values)


def _has_elements(where: Any, elements: Any, array: Any) -> bool:
    return array.shape == where.shape and array.dtype == elements.dtype and bool((array[where] == elements).all())
