"""``functools.lru_cache`` and ``cached_property``: what they keep is made outside of the trace, and outlives it.

A compiled function asks the cache again at each call, as Python does: whoever clears it is seen, and so is a change of
what it keeps. Tensors that are made there have values, unlike those of the trace, which no other caller could use.
"""

from __future__ import annotations

import functools
import itertools
import random
import types
from collections.abc import Callable, Iterable
from typing import Any, cast
from weakref import WeakSet

import numpy as np

from graphc.compiler.autograph.constructs.exceptions.origins import in_python
from graphc.compiler.autograph.constructs.purity.reading import names_of
from graphc.compiler.autograph.constructs.purity.unconverted import handed
from graphc.compiler.autograph.constructs.storage.visible_state import equal_states, state_of
from graphc.compiler.base import is_library_file
from graphc.compiler.core import outside_scope
from graphc.compiler.tracing import Source, content_of, context, fixed, result_of_call

__all__ = ["CACHED", "call_cached", "computed_once"]

CACHED: type[Any] = type(functools.lru_cache(len))
_KNOWN = (type(None), bool, int, float, complex, str, bytes, type, types.ModuleType)
"""Types of arguments that are equal at the next call, if they are exactly of this type."""

_RANDOM_STATES: tuple[Any, ...] = (random.random.__self__, np.random.rand.__self__)  # pyright: ignore
"""The generators behind the functions of the modules ``random`` and ``numpy.random``."""

_changing = WeakSet[Any]()
"""The functions that were seen to change something."""
_calls = itertools.count()


def call_cached(function: Any, otherwise: Callable[[Any], Any], /, *args: Any, **kwargs: Any) -> Any:
    """Calls a function, or a method, that ``functools.lru_cache`` or ``cache`` made.

    Args:
      otherwise: returns what to call where an argument is the trace's own, so that no other call has it.
    """
    trace = context.trace
    cached = getattr(function, "__func__", function)
    owner = () if cached is function else (function.__self__,)
    given = (*owner, *args, *kwargs.values())
    parts = [_source(value) for value in given]
    known = [part for part in parts if part is not None]
    if trace is None or len(known) < len(parts) or cached.cache_parameters()["maxsize"] == 0:
        return otherwise(function)(*args, **kwargs)
    what = f"the call of {cached.__name__}, which does more than fill its cache,"
    if trace.parent is not None and cached in _changing:
        trace.side_effect(what)
    before = None if trace.parent is None else _state_within_reach(cached, given)
    try:
        result = in_python(_ask, function, *args, **kwargs)
    except Exception:  # a cache keeps no exceptions: what the function read counts
        handed((function, *args, *kwargs.values()))
        raise
    if before is not None and not equal_states(before, _state_within_reach(cached, given)):
        _changing.add(cached)  # when it is traced again, the cache answers
        trace.side_effect(what)
    ask = functools.partial(_ask, cached)
    trace.root.reads.record(result_of_call(cached.__name__, ask, id(cached), known, list(kwargs)), result)
    return result


def _state_within_reach(function: Any, args: Iterable[Any]) -> list[Any]:
    """Returns the state of what a function may change: arguments, and what it, or a function that it calls, names."""
    found, functions = [*_RANDOM_STATES, *args], [function]
    for one in functions:
        inner = getattr(one, "__func__", one)
        inner = getattr(inner, "__wrapped__", inner)
        if not isinstance(inner, types.FunctionType) or is_library_file(inner.__code__.co_filename):
            continue
        names = names_of(inner.__code__, inner=True).outside
        found += [next(_calls)] if "print" in names else []  # nobody sees what was printed: it counts as a change
        parts = [*map(inner.__globals__.get, names), *map(content_of, inner.__closure__ or ())]
        functions += [part for part in parts if callable(part) and not any(part is known for known in functions)]
        found += parts
    return [state_of(value, False) for value in found]


def _ask(cached: Any, /, *args: Any, **kwargs: Any) -> Any:
    """Asks the cache, outside of any trace."""
    if context.trace is None:
        return cached(*args, **kwargs)
    with outside_scope():
        return cached(*args, **kwargs)


def _source(value: Any) -> Source | None:
    """Returns how the next call finds an argument; None for an object that the trace made."""
    assert context.trace is not None
    found = context.trace.root.reads.source(value)
    if found is not None:
        return found
    kind = cast("type[Any]", type(value))
    if kind is tuple:
        plain = all(_is_known(part) for part in cast("tuple[Any, ...]", value))
    else:
        plain = _is_known(value)
    return fixed(value, repr(value)) if plain else None


def _is_known(value: Any) -> bool:
    return type(value) in _KNOWN


def computed_once(owner: Any, name: str) -> Any:
    """Returns the first value of a ``functools.cached_property``, which the object keeps."""
    assert context.trace is not None
    made_here = context.trace.root.reads.source(owner) is None
    return in_python(getattr if made_here else _compute, owner, name)


def _compute(owner: Any, name: str) -> Any:
    with outside_scope():
        return getattr(owner, name)
