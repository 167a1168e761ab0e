"""Notes which objects were given tensors of a trace to keep, so that the trace can look at its end which are left."""

from __future__ import annotations

import operator
import types
from collections.abc import Callable
from functools import partial
from typing import Any, cast

from graphc.compiler.base import nest
from graphc.compiler.core import SymbolicTensor
from graphc.compiler.tracing import context

__all__ = ["changing", "holds_symbols", "note_store"]


def holds_symbols(value: Any) -> bool:
    """Returns True if the value is a tensor without a value, or a container of such."""
    return isinstance(value, SymbolicTensor) or any(isinstance(leaf, SymbolicTensor) for leaf in nest.flatten(value)[0])


def note_store(owner: Any, what: str) -> None:
    """Tells the trace that ``owner`` is about to hold a tensor of it."""
    trace = context.trace
    if trace is not None and id(owner) not in trace.root.stores:  # the first note has what was there before the trace
        trace.note_store(owner, what, _restorer(owner))


def _restorer(owner: Any) -> Callable[[Any], None]:
    """Returns what gives an object the attributes, or a container the items, that ``owner`` has now."""
    if isinstance(owner, list | bytearray):
        items = cast("list[Any]", owner[:])
        return lambda target: operator.setitem(target, slice(None), items)
    if isinstance(owner, dict | set):
        contents = cast("Any", owner).copy()
        return partial(_refill, contents)
    return partial(_refill_attributes, dict(getattr(owner, "__dict__", {})))


def _refill(contents: Any, target: Any) -> None:
    target.clear()
    target.update(contents)


def _refill_attributes(attributes: dict[str, Any], target: Any) -> None:
    if hasattr(target, "__dict__"):
        vars(target).clear()  # past a __setattr__ or __delattr__ of the user's
        vars(target).update(attributes)


def changing(method: Callable[..., Any], owner: Any) -> Callable[..., Any]:
    """Returns a method that changes ``owner``, a container, with a note of it if it is given tensors."""
    if context.trace is None or isinstance(owner, types.GeneratorType):
        return method
    name = getattr(method, "__name__", "a method")

    def noted(*args: Any, **kwargs: Any) -> Any:
        if holds_symbols((args, kwargs)):
            note_store(owner, f"the call of {type(owner).__name__}.{name}")
        return method(*args, **kwargs)

    return noted
