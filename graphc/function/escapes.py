"""What a trace leaves behind in Python objects.

The tensors of a trace have no values, and Python code runs once, when the function is traced. A tensor that is stored
in an object that outlives the trace, or an argument that is changed, would mean one thing in eager code and another in
the compiled function, so both are refused; what was stored is taken back.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence
from typing import Any

from graphc.base import at, nest
from graphc.base.errors import UnimplementedError
from graphc.core import Store, Trace

__all__ = ["ArgumentWatch", "check_stores"]


class ArgumentWatch:
    """Knows what the containers among the arguments hold, and whether the function changed them.

    Args:
      name: of the function, for messages.
      args: the positional arguments.
      kwargs: the others.
    """

    def __init__(self, name: str, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        self._name = name
        self._arguments = (args, kwargs)
        self._before = nest.flatten(self._arguments)

    def check(self) -> None:
        """Looks again.

        Raises:
          UnimplementedError: a list, dict or dataclass among the arguments was changed.
        """
        before, structure = self._before
        after, new_structure = nest.flatten(self._arguments)
        if structure == new_structure and all(a is b for a, b in zip(before, after, strict=True)):
            return
        raise UnimplementedError(
            f"{self._name} changes a list, dict or dataclass that it was given ({structure} before, {new_structure} "
            "after); a compiled function works on a copy, once, when it is traced: return the new value instead, or "
            "keep it in a Variable"
        )


def check_stores(trace: Trace) -> None:
    """Refuses tensors of the trace that were stored in objects that are still there; takes the stores back.

    Raises:
      UnimplementedError: there is one; the message names the store and its line.
    """
    for owned in trace.owners:
        owned.clear()
    escaped = _escaped(trace.stores)
    if not escaped:
        return
    gc.collect()  # what only a cycle of dead closures holds is gone too
    escaped = _escaped(trace.stores)
    if not escaped:
        return
    for store in reversed(list(trace.stores.values())):
        store.undo(store.owner)
    error = UnimplementedError(
        f"{escaped[0].what} stores a tensor that has no value yet in an object that outlives the function; it would be "
        "stored once, when the function is traced: return the tensor, or keep it in a Variable"
    )
    raise at(error, escaped[0].location)


def _escaped(stores: dict[int, Store]) -> list[Store]:
    """The stores whose owner something else than the store refers to."""
    return [store for store in stores.values() if sys.getrefcount(store.owner) > _UNREFERENCED]


def _references_of_unreferenced() -> int:
    stores = {0: Store(object(), "", None, lambda owner: None)}
    return next(sys.getrefcount(store.owner) for store in stores.values())


_UNREFERENCED = _references_of_unreferenced()
