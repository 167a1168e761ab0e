"""Lists and dicts from outside that are only asked for items: of these the items count that were asked for.

The converter marks such uses (:mod:`graphc.compiler.autograph.frontend.item_uses`). Whatever else an operator is to do
with such a container, it says so first by :func:`counts_as_a_whole`.
"""

from __future__ import annotations

import operator
from typing import Any, cast

from graphc.compiler.autograph.constructs.exceptions.origins import in_python
from graphc.compiler.tracing import context

__all__ = ["asks_for_item", "asks_for_key", "counts_as_a_whole", "counts_by_item", "holds_item", "known_item"]


def counts_by_item(owner: Any) -> bool:
    """Returns True if a value is a list or dict from outside that was only asked for items so far."""
    return context.trace is not None and context.trace.root.reads.counts_by_item(owner)


def counts_as_a_whole(owner: Any) -> None:
    """Tells that from now on all counts that a value holds, if it is a list or dict that counted by item."""
    if context.trace is not None:
        context.trace.root.reads.complete(owner)


def asks_for_item(owner: Any, key: Any) -> bool:
    """Returns True if an item is asked for of a list or dict that counts by item.

    By a key that is no plain text or number the list or dict counts as a whole from now on.
    """
    if not counts_by_item(owner):
        return False
    # Exact types: a subclass may hash and compare by code of its own, and True is 1 as a key.
    if type(key) is int or (type(key) is str and isinstance(owner, dict)):
        return True
    counts_as_a_whole(owner)  # a change of any item costs a new trace then; a stale value would be worse
    return False


def asks_for_key(owner: Any, key: Any) -> bool:
    """Tells if a dict that counts by item is asked if it has a key; a list that counts by item does so no more."""
    if isinstance(owner, dict):
        return asks_for_item(cast("Any", owner), key)
    counts_as_a_whole(owner)
    return False


def known_item(owner: Any, key: str | int, *, by_item: bool = False) -> Any:
    """Returns the item that is asked for; ``by_item`` says that it is itself about to be asked for items only."""
    assert context.trace is not None
    reads = context.trace.root.reads
    try:
        found = in_python(operator.getitem, owner, key)
    except (KeyError, IndexError):
        # `try: config["rate"]` takes its `except KeyError` now, and not once the key is there.
        reads.has(owner, key, held=False)
        raise
    reads.item(owner, key, found, by_item=by_item)
    return found


def holds_item(owner: dict[Any, Any], key: str | int) -> bool:
    """Returns True if a dict that counts by item has a key."""
    assert context.trace is not None
    context.trace.root.reads.has(owner, key, held=key in owner)
    return key in owner
