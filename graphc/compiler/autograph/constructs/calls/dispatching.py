"""``functools.singledispatch`` and ``singledispatchmethod``: the class counts that a value has in plain Python."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any, cast

from graphc.compiler.autograph.constructs.exceptions.origins import in_python
from graphc.compiler.autograph.values.choice import over_choices, use
from graphc.compiler.autograph.values.control import control
from graphc.compiler.tracing import context, dispatched

__all__ = ["DISPATCHING", "call_dispatched", "call_dispatched_method"]

# All functions that singledispatch makes share one code object.
DISPATCHING = cast("types.FunctionType", functools.singledispatch(len)).__code__


@over_choices(None, use)
def call_dispatched(function: Any, /, *args: Any, **kwargs: Any) -> Any:
    """Calls what ``functools.singledispatch`` chooses by the class that the first argument has in plain Python."""
    if not args:  # Python says that there is none
        return in_python(function, **kwargs)
    return control.call(_implementation(function.dispatch, control.call(type)(args[0]), id(function)))(*args, **kwargs)


@over_choices(None, None, None, use)
def call_dispatched_method(found: Any, owner: Any, kind: type[Any], /, *args: Any, **kwargs: Any) -> Any:
    """Calls what ``functools.singledispatchmethod`` chooses by the class of the first argument."""
    if not args:
        return in_python(found.__get__(owner, kind), **kwargs)
    chosen = _implementation(found.dispatcher.dispatch, control.call(type)(args[0]), id(found))
    return control.call(chosen.__get__(owner, kind))(*args, **kwargs)


def _implementation(dispatch: Callable[[type[Any]], Any], kind: type[Any], key: int) -> Any:
    """Returns the implementation for a class, and notes it: another one may be registered before the next call."""
    found = dispatch(kind)
    if context.trace is not None:
        text = f"the implementation of a singledispatch for {kind.__name__}"
        context.trace.root.reads.record(dispatched(dispatch, kind, text, key), found)
    return found
